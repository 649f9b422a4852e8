"""What the distances between ranks show, and what orders by them would bring."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from tutti import bench
from tutti._engine import Distances, Machine, Reordering
from tutti.console import Refusal, duration
from tutti.heatmap import edges

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
"""The shapes whose time depends most on where ranks sit."""

MIN_GAIN = 1.1
"""Below it a reordering is not worth it: a model of pairs is not more exact."""


@dataclass(frozen=True)
class Case:
    """One shape with blocks of one size, and the orders that were tried for it."""

    collective: str
    algorithm: str
    block: int
    reordering: Reordering

    @property
    def worth_it(self) -> bool:
        """The best order is modelled faster by a tenth at least."""
        return self.reordering.helps and self.reordering.gain >= MIN_GAIN

    def seconds(self, way: str) -> float | None:
        """The time of a greedy order by its name; None where it was not tried."""
        return next((s.seconds for s in self.reordering.all if s.name == way), None)


def cases_of(distances: Distances, blocks: list[int], root: int, machine: Machine) -> list[Case]:
    """All shapes with all sizes of blocks.

    Raises:
        ValueError: the root is none of the ranks, or a block is negative.
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
    """The ranks of each group, by its lowest rank."""
    groups: dict[int, list[int]] = {}
    for rank, group in enumerate(level):
        groups.setdefault(group, []).append(rank)
    return list(groups.values())


def slowest(matrix: list[list[float]]) -> tuple[int, int]:
    """The pair of ranks with the largest distance; of one rank, that with itself."""
    ranks = range(len(matrix))
    return max(((a, b) for a in ranks for b in ranks), key=lambda pair: matrix[pair[0]][pair[1]])


def middle(matrix: list[list[float]]) -> float:
    """The median distance between two ranks; 0 for one rank."""
    return median(
        [one for a, row in enumerate(matrix) for b, one in enumerate(row) if a != b] or [0.0]
    )


def sorted_by_groups(levels: list[list[int]], ranks: int) -> list[int]:
    """The ranks with those of a group side by side."""
    return sorted(range(ranks), key=lambda rank: [level[rank] for level in reversed(levels)])


def text_of(matrix: list[list[float]], order: list[int], cells: int, shades: str) -> list[str]:
    """The matrix as characters, two for each cell: ranks in `order`, at most `cells` each way.

    A cell of several pairs holds the longest of them. The last line tells what the shades mean,
    which part the range between the shortest and the longest time on a scale of logarithms.
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
    told = "  ".join(
        f"[{shades[step]}] {duration(seconds)}" for step, seconds in enumerate(scale)
    )
    return [*drawn, f"{'':>{margin}}  {told}"]


def measure(mpirun: str, file: Path, nodes_per_switch: int) -> None:
    """Measures the distances between the ranks that a launcher starts, into a file.

    Raises:
        Refusal: the launcher or tutti-bench is missing, or fails.
    """
    words = ["distances", "--quiet", "--output", str(file.absolute())]
    if nodes_per_switch:
        words += ["--nodes-per-switch", str(nodes_per_switch)]
    command = bench.command_of(mpirun, words)
    status = subprocess.run(command, check=False).returncode
    if status != 0:
        raise Refusal(f"{shlex.join(command)}: exit status {status}")


def draw(distances: Distances, path: Path) -> None:
    """A heat map for each size of messages, the ranks sorted by the clusters that are seen.

    Raises:
        Refusal: Matplotlib is missing, or the file's kind is not one that it writes.
    """
    try:
        import matplotlib
    except ImportError:
        raise Refusal("--picture needs Matplotlib: pip install 'tutti[plot]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    levels = distances.clusters()
    order = sorted_by_groups(levels, distances.ranks)
    sizes = distances.bytes
    figure, axes = pyplot.subplots(
        1, len(sizes), figsize=(5.4 * len(sizes), 4.6), squeeze=False, constrained_layout=True
    )
    for which, axis in enumerate(axes.flat):
        _panel(axis, distances.matrix(which), order, levels)
        axis.set_title(f"messages of {sizes[which]:,} bytes", fontsize=10)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise Refusal(f"--picture {path}: {error}") from None
    pyplot.close(figure)


def _panel(axis: Any, matrix: list[list[float]], order: list[int], levels: list[list[int]]) -> None:
    shown = [[matrix[a][b] * 1e6 if a != b else float("nan") for b in order] for a in order]
    # Viridis grows in lightness too, so that it reads without colours.
    image = axis.imshow(shown, cmap="viridis")
    axis.figure.colorbar(image, ax=axis, label="us")
    for depth, level in enumerate(levels):
        for place in range(1, len(order)):
            if level[order[place]] != level[order[place - 1]]:
                line = {"color": "white", "linewidth": 0.8 + depth}
                axis.axhline(place - 0.5, **line)
                axis.axvline(place - 0.5, **line)
    step = max(1, len(order) // 16)
    ticks = list(range(0, len(order), step))
    axis.set_xticks(ticks, [str(order[place]) for place in ticks], fontsize=7)
    axis.set_yticks(ticks, [str(order[place]) for place in ticks], fontsize=7)
    axis.set_xlabel("to rank")
    axis.set_ylabel("from rank")
