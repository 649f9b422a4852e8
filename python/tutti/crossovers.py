"""Plots which algorithm is fastest at which message size; needs Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tutti.console import count
from tutti.plot import pyplot_for, save
from tutti.tuning import Tuner
from tutti.tuning_cells import Cell, measured_cells

_MAX_LINES = 6


def draw(tuners: Sequence[Tuner], path: Path) -> None:
    """One panel for each collective of each tuner: times relative to the MPI's own in the same run,
    by message size.

    Shows the fastest algorithms with the intervals of their medians; large marks are the winners.

    Raises:
        Refusal: Matplotlib is missing, or it does not know the kind of file.
    """
    pyplot = pyplot_for("--plot")
    panels = {
        tuner.title(name): known
        for tuner in tuners
        for name, cells in tuner.cells.items()
        if (known := measured_cells(cells))
    }
    columns = max(1, min(len(panels), 3))
    rows = max(1, -(-len(panels) // columns))
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(5.4 * columns, 3.8 * rows), squeeze=False
    )
    for axis in axes.flat:
        axis.set_visible(False)
    for axis, (name, cells) in zip(axes.flat, panels.items(), strict=False):
        axis.set_visible(True)
        _panel(axis, cells)
        axis.set_title(name, fontsize=10)
    job = tuners[0].job
    figure.suptitle(
        f"{count(job.ranks, 'rank')} on {count(job.nodes, 'node')}, {job.library.splitlines()[0]}",
        fontsize=8,
    )
    figure.tight_layout()
    save(figure, path, "--plot")
    pyplot.close(figure)


def _shown(cells: list[Cell]) -> list[str]:
    """The winners, then those with the least times relative to native."""
    winners = [cell.winner for cell in cells]
    least: dict[str, float] = {}
    for cell in cells:
        for name, line in cell.lines.items():
            least[name] = min(least.get(name, 9e9), cell.ratio(line))
    ranked = sorted(least, key=lambda name: (name not in winners, least[name]))
    return [name for name in ranked if name != "native"][:_MAX_LINES]


def _panel(axis: Any, cells: list[Cell]) -> None:
    axis.axhline(1, color="0.3", linewidth=1, label="native")
    for name in _shown(cells):
        known = [cell for cell in cells if name in cell.lines]
        sizes = [max(cell.bytes, 1) for cell in known]
        measured = [(cell, cell.lines[name]) for cell in known]
        lines = [(line.interval, cell.native_of(line).median) for cell, line in measured]
        (drawn,) = axis.plot(
            sizes, [i.median / native for i, native in lines], marker=".", linewidth=1, label=name
        )
        axis.fill_between(
            sizes,
            [i.low / native for i, native in lines],
            [i.high / native for i, native in lines],
            color=drawn.get_color(), alpha=0.15, linewidth=0,
        )  # fmt: skip
        won = [
            (size, interval.median / native)
            for size, cell, (interval, native) in zip(sizes, known, lines, strict=True)
            if cell.winner == name
        ]
        axis.plot(*zip(*won, strict=True) if won else ([], []), "o", color=drawn.get_color())
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("message size in bytes", fontsize=8)
    axis.set_ylabel("time / the MPI's own", fontsize=8)
    axis.tick_params(labelsize=8)
    axis.legend(fontsize=7)
