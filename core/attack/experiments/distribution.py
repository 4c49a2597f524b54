"""The exposures of many secrets: each of them in a picture, and what was extrapolated, marked as such."""

from collections.abc import Sequence

from core.attack.kept.runs import Finding, LineData, Picture
from core.attack.ranking.exposure import BASELINE, Exposure

FEWEST = 4  # secrets; fewer show no distribution


def distribution(
    found: Sequence[tuple[str, Sequence[Exposure]]], title: str, what: str
) -> tuple[Picture, ...]:
    """The exposure of every secret under each target, in order; dashed, the mean of what nobody memorised."""
    count = max((len(exposures) for _, exposures in found), default=0)
    if count < FEWEST:
        return ()
    lines = [
        LineData(name, tuple((float(place), bits) for place, bits in enumerate(_sorted(exposures), 1)))
        for name, exposures in found
    ]
    lines.append(LineData("not memorised", ((1.0, BASELINE), (float(count), BASELINE)), "dashed"))
    most = max(each.most for _, exposures in found for each in exposures)
    return (Picture(title, lines=tuple(lines), x=what, y="bits of exposure", y_limits=(0.0, most)),)


def extrapolated(target: str, exposures: Sequence[Exposure]) -> list[Finding]:
    """The mean by the skew-normal law of those that were sampled; nothing where every rank is known."""
    laws = [each.extrapolated for each in exposures if each.extrapolated is not None]
    if not laws:
        return []
    note = (
        f"by a skew-normal law fitted to samples, for {len(laws)} of {len(exposures)}: not a measurement; "
        f"the fit has p {min(law.fit for law in laws):.2f} at worst"
    )
    bits = sum(law.bits for law in laws) / len(laws)
    return [Finding("exposure", target, "mean exposure, extrapolated", bits, unit="bits", note=note)]


def _sorted(exposures: Sequence[Exposure]) -> list[float]:
    return sorted(each.bits for each in exposures)
