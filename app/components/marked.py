"""Text with marked words: each says more on hover and focus, and arrow keys walk along them."""

from dataclasses import dataclass

from app.components.markup import escape


@dataclass(frozen=True)
class Mark:
    """A marked word: its look (a class of the style sheet) and what it says."""

    text: str
    look: str
    said: str


Stretch = Mark | str  # a marked word, or text between


def marked_html(stretches: list[Stretch], label: str) -> str:
    """The text; `label` tells a screen reader what it is."""
    return (
        f'<div class="marked" role="group" tabindex="0" aria-label="{escape(label)}; arrow keys move along '
        f'the marked words">{"".join(map(_stretch, stretches))}</div>'
    )


def _stretch(stretch: Stretch) -> str:
    if isinstance(stretch, str):
        return escape(stretch)
    said = escape(stretch.said)
    return (
        f'<span class="word {stretch.look}" tabindex="-1" role="img" '
        f'aria-label="{escape(stretch.text)}: {said}" data-said="{said}">{escape(stretch.text)}</span>'
    )


def legend_html(entries: dict[str, str]) -> str:
    """What each look means."""
    shown = "".join(
        f'<span><i class="word {look}" aria-hidden="true">word</i>{escape(words)}</span>'
        for look, words in entries.items()
    )
    return f'<p class="marked-legend">{shown}</p>'
