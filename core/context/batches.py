"""Which rows to read at once: of like length, so that little is padded."""

from collections.abc import Sequence


def by_length(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Rows from the shortest to the longest, in batches of at most `most` tokens, padding included."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batches: list[list[int]] = []
    for row in order:
        if batches and (len(batches[-1]) + 1) * lengths[row] <= most:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches
