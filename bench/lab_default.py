#!/usr/bin/env python3
"""Measures Tutti without any setting, in the lab and on one machine, and writes its page.

    tutti lab up 48 --rate 1gbit
    bench/lab_default.py measure FOLDER
    tutti lab down
    bench/lab_default.py page FOLDER docs/results/default.md

`measure` writes FOLDER/default-<mpi>-<location>-<collective>.json, each with alternating calls of the
MPI's own and `auto`; the names of older files lack the MPI. There is no machine file. Existing files
are skipped, so an interrupted measurement can continue; those of another MPI are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Annotated, Any

import lab_page
import typer
from lab_job import err, is_measured, label_of, run, run_in_lab

from tutti.bench import read

BLOCKS = "1,100,1000,10000"
"""In ints: 4 B to 40 KB."""


@dataclass(frozen=True)
class Case:
    """One job: its location and its collective."""

    name: str
    title: str
    nodes: int
    per_node: int
    words: str


CASES = [
    Case("48x1-gatherv", "MPI_Gatherv, 48 nodes of 1", 48, 1,
         f"gatherv --distribution same,spikes,decreasing --block {BLOCKS} --repetitions 100"),
    Case("48x1-scatterv", "MPI_Scatterv, 48 nodes of 1", 48, 1,
         f"scatterv --distribution same,decreasing --block {BLOCKS} --repetitions 200"),
    Case("8x6-gatherv", "MPI_Gatherv, 8 nodes of 6", 8, 6,
         f"gatherv --distribution same,decreasing --block {BLOCKS} --repetitions 100"),
    Case("8x6-scatterv", "MPI_Scatterv, 8 nodes of 6", 8, 6,
         f"scatterv --distribution same,decreasing --block {BLOCKS} --repetitions 100"),
    Case("48-on-one-gatherv", "MPI_Gatherv, 48 ranks on one machine", 0, 48,
         "gatherv --distribution same --block 1000,1048576 --repetitions 51 --no-check"),
]  # fmt: skip
MANY_RANKS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
              "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
"""Lets Open MPI start as root, and more ranks than cores; other MPIs ignore it."""
OPTIONS = "--algorithm native --algorithm auto --root first --warmup 3 --rest 1ms --quiet --json"
app = typer.Typer(add_completion=False)


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="Folder for the results.")],
    mpi: Annotated[str, typer.Option(help="As in tutti lab run --mpi.")] = "openmpi",
    label: Annotated[str, typer.Option(help="Name of the MPI in file names; default: --mpi.")] = "",
    mpirun: Annotated[str, typer.Option(help="Launcher for one machine.")] = "mpirun.openmpi",
    program: Annotated[str, typer.Option(help="Path of tutti-bench.")] = "tutti-bench-openmpi",
) -> None:
    """Measure every case, with alternating calls of the MPI's own and `auto`."""
    label = label_of(label, mpi)
    folder.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        path = folder / f"default-{label}-{case.name}.json"
        if is_measured(path, mpi):
            continue
        err.print(case.title)
        words = [program, *case.words.split(), *OPTIONS.split()]
        if case.nodes > 0:
            run_in_lab(path, words, nodes=case.nodes, per_node=case.per_node, mpi=mpi)
        else:
            run(path, [mpirun, "-n", str(case.per_node), *words], MANY_RANKS)


def ratio(row: dict[str, Any]) -> dict[str, Any]:
    """The ratio of `auto` to the MPI's own, with its interval."""
    return row["algorithms"][1]["ratio_to_native"]


def section(case: Case, document: dict[str, Any]) -> list[str]:
    """The table of one case."""
    rows = document["rows"]
    metadata = document["metadata"]
    ratios = [ratio(row)["median"] for row in rows]
    slower = sum(ratio(row)["low"] > 1.05 for row in rows)
    lines = [f"## {case.title}", "",
             f"{lab_page.library(metadata)}, {metadata['repetitions']} repetitions, load before "
             f"{metadata['load before']}. Geometric mean {geometric_mean(ratios):.3f}; cells beyond "
             f"doubt above 1.05: {slower} of {len(rows)}.", ""]  # fmt: skip
    cells = []
    for row in rows:
        native, auto = row["algorithms"]
        times = ratio(row)
        cells.append([
            row["distribution"], f"{row['block'] * row['element_bytes']:,}",
            f"{lab_page.milliseconds(native):.3f}", f"{times['median']:.2f}",
            f"{times['low']:.2f} to {times['high']:.2f}", lab_page.ran(auto["ran"]),
        ])  # fmt: skip
    titles = ["sizes", ">bytes of a block", ">native, ms", ">auto / native", "95 %", "what ran"]
    return [*lines, *lab_page.table(titles, cells), ""]


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    page: lab_page.Page = None,
) -> None:
    """Write the tables of all measured cases."""
    found = lab_page.files(folder, "default-*.json")
    lines: list[str] = []
    for case in CASES:
        for path in found:
            if path.stem.endswith(f"-{case.name}"):
                lines += section(case, read(path))
    lab_page.write(lines, page)


if __name__ == "__main__":
    lab_page.main(app)
