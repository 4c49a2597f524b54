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
    """An HTML table that scrolls sideways on a phone; cells are escaped here."""

    def cells(tag: str, values: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=number' if place in numbers else ''}>{escape(value)}</{tag}>"
            for place, value in enumerate(values)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{cells('th', heads)}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
