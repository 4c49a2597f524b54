"""What is offered: every attack has targets that it can be aimed at."""

from core.attack.menu import ATTACKS, find_subject, offered_targets, usual_targets
from tests.ensembles import make_ensemble


def test_every_attack_of_the_menu_has_targets_that_it_offers(tiny_settings):
    make_ensemble(tiny_settings, "notes", synthetic=True, halves=True)
    entry = find_subject(tiny_settings, "notes")
    for name, attack in ATTACKS.items():
        offered = offered_targets(name, entry)
        assert set(usual_targets(name, entry)) <= set(offered)
        assert attack.least <= attack.usual <= attack.most
        assert bool(offered) == (name != "stop")
        assert not any("epsilon" in words for words in offered.values())  # it is chosen beside them
    assert {"mdp", "smdp", "cadp", "dp-sgd", "whole", "pmixed", "submix"} <= set(
        offered_targets("canaries", None)
    )
