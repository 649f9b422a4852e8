#!/usr/bin/env python3
"""Measures one-sided broadcasts in the lab as Paznikov 2024 does, and writes the page.

    bench/lab_rma.py measure FOLDER --nodes 8,16,48
    bench/lab_rma.py page FOLDER > docs/results/rma-lab.md

The lab has to be up (tutti lab up 48 --rate 100mbit). One run of tutti-bench for each number of nodes
writes FOLDER/lab-rma-<mpi>-<nodes>.json; runs whose file exists are left out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from lab_job import err, run_in_lab

ALGORITHMS = ["native", "linear", "paznikov", "binomial", "binary", "chain", "auto"]
SIZES = [8, 1024, 4096, 16384, 65536, 262144, 1048576]
PAPER = """The paper's figures 9 to 12 (linear and binomial, mean of 10 calls, its waiting 1 ms per level): on
InfiniBand its binomial overtakes linear at 25 MB for 24 processes, 10 MB for 32 and 7 MB for 48; on
Gigabit Ethernet at 32 KB for 40, 26 KB for 64 and 16 KB for 96."""
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


@app.command()
def page(folder: Annotated[Path, typer.Argument(help="What measure has written.")]) -> None:
    """Print the page, as Markdown."""
    files = sorted(folder.glob("lab-rma-*.json"), key=lambda path: int(path.stem.split("-")[-1]))
    print("# One-sided broadcasts in the lab\n")
    print("Milliseconds from the root's call until the last rank has the data, medians; `native` is"
          " `MPI_Bcast`, which all ranks call. In all other rows the root alone calls.\n")  # fmt: skip
    print(PAPER + "\n")
    for file in files:
        document = json.loads(file.read_text())
        rows, metadata = document["rows"], document["metadata"]
        names = [line["name"] for line in rows[0]["algorithms"]]
        print(f"## {metadata['ranks']} ranks on {metadata['nodes']} nodes, {metadata['library']}\n")
        print(f"{metadata['repetitions']} repetitions, load before {metadata['load before']}.")
        for key in ("idle", "level", "puts reach a rank that computes"):
            if key in metadata:
                print(f"{key.capitalize()}: {metadata[key]}.")
        print()
        print("| bytes | " + " | ".join(f"`{name}`" for name in names) + " |")
        print("| ---: |" + " ---: |" * len(names))
        for row in rows:
            cells = " | ".join(f"{milliseconds(line):.3f}" for line in row["algorithms"])
            print(f"| {row['block']:,} | {cells} |")
        ahead = crossover(rows, "linear", "binomial")
        print(f"\n`binomial` stays ahead of `linear` from: {ahead}; of `paznikov` from: "
              f"{crossover(rows, 'paznikov', 'binomial')}.\n")  # fmt: skip


if __name__ == "__main__":
    app()
