#!/usr/bin/env python3
"""Compares two builds of Tutti on this machine: is any algorithm slower than it was?

    bench/compare_builds.py measure BEFORE AFTER builds.json
    bench/compare_builds.py page builds.json docs/results/builds.md

BEFORE and AFTER are prefixes with bin/tutti-bench-openmpi. Both run in turn, each beside native.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean, median
from typing import Annotated, Any

import lab_page
import typer
from rich.progress import track

from tutti import _engine
from tutti.console import write

SIZES = {"pairs": "2,256,4096", "ranks": "2,1024,16384", "none": ""}
VECTORS = "2,1024,65536"
"""In ints, as in --block."""

app = typer.Typer(add_completion=False)


def start(prefix: Path, ranks: int, words: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs tutti-bench of a build."""
    command = ["mpirun.openmpi", "-n", str(ranks), str(prefix / "bin" / "tutti-bench-openmpi"),
               *words, "--quiet"]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=False)


def failure(prefix: Path, ended: subprocess.CompletedProcess[str]) -> typer.BadParameter:
    """The error of a build whose tutti-bench failed."""
    return typer.BadParameter(ended.stdout + ended.stderr, param_hint=str(prefix))


def run(prefix: Path, ranks: int, words: list[str]) -> dict[str, Any]:
    """What tutti-bench of a build writes."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.json"
        ended = start(prefix, ranks, [*words, "--json", str(output)])
        if ended.returncode != 0:
            raise failure(prefix, ended)
        return json.loads(output.read_text())


def known_to(prefix: Path, ranks: int, collective: str, names: list[str]) -> list[str]:
    """The algorithms that tutti-bench of a build knows; none if it lacks the collective."""
    while names:
        words = [word for name in names for word in ("--algorithm", name)]
        ended = start(prefix, ranks, [collective, *words, "--repetitions", "1", "--warmup", "0"])
        if ended.returncode == 0:
            return names
        if "unknown command" in ended.stderr:
            return []
        refused = re.search(r"--algorithm (\S+?): ", ended.stderr)
        if refused is None or refused[1] not in names:
            raise failure(prefix, ended)
        names = [name for name in names if name != refused[1]]
    return names


def medians(document: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Of each algorithm and size: its name, and its median time over that of native."""
    for row in document["rows"]:
        native, *others = row["algorithms"]
        for line in others:
            size = row["block"] * row["element_bytes"]
            yield f"{row['collective']} {size} {line['name']}", line["median_us"] / native["median_us"]


@app.command()
def measure(
    before: Annotated[Path, typer.Argument(help="Prefix of one build.")],
    after: Annotated[Path, typer.Argument(help="Prefix of the other.")],
    output: Annotated[Path, typer.Argument(help="File for the results.")],
    ranks: Annotated[int, typer.Option(help="All on this machine.")] = 4,
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each build and collective.")] = 5,
    repetitions: Annotated[int, typer.Option(help="Timed calls of each algorithm.")] = 50,
) -> None:
    """Run both builds in turn, every collective with every algorithm."""
    lab_page.refuse_unwritable(output)
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    names = [name for name in _engine.collectives() if not name.startswith("rma_")]
    metadata: dict[str, str] = {}
    common = {name: _engine.useful(name, ranks, ranks) for name in names}
    for name in track(names, description="algorithms of both"):
        for prefix in (after, before):
            common[name] = known_to(prefix, ranks, name, common[name])
    names = [name for name in names if common[name]]
    for number in track(range(rounds * len(names)), description="rounds"):
        name = names[number % len(names)]
        blocks = SIZES.get(_engine.block_kind(name), VECTORS)
        words = [name, "--repetitions", str(repetitions), "--warmup", "5", "--no-check"]
        words += ["--block", blocks] if blocks else []
        words += ["--distribution", "same"] if _engine.is_irregular(name) else []
        for contender in ["native", *common[name]]:
            words += ["--algorithm", contender]
        pair = [("before", before), ("after", after)]
        for build, prefix in pair if number // len(names) % 2 == 0 else reversed(pair):
            document = run(prefix, ranks, words)
            metadata = document["metadata"]
            for key, ratio in medians(document):
                found[key][build].append(ratio)
    document = {"metadata": metadata, "ranks": ranks, "rounds": rounds, "ratios": found}
    write(output, json.dumps(document, indent=1), "OUTPUT")


def quotients(ratios: dict[str, list[float]]) -> list[float]:
    """Of each round: the algorithm's time after over that before, both over native."""
    return [after / before for before, after in zip(ratios["before"], ratios["after"], strict=True)]


@app.command()
def page(
    measured: Annotated[Path, typer.Argument(help="File of `measure`.")],
    page: lab_page.Page = None,
) -> None:
    """Write the table: a row for each collective."""
    document = json.loads(measured.read_text())
    groups: dict[str, dict[int, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    for key, ratios in document["ratios"].items():
        collective, size, algorithm = key.split(" ")
        groups[collective][int(size)][algorithm] = quotients(ratios)
    rows = []
    everything: list[float] = []
    for collective, sizes in groups.items():
        every = {f"`{name}`, {size:,} B": median(values)
                 for size, algorithms in sizes.items() for name, values in algorithms.items()}  # fmt: skip
        everything += every.values()
        cells = [geometric_mean([median(v) for v in algorithms.values()]) for algorithms in sizes.values()]
        slowest = max(every, key=lambda name: every[name])
        # A rank test with so few rounds can say little: in doubt, an algorithm is not slower.
        lost = sum(min(v) > 1 for algorithms in sizes.values() for v in algorithms.values())
        won = sum(max(v) < 1 for algorithms in sizes.values() for v in algorithms.values())
        rows.append([collective, f"{len(every)}", *(f"{cell:.2f}" for cell in cells),
                     *[""] * (3 - len(cells)), f"{slowest}: {every[slowest]:.2f}", f"{won}", f"{lost}"])  # fmt: skip
    titles = ["collective", ">cells", ">smallest", ">middle", ">largest", "most against before",
              ">shorter in all rounds", ">longer in all rounds"]  # fmt: skip
    lines = [f"## {lab_page.library(document['metadata'])}, {document['ranks']} ranks, "
             f"{document['rounds']} rounds", "",
             f"After / before, geometric mean of {len(everything)} cells: "
             f"{geometric_mean(everything):.3f}.", "", *lab_page.table(titles, rows)]  # fmt: skip
    lab_page.write(lines, page)


if __name__ == "__main__":
    lab_page.main(app)
