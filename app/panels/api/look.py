"""The endpoints as a page: what each does and takes, and a call to copy."""

from collections.abc import Mapping
from typing import Any

from app.components.markup import escape, table
from app.panels.api.examples import EXAMPLES, as_curl, as_python, as_session, as_tool

_LIMITS = (
    "A refusal is a sentence with a code that stays the same: bad-input, budget-refused, ledger-unavailable, "
    "model-unavailable, log-unavailable, cancelled or refused. A client that calls too often gets status 429 "
    "with the seconds to wait, a full queue a sentence to come back."
)


def endpoints_html(
    info: Mapping[str, Any], said: Mapping[str, Mapping[str, str]], address: str, calls_a_minute: int
) -> str:
    """Every named endpoint, from Gradio's own description of them and what is said of their arguments."""
    limit = f"{calls_a_minute:,} calls a minute from one address." if calls_a_minute else ""
    known = sorted(info.items(), key=lambda item: _place(item[0]))
    names = [(name.removeprefix("/"), about) for name, about in known]
    parts = [_endpoint_html(name, about, said.get(name, {}), address) for name, about in names]
    mcp = f"{address}/gradio_api/mcp/"
    session = _code("mcp-session", "A session, in Python", as_session(mcp))
    return (
        '<p class="lead">Whatever the pages do, a program can do: over HTTP, with Python or curl, or as '
        f"tools of an MCP server at <code>{escape(mcp)}</code>. Without a curator's token a program is a "
        "visitor.</p>"
        f'<p class="small">{escape(_LIMITS)} {escape(limit)}</p>{"".join(parts)}'
        '<details class="endpoint" id="api-mcp"><summary><code>MCP</code> <span>How to open the session that '
        f"the examples for MCP call.</span></summary>{session}</details>"
    )


def _place(name: str) -> int:
    names = list(EXAMPLES)
    own = name.removeprefix("/")
    return names.index(own) if own in names else len(names)


def _endpoint_html(name: str, about: Mapping[str, Any], said: Mapping[str, str], address: str) -> str:
    description = str(about.get("description") or "")
    summary = description.split("\n\n", maxsplit=1)[0].strip()
    rows = [
        [
            str(each["parameter_name"]),
            str(each.get("python_type", {}).get("type", "")),
            "" if not each.get("parameter_has_default") else repr(each.get("parameter_default")),
            said.get(each["parameter_name"], "").replace("`", ""),
        ]
        for each in about.get("parameters", [])
    ]
    takes = table(f"What {name} takes", ["name", "type", "default", "what it is"], rows) if rows else ""
    given = EXAMPLES.get(name, {})
    calls = (
        ("Python", as_python(name, given, address)),
        ("curl", as_curl(name, given, address)),
        ("MCP", as_tool(name, given)),
    )
    code = "".join(_code(f"{kind}-{name}".lower(), kind, text) for kind, text in calls)
    return (
        f'<details class="endpoint" id="api-{name}"><summary><code>/{name}</code> '
        f"<span>{_with_code(summary)}</span></summary>{takes}{code}</details>"
    )


def _code(place: str, kind: str, text: str) -> str:
    """Lines to copy, and the button that does."""
    return (
        f'<div class="code-head"><span>{kind}</span>'
        f'<button type="button" data-copies="code-{place}" aria-label="Copy {place}">Copy</button></div>'
        f'<pre id="code-{place}" tabindex="0" aria-label="{place}">{escape(text)}</pre>'
    )


def _with_code(words: str) -> str:
    """Words in which `names` stand as code."""
    return "".join(
        f"<code>{escape(piece)}</code>" if place % 2 else escape(piece)
        for place, piece in enumerate(words.split("`"))
    )
