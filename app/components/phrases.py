"""Numbers as people say them."""


def number(count: int, what: str) -> str:
    """A count with its noun."""
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{round(100 * share)} %"


def duration(seconds: float) -> str:
    """Seconds or minutes."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def short(text: str) -> str:
    """A word, cut where it is very long."""
    return text if len(text) <= 40 else text[:39] + "…"
