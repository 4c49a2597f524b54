"""Links to reports: unguessable, revocable, gone with their run."""

import stat

import pytest

from core.attack.kept.links import forget_links_of, list_links, make_link, revoke_link, run_behind
from core.attack.kept.storage import save_run
from core.errors import InputError
from tests.core.attack.kept.test_runs import a_run


def test_a_link_shows_its_run_until_it_is_revoked(settings):
    run = save_run(settings, a_run())
    link = make_link(settings, run.id)
    assert run_behind(settings, link.token) == run
    assert len(link.token) == 43
    assert run.id not in link.token
    revoke_link(settings, link.token)
    with pytest.raises(InputError, match="leads nowhere"):
        run_behind(settings, link.token)
    with pytest.raises(InputError, match="no such link"):
        revoke_link(settings, link.token)


def test_links_are_many_listed_newest_first_and_for_the_owner_of_the_disk_alone(settings):
    run = save_run(settings, a_run())
    first, second = make_link(settings, run.id), make_link(settings, run.id)
    assert first.token != second.token
    assert list_links(settings) == (second, first)
    path = settings.data_dir / "attacks" / "links.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_deleted_run_takes_its_links_with_it(settings):
    kept, gone = save_run(settings, a_run()), save_run(settings, a_run())
    link, other = make_link(settings, kept.id), make_link(settings, gone.id)
    forget_links_of(settings, gone.id)
    assert list_links(settings) == (link,)
    with pytest.raises(InputError, match="leads nowhere"):
        run_behind(settings, other.token)


@pytest.mark.parametrize("token", ["", "../links", "x" * 43, "é" * 43, "x" * 22])
def test_what_is_no_link_leads_nowhere(settings, token):
    save_run(settings, a_run())
    with pytest.raises(InputError, match="leads nowhere"):
        run_behind(settings, token)


def test_no_link_to_a_run_that_is_not_there_and_a_damaged_list_is_a_sentence(settings):
    with pytest.raises(InputError, match="no run"):
        make_link(settings, "x" * 22)
    run = save_run(settings, a_run())
    (settings.data_dir / "attacks" / "links.json").write_text("{broken")
    with pytest.raises(InputError, match="damaged"):
        make_link(settings, run.id)
