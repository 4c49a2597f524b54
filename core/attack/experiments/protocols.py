"""Runs on protocols alone, without a language model: the audit by games, and the STOP attack."""

from collections.abc import Mapping, Sequence
from time import perf_counter

from core.attack.audits.games import Played, World, audit
from core.attack.audits.hard_worlds import ALPHA, pmixed_worlds, strict_worlds, submix_worlds
from core.attack.audits.stop import DIVERGENCE, EPSILON, Stopped, StopProtocol, stop_attack
from core.attack.conduct import Find, Prepared, Step
from core.attack.experiments import verdicts
from core.attack.experiments.pace import timed
from core.attack.kept.runs import BarData, Finding, Outcome, Picture
from core.attack.watch import Watch
from core.errors import InputError

GAMES = 4_000
STOP_GAMES = 100  # so many tell the worlds apart on SubMix all but surely; 40 do not once in a hundred runs
_WORLDS = {"strict": strict_worlds, "pmixed": pmixed_worlds, "submix": submix_worlds}
_TITLES = {"strict": "Strict", "pmixed": "PMixED", "submix": "SubMix"}
_CLAIMED = ("submix",)  # the paper's account of it has a counter-example, which the STOP attack plays
_TRIAL = 20  # games that tell how long one takes here and now


def prepare_audit(*protocols: str, games: int = GAMES, seed: int = 0) -> Prepared:
    """Games in hard worlds, all of them at once: a lower bound on epsilon beside the proved one."""
    protocols = protocols or ("strict",)
    for protocol in protocols:
        if protocol not in _WORLDS:
            raise InputError(f"The audit plays on {', '.join(_WORLDS)} (not on {protocol!r}).")
    found: dict[str, tuple[Played, ...]] = {}

    def plays(protocol: str) -> Find:
        def find(watch: Watch) -> list[Finding]:
            found[protocol] = audit(_WORLDS[protocol](), games=games, watch=watch)
            return [_played(protocol, each) for each in found[protocol]]

        return find

    worlds = {protocol: _WORLDS[protocol]() for protocol in protocols}
    return Prepared(
        attack="audit",
        subject=f"{' and '.join(_TITLES[protocol] for protocol in protocols)} in small worlds",
        synthetic=True,
        seed=seed,
        steps=tuple(
            Step(sum(2 * games * _game_takes(world) for world in each), plays(protocol))
            for protocol, each in worlds.items()
        ),
        conclude=lambda: _audited(found),
        settings={
            "worlds": str(sum(map(len, worlds.values()))),
            "games on each side": f"{games:,}",
            "order": f"{ALPHA:g}",
        },
    )


def prepare_stop(*, games: int = STOP_GAMES, seed: int = 0) -> Prepared:
    """The STOP attack on SubMix as the paper has it, and the same attack on Strict."""
    found: list[Stopped] = []

    def plays(protocol: StopProtocol) -> Find:
        def find(watch: Watch) -> list[Finding]:
            result = stop_attack(protocol, games=games, watch=watch)
            found.append(result)
            return _told(result)

        return find

    work = games * timed(lambda: stop_attack("submix", games=2)) / 2
    return Prepared(
        attack="stop",
        subject="the counter-example to Proposition 3.1",
        synthetic=True,
        seed=seed,
        steps=(Step(work, plays("submix")), Step(work, plays("strict"))),
        conclude=lambda: _stopped(found),
        settings={"games on each side": str(games), "epsilon": f"{EPSILON:g}", "order": f"{ALPHA:g}"},
    )


def _game_takes(world: World) -> float:
    """Seconds, by some games on each side: the first ones also compute the law."""
    begun = perf_counter()
    for side in (world.with_part, world.without):
        for _ in range(_TRIAL):
            side.play(world.steps)
    return (perf_counter() - begun) / (2 * _TRIAL)


def _played(protocol: str, each: Played) -> Finding:
    counts = each.counts
    seen = f"{counts.hits_with:,} against {counts.hits_without:,} of {counts.games_with:,} games"
    return Finding(
        "audit",
        _TITLES[protocol],
        f"epsilon in '{each.world}', at least",
        each.bound,
        note=f"event in {seen}",
    )


def _audited(found: Mapping[str, Sequence[Played]]) -> Outcome:
    if not found:
        return Outcome()
    pictures, sentences = [], list[str]()
    for protocol, played in found.items():
        bars, proved = [], protocol not in _CLAIMED
        held = "proved" if proved else "claimed"
        for each in played:
            bars += [
                BarData("audited, at least", each.bound, group=each.world),
                BarData(f"{held}, at most", each.epsilon, group=each.world),
            ]
        title = f"{_TITLES[protocol]}: audited and {held} epsilon"
        pictures.append(Picture(title, "epsilon", tuple(bars)))
        sentences += verdicts.audited(_TITLES[protocol], played, proved=proved)
    return Outcome(
        pictures=tuple(pictures),
        verdict=tuple(sentences),
        notes=(
            f"Renyi divergences of order {ALPHA:g}, by data processing of one event whose chances were "
            "bounded by Clopper-Pearson; the event was chosen in games of its own. All bounds of a protocol "
            "hold together with 95 % confidence.",
            "The games run the protocol and the sampler that answers are drawn with, in worlds of two to "
            "sixteen tokens. A bound below epsilon is no proof of it.",
        ),
    )


def _told(found: Stopped) -> list[Finding]:
    title = _TITLES[found.protocol]
    counts = found.counts
    return [
        Finding.of("stop", title, "advantage of the attacker", found.advantage, unit="share",
                   note=f"{counts.hits_with} of {counts.games_with} against {counts.hits_without}"),
        Finding("stop", title, "divergence of order 2, at least", found.bound,
                note=f"epsilon is {EPSILON:g}"),
    ]  # fmt: skip


def _stopped(found: list[Stopped]) -> Outcome:
    if not found:
        return Outcome()
    bars = [
        BarData(_TITLES[each.protocol], each.advantage.value, each.advantage.low, each.advantage.high)
        for each in found
    ]
    bars.append(BarData("most that epsilon 1 allows", found[0].allowed))
    return Outcome(
        pictures=(
            Picture(
                "How well two worlds are told apart", "share; 0 % is chance, 100 % always", tuple(bars), 1.0
            ),
        ),
        verdict=verdicts.stopped(found),
        notes=(
            "Public model (.99, .01); three parts whose halves agree: (.5, .5), (.9, .1), (.1, .9). By "
            "SubMix's own account the first part pays nothing. Summed over all transcripts the divergence is "
            f"{DIVERGENCE}.",
        ),
    )
