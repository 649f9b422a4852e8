"""Draws the arrivals of a report: the delay of each rank in each call. Needs Matplotlib."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from tutti import heatmap
from tutti.console import Refusal
from tutti.plot import pyplot_for, save
from tutti.reports import Pattern, Site

COLOURS = "cividis"  # perceptually uniform, also with red-green blindness
PARTS = {"waiting": "#D55E00", "held": "#F0E442", "moving": "#0072B2"}  # Okabe and Ito 2008
MAX_PANELS = 8
_ROWS, _COLUMNS = 300, 900  # about one cell per pixel of a panel


def _unit(seconds: float) -> tuple[float, str]:
    """A unit in which the time is easy to read: its factor and its name."""
    for factor, name in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return factor, name
    return 1e6, "us"


def draw(title: str, sites: list[Site], path: Path, option: str = "--picture") -> None:
    """Writes a panel for each line that has recorded arrivals, at most MAX_PANELS.

    Raises:
        Refusal: no line has recorded arrivals, Matplotlib is missing, or it cannot write the file.
    """
    pyplot = pyplot_for(option)
    figure = figure_of(title, sites, option)
    save(figure, path, option)
    pyplot.close(figure)


def figure_of(title: str, sites: list[Site], option: str = "--picture") -> Any:
    """The Matplotlib figure: for each line a heat map of delays, and the parts of each rank's time.

    Raises:
        Refusal: no line has recorded arrivals, or Matplotlib is missing.
    """
    pyplot = pyplot_for(option)
    shown = [(site, site.pattern) for site in sites if site.pattern is not None][:MAX_PANELS]
    if not shown:
        raise Refusal(f"{option}: no line of the report has recorded arrivals of 2 or more ranks")
    figure, axes = pyplot.subplots(
        len(shown), 2, figsize=(10, 0.9 + 3.4 * len(shown)), squeeze=False,
        gridspec_kw={"width_ratios": [4, 1.3]}, layout="constrained",
    )  # fmt: skip
    for (map_axis, part_axis), (site, pattern) in zip(axes, shown, strict=True):
        _heat_map(figure, map_axis, site, pattern)
        _parts(part_axis, pattern)
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=colour) for colour in PARTS.values()]
    axes[0][1].legend(
        handles, list(PARTS), fontsize=7, frameon=False, ncols=3, handlelength=0.8,
        columnspacing=0.8, loc="lower right", bbox_to_anchor=(1.02, 1.0),
    )  # fmt: skip
    figure.suptitle(title, fontsize=9, parse_math=False)  # names may have "$"
    return figure


def _heat_map(figure: Any, axis: Any, site: Site, pattern: Pattern) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    calls, ranks = len(pattern.calls), len(pattern.ranks)
    grid = heatmap.grid_of(pattern.delays, _ROWS, _COLUMNS)
    top = heatmap.top_of(grid)
    factor, unit = _unit(top)
    image = axis.imshow(
        [[value * factor for value in row] for row in grid],
        cmap=COLOURS, vmin=0, vmax=top * factor, aspect="auto", interpolation="nearest",
        extent=(-0.5, calls - 0.5, ranks - 0.5, -0.5),
    )  # fmt: skip
    beyond = max(max(row) for row in grid) > top
    bar = figure.colorbar(image, ax=axis, pad=0.01, extend="max" if beyond else "neither")
    bar.set_label(f"behind the first, {unit}", fontsize=8)
    bar.ax.tick_params(labelsize=8)

    def number(tick: float, _: Any) -> str:
        index = round(tick)
        return f"{pattern.calls[index]:,}" if 0 <= index < calls else ""

    axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    axis.xaxis.set_major_formatter(FuncFormatter(number))
    axis.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=10, min_n_ticks=1))
    axis.tick_params(labelsize=8)
    axis.set_xlabel(f"{site.fields['collective']} number", fontsize=8)
    axis.set_ylabel("rank", fontsize=8)
    name = textwrap.shorten(f"{site.number}: {site.shown({})}, {site.fields['algorithm']}", 96)
    late = "\n".join(textwrap.wrap(site.late, 96))
    axis.set_title(f"{name}\n{late}" if late else name, fontsize=9, loc="left", parse_math=False)


def _parts(axis: Any, pattern: Pattern) -> None:
    """Draws a stacked bar for each rank, without gaps, so that 1,000 of them form an outline."""
    ranks = len(pattern.ranks)
    rows = [edge for rank in range(ranks) for edge in (rank - 0.5, rank + 0.5)]
    values = {name: getattr(pattern, name) for name in PARTS}
    sums = [sum(parts) for parts in zip(*values.values(), strict=True)]
    factor, unit = _unit(max(sums))
    left = [0.0] * ranks
    for name, colour in PARTS.items():
        right = [a + value * factor for a, value in zip(left, values[name], strict=True)]
        axis.fill_betweenx(
            rows, [x for x in left for _ in "ab"], [x for x in right for _ in "ab"],
            color=colour, linewidth=0, label=name,
        )  # fmt: skip
        left = right
    axis.set_ylim(ranks - 0.5, -0.5)
    axis.set_xlim(0, max(sums) * factor * 1.02 or 1)
    axis.set_yticks([])
    axis.tick_params(labelsize=8)
    axis.set_xlabel(f"mean time in a call, {unit}", fontsize=8)
