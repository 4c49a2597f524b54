"""What a run of attacks found, as plain data: findings, pictures, a verdict in words."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from core.attack.intervals import Interval
from core.errors import InputError

FORMAT = 1
Status = Literal["finished", "cancelled", "stopped"]


@dataclass(frozen=True)
class Finding:
    """One number: what an attack measured on a target. Shares are between 0 and 1 and have unit "share"."""

    attack: str
    target: str
    measure: str
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = ""
    count: int | None = None
    total: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not math.isfinite(number):
                raise InputError(f"The {self.measure} on {self.target} is not a finite number.")

    @classmethod
    def of(cls, attack: str, target: str, measure: str, found: Interval, **more: Any) -> "Finding":
        """A finding with an interval."""
        return cls(attack, target, measure, found.value, found.low, found.high, **more)


@dataclass(frozen=True)
class BarData:
    """One bar of a picture, with its interval where there is one."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    group: str = ""


@dataclass(frozen=True)
class LineData:
    """One line of a picture; `band` is the interval at each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    style: Literal["solid", "dashed", "dots"] = "solid"
    band: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Picture:
    """A chart as data: bars, or lines over two axes."""

    title: str
    unit: str = ""
    bars: tuple[BarData, ...] = ()
    limit: float | None = None
    lines: tuple[LineData, ...] = ()
    x: str = ""
    y: str = ""
    x_log: bool = False
    y_limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Outcome:
    """What one attack hands back. The first sentence of the verdict is the answer; notes are conditions."""

    findings: tuple[Finding, ...] = ()
    pictures: tuple[Picture, ...] = ()
    verdict: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """A run that was stored. `status` tells whether it came to its end, `problem` why not."""

    id: str
    attack: str
    subject: str
    synthetic: bool
    created: str
    seconds: float
    seed: int
    settings: Mapping[str, str] = field(default_factory=dict)
    outcome: Outcome = field(default_factory=Outcome)
    status: Status = "finished"
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The run as JSON values."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Run":
        """The run back from JSON values; ValueError, TypeError or KeyError where they are none."""
        if values.get("format") != FORMAT:
            raise ValueError("another format")
        plain = {name: value for name, value in values.items() if name != "format"}
        outcome = plain.pop("outcome")
        return cls(
            **plain,
            outcome=Outcome(
                findings=tuple(Finding(**entry) for entry in outcome["findings"]),
                pictures=tuple(_picture(entry) for entry in outcome["pictures"]),
                verdict=tuple(map(str, outcome["verdict"])),
                notes=tuple(map(str, outcome["notes"])),
            ),
        )


def _picture(values: dict[str, Any]) -> Picture:
    limits = values["y_limits"]
    return Picture(
        **{
            **values,
            "bars": tuple(BarData(**bar) for bar in values["bars"]),
            "lines": tuple(_line(line) for line in values["lines"]),
            "y_limits": None if limits is None else (float(limits[0]), float(limits[1])),
        }
    )


def _line(values: dict[str, Any]) -> LineData:
    pairs = {name: tuple((float(a), float(b)) for a, b in values[name]) for name in ("points", "band")}
    return LineData(**{**values, **pairs})
