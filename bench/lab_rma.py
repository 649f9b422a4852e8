#!/usr/bin/env python3
"""Measures one-sided broadcasts in the lab as Paznikov 2024 does, and writes the page.

    bench/lab_rma.py measure FOLDER --nodes 8,16,48
    bench/lab_rma.py page FOLDER docs/results/rma-lab.md

The lab has to be up (tutti lab up 48 --rate 100mbit). One run of tutti-bench for each number of nodes
writes FOLDER/lab-rma-<mpi>-<nodes>.json; runs whose file exists are left out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import lab_page
import typer
from lab_job import err, run_in_lab

ALGORITHMS = ["native", "linear", "paznikov", "binomial", "binary", "chain", "auto"]
SIZES = [8, 1024, 4096, 16384, 65536, 262144, 1048576]
CONDITIONS = ("idle", "level", "puts reach a rank that computes")
"""What the benchmark tells of the machine, where it could."""
app = typer.Typer(add_completion=False)


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="Where the files go.")],
    nodes: Annotated[str, typer.Option(help="Nodes, of one rank each, by commas.")] = "8,16,48",
    repetitions: Annotated[int, typer.Option(help="Of each algorithm and size.")] = 10,
    sizes: Annotated[str, typer.Option(help="Bytes, by commas.")] = ",".join(map(str, SIZES)),
    mpi: Annotated[str, typer.Option(help="As that of tutti lab run.")] = "openmpi",
    label: Annotated[str, typer.Option(help="Names the MPI in file names.")] = "openmpi",
    program: Annotated[str, typer.Option(help="The benchmark.")] = "tutti-bench",
) -> None:
    """Measure all algorithms in turn, for each number of nodes."""
    folder.mkdir(parents=True, exist_ok=True)
    for count in map(int, nodes.split(",")):
        path = folder / f"lab-rma-{label}-{count}.json"
        if path.exists():
            continue
        err.print(f"{count} nodes")
        run_in_lab(path, [
            program, "rma_bcast", "--root", "first", "--quiet", "--bytes", sizes,
            "--repetitions", str(repetitions), "--warmup", "2",
            *(word for each in ALGORITHMS for word in ("--algorithm", each)), "--json",
        ], nodes=count, mpi=mpi)  # fmt: skip


def milliseconds(line: dict[str, Any]) -> float:
    return float(line["median_us"]) / 1e3


def crossover(rows: list[dict[str, Any]], slow: str, fast: str) -> str:
    """The smallest size from which `fast` stays ahead of `slow`."""
    ahead = "none measured"
    for row in rows:
        times = {line["name"]: milliseconds(line) for line in row["algorithms"]}
        if times[fast] < times[slow]:
            ahead = f"{row['block']:,} bytes" if ahead == "none measured" else ahead
        else:
            ahead = "none measured"
    return ahead


def section(document: dict[str, Any]) -> list[str]:
    """The numbers of one file of tutti-bench."""
    rows, metadata = document["rows"], document["metadata"]
    names = [line["name"] for line in rows[0]["algorithms"]]
    library = metadata["library"].split(",")[0]
    lines = [f"## {metadata['ranks']} ranks on {metadata['nodes']} nodes, {library}", "",
             f"{metadata['repetitions']} repetitions, load before {metadata['load before']}."]  # fmt: skip
    lines += [f"{key.capitalize()}: {metadata[key]}." for key in CONDITIONS if key in metadata]
    lines += ["", "| bytes | " + " | ".join(f"`{name}`" for name in names) + " |",
              "| ---: |" + " ---: |" * len(names)]  # fmt: skip
    for row in rows:
        cells = " | ".join(f"{milliseconds(line):.3f}" for line in row["algorithms"])
        lines.append(f"| {row['block']:,} | {cells} |")
    return [*lines, "",
            f"`binomial` stays ahead of `linear` from: {crossover(rows, 'linear', 'binomial')};"
            f" of `paznikov` from: {crossover(rows, 'paznikov', 'binomial')}.", ""]  # fmt: skip


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="What measure has written.")],
    into: lab_page.Page = None,
) -> None:
    """Write the tables of all that has been measured, as Markdown."""
    files = sorted(folder.glob("lab-rma-*.json"), key=lambda path: int(path.stem.split("-")[-1]))
    lab_page.write([line for file in files for line in section(json.loads(file.read_text()))], into)


if __name__ == "__main__":
    app()
