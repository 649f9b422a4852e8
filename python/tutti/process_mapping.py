"""Analyses distances between ranks, and models rank orders that fit them."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from tutti import bench
from tutti._engine import Distances, Machine, Reordering
from tutti.console import duration
from tutti.heatmap import edges
from tutti.plot import pyplot_for, save

SHAPES = (
    ("allgather", "ring"),
    ("allgather", "recursive_doubling"),
    ("bcast", "binomial"),
    ("gather", "binomial"),
    ("scatter", "binomial"),
    ("allgather", "bruck"),
    ("allreduce", "ring"),
    ("alltoall", "pairwise"),
)
"""The shapes whose time depends most on the process mapping."""

MIN_GAIN = 1.1
"""The smallest worthwhile gain: the model of pairs is not more accurate than 10 %."""


@dataclass(frozen=True)
class Case:
    """One shape with one block size, and its evaluated rank orders."""

    collective: str
    algorithm: str
    block: int
    reordering: Reordering

    @property
    def worth_it(self) -> bool:
        """Whether the modelled gain of the best order is at least MIN_GAIN."""
        return self.reordering.helps and self.reordering.gain >= MIN_GAIN

    def seconds(self, name: str) -> float | None:
        """The modelled time of an order by its name; None if it was not evaluated."""
        return next((s.seconds for s in self.reordering.all if s.name == name), None)


def cases_of(distances: Distances, blocks: list[int], root: int, machine: Machine) -> list[Case]:
    """The cases of all shapes and block sizes.

    Raises:
        ValueError: the root is not a rank, or a block is negative.
    """
    return [
        Case(
            collective,
            algorithm,
            block,
            distances.reordering(collective, algorithm, block, root, machine),
        )
        for collective, algorithm in SHAPES
        for block in blocks
    ]


def groups_of(level: list[int]) -> list[list[int]]:
    """The ranks of each group, from the group of each rank; ordered by their lowest rank."""
    groups: dict[int, list[int]] = {}
    for rank, group in enumerate(level):
        groups.setdefault(group, []).append(rank)
    return list(groups.values())


def slowest(matrix: list[list[float]]) -> tuple[int, int]:
    """The pair of ranks with the largest distance; with a single rank, (0, 0)."""
    ranks = range(len(matrix))
    return max(((a, b) for a in ranks for b in ranks), key=lambda pair: matrix[pair[0]][pair[1]])


def middle(matrix: list[list[float]]) -> float:
    """The median distance between two ranks; 0 for one rank."""
    return median(
        [one for a, row in enumerate(matrix) for b, one in enumerate(row) if a != b] or [0.0]
    )


def sorted_by_groups(levels: list[list[int]], ranks: int) -> list[int]:
    """The ranks, sorted so that the ranks of each group are adjacent."""
    return sorted(range(ranks), key=lambda rank: [level[rank] for level in reversed(levels)])


def text_of(matrix: list[list[float]], order: list[int], cells: int, shades: str) -> list[str]:
    """The matrix as lines of text, 2 characters per cell: ranks in `order`, at most `cells` rows.

    A cell of several pairs shows their largest distance. The shades divide the range of distances
    evenly on a logarithmic scale; the last line is their legend.
    """
    parts = edges(len(order), cells)
    ranges = [order[a:b] for a, b in zip(parts, parts[1:], strict=False)]
    grid = [[max(matrix[a][b] for a in rows for b in columns) for columns in ranges] for rows in ranges]
    times = [one for a, row in enumerate(matrix) for b, one in enumerate(row) if a != b] or [1e-9]
    low, high = log(min(times)), log(max(times))
    steps = len(shades) - 1

    def shade(seconds: float) -> int:
        return 0 if seconds <= 0 or high == low else round(steps * (log(seconds) - low) / (high - low))

    margin = max(len(str(rank)) for rank in order)
    drawn = [
        f"{rows[0]:>{margin}} |" + "".join(shades[shade(one)] * 2 for one in row) + "|"
        for rows, row in zip(ranges, grid, strict=True)
    ]
    scale = (exp(low + (high - low) * step / steps) for step in range(steps + 1))
    legend = "  ".join(
        f"[{shades[step]}] {duration(seconds)}" for step, seconds in enumerate(scale)
    )
    return [*drawn, f"{'':>{margin}}  {legend}"]


def measure(mpirun: str, file: Path, nodes_per_switch: int) -> None:
    """Measures the distances between the ranks of a launcher, and writes them to a new file.

    Raises:
        Refusal: the launcher or tutti-bench is missing or fails, or the launcher starts nothing.
    """
    words = ["distances", "--quiet", "--output", str(file.absolute())]
    if nodes_per_switch:
        words += ["--nodes-per-switch", str(nodes_per_switch)]
    bench.run(mpirun, words, {})
    if not file.is_file():
        raise bench.nothing_started(mpirun)


def draw(distances: Distances, path: Path) -> None:
    """Draws a heat map for each message size, with ranks sorted by cluster.

    Raises:
        Refusal: Matplotlib is missing, or it cannot write the file.
    """
    pyplot = pyplot_for("--picture")
    levels = distances.clusters()
    order = sorted_by_groups(levels, distances.ranks)
    sizes = distances.bytes
    figure, axes = pyplot.subplots(
        1, len(sizes), figsize=(5.4 * len(sizes), 4.6), squeeze=False, constrained_layout=True
    )
    for which, axis in enumerate(axes.flat):
        _panel(axis, distances.matrix(which), order, levels)
        axis.set_title(f"messages of {sizes[which]:,} bytes", fontsize=10)
    save(figure, path, "--picture")
    pyplot.close(figure)


def _panel(axis: Any, matrix: list[list[float]], order: list[int], levels: list[list[int]]) -> None:
    shown = [[matrix[a][b] * 1e6 if a != b else float("nan") for b in order] for a in order]
    # The lightness of viridis increases too, so the map is readable without colours.
    image = axis.imshow(shown, cmap="viridis")
    axis.figure.colorbar(image, ax=axis, label="us")
    for depth, level in enumerate(levels):
        for position in range(1, len(order)):
            if level[order[position]] != level[order[position - 1]]:
                line = {"color": "white", "linewidth": 0.8 + depth}
                axis.axhline(position - 0.5, **line)
                axis.axvline(position - 0.5, **line)
    step = max(1, len(order) // 16)
    ticks = list(range(0, len(order), step))
    axis.set_xticks(ticks, [str(order[position]) for position in ticks], fontsize=7)
    axis.set_yticks(ticks, [str(order[position]) for position in ticks], fontsize=7)
    axis.set_xlabel("to rank")
    axis.set_ylabel("from rank")
