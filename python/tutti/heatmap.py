"""Reduces delays by rank and call to a small grid, and prints the grid as text."""

from __future__ import annotations

from collections.abc import Sequence

from tutti.console import duration

SHADES = " ░▒▓█"
SHADES_ASCII = " .:*#"


def shades_of(encoding: str) -> str:
    """The shades that this encoding has."""
    return SHADES if encoding.lower().startswith("utf") else SHADES_ASCII


def edges(count: int, cells: int) -> list[int]:
    """The bounds of at most `cells` equal parts of 0..count-1: where each begins, then `count`."""
    cells = max(1, min(cells, count))
    return [cell * count // cells for cell in range(cells + 1)]


def grid_of(delays: Sequence[Sequence[float]], rows: int, columns: int) -> list[list[float]]:
    """The delays as a grid of at most `rows` rows of ranks and `columns` columns of calls.

    A cell has the largest of its ranks' mean delays, each over the cell's calls. So one late rank
    among 1,000 stays visible. O(calls * ranks).
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
    """The end of the scale of a grid, at least 1 ns.

    The latest rank exceeds it in 10 % of its columns. A single outlier, which may be 100 times as
    long as the usual delay, thus lies beyond the scale. If no rank is late in as many columns, the
    scale ends at the largest value.
    """
    usual = max(sorted(row)[min(len(row) - 1, len(row) * 9 // 10)] for row in grid)
    return max(usual or max(max(row) for row in grid), 1e-9)


def shade_of(value: float, top: float, last: int) -> int:
    """The number of the shade of a delay, from 0 to `last` at the end of the scale."""
    return min(last, max(0, round(last * value / top)))


def text_of(
    delays: Sequence[Sequence[float]], width: int, height: int = 16, shades: str = SHADES
) -> list[str]:
    """The heat map as lines of at most `width` characters, from 72: ranks by calls, and the scale."""
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
        cells = "".join(shades[shade_of(value, top, steps)] * wide for value in row)
        drawn.append(f"{label:>{margin}} |{cells}|")
    beyond = " or more" if max(max(row) for row in grid) > top else ""
    scale = (
        "  ".join(f"[{shade}] {duration(top * step / steps)}" for step, shade in enumerate(shades))
        + beyond
    )
    each = -(-calls // len(grid[0]))
    over = f"; a column is {each} calls" if each > 1 else ""
    for line in (f"delay behind the first rank{over}:", scale):
        drawn.append(" " * max(0, min(margin + 2, width - len(line))) + line)
    return drawn
