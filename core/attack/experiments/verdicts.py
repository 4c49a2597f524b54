"""What was found, in plain sentences: first what happens without protection, then what happens with it."""

from collections.abc import Sequence

from core.attack.audits.audit import Counts
from core.attack.audits.games import Played
from core.attack.audits.stop import EPSILON, Stopped
from core.attack.intervals import Interval
from core.attack.ranking.exposure import BASELINE
from core.attack.targets import ALONE, PUBLIC, WHOLE, Target


def reads(results: Sequence[tuple[Target, int, int, Interval]], what: str) -> tuple[str, ...]:
    """How many secrets each target gave away.

    The first sentence holds no protection against each protection: "With no protection the attacker reads 9
    of 10 codes; under Strict at epsilon 2, none." The others have the intervals.
    """
    sentences, protected = [], []
    named = any(target.kind == WHOLE for target, *_ in results)  # the first sentence says what is counted
    for target, hits, total, share in results:
        limits = f"interval {percent(share.low)} to {percent(share.high)} %"
        if target.kind != WHOLE:
            counted = f"{total}" if named else f"{total} {what}"
            sentences.append(f"{under(target)}: {count(hits)} of {counted}, {limits}.")
            named = True
        if target.protected or target.kind == ALONE:
            protected.append(f"; {in_a_sentence(under(target))}, {count(hits)}")
    for target, hits, total, _ in results:
        if target.kind == WHOLE:
            first = f"With no protection the attacker reads {count(hits)} of {total} {what}"
            sentences.insert(0, f"{first}{''.join(protected)}.")
    return tuple(sentences)


def exposed(results: Sequence[tuple[Target, Interval, float, int]]) -> tuple[str, ...]:
    """The mean exposure of each target, beside that of a secret that nobody memorised."""
    sentences = []
    for target, bits, most, secrets in results:
        limits = f"interval {bits.low:.1f} to {bits.high:.1f}"
        sentences.append(
            f"{under(target)}: exposure {bits.value:.1f} of at most {most:.1f} bits on average over "
            f"{secrets} secrets, {limits}."
        )
    if sentences:
        sentences.append(f"A secret that nobody memorised has {BASELINE:.2f} bits on average, not 0.")
    return tuple(sentences)


def told_members(results: Sequence[tuple[Target, str, Interval]]) -> tuple[str, ...]:
    """The area of the best score on each target, as what it is: how often a member is picked from a pair."""
    return tuple(
        f"{under(target)}, the attacker picks the member from a pair of texts {percent(area.value)} % of the "
        f"time, interval {percent(area.low)} to {percent(area.high)} %, by the best score ({name}); 50 % is "
        "chance."
        for target, name, area in results
    )


def audited(protocol: str, played: Sequence[Played], *, proved: bool = True) -> tuple[str, ...]:
    """Whether any world refutes epsilon: the proved one, or the one of an account that has no proof."""
    worst = max(played, key=lambda each: each.bound / each.epsilon)
    if worst.broken:
        return (
            f"{protocol} gives away more than it says: in '{worst.world}' at least {worst.bound:.2f} "
            f"where {worst.epsilon:g} was promised. Do not serve this build.",
        )
    worlds = "1 hard world" if len(played) == 1 else f"{len(played)} hard worlds"
    seen = f"{protocol} holds in {worlds}: at least {worst.bound:.2f} was seen to leak, where at most"
    if proved:
        return (f"{seen} {worst.epsilon:g} is proved. No world refutes its epsilon.",)
    return (f"{seen} {worst.epsilon:g} is claimed. The STOP attack has a world in which it does not hold.",)


def stopped(results: Sequence[Stopped]) -> tuple[str, ...]:
    """Whether each protocol's silence told the worlds apart: in plain words, then with the counts."""
    first = []
    for found in results:
        if found.protocol == "submix" and found.told_apart:
            first.append(
                "SubMix as the paper has it gives a part away by falling silent: the attacker tells two "
                "worlds apart that its epsilon calls alike."
            )
        elif found.protocol == "strict" and _failed(found):
            first.append("On Strict the same attack fails." if first else "On Strict the attack fails.")
    return (*([" ".join(first)] if first else []), *map(_stopped, results))


def _failed(found: Stopped) -> bool:
    return not found.told_apart and found.advantage.value <= found.allowed


def _stopped(found: Stopped) -> str:
    counts: Counts = found.counts
    name = "SubMix as the paper has it" if found.protocol == "submix" else "Strict"
    guesses = (
        f'the attacker says "the part is there" in {counts.hits_with} of {counts.games_with} games with it '
        f"and in {counts.hits_without} of {counts.games_without} without it"
    )
    if found.told_apart:
        return (
            f"On {name} {guesses}: a divergence of at least {found.bound:.2f}, where epsilon is {EPSILON:g}."
        )
    ending = (
        "The attack fails."
        if _failed(found)
        else "That is more than it allows, but so few games may show it by chance: play more."
    )
    return (
        f"On {name} {guesses}: an advantage of {percent(found.advantage.value)} % "
        f"({percent(found.advantage.low)} to {percent(found.advantage.high)} %), "
        f"where epsilon {EPSILON:g} allows {percent(found.allowed)} %. {ending}"
    )


def under(target: Target) -> str:
    """ "Under Strict at epsilon 2", "With no protection", "From the public model"."""
    if target.kind == WHOLE:
        return "With no protection"
    if target.kind == PUBLIC:
        return "From the public model, which saw none of it"
    if target.kind == ALONE:
        return f"From {target.words}"
    return f"Under {target.words}" if target.protected else f"From the {target.words}"


def in_a_sentence(words: str) -> str:
    """The same words where they do not begin it."""
    return words[:1].lower() + words[1:]


def count(number: int) -> str:
    """A count in a sentence: nothing is a word."""
    return str(number) if number else "none"


def percent(value: float) -> str:
    """A share as a whole percentage; what is not zero is not written as zero, nor what is not all as 100."""
    whole = round(100.0 * value)
    close = (whole == 0 and value > 0.0005) or (whole == 100 and value < 0.9995)
    return f"{100.0 * value:.1f}" if close else str(whole)
