#!/usr/bin/env python3
"""Measures collectives through node memory in the lab, and writes their page.

    tutti lab up 48 --rate 1gbit
    bench/lab_levels.py measure FOLDER
    bench/lab_levels.py page FOLDER docs/results/levels-lab.md

`measure` writes FOLDER/lab-levels-<mpi>-<nodes>x<ranks>-<collective>.json; what exists is left out, so
that a measurement that was stopped goes on where it was.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import Annotated, Any

import lab_page
import typer
from lab_job import err, run_in_lab, use_machine
from rich.progress import Progress

LEADERS = (1, 2, 4)
BLOCKS = (8, 64, 512, 4096, 16384, 65536)
OF_ALL = ("bcast", "allreduce", "reduce")
"""Collectives whose block is the whole vector."""
COLLECTIVES = ("allgather", "alltoallv", "reduce_scatter", "allreduce", "bcast", "gather")
NEAR_BOUND = 1.2
"""Where native is within this of the bound there is little to gain."""
TARGETS = {"allgather": 2.0, "alltoallv": 2.0, "reduce_scatter": 2.0}
CALLS_OF_TRIAL = 80
"""Twice as many calls, one beside each, are what `auto` may wait for a window and try its ways in."""
LEFT_FLAT = ("reduce_scatter", "allreduce", "reduce")
"""`auto` tries nothing there."""
WARMUP = 3
app = typer.Typer(add_completion=False)

Lines = dict[str, dict[str, Any]]


def levels(per_node: int) -> list[str]:
    """Specifications of the node level; a node has no more leaders than ranks."""
    return [f"native:level=node,leaders={k}" for k in LEADERS if k <= max(per_node, 1)]


def repetitions(ranks: int, rate: float, collective: str, blocks: list[int], budget: float) -> int:
    """As many as fit the seconds: every byte that a rank has in the end passes the link once."""
    each = [block if collective in OF_ALL else block * ranks for block in blocks]
    once = sum(size * 8 / (rate * 1e6) * 3 + 0.01 for size in each) * (len(LEADERS) + 2)
    return max(5, min(50, int(budget / once)))


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="Where the files go.")],
    shapes: Annotated[str, typer.Option(help="Nodes x ranks, by commas.")] = "8x6,48x1,4x12",
    rate: Annotated[float, typer.Option(help="Of the lab's links, in Mbit/s.")] = 1000,
    mpi: Annotated[str, typer.Option(help="As that of tutti lab run.")] = "openmpi",
    label: Annotated[str, typer.Option(help="Names the MPI in file names.")] = "openmpi",
    collectives: Annotated[str, typer.Option(help="By commas.")] = ",".join(COLLECTIVES),
    blocks: Annotated[str, typer.Option(help="Bytes, by commas.")] = ",".join(map(str, BLOCKS)),
    budget: Annotated[float, typer.Option(help="Seconds for each collective.")] = 20,
    program: Annotated[str, typer.Option(help="The benchmark.")] = "tutti-bench",
) -> None:
    """Measure native, the node level with 1, 2 and 4 leaders, and the automatic choice."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [int(word) for word in blocks.split(",")]
    runs = list(itertools.product(shapes.split(","), collectives.split(",")))
    with Progress(console=err) as progress:
        task = progress.add_task("", total=len(runs))
        for shape, collective in runs:
            nodes, per_node = (int(word) for word in shape.split("x"))
            progress.update(task, description=f"{shape} {collective}")
            job = {"nodes": nodes, "per_node": per_node, "mpi": mpi}
            use_machine(folder / f"machine-{label}-{shape}", program, **job)
            path = folder / f"lab-levels-{label}-{shape}-{collective}.json"
            if not path.exists():
                ranks = nodes * per_node
                totals = [size if collective in OF_ALL else size * ranks for size in sizes]
                algorithms = ["native", *levels(per_node), "auto"]
                run_in_lab(path, [
                    program, collective, "--quiet", "--bytes", ",".join(map(str, totals)),
                    *(["--root", "first"] if collective in ("bcast", "gather", "reduce") else []),
                    *(["--distribution", "random"] if collective == "alltoallv" else []),
                    *(["--distribution", "same"] if collective == "reduce_scatter" else []),
                    "--repetitions", str(repetitions(ranks, rate, collective, sizes, budget)),
                    "--warmup", str(WARMUP), "--settle", str(0 if collective in LEFT_FLAT else CALLS_OF_TRIAL),
                    *(word for each in algorithms for word in ("--algorithm", each)), "--json",
                ], **job)  # fmt: skip
            progress.advance(task)


class Table:
    """One collective on one shape of nodes."""

    def __init__(self, path: Path) -> None:
        _, _, self.mpi, self.shape, self.collective = path.stem.split("-")
        document = json.loads(path.read_text())
        self.metadata: dict[str, str] = document["metadata"]
        ranks = int(self.metadata["ranks"])
        of_all = self.collective in OF_ALL
        self.rows: dict[int, Lines] = {
            row["bytes"] if of_all else round(row["bytes"] / ranks): {
                line["name"]: line for line in row["algorithms"]
            }
            for row in document["rows"]
        }
        self.names = list(next(iter(self.rows.values())))

    def ours(self) -> list[str]:
        return [name for name in self.names if name not in ("native", "auto")]

    def gains(self, name: str) -> Iterator[float]:
        """Native over `name`, where native leaves something to gain."""
        for lines in self.rows.values():
            if lines["native"]["ratio_to_bound"] > NEAR_BOUND:
                yield lines["native"]["median_us"] / lines[name]["median_us"]

    def text(self) -> list[str]:
        heads = " | ".join(f"`{name.removeprefix('native:')}`" for name in self.names[1:])
        lines = [f"### {self.collective}, {self.shape.replace('x', ' nodes of ')}", "",
                 f"| bytes | native, ms | native / bound | {heads} |",
                 "| ---: |" + " ---: |" * (len(self.names) + 1)]  # fmt: skip
        for block, row in sorted(self.rows.items()):
            native = row["native"]["median_us"]
            cells = " | ".join(f"{native / row[name]['median_us']:.2f}" for name in self.names[1:])
            bound = row["native"]["ratio_to_bound"]
            lines.append(f"| {block} | {native / 1000:.3g} | {bound:.2f} | {cells} |")
        means = " | ".join(_mean(list(self.gains(name))) for name in self.names[1:])
        lines += [f"| mean | | | {means} |", "", self._verdict(), ""]
        return lines

    def _verdict(self) -> str:
        worst = min(row["native"]["median_us"] / row["auto"]["median_us"]
                    for row in self.rows.values())  # fmt: skip
        ran = sorted({row["auto"]["ran"].split(": ")[0] or "native" for row in self.rows.values()})
        return (f"{self.metadata['repetitions']} repetitions. `auto` ran {', '.join(ran)}; its"
                f" worst cell is {worst:.2f} of native's speed.")  # fmt: skip


def _mean(gains: list[float]) -> str:
    return f"**{geometric_mean(gains):.2f}**" if gains else "-"


def _targets(tables: list[Table]) -> list[str]:
    lines = ["| collective | shape | MPI | best mean gain | target |",
             "| --- | --- | --- | ---: | ---: |"]  # fmt: skip
    for table in tables:
        if table.collective not in TARGETS:
            continue
        gains = {name: list(table.gains(name)) for name in table.ours()}
        means = {name: geometric_mean(each) for name, each in gains.items() if each}
        if not means:
            continue
        best = max(means, key=lambda name: means[name])
        lines.append(f"| {table.collective} | {table.shape} | {table.mpi} | {means[best]:.2f} with"
                     f" `{best.removeprefix('native:')}` | {TARGETS[table.collective]:.0f} |")
    return [*lines, ""]


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Where the files are.")],
    into: lab_page.Page = None,
) -> None:
    """Write the tables of all that has been measured, as Markdown."""
    tables = [Table(path) for path in sorted(folder.glob("lab-levels-*-*x*-*.json"))]
    if not tables:
        raise typer.BadParameter(f"{folder} has no lab-levels-*.json", param_hint="folder")
    first = tables[0].metadata
    lines = [f"Machine: {first['processor']}, {first['cores of a node']} cores for all nodes"
             " together.", "", *_targets(tables)]  # fmt: skip
    mpi = ""
    for table in tables:
        if table.mpi != mpi:
            mpi = table.mpi
            lines += [f"## {lab_page.library(table.metadata)}", ""]
        lines += table.text()
    lab_page.write(lines, into)


if __name__ == "__main__":
    app()
