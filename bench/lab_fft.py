#!/usr/bin/env python3
"""Runs examples/fft in the lab with each gather of Proficz 2020, table 5, and writes that table.

    bench/lab_fft.py measure PROGRAM FILE --nodes 8 --iterations 1000
    bench/lab_fft.py page FILE docs/results/fft.md

This needs a lab (tutti lab up 8 --rate 1gbit). Algorithms alternate, in rounds;
every other round has them in reverse order.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import lab_page
import typer
from lab_job import err, links, output
from rich.progress import track

from tutti import mpis
from tutti.bench import read
from tutti.console import write

SCHEMA = "tutti-lab-fft/1"
ROWS = ("native", "LS", "BNOM", "SLS", "SBN", "BSLS", "BSBN", "linear:runner=background",
        "linear_pull:flight=4,runner=background", "auto")  # fmt: skip
TIMES = re.compile(r"total ([\d.]+) s, gather run ([\d.]+) ms, elapsed ([\d.]+) ms, "
                   r"spread ([\d.]+) ms")  # fmt: skip
app = typer.Typer(add_completion=False)


def run(program: Path, nodes: int, algorithm: str, iterations: int, limit: float) -> list[float]:
    """Runs the FFT; returns total seconds, and run time, elapsed time and spread in milliseconds."""
    native = algorithm == "native"
    command = ["tutti", "lab", "run", *(["--native"] if native else []), "--nodes", str(nodes),
               "--timeout", f"{limit:g}", "--", str(program.resolve()), "-i", str(iterations)]  # fmt: skip
    # Ranks share the cores of the machine, so threads must not spin.
    settings = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    if not native:
        settings |= {"TUTTI_GATHER": algorithm, "TUTTI_BACKGROUND": "on"}
    said = output(command, settings)
    parsed = TIMES.search(said)
    if parsed is None or "right" not in said:
        err.print(said)
        raise typer.Exit(1)
    return [float(word) for word in parsed.groups()]


@app.command()
def measure(
    program: Annotated[Path, typer.Argument(help="examples/fft, compiled.")],
    file: Annotated[Path, typer.Argument(help="JSON file for the times.")],
    nodes: Annotated[int, typer.Option(help="Number of nodes, with one rank each.")] = 8,
    iterations: Annotated[int, typer.Option(help="Total iterations of each algorithm.")] = 1000,
    rounds: Annotated[int, typer.Option(min=1, help="Number of runs that share them.")] = 5,
    limit: Annotated[float, typer.Option("--timeout", help="Seconds of each run.")] = 600,
) -> None:
    """Measure all rows in rounds; the file has all complete rounds. A former file is refused."""
    lab_page.refuse_former(file)
    metadata = {"library": str(mpis.find(str(program.resolve()), None)), **links()}
    times: dict[str, list[list[float]]] = {name: [] for name in ROWS}
    each = iterations // rounds
    for done in track(range(1, rounds + 1), description="rounds", console=err):
        for name in ROWS if done % 2 else reversed(ROWS):
            times[name].append(run(program, nodes, name, each, limit))
        document = {"schema": SCHEMA, "nodes": nodes, "iterations": done * each,
                    "rounds": done, "metadata": metadata, "times": times}  # fmt: skip
        write(file, json.dumps(document) + "\n", "FILE")


@app.command()
def page(
    file: Annotated[Path, typer.Argument(help="JSON file of measure.")],
    into: lab_page.Page = None,
) -> None:
    """Write the table, as Markdown."""
    document = read(file, SCHEMA)
    rounds = document["rounds"]
    rows = []
    native = document["times"]["native"]
    for name, times in document["times"].items():
        total = sum(one[0] for one in times)
        runs, elapsed = (sum(one[i] for one in times) / rounds for i in (1, 2))
        quotient = sum(one[1] for one in native) / rounds / runs
        wins = sum(one[1] < other[1] for one, other in zip(times, native, strict=True))
        won = "" if name == "native" else f"{wins} of {rounds}"
        rows.append([f"`{name}`", f"{total:.1f}", f"{runs:.1f}", f"{elapsed:.1f}", f"{quotient:.2f}", won])
    titles = ["gather", ">total, s", ">run, ms", ">elapsed, ms", ">native's run / it",
              ">rounds in which it beats native"]  # fmt: skip
    lab_page.write(lab_page.table(titles, rows), into)


if __name__ == "__main__":
    lab_page.main(app)
