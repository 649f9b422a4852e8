#!/usr/bin/env python3
"""Measures allgathers in orders by distance across two switches of the lab, and writes their page.

    tutti lab up 8 --rate 400mbit --switches 2 --uplink 100mbit
    bench/lab_place.py measure FOLDER
    bench/lab_programs.py measure FOLDER/place-learned-openmpi-8.json --rounds 1 \\
      --mapping shuffled:1 -- ./repeated_calls allgather 16384 12000
    bench/lab_programs.py measure FOLDER/place-learned-openmpi-8-bcast.json --rounds 1 \\
      --mapping shuffled:1 -- ./repeated_calls bcast 262144 6000
    bench/lab_place.py page FOLDER docs/results/place-lab.md

`measure` writes the distances between ranks to FOLDER/lab-distances-<mpi>-<nodes>.json. For each
numbering of the ranks (--seeds) it writes the results of tutti-bench to
FOLDER/lab-place-<mpi>-<nodes>-<seed>-small.json and -large.json. Existing files are skipped, whatever
--largest was, so an interrupted measurement can continue; those of another MPI, lab or number of
repetitions are refused.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from statistics import geometric_mean
from typing import Annotated, Any

import lab_page
import typer
from lab_job import err, is_measured, label_of, run_in_lab
from lab_programs import SCHEMA as PROGRAMS
from tutti_lab.launch import ProcessMapping

from tutti.bench import read

SHAPES = {
    "ring": ("ring", "RMH", "ring:order=distance"),
    "recursive doubling": (
        "recursive_doubling",
        "RDMH",
        "recursive_doubling:order=distance",
    ),
}
"""By shape: natural order, the paper's heuristic, Tutti's order."""

REORDERED = "native:reordered"
"""The MPI's own on the communicator of TUTTI_Comm_reorder, which is how the paper uses its orders."""

ALGORITHMS = ["native", REORDERED, *(name for names in SHAPES.values() for name in names)]
SMALL = [1 << 10, 4 << 10, 16 << 10, 64 << 10]
LARGE = [256 << 10, 2 << 20]
app = typer.Typer(add_completion=False)


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="Folder for the results.")],
    nodes: Annotated[int, typer.Option(help="Number of nodes, with one rank each.")] = 8,
    mpi: Annotated[str, typer.Option(help="As in tutti lab run --mpi.")] = "openmpi",
    label: Annotated[str, typer.Option(help="Name of the MPI in file names; default: --mpi.")] = "",
    seeds: Annotated[str, typer.Option(help="Seeds of the rank numberings, separated by commas.")] = "1,6",
    small: Annotated[int, typer.Option(help="Repetitions of small blocks.")] = 25,
    large: Annotated[int, typer.Option(help="Repetitions of large blocks.")] = 3,
    largest: Annotated[int, typer.Option(min=1, help="Largest block in KiB.")] = 2048,
    program: Annotated[str, typer.Option(help="Path of tutti-bench.")] = "tutti-bench",
) -> None:
    """Measure distances, then allgathers of 1 KiB to 2 MiB from each rank."""
    label = label_of(label, mpi)
    folder.mkdir(parents=True, exist_ok=True)
    distances = folder / f"lab-distances-{label}-{nodes}.json"
    begin = time.monotonic()
    if not is_measured(distances, mpi):
        run_in_lab(distances, [program, "distances", "--quiet", "--output"], nodes=nodes, mpi=mpi)
    os.environ["TUTTI_DISTANCES"] = str(distances.resolve())
    for seed in seeds.split(","):
        for name, blocks, repetitions in (("small", SMALL, small), ("large", LARGE, large)):
            path = folder / f"lab-place-{label}-{nodes}-{seed}-{name}.json"
            sizes = [block * nodes for block in blocks if block <= largest << 10]
            if not sizes or is_measured(path, mpi, repetitions=repetitions):
                continue
            run_in_lab(path, [
                program, "allgather", "--quiet", "--bytes", ",".join(map(str, sizes)),
                "--warmup", "1", "--repetitions", str(repetitions),
                *(word for each in ALGORITHMS for word in ("--algorithm", each)), "--json",
            ], nodes=nodes, mpi=mpi, mapping=f"shuffled:{seed}")  # fmt: skip
            err.print(f"{path.name}: {time.monotonic() - begin:.0f} s from the start")


Lines = dict[str, dict[str, Any]]


class Numbering:
    """The results with one numbering of the ranks."""

    def __init__(self, seed: str, documents: list[dict[str, Any]]) -> None:
        self.seed = seed
        self.metadata: dict[str, str] = documents[0]["metadata"]
        self.rows: dict[int, Lines] = {}
        for document in documents:
            ranks = int(document["metadata"]["ranks"])
            for row in document["rows"]:
                block = row["bytes"] // ranks
                self.rows[block] = {line["name"]: line for line in row["algorithms"]}
        self.repetitions = sorted({d["metadata"]["repetitions"] for d in documents}, key=int)

    @property
    def names(self) -> list[str]:
        """The contenders that were measured at all sizes."""
        return [name for name in ALGORITHMS if all(name in row for row in self.rows.values())]

    @property
    def nodes(self) -> list[int]:
        """The node of each rank, from 1 on."""
        count = int(self.metadata["ranks"])
        return ProcessMapping((1,) * count, f"shuffled:{self.seed}").nodes_of_ranks()

    def crossings(self) -> int:
        """The number of links of the natural ring from the first switch to the second."""
        nodes = self.nodes
        half = len(nodes) // 2
        return sum(a <= half < b for a, b in zip(nodes, [*nodes[1:], nodes[0]], strict=True))


def _table(numbering: Numbering) -> list[str]:
    names = numbering.names
    cells = ([lab_page.size(block), *(f"{lab_page.milliseconds(row[name]):.3g}" for name in names)]
             for block, row in sorted(numbering.rows.items()))  # fmt: skip
    return [*lab_page.table([">block", *(f">`{name}`" for name in names)], cells), ""]


def _gains(numberings: list[Numbering]) -> list[str]:
    """The ratios of natural, the paper's order and native to Tutti's order: geometric means over the
    numberings."""
    titles = ["shape", ">block", ">natural / ours", ">paper's / ours", ">native / ours"]
    cells = [[shape, lab_page.size(block), *(f"{_ratio(numberings, block, name, ours):.2f}"
                                             for name in (natural, paper, "native"))]
             for shape, (natural, paper, ours) in SHAPES.items()
             for block in sorted(numberings[0].rows)]  # fmt: skip
    return [*lab_page.table(titles, cells), ""]


def _ratio(numberings: list[Numbering], block: int, one: str, other: str) -> float:
    """The ratio of the times of two contenders, as the geometric mean over the numberings."""
    rows = (numbering.rows[block] for numbering in numberings)
    return geometric_mean([row[one]["median_us"] / row[other]["median_us"] for row in rows])


def _reordered(numberings: list[Numbering]) -> list[str]:
    """The gain of the MPI's own from a numbering of the ranks by distance."""
    if not all(REORDERED in n.names for n in numberings):
        return []
    cells = []
    for block in sorted(numberings[0].rows):
        ours = min(_ratio(numberings, block, names[2], REORDERED) for names in SHAPES.values())
        gain = _ratio(numberings, block, "native", REORDERED)
        cells.append([lab_page.size(block), f"{gain:.2f}", f"{ours:.2f}"])
    return [
        "`native:reordered` is the MPI's own on the communicator that `TUTTI_Comm_reorder` returns, as the paper uses its",
        "orders: a program's ranks, and its data, are the new ones there.",
        "",
        *lab_page.table([">block", ">native / native:reordered", ">best of ours / native:reordered"], cells),
        "",
    ]


def _slower(numberings: list[Numbering]) -> list[str]:
    """The cases in which Tutti's order takes more than 5 % longer than the natural order."""
    found = []
    for numbering in numberings:
        for block, row in sorted(numbering.rows.items()):
            for shape, (natural, _, ours) in SHAPES.items():
                ratio = row[ours]["median_us"] / row[natural]["median_us"]
                if ratio > 1.05:
                    found.append(f"- {shape}, {lab_page.size(block)}, `shuffled:{numbering.seed}`: {ratio:.2f}")
    if not found:
        return ["Ours was nowhere slower than the natural order by more than 5 %.", ""]
    return ["Ours was slower than the natural order by more than 5 % at", "", *found, ""]


def _beside_paper(numberings: list[Numbering]) -> list[str]:
    """The number of sizes in which the paper's order is faster than Tutti's, and by how much."""
    lines = []
    for shape, (_, paper, ours) in SHAPES.items():
        ratios = [_ratio(numberings, block, paper, ours) for block in sorted(numberings[0].rows)]
        slower = [ratio for ratio in ratios if ratio < 0.995]
        if slower:
            lines.append(
                f"Ours for {shape} took longer than the paper's in {len(slower)} of {len(ratios)} sizes, "
                f"{min(slower):.2f} to {max(slower):.2f}."
            )
    return [*lines, ""]


def _distances(path: Path) -> str:
    return str(read(path, "tutti-distances-1")["method"])


def _by_default(folder: Path) -> list[str]:
    """The mean time of a call in each tenth of a program's calls, by contender."""
    lines = []
    for path in sorted(folder.glob("place-learned-*.json")):
        document = read(path, PROGRAMS)
        tenths = {
            name: re.findall(r"tenth +\d+: ([\d.]+) ms", runs[0]["output"])
            for name, runs in document["runs"].items()
        }
        words, links = " ".join(document["words"]), document["metadata"]
        lines += [
            *([] if lines else ["## By default", ""]),
            f"`{words}`, {document['nodes']} nodes of {document['per_node']}, mapping "
            f"{links['mapping']}, links of {links['rate']}, {links['switches']} switches joined by "
            f"{links['uplink']}; {_of_how_many(document)}, ms a call:", "",
        ]  # fmt: skip
        rows = [[f"tenth {number}", *(f"{float(one):.1f}" for one in row)]
                for number, row in enumerate(zip(*tenths.values(), strict=True), 1)]  # fmt: skip
        totals = (f"{runs[0]['seconds']:.0f} s" for runs in document["runs"].values())
        lines += [*lab_page.table(["calls", *(f">{name}" for name in tenths)], [*rows, ["in all", *totals]]), ""]
    return lines


def _of_how_many(document: dict[str, Any]) -> str:
    """How many runs of each contender there are."""
    count = len(document["runs"]["native"])
    return "one run of each" if count == 1 else f"the first of {count} runs of each"


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    into: lab_page.Page = None,
) -> None:
    """Write the tables of all results, as Markdown."""
    groups: dict[tuple[str, str], dict[str, list[Path]]] = {}
    for path in lab_page.files(folder, "lab-place-*-*-*-*.json"):
        _, _, mpi, nodes, seed, _ = path.stem.split("-")
        groups.setdefault((mpi, nodes), {}).setdefault(seed, []).append(path)
    lines: list[str] = []
    for (mpi, nodes), seeds in sorted(groups.items()):
        numberings = [
            Numbering(seed, [read(path) for path in paths]) for seed, paths in sorted(seeds.items())
        ]
        lines += [f"## {lab_page.library(numberings[0].metadata)}, {nodes} nodes", ""]
        lines += [f"Distances: {_distances(folder / f'lab-distances-{mpi}-{nodes}.json')}.", ""]
        lines += _gains(numberings) + _reordered(numberings) + _slower(numberings)
        lines += _beside_paper(numberings)
        for numbering in numberings:
            nodes_of_ranks = " ".join(map(str, numbering.nodes))
            lines += [
                f"Median time in ms with ranks on nodes {nodes_of_ranks} (the natural ring crosses "
                f"{numbering.crossings()} times each way), {' and '.join(numbering.repetitions)} "
                "repetitions:", "", *_table(numbering),
            ]  # fmt: skip
    lab_page.write(lines + _by_default(folder), into)


if __name__ == "__main__":
    lab_page.main(app)
