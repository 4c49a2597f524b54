"""The budget meter: a few numbers in, HTML and SVG out. Everything it shows it is told; it asks nobody."""

from dataclasses import dataclass
from typing import Literal

from core.charts import Axis, Line, line_chart

State = Literal["Healthy", "Watch", "Low", "Public model only", "No protection"]
_LOW, _WATCH, _BEHIND = 0.1, 1 / 3, 0.75  # shares of the nominal budget, and of the even pace


@dataclass(frozen=True)
class Reading:
    """What the meter shows. `remaining` is empty where the reader may see nominal terms and counts only.

    `history` is (queries used, what the weakest part had left). With `halves`, the parts of the ledger are
    the two halves of each part of the corpus.
    """

    epsilon: float
    alpha: float
    queries: int
    used: int
    remaining: tuple[float, ...] = ()
    history: tuple[tuple[int, float], ...] = ()
    halves: bool = False
    stopped: bool = False
    protected: bool = True

    @property
    def exact(self) -> bool:
        """Whether what is left may be seen."""
        return bool(self.remaining)

    @property
    def weakest(self) -> float:
        """What the weakest part has left."""
        return min(self.remaining)

    @property
    def share(self) -> float:
        """The share that is left: of the weakest part's budget, or of the planned queries."""
        left = self.weakest / self.epsilon if self.exact else 1.0 - self.used / self.queries
        return min(max(left, 0.0), 1.0)

    @property
    def pace(self) -> float:
        """The share that would be left at an even pace."""
        return max(0.0, 1.0 - self.used / self.queries)

    @property
    def tokens_left(self) -> int:
        """How many more tokens there are, if they cost as much as those so far; never more than planned."""
        ahead = max(self.queries - self.used, 0)
        spent = self.epsilon - self.weakest if self.exact else 0.0
        if self.used == 0 or spent <= 0.0:
            return ahead
        return min(ahead, int(self.weakest * self.used / spent))

    @property
    def state(self) -> State:
        """The state in words."""
        if not self.protected:
            return "No protection"
        if self.stopped or self.used >= self.queries or (self.exact and max(self.remaining) <= 0.0):
            return "Public model only"
        if self.share < _LOW:
            return "Low"
        return "Watch" if self.share < _WATCH or self.share < _BEHIND * self.pace else "Healthy"

    def part(self, number: int) -> str:
        """What people call the ledger's part of this number, from 0."""
        return f"part {number // 2 + 1}{'ab'[number % 2]}" if self.halves else f"part {number + 1}"


def meter_html(reading: Reading) -> str:
    """The strip: what is left of nominal, the state in words and colour, tokens left, the weakest part."""
    queries_left = max(reading.queries - reading.used, 0)
    terms = f"epsilon {reading.epsilon:g} at Renyi order {reading.alpha:g}"
    counted = f"{reading.used:,} of {reading.queries:,} queries used"
    if reading.exact:
        now, most = f"{reading.weakest:.4f}", f"{reading.epsilon:g}"
        head, said = f"<b>{now}</b> of {most} left", f"{now} of {most} left in the weakest part"
        weakest = reading.part(reading.remaining.index(reading.weakest))
        alike = max(reading.remaining) == reading.weakest
        facts = [_tokens(reading), "all parts alike" if alike else f"weakest: {weakest}", counted, terms]
    else:
        now, most = str(queries_left), str(reading.queries)
        said = f"{queries_left:,} of {reading.queries:,} queries left"
        head = f"<b>{queries_left:,}</b> of {reading.queries:,} queries left"
        facts = [terms, "what is left of each part is for the curator"]
    shown = "".join(f"<span>{fact}</span>" for fact in facts)
    return (
        f'<div class="meter {_key(reading.state)}"><div class="meter-line">'
        f'<span class="meter-name">Privacy budget</span><span class="meter-left">{head}</span>'
        f'<span class="meter-track" role="meter" aria-label="Privacy budget" aria-valuemin="0" '
        f'aria-valuemax="{most}" aria-valuenow="{now}" aria-valuetext="{said}. {reading.state}.">'
        f'<span class="meter-fill" style="width:{100 * reading.share:.2f}%"></span>'
        f'<span class="meter-pace" style="left:{100 * reading.pace:.2f}%"></span></span>'
        f'<span class="meter-state">{reading.state}</span></div><p class="meter-facts">{shown}</p></div>'
    )


def bars_html(reading: Reading) -> str:
    """What every part has left, the weakest first."""
    order = sorted(range(len(reading.remaining)), key=lambda number: reading.remaining[number])
    rows = "".join(
        f'<li><span class="bar-name">{reading.part(number)}</span><span class="bar-track">'
        f'<span class="bar-fill" style="width:{100 * reading.remaining[number] / reading.epsilon:.2f}%">'
        f'</span></span><span class="bar-left">{reading.remaining[number]:.4f}</span></li>'
        for number in order
    )
    return f'<ol class="bars" aria-label="Left of each part, weakest first">{rows}</ol>'


def burn_down_svg(reading: Reading) -> str:
    """What the weakest part had left as queries were used, beside the even pace; the axes never move."""
    return line_chart(
        [
            Line("weakest part", reading.history or ((0, reading.epsilon),)),
            Line("even pace", ((0, reading.epsilon), (reading.queries, 0.0)), style="dashed"),
        ],
        title="",
        x=Axis("queries used", 0, reading.queries),
        y=Axis("epsilon left, nats", 0, reading.epsilon),
        description=f"After {reading.used:,} of {reading.queries:,} queries the weakest part has "
        f"{reading.weakest:.4f} of {reading.epsilon:g} left; at an even pace it would have "
        f"{reading.epsilon * reading.pace:.4f}.",
        size=(360, 270),
    )


def _tokens(reading: Reading) -> str:
    if reading.state == "No protection":
        return "this baseline keeps no account"
    if reading.state == "Public model only":
        return "answers come from the public model"
    return f"about {reading.tokens_left:,} tokens at this pace"


def _key(state: State) -> str:
    return state.split()[0].lower()
