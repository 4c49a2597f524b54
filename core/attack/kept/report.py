"""A run as one HTML file that needs nothing from outside, and as JSON."""

import json
from html import escape

from core.attack.kept.pictures import draw
from core.attack.kept.runs import Finding, Run

# Nothing may be loaded or run: the file holds text, styles and drawings alone.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root{color-scheme:light dark;--paper:#fbfcfc;--ink:#161d1e;--soft:#4b5859;--line:#dde4e4;--accent:#0f706d}
@media(prefers-color-scheme:dark){:root{--paper:#12181a;--ink:#e8eeee;--soft:#a9b6b7;--line:#2b3638;
--accent:#58c2bd;--chart-paper:#182022;--chart-ink:#e8eeee;--chart-soft:#a9b6b7;--chart-grid:#2b3638;
--chart-1:#58c2bd;--chart-2:#e39a66;--chart-3:#93a6e8;--chart-4:#d68fc4;--chart-5:#b3c46a;--chart-6:#a3b1b2}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2.25rem 0 .5rem}
.soft{color:var(--soft)}
.verdict{border-left:4px solid var(--accent);padding:.25rem 0 .25rem 1rem;margin:1.25rem 0}
.verdict p{margin:.35rem 0;font-size:1.1rem}.problem{border-left:4px solid #b4541a;padding-left:1rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem}
svg{width:100%;max-width:30rem;height:auto;border:1px solid var(--line);border-radius:8px}
.table{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600}td.n,th.n{text-align:right}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:0}
dt{color:var(--soft)}dd{margin:0}
@media(max-width:40rem){thead{position:absolute;left:-99rem}
tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}
td,td.n{display:flex;gap:1rem;justify-content:space-between;padding:.1rem 0;border:0;text-align:right}
td::before{content:attr(data-is);color:var(--soft);text-align:left}td:empty{display:none}}
"""
_COLUMNS = ("Attack", "Target", "Measure", "Value", "95 % interval", "Note")
_NUMBERS = ("Value", "95 % interval")


def report_html(run: Run) -> str:
    """The report of a run: verdict, pictures, every number with its interval, conditions, settings."""
    out = run.outcome
    verdict = "".join(f"<p>{escape(sentence)}</p>" for sentence in out.verdict)
    charts = "".join(f"<div>{draw(picture)}</div>" for picture in out.pictures)
    notes = "".join(f"<li>{escape(note)}</li>" for note in out.notes)
    kind = "synthetic" if run.synthetic else "private"
    pieces = [
        f"<h1>Attack report: {escape(run.attack)}</h1>",
        f'<p class="soft">{escape(run.subject)} ({kind}), {escape(run.created)}, '
        f"{run.seconds:,.0f} seconds, {escape(run.status)}</p>",
        f'<p class="problem">{escape(run.problem)}</p>' if run.problem else "",
        f'<section class="verdict" aria-label="Verdict">{verdict}</section>' if verdict else "",
        f'<h2>Pictures</h2><div class="charts">{charts}</div>' if charts else "",
        f"<h2>Numbers</h2>{_table(out.findings)}" if out.findings else "<p>Nothing was found out.</p>",
        f"<h2>Conditions</h2><ul>{notes}</ul>" if notes else "",
        f"<h2>Settings</h2>{_settings(run)}",
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">'
        f"<title>Attack report: {escape(run.attack)}, {escape(run.subject)}</title>"
        f"<style>{_STYLE}</style></head><body><main>{''.join(pieces)}</main></body></html>\n"
    )


def report_json(run: Run) -> str:
    """The run with everything in it, for programs."""
    return json.dumps(run.to_json(), indent=1, allow_nan=False, ensure_ascii=True) + "\n"


def in_words(finding: Finding) -> tuple[str, str]:
    """The value and the interval of a finding, as they are written in a table."""
    value = f"{finding.count} of {finding.total}" if finding.total else _number(finding.value, finding.unit)
    if finding.low is None or finding.high is None:
        return value, ""
    if finding.low == finding.high:
        return value, "exact"
    low, high = _number(finding.low, finding.unit), _number(finding.high, finding.unit)
    return value, f"{low.removesuffix(_unit(finding.unit))} to {high}"


def _table(findings: tuple[Finding, ...]) -> str:
    """A row for each finding; on a phone each is a card, whose lines are named by `data-is`."""
    aligned = {name: ' class="n"' if name in _NUMBERS else "" for name in _COLUMNS}
    head = "".join(f'<th scope="col"{aligned[name]}>{name}</th>' for name in _COLUMNS)
    rows = []
    for finding in findings:
        texts = (finding.attack, finding.target, finding.measure, *in_words(finding), finding.note)
        cells = "".join(
            f'<td{aligned[name]} data-is="{name}">{escape(text)}</td>'
            for name, text in zip(_COLUMNS, texts, strict=True)
        )
        rows.append(f"<tr>{cells}</tr>")
    body = "".join(rows)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _settings(run: Run) -> str:
    shown = {"seed of the experiment": str(run.seed), **run.settings}
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in shown.items())
    return f"<dl>{rows}</dl>"


def _number(value: float, unit: str) -> str:
    """Shares in percent and bits to a tenth, others to a hundredth: more is not known of any of them."""
    number = 100.0 * value if unit == "share" else value
    return f"{number:,.{1 if unit in ('share', 'bits') else 2}f}{_unit(unit)}"


def _unit(unit: str) -> str:
    return " %" if unit == "share" else f" {unit}" if unit else ""
