"""The shapes of the report page's pictures: SVG paths without text, which the page adds as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tutti import heatmap
from tutti.console import duration
from tutti.reports import Pattern
from tutti.site_totals import PARTS

COLOURS = (
    "#00224e", "#123570", "#3b496c", "#575d6d", "#707173",
    "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
)  # fmt: skip
"""Ten steps of cividis, which is perceptually uniform, also with red-green blindness."""

_ROWS, _COLUMNS, _BARS = 64, 160, 128


@dataclass(frozen=True)
class HeatMap:
    """A grid of delays: ranks by calls, with (0, 0) at the top left and cells of size 1."""

    columns: int
    rows: int
    paths: list[tuple[str, str]]
    """A colour and the SVG path of its cells; cells of the first colour are the background."""
    scale: list[str]
    """The delays at the beginning, middle and end of the colours."""
    note: str
    """How many calls and ranks a cell covers; empty if it is one of each."""


@dataclass(frozen=True)
class Bars:
    """Stacked bars by rank, each of width 1; heights are fractions of the largest."""

    count: int
    paths: list[tuple[str, str]]
    """A name and the SVG path of its bars, in a box of height 1 with its origin at the top."""
    top: str
    """The value of the full height."""


def heat_map(pattern: Pattern) -> HeatMap:
    """The delays of a pattern. Cells of one colour in a row are one rectangle of a path."""
    ranks, calls = len(pattern.ranks), len(pattern.calls)
    grid = heatmap.grid_of(pattern.delays, _ROWS, _COLUMNS)
    top = heatmap.top_of(grid)
    beyond = " or more" if max(max(row) for row in grid) > top else ""
    columns = len(grid[0])
    covered = [(-(-calls // columns), "call"), (-(-ranks // len(grid)), "rank")]
    parts = [f"{number} {noun}s" for number, noun in covered if number > 1]
    return HeatMap(
        columns, len(grid), cells_by_colour(grid, top),
        ["0", duration(top / 2), duration(top) + beyond],
        f"A cell covers up to {' and '.join(parts)}." if parts else "",
    )  # fmt: skip


def cells_by_colour(grid: Sequence[Sequence[float]], top: float) -> list[tuple[str, str]]:
    """The SVG path of the cells of each colour, from the second on. O(cells)."""
    paths: dict[int, list[str]] = {}
    last = len(COLOURS) - 1
    for y, row in enumerate(grid):
        shades = [heatmap.shade_of(value, top, last) for value in row]
        begin = 0
        for x in range(1, len(shades) + 1):
            if x < len(shades) and shades[x] == shades[begin]:
                continue
            if shades[begin]:
                wide = x - begin
                paths.setdefault(shades[begin], []).append(f"M{begin} {y}h{wide}v1h-{wide}z")
            begin = x
    return [(COLOURS[shade], "".join(path)) for shade, path in sorted(paths.items())]


def profile(pattern: Pattern) -> Bars:
    """The mean delay of each rank behind the first; of many ranks the latest of each bar."""
    return _bars({"delay": _binned(pattern.mean_delay)})


def parts(pattern: Pattern) -> Bars:
    """Waiting, held and moving of each rank, means over calls.

    Of many ranks a bar shows the one with the longest time.
    """
    values = {name: list(getattr(pattern, name)) for name in PARTS}
    sums = [sum(column) for column in zip(*values.values(), strict=True)]
    bounds = heatmap.edges(len(sums), _BARS)
    shown = [
        max(range(a, b), key=lambda rank: sums[rank])
        for a, b in zip(bounds, bounds[1:], strict=False)
    ]
    return _bars({name: [column[rank] for rank in shown] for name, column in values.items()})


def _binned(values: Sequence[float]) -> list[float]:
    bounds = heatmap.edges(len(values), _BARS)
    return [max(values[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)]


def _bars(values: dict[str, list[float]]) -> Bars:
    sums = [sum(column) for column in zip(*values.values(), strict=True)]
    top = max(*sums, 1e-9) if len(sums) > 1 else max(sums[0], 1e-9)
    below = [0.0] * len(sums)
    paths = []
    for name, column in values.items():
        path = []
        for x, (low, value) in enumerate(zip(below, column, strict=True)):
            if value > 0:
                y, height = 1 - (low + value) / top, value / top
                path.append(f"M{x} {y:.4f}h1v{height:.4f}h-1z")
        below = [low + value for low, value in zip(below, column, strict=True)]
        paths.append((name, "".join(path)))
    return Bars(len(sums), paths, duration(top))
