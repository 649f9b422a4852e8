#!/usr/bin/env python3
"""Measures hierarchical collectives in the lab, and writes their page.

    tutti lab up 48 --rate 1gbit
    bench/lab_levels.py measure FOLDER
    bench/lab_levels.py page FOLDER docs/results/levels-lab.md

`measure` writes FOLDER/lab-levels-<mpi>-<nodes>x<ranks>-<collective>.json. Existing files are
skipped, whatever blocks and budget they have, so an interrupted measurement can continue; those of
another MPI, lab or number of repetitions are refused.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from statistics import geometric_mean, median
from typing import Annotated, Any

import lab_page
import typer
from lab_job import err, is_measured, label_of, run_in_lab, shape_of, use_machine
from lab_page import numbers
from rich.progress import Progress

from tutti.bench import read

LEADERS = (1, 2, 4)
BLOCKS = (8, 64, 512, 4096, 16384, 65536)
OF_ALL = ("bcast", "allreduce", "reduce")
"""Collectives whose block is the entire vector."""
COLLECTIVES = ("allgather", "alltoallv", "reduce_scatter", "allreduce", "bcast", "gather")
NEAR_BOUND = 1.2
"""Rows in which native takes at most this many times the bound count for no gain."""
SELECTING, COMPARING = slice(0, None, 2), slice(1, None, 2)
"""The samples that decide which rows count and which leaders are best, and those whose ratios are
the result. With the same ones noise would be selected, then averaged."""
TARGETS = {"allgather": 2.0, "alltoallv": 2.0, "reduce_scatter": 2.0}
REPETITIONS = 40
WARMUP = 3
REST = "2ms"
"""The pause after each call, so that ranks that have left it do not delay others on shared cores."""
LEADERS_OF = re.compile(r"leaders=(\d+)\)?$")
"""The end of a hierarchical specification; earlier samples have native:level=node,leaders=2."""
app = typer.Typer(add_completion=False)

Lines = dict[str, dict[str, Any]]


def specifications(per_node: int) -> list[str]:
    """The hierarchical specifications; a node has at most as many leaders as ranks."""
    return [f"hierarchical(native,leaders={k})" for k in LEADERS if k <= max(per_node, 1)]


def leaders_of(name: str) -> int | None:
    """The leaders of a hierarchical call by its specification; None for other contenders."""
    found = LEADERS_OF.search(name)
    return int(found[1]) if found else None


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="Folder for the results.")],
    shapes: Annotated[str, typer.Option(help="Nodes x ranks on each, separated by commas.")] = "8x6,4x12",
    mpi: Annotated[str, typer.Option(help="As in tutti lab run --mpi.")] = "openmpi",
    label: Annotated[str, typer.Option(help="Name of the MPI in file names; default: --mpi.")] = "",
    collectives: Annotated[str, typer.Option(help="Collectives, separated by commas.")] = ",".join(COLLECTIVES),
    blocks: Annotated[str, typer.Option(help="Block sizes in bytes, separated by commas.")] = ",".join(map(str, BLOCKS)),
    budget: Annotated[str, typer.Option(help="Time for each row, e.g. 4s.")] = "4s",
    program: Annotated[str, typer.Option(help="Path of tutti-bench.")] = "tutti-bench",
) -> None:
    """Measure native, and hierarchical with 1, 2 and 4 leaders."""
    label = label_of(label, mpi)
    folder.mkdir(parents=True, exist_ok=True)
    sizes = numbers("--blocks", blocks, int)
    nodes_of = {shape: shape_of(shape) for shape in shapes.split(",")}
    runs = list(itertools.product(nodes_of, collectives.split(",")))
    with Progress(console=err) as progress:
        task = progress.add_task("", total=len(runs))
        for shape, collective in runs:
            nodes, per_node = nodes_of[shape]
            progress.update(task, description=f"{shape} {collective}")
            job = {"nodes": nodes, "per_node": per_node, "mpi": mpi}
            use_machine(folder, label, shape, program, **job)
            path = folder / f"lab-levels-{label}-{shape}-{collective}.json"
            if not is_measured(path, mpi, repetitions=REPETITIONS):
                ranks = nodes * per_node
                totals = [size if collective in OF_ALL else size * ranks for size in sizes]
                algorithms = ["native", *specifications(per_node)]
                run_in_lab(path, [
                    program, collective, "--quiet", "--bytes", ",".join(map(str, totals)),
                    *(["--root", "first"] if collective in ("bcast", "gather", "reduce") else []),
                    *(["--distribution", "random"] if collective == "alltoallv" else []),
                    *(["--distribution", "same"] if collective == "reduce_scatter" else []),
                    "--repetitions", str(REPETITIONS), "--budget", budget, "--warmup", str(WARMUP),
                    "--rest", REST,
                    *(word for each in algorithms for word in ("--algorithm", each)), "--json",
                ], **job)  # fmt: skip
            progress.advance(task)


class Table:
    """The results of one collective on one shape of nodes."""

    def __init__(self, path: Path) -> None:
        _, _, self.mpi, self.shape, self.collective = path.stem.split("-")
        document = read(path)
        self.metadata: dict[str, str] = document["metadata"]
        ranks = int(self.metadata["ranks"])
        self.rows: dict[int, Lines] = {}
        self.bounds: dict[int, float] = {}
        """The lower bound in microseconds if all ranks arrive at once."""
        for row in document["rows"]:
            of_all = self.collective in OF_ALL
            block = row["bytes"] if of_all else round(row["bytes"] / ranks)
            named = {line["name"]: line for line in row["algorithms"]}
            native = named["native"]
            # Samples of earlier versions have `auto` too, which selected otherwise then.
            self.rows[block] = {name: line for name, line in named.items()
                                if name == "native" or leaders_of(name) is not None}  # fmt: skip
            # Some files have only the bound for the actual arrivals.
            of_arrivals = native["median_us"] / native["ratio_to_bound"]
            self.bounds[block] = row.get("bound_together_us", of_arrivals)
        self.ours = [name for name in next(iter(self.rows.values())) if name != "native"]

    def gains(self, name: str, samples: slice = COMPARING) -> list[float]:
        """The ratio of native to `name`, in rows where native is not near the bound."""
        return [median(lines["native"]["samples_us"][samples]) / median(lines[name]["samples_us"][samples])
                for block, lines in self.rows.items()
                if min(len(line["samples_us"]) for line in lines.values()) > 1
                and median(lines["native"]["samples_us"][SELECTING]) > NEAR_BOUND * self.bounds[block]]  # fmt: skip

    def title(self) -> str:
        return f"{self.collective}, {self.shape.replace('x', ' nodes of ')}"

    def text(self) -> list[str]:
        rows = []
        for block, row in sorted(self.rows.items()):
            native = row["native"]["median_us"]
            gains = (f"{native / row[name]['median_us']:.2f}" for name in self.ours)
            rows.append([str(block), f"{native / 1000:.3g}", f"{native / self.bounds[block]:.2f}", *gains])
        rows.append(["mean", "", "", *(_mean(self.gains(name)) for name in self.ours)])
        titles = [">bytes", ">native, ms", ">native / bound", *(f">{_leaders(name)}" for name in self.ours)]
        return [f"### {self.title()}", "", *lab_page.table(titles, rows), "",
                f"{self._repetitions()} repetitions.", ""]  # fmt: skip

    def _repetitions(self) -> str:
        counts = sorted({len(row["native"]["samples_us"]) for row in self.rows.values()})
        return " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))


def _leaders(name: str) -> str:
    count = leaders_of(name)
    return f"{count} leader" if count == 1 else f"{count} leaders"


def _mean(gains: list[float]) -> str:
    return f"**{geometric_mean(gains):.2f}**" if gains else "-"


def _targets(tables: list[Table]) -> list[str]:
    rows = []
    for table in tables:
        if table.collective not in TARGETS:
            continue
        gains = {name: table.gains(name, SELECTING) for name in table.ours}
        means = {name: geometric_mean(each) for name, each in gains.items() if each}
        if not means:
            continue
        best = max(means, key=lambda name: means[name])
        rows.append([
            table.collective, table.shape, table.mpi,
            f"{geometric_mean(table.gains(best)):.2f} with {_leaders(best)}",
            f"{TARGETS[table.collective]:.0f}",
        ])  # fmt: skip
    titles = ["collective", "shape", "MPI", ">best mean gain", ">target"]
    return [*lab_page.table(titles, rows), ""]


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    into: lab_page.Page = None,
) -> None:
    """Write the tables of all results, as Markdown."""
    tables = [Table(path) for path in lab_page.files(folder, "lab-levels-*-*x*-*.json")]
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
    lab_page.main(app)
