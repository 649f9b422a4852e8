#!/usr/bin/env python3
"""Measures Träff's irregular gathers and scatters in the lab, for `tutti reproduce`.

    bench/lab_traff.py docs/results
    bench/lab_traff.py docs/results --shape 8x6 --command gatherv --block 1,100,10000 --repetitions 31

This needs a lab (tutti lab up 8 --rate 1gbit). Each command of tutti-bench writes
FOLDER/lab-traff-<command>-<mpi>-<shape>.json, with the paper's root and distributions. Runs with an
existing file are skipped, so an interrupted measurement can continue; those of another MPI or lab
are refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import lab_page
import typer
from lab_job import err, is_measured, label_of, run_in_lab, shape_of
from tutti_reproduce.context import published
from tutti_reproduce.traff_costs import TUW

CONTENDERS = ["native", "native", "linear", TUW, "ordered_tree"]
ALTERNATING = ["--rest", "1ms", *(word for name in CONTENDERS for word in ("--algorithm", name))]
COMMANDS = {"gatherv": ALTERNATING, "scatterv": ALTERNATING, "guidelines": []}
"""Options of each command; guidelines has contenders of its own."""
BLOCKS = ",".join(map(str, published("traff")["blocks"]))

app = typer.Typer(add_completion=False)


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="Folder for the results.")],
    shape: Annotated[str, typer.Option(help="Nodes x ranks on each.")] = "8x1",
    command: Annotated[list[str] | None, typer.Option(help="Of tutti-bench; repeatable. Default: all.")] = None,
    block: Annotated[str, typer.Option(help="Mean elements of a block, separated by commas.")] = BLOCKS,
    repetitions: Annotated[int, typer.Option(help="Timed calls of each contender.")] = 51,
    mpi: Annotated[str, typer.Option(help="As in tutti lab run --mpi.")] = "openmpi",
    label: Annotated[str, typer.Option(help="Name of the MPI in file names; default: --mpi.")] = "",
    program: Annotated[str, typer.Option(help="Path of tutti-bench.")] = "tutti-bench-openmpi",
) -> None:
    """Measure; contenders of a command alternate in one run."""
    nodes, per_node = shape_of(shape)
    label = label_of(label, mpi)
    folder.mkdir(parents=True, exist_ok=True)
    if unknown := {*(command or ())} - COMMANDS.keys():
        raise typer.BadParameter(f"--command {unknown.pop()}: expected {', '.join(COMMANDS)}")
    for name in command or COMMANDS:
        path = folder / f"lab-traff-{name}-{label}-{shape}.json"
        if is_measured(path, mpi, repetitions=repetitions):
            continue
        err.print(path.name)
        words = [program, name, "--root", "half", "--block", block, "--repetitions", str(repetitions), "--warmup", "3"]
        run_in_lab(path, [*words, *COMMANDS[name], "--quiet", "--json"], nodes=nodes, per_node=per_node, mpi=mpi)


if __name__ == "__main__":
    lab_page.main(app)
