#!/usr/bin/env python3
"""Measures one-sided broadcasts in the lab as Paznikov 2024 does, and writes the page.

    bench/lab_rma.py measure FOLDER --shapes 8x1,16x1,48x1,6x8
    bench/lab_rma.py measure FOLDER --figures
    bench/lab_rma.py page FOLDER docs/results/rma-lab.md
    bench/lab_rma.py figure FOLDER docs/images/rma-lab.svg

This needs a lab (tutti lab up 48 --rate 1gbit). One run of tutti-bench for each shape writes
FOLDER/lab-rma-<mpi>-<nodes>x<ranks>.json; with --figures, which takes the sizes, processes and
contenders of figures 11 and 12, lab-rma-<mpi>-<nodes>x<ranks>-figures.json. Runs with an existing
file are skipped, whatever sizes it has. Files of another MPI, lab or number of repetitions are
refused; with --figures also those of other contenders, some of which older files lack otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import lab_page
import typer
from lab_job import err, is_measured, label_of, run_in_lab, shape_of, use_machine
from lab_page import numbers

from tutti.bench import read
from tutti.plot import pyplot_for, save

CONDITIONS = ("idle", "level", "puts reach a rank that computes")
"""Metadata about the machine, which some results have."""
WINDOWS = "paznikov:protocol=windows"
"""The paper's own system."""


@dataclass(frozen=True)
class Experiment:
    """What a measurement has: nodes x ranks on each, sizes in bytes, and contenders."""

    shapes: tuple[str, ...]
    sizes: tuple[int, ...]
    contenders: tuple[str, ...]


STYLES = {"native": "k--o", "linear": "C3-o", "paznikov": "C1-o", WINDOWS: "C1--o",
          "binomial": "C0-o", "binary": "C2-o", "chain": "C4-o", "auto": "C7:s"}  # fmt: skip
GENERAL = Experiment(
    ("8x1", "16x1", "48x1", "6x8"), (8, 1024, 4096, 16384, 65536, 262144, 1048576), tuple(STYLES)
)
FIGURES = Experiment(
    ("16x1", "40x1", "16x4", "16x6"),
    tuple(kilobytes << 10 for kilobytes in (2, 4, 8, 16, 24, 32, 40)),
    ("native", "linear", "paznikov", WINDOWS, "binomial"),
)
"""Figures 11 and 12, Gigabit Ethernet: 16, 40, 64 and 96 processes."""
app = typer.Typer(add_completion=False)


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="Folder for the results.")],
    shapes: Annotated[str, typer.Option(help="Nodes x ranks on each, separated by commas; default: all.")] = "",
    repetitions: Annotated[int, typer.Option(help="Repetitions of each algorithm and size.")] = 10,
    sizes: Annotated[str, typer.Option(help="Sizes in bytes, separated by commas; default: all.")] = "",
    figures: Annotated[bool, typer.Option("--figures", help="What figures 11 and 12 have.")] = False,
    limit: Annotated[float, typer.Option(help="Seconds of each run.")] = 900,
    mpi: Annotated[str, typer.Option(help="As in tutti lab run --mpi.")] = "openmpi",
    label: Annotated[str, typer.Option(help="Name of the MPI in file names; default: --mpi.")] = "",
    program: Annotated[str, typer.Option(help="Path of tutti-bench.")] = "tutti-bench",
) -> None:
    """Measure all algorithms on each shape."""
    label = label_of(label, mpi)
    folder.mkdir(parents=True, exist_ok=True)
    experiment = FIGURES if figures else GENERAL
    totals = numbers("--sizes", sizes, int) if sizes else experiment.sizes
    # Older files lack contenders.
    same = {"algorithms": ", ".join(experiment.contenders)} if figures else {}
    nodes_of = {shape: shape_of(shape) for shape in (shapes.split(",") if shapes else experiment.shapes)}
    for shape, (nodes, per_node) in nodes_of.items():
        path = folder / f"lab-rma-{label}-{shape}{'-figures' if figures else ''}.json"
        if is_measured(path, mpi, repetitions=repetitions, **same):
            continue
        err.print(shape)
        job = {"nodes": nodes, "per_node": per_node, "mpi": mpi}
        use_machine(folder, label, shape, program, **job)
        run_in_lab(path, [
            program, "rma_bcast", "--root", "first", "--quiet",
            "--bytes", ",".join(map(str, totals)),
            "--repetitions", str(repetitions), "--warmup", "2",
            *(word for each in experiment.contenders for word in ("--algorithm", each)), "--json",
        ], limit=limit, **job)  # fmt: skip


def cell(line: dict[str, Any]) -> str:
    """The measured time, and those of LogP and LogGP where the contender names an algorithm."""
    if "logp_us" not in line:
        return f"{lab_page.milliseconds(line):.2f}"
    return f"{lab_page.milliseconds(line):.2f} ({line['logp_us'] / 1e3:.2f}, {line['loggp_us'] / 1e3:.2f})"


def crossover(rows: list[dict[str, Any]], slow: str, fast: str) -> str:
    """The smallest size from which `fast` stays ahead of `slow`."""
    ahead = "none measured"
    for row in rows:
        times = {line["name"]: lab_page.milliseconds(line) for line in row["algorithms"]}
        if times[fast] < times[slow]:
            ahead = f"{row['block']:,} bytes" if ahead == "none measured" else ahead
        else:
            ahead = "none measured"
    return ahead


def section(document: dict[str, Any]) -> list[str]:
    """The section of one file of tutti-bench."""
    rows, metadata = document["rows"], document["metadata"]
    names = [line["name"] for line in rows[0]["algorithms"]]
    library = lab_page.library(metadata)
    smallest, largest = (f"{rows[i]['block']:,}" for i in (0, -1))
    where = f"{metadata['ranks']} ranks on {metadata['nodes']} nodes"
    lines = [f"## {where}, {smallest} to {largest} bytes, {library}", "",
             f"{metadata['repetitions']} repetitions, load before {metadata['load before']}."]  # fmt: skip
    lines += [f"{key.capitalize()}: {metadata[key]}." for key in CONDITIONS if key in metadata]
    cells = ([f"{row['block']:,}", *map(cell, row["algorithms"])] for row in rows)
    lines += ["", *lab_page.table([">bytes", *(f">`{name}`" for name in names)], cells)]
    lines += ["", f"`binomial` stays ahead of `linear` from: {crossover(rows, 'linear', 'binomial')};"
              f" of `paznikov` from: {crossover(rows, 'paznikov', 'binomial')}."]  # fmt: skip
    if WINDOWS in names:
        lines.append(f"`{WINDOWS}` stays ahead of `linear` from: {crossover(rows, 'linear', WINDOWS)}.")
    return [*lines, ""]


def measured(folder: Path) -> list[dict[str, Any]]:
    """The results of measure, by number of ranks."""
    files = [read(path) for path in lab_page.files(folder, "lab-rma-*.json")]
    return sorted(files, key=lambda document: int(document["metadata"]["ranks"]))


Folder = Annotated[Path, typer.Argument(help="Folder of the results.")]


@app.command()
def page(folder: Folder, into: lab_page.Page = None) -> None:
    """Write the tables of all results, as Markdown."""
    lab_page.write([line for document in measured(folder) for line in section(document)], into)


@app.command()
def figure(
    folder: Folder, into: Annotated[Path, typer.Argument(help="Figure to write (.svg, .png, .pdf).")]
) -> None:
    """Draw latency over size, a panel for each shape, as in the paper's figures 9 to 12.

    Without the runs of --figures, whose sizes are within those of the others.
    """
    pyplot = pyplot_for("figure")
    most = max(FIGURES.sizes)
    documents = [each for each in measured(folder) if each["rows"][-1]["block"] > most]
    drawing, axes = pyplot.subplots(
        1, len(documents), figsize=(3.4 * len(documents), 3.4), squeeze=False, sharey=True
    )
    for axis, document in zip(axes.flat, documents, strict=True):
        for name, style in STYLES.items():
            points = [(row["block"], lab_page.milliseconds(line)) for row in document["rows"]
                      for line in row["algorithms"] if line["name"] == name]  # fmt: skip
            if not points:
                continue
            axis.loglog(*zip(*points, strict=True), style, markersize=3, label=name)
        ranks, nodes = (int(document["metadata"][key]) for key in ("ranks", "nodes"))
        axis.set_title(f"{nodes} nodes of {ranks // nodes}", fontsize=10)
        axis.set_xlabel("bytes")
        axis.minorticks_off()
        axis.grid(True, alpha=0.25)
    axes.flat[0].set_ylabel("ms until the last rank has all (median)")
    axes.flat[0].legend(fontsize=8, frameon=False)
    drawing.tight_layout()
    save(drawing, into, "figure")


if __name__ == "__main__":
    lab_page.main(app)
