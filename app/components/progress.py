"""A bar that says how far something is, with words below it."""

from app.components.markup import escape
from app.components.phrases import duration


def progress_html(share: float | None, doing: str, seconds_left: float | None) -> str:
    """The bar; without a share it stands for work whose length nobody knows."""
    known = seconds_left is not None and seconds_left < 1e6
    left = f", about {duration(seconds_left or 0.0)} left" if known else ""
    if share is None:
        value, bar = "", '<span class="unknown"></span>'
    else:
        percent = round(100 * min(max(share, 0.0), 1.0))
        value, bar = f' aria-valuenow="{percent}"', f'<span style="width:{percent}%"></span>'
    return (
        '<div class="working"><div class="progress" role="progressbar" aria-label="Progress" '
        f'aria-valuemin="0" aria-valuemax="100"{value}>{bar}</div><p>{escape(doing)}{left}</p></div>'
    )
