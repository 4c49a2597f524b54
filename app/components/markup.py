"""Text into HTML that nothing can run: not the browser, and not the template engine of `gr.HTML`."""

import html
from collections.abc import Sequence

# gr.HTML evaluates ${...} and {{...}} after it has put the value in, so these must not arrive as themselves.
_TEMPLATE = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;", "`": "&#96;", "\\": "&#92;"})


def escape(text: object) -> str:
    """Any text, from a visitor or a model, as HTML that shows exactly that text."""
    return html.escape(str(text), quote=True).translate(_TEMPLATE)


def notice(text: str, *, kind: str = "info") -> str:
    """A sentence that stays on the page; `kind` is info, problem or done."""
    role = "alert" if kind == "problem" else "status"
    return f'<p class="notice {kind}" role="{role}">{escape(text)}</p>'


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()
) -> str:
    """An HTML table; on a phone every row is a card, whose cells say their names. Cells are escaped here."""

    def look(place: int) -> str:
        return " class=number" if place in numbers else ""

    def cells(row: Sequence[str]) -> str:
        return "".join(
            f'<td{look(place)} data-name="{escape(heads[place])}">{escape(value)}</td>'
            for place, value in enumerate(row)
        )

    head = "".join(f"<th{look(place)} scope=col>{escape(name)}</th>" for place, name in enumerate(heads))
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return (
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
