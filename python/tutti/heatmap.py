"""Lateness by rank and call on a grid that is small enough to be looked at, and as text."""

from __future__ import annotations

from collections.abc import Sequence

from tutti.console import duration

SHADES = " ░▒▓█"
SHADES_ASCII = " .:*#"


def edges(count: int, cells: int) -> list[int]:
    """Where each of at most `cells` equal parts of 0..count-1 begins, and `count` at the end."""
    cells = max(1, min(cells, count))
    return [cell * count // cells for cell in range(cells + 1)]


def grid_of(delays: Sequence[Sequence[float]], rows: int, columns: int) -> list[list[float]]:
    """Lateness by call and rank as at most `rows` rows of ranks and `columns` columns of calls.

    A cell holds the mean over its calls, and of its ranks' means the largest: so one late rank
    among a thousand can be seen. O(calls * ranks).
    """
    by_rank = list(zip(*delays, strict=True))
    lines = edges(len(by_rank), rows)
    parts = edges(len(delays), columns)
    grid = []
    for top, bottom in zip(lines, lines[1:], strict=False):
        means = [
            [sum(rank[a:b]) / (b - a) for a, b in zip(parts, parts[1:], strict=False)]
            for rank in by_rank[top:bottom]
        ]
        grid.append([max(cell) for cell in zip(*means, strict=True)])
    return grid


def top_of(grid: Sequence[Sequence[float]]) -> float:
    """Where the scale of a grid ends, at least at a nanosecond.

    It ends at what the latest rank exceeds in a tenth of its calls: a single hiccup, which may be
    a hundred times as long as what happens in each call, goes beyond it. If nobody was late in so
    many calls, it ends at the largest value.
    """
    usual = max(sorted(row)[min(len(row) - 1, len(row) * 9 // 10)] for row in grid)
    return max(usual or max(max(row) for row in grid), 1e-9)


def text_of(
    delays: Sequence[Sequence[float]], width: int, height: int = 16, shades: str = SHADES
) -> list[str]:
    """A picture of characters, at most `width` wide: ranks by calls, and its scale below."""
    ranks, calls = len(delays[0]), len(delays)
    lines = edges(ranks, height)
    labels = [
        f"rank {top}" if bottom - top == 1 else f"rank {top}-{bottom - 1}"
        for top, bottom in zip(lines, lines[1:], strict=False)
    ]
    margin = max(len(label) for label in labels)
    room = max(1, width - margin - 3)
    wide = min(4, max(1, room // calls))
    grid = grid_of(delays, height, room // wide)
    top = top_of(grid)
    steps = len(shades) - 1
    drawn = []
    for label, row in zip(labels, grid, strict=True):
        cells = "".join(shades[min(steps, round(steps * value / top))] * wide for value in row)
        drawn.append(f"{label:>{margin}} |{cells}|")
    beyond = " or more" if max(max(row) for row in grid) > top else ""
    scale = (
        "  ".join(f"[{shade}] {duration(top * step / steps)}" for step, shade in enumerate(shades))
        + beyond
    )
    each = -(-calls // len(grid[0]))
    over = f"; a column is {each} calls" if each > 1 else ""
    drawn.append(f"{'':>{margin}}  behind the first: {scale}{over}")
    return drawn
