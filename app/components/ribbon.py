"""The ribbon: every token of an answer, tinted by what it cost on a scale that the budget's terms fix."""

from bisect import bisect_right
from dataclasses import dataclass

from app.components.markup import escape

STEPS = (0.5, 1.5, 3.5, 8.0)  # of the even pace; it has a step of its own, and so has a banked allowance

# Arrow keys walk along tokens and marked words: a long text is one stop of the Tab key and not hundreds.
SCRIPT = """
<script>
document.addEventListener("keydown", (event) => {
  const ribbon = event.target.closest?.(".ribbon, .marked");
  if (!ribbon) return;
  const tokens = [...ribbon.querySelectorAll(".token, .word")];
  const here = tokens.indexOf(event.target);
  const next = {ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tokens.length - 1}[event.key];
  if (next === undefined || !tokens.length) return;
  tokens[Math.min(Math.max(next, 0), tokens.length - 1)].focus();
  event.preventDefault();
});
</script>
"""

# The value of the component is the tokens alone, which only grows: each update then sends the new ones.
TEMPLATE = (
    '<div class="ribbon" role="group" tabindex="0" '
    'aria-label="Tokens of the protected answer by cost; arrow keys move along them">${value}</div>'
)


@dataclass(frozen=True)
class Cost:
    """What one token cost the part that paid most, and the mean weight that the parts had in it."""

    nats: float
    weight: float
    public: bool


def token_html(text: str, cost: Cost, even_pace: float) -> str:
    """One token; its cost and weight are said on hover and focus."""
    if cost.public:
        said, level = "from the public model, cost nothing", "public"
    else:
        said = f"cost {cost.nats:.5f}, weight {cost.weight:.2f}"
        level = f"cost-{tint(cost.nats, even_pace)}"
    shown = escape(text.replace("\n", "↵") or "·")
    return (
        f'<span class="token {level}" tabindex="-1" role="img" aria-label="{shown}: {said}" '
        f'data-said="{said}">{shown}</span>'
    )


def tint(nats: float, even_pace: float) -> int:
    """The step of the fixed scale, 0 (free) to 5 (far above the even pace)."""
    return 0 if nats <= 0.0 else 1 + bisect_right(STEPS, nats / even_pace)


def legend_html(even_pace: float) -> str:
    """The scale in numbers."""
    words = ["free", *(f"under {step * even_pace:.4f}" for step in STEPS), "more"]
    steps = "".join(f'<span><i class="token cost-{n}"></i>{word}</span>' for n, word in enumerate(words))
    return f'<p class="ribbon-legend"><span>Cost in nats, on one scale for this budget:</span>{steps}</p>'
