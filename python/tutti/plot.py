"""Plots results of tutti-bench, and sets up Matplotlib for all plots."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from tutti import _engine
from tutti.console import Refusal, why_not_writable, write
from tutti.fields import COUNT, NUMBER, TEXT, fault_of


def pyplot_for(option: str) -> Any:
    """Matplotlib's pyplot, set up to write files. Raises Refusal if Matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        raise Refusal(f"{option} needs Matplotlib: pip install matplotlib") from None
    matplotlib.use("Agg")
    # Text stays text, and equal data give equal files.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "tutti"})
    from matplotlib import pyplot

    return pyplot


def check(path: Path, option: str) -> None:
    """Raises Refusal if a plot could not be written to a file: before minutes of measurement.

    Args:
        path: the file that save will write.
        option: the option that names it.
    """
    pyplot_for(option)
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise Refusal(f"{option} {path}: expected a file name that ends in .svg, .png or .pdf")
    if reason := why_not_writable(path):
        raise Refusal(f"{option} {path}: {reason}")


def save(figure: Any, path: Path, option: str) -> None:
    """Writes a figure. Raises Refusal if that fails or Matplotlib does not support the suffix."""
    kind = path.suffix.removeprefix(".").lower()
    drawn = io.BytesIO()
    try:
        figure.savefig(drawn, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    except (OSError, ValueError) as error:
        raise Refusal(f"{option} {path}: {error}") from None
    write(path, drawn.getvalue(), option)


_LINE = {"name": TEXT, "median_us": NUMBER, "min_us": NUMBER, "p90_us": NUMBER}
_ROW = {"collective": TEXT, "distribution": TEXT, "bytes": COUNT, "algorithms": [_LINE]}
_FIELDS = {"metadata": {"library": TEXT}, "rows": [_ROW]}


def plot(result: dict[str, Any], path: Path) -> None:
    """Draws a panel for each collective and distribution: median, minimum and 90th percentile.

    Raises:
        Refusal: nothing was measured, Matplotlib is missing, or it cannot write the file.
    """
    if fault := fault_of(result, _FIELDS):
        raise Refusal(f"--plot {path}: results that cannot be plotted: {fault}")
    pyplot = pyplot_for("--plot")
    panels: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in result["rows"]:
        panels.setdefault((row["collective"], row["distribution"]), []).append(row)
    if not panels:
        raise Refusal(f"--plot {path}: no measurements to plot")
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(5 * columns, 3.6 * lines), squeeze=False, sharey=True
    )
    for axis, ((collective, distribution), rows) in zip(axes.flat, panels.items(), strict=False):
        _panel(axis, rows, _where(collective))
        axis.set_title(f"{collective}, {distribution}", fontsize=10)
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_visible(False)
    axes.flat[0].legend(fontsize=8, frameon=False)
    figure.suptitle(result["metadata"]["library"], fontsize=9)
    figure.tight_layout()
    save(figure, path, "--plot")
    pyplot.close(figure)


def _where(collective: str) -> str:
    """Where the bytes of a row are."""
    if collective in _engine.collectives():
        is_rooted = _engine.has_root(collective)
    else:
        is_rooted = collective == "guidelines"  # on gathers
    return "at the root" if is_rooted else "at each rank"


def _panel(axis: Any, rows: list[dict[str, Any]], where: str) -> None:
    names = list(dict.fromkeys(line["name"] for row in rows for line in row["algorithms"]))
    for name in names:
        points = [
            (max(row["bytes"], 1), line)
            for row in rows
            for line in row["algorithms"]
            if line["name"] == name
        ]
        points.sort(key=lambda point: point[0])
        bytes_ = [size for size, _ in points]
        (drawn,) = axis.plot(
            bytes_, [line["median_us"] for _, line in points], marker="o", markersize=3, label=name
        )
        axis.fill_between(
            bytes_,
            [line["min_us"] for _, line in points],
            [line["p90_us"] for _, line in points],
            color=drawn.get_color(),
            alpha=0.15,
            linewidth=0,
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel(f"bytes {where}")
    axis.set_ylabel("us (median; least to p90)")
    axis.grid(True, which="major", alpha=0.25)
