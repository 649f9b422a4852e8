#!/usr/bin/env python3
"""Measures the grid of Proficz 2020, tables 3 and 4, in the lab, and writes its page.

    bench/lab_grid.py measure gather --nodes 48 --rate 100 FOLDER
    bench/lab_grid.py page FOLDER docs/results/arrival-lab.md

This needs a lab (tutti lab up 48 --rate 100mbit). One run of tutti-bench for each delay writes
FOLDER/lab-<collective>-<mpi>-<nodes>-<rate>mbit-<delay>ms.json. Runs with an existing file are
skipped, whatever sizes and budget they have, so an interrupted measurement can continue; those of
another MPI or lab are refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import lab_page
import typer
from lab_job import err, is_measured, label_of, run_in_lab, use_machine
from lab_page import numbers
from rich.progress import Progress
from tutti_lab import state
from tutti_lab.layout import show_rate
from tutti_reproduce.context import published

from tutti.bench import read
from tutti.refusal import Refusal

PAPER = published("proficz")
PAPER_RATE = 1000
"""The rate of the paper's links, in Mbit/s."""
FLOAT = 4
ALGORITHMS = {
    "scatter": ["native", "LIN", "BNOM", "SLIN", "SBN", "BSLN", "BSBN",
                "linear:runner=background", "auto"],
    "gather": ["native", "LIN", "LS", "BNOM", "SLS", "SBN", "BSLS", "BSBN",
               "linear_pull:flight=4,runner=background", "auto"],
}
SHORTEST_COMPUTING_MS = 100


WARMUP = 2
"""Untimed calls of each algorithm before the timed ones."""


SETTLING = 60
"""Untimed calls of `auto` before the warm-up, in which it learns arrivals and explores; it selects
after 36 or more."""


app = typer.Typer(add_completion=False)


def slowdown(rate: float) -> float:
    """The rate of the paper's links over that of the lab's."""
    return PAPER_RATE / rate


def computing(delay: float) -> float:
    return max(delay, SHORTEST_COMPUTING_MS)


def repetitions(delay: float, sizes: list[int], rate: float, algorithms: int, budget: float) -> int:
    """The repetitions that fit the budget in seconds: between 3 and the paper's 128."""
    transfer = sum(size * 8 / (rate * 1e6) for size in sizes)
    once = algorithms * (1.3 * transfer + len(sizes) * (computing(delay) + 0.7 * delay) / 1000)
    before = WARMUP + SETTLING / algorithms
    return max(3, min(128, int(budget / once - before)))


def name_of(collective: str, mpi: str, nodes: int, rate: float, delay: float) -> str:
    return f"lab-{collective}-{mpi}-{nodes}-{rate:g}mbit-{delay:g}ms.json"


@app.command()
def measure(
    collective: Annotated[str, typer.Argument(help="The collective: scatter or gather.")],
    folder: Annotated[Path, typer.Argument(help="Folder for the results.")],
    nodes: Annotated[int, typer.Option(help="Number of nodes, with one rank each.")] = 48,
    rate: Annotated[float, typer.Option(help="Rate of the lab's links, in Mbit/s.")] = 100,
    mpi: Annotated[str, typer.Option(help="As in tutti lab run --mpi.")] = "openmpi",
    label: Annotated[str, typer.Option(help="Name of the MPI in file names; default: --mpi.")] = "",
    budget: Annotated[float, typer.Option(help="Time for each delay, in seconds.")] = 120,
    delays: Annotated[str, typer.Option(help="Delays of the paper in ms, separated by commas.")] = "",
    sizes: Annotated[str, typer.Option(help="Block sizes in kilofloats, separated by commas.")] = "",
    program: Annotated[str, typer.Option(help="Path of tutti-bench.")] = "tutti-bench",
) -> None:
    """Measure with the paper's delays, multiplied by the slowdown of the links."""
    if collective not in ALGORITHMS:
        raise typer.BadParameter(f"{collective}: scatter or gather", param_hint="collective")
    links = state.current().layout.rate
    if links != rate * 1e6:
        raise Refusal(f"--rate {rate:g}: the lab's links have {show_rate(links)}")
    scale = slowdown(rate)
    chosen = numbers("--delays", delays, float) if delays else PAPER["delays_ms"]
    kilofloats = numbers("--sizes", sizes, int) if sizes else PAPER["kilofloats"]
    totals = [1024 * FLOAT * size for size in kilofloats]
    algorithms = ALGORITHMS[collective]
    label = label_of(label, mpi)
    folder.mkdir(parents=True, exist_ok=True)
    use_machine(folder, label, str(nodes), program, nodes=nodes, mpi=mpi)
    with Progress(console=err) as progress:
        task = progress.add_task(collective, total=len(chosen))
        for delay in (scale * each for each in chosen):
            progress.update(task, description=f"{collective}, delays up to {delay:g} ms")
            path = folder / name_of(collective, label, nodes, rate, delay)
            if not is_measured(path, mpi):
                count = repetitions(delay, totals, rate, len(algorithms), budget)
                run_in_lab(path, [
                    program, collective, "--root", "first", "--persistent", "--no-check",
                    "--quiet", "--bytes", ",".join(map(str, totals)),
                    "--delay", f"uniform:{delay:g}ms" if delay else "none",
                    "--compute", f"{computing(delay):g}ms",
                    "--repetitions", str(count), "--warmup", str(WARMUP),
                    "--settle", str(SETTLING),
                    *(word for each in algorithms for word in ("--algorithm", each)), "--json",
                ], nodes=nodes, mpi=mpi, limit=4 * budget + 600)  # fmt: skip
            progress.advance(task)


class Grid:
    """The results of one collective, MPI, number of nodes and rate."""

    def __init__(self, files: list[Path], nodes: str, rate: float) -> None:
        self.nodes = nodes
        self.rate = rate
        self.documents = [read(path) for path in files]
        self.metadata = self.documents[0]["metadata"]
        self.cells: dict[tuple[int, float], dict[str, dict[str, Any]]] = {}
        self.repetitions: dict[float, int] = {}
        for path, document in zip(files, self.documents, strict=True):
            delay = float(path.stem.rsplit("-", 1)[1].removesuffix("ms"))
            self.repetitions[delay] = int(document["metadata"]["repetitions"])
            for row in document["rows"]:
                lines = {line["name"]: line for line in row["algorithms"]}
                kilofloats = round(row["bytes"] / FLOAT / 1024)
                self.cells[kilofloats, delay] = lines
        self.collective: str = self.documents[0]["rows"][0]["collective"]
        # Without calls to explore in, `auto` is that of an earlier version, in which a model selected.
        has_explored = int(self.metadata.get("settle", 0)) >= SETTLING
        self.names: list[str] = [line["name"] for line in self.documents[0]["rows"][0]["algorithms"]
                                 if has_explored or line["name"] != "auto"]  # fmt: skip

    @property
    def sizes(self) -> list[int]:
        return sorted({size for size, _ in self.cells})

    @property
    def delays(self) -> list[float]:
        return sorted({delay for _, delay in self.cells})

    def table(self, value: Any) -> list[str]:
        """A table in the form of the paper's; value(lines, size, delay) writes a cell."""
        cells = ([str(size), *(value(self.cells[size, delay], size, delay)
                               if (size, delay) in self.cells else "" for delay in self.delays)]
                 for size in self.sizes)  # fmt: skip
        return [*lab_page.table([">K floats", *(f">{delay:g} ms" for delay in self.delays)], cells), ""]


def mean(lines: dict[str, dict[str, Any]], name: str) -> float:
    return lines[name]["mean_us"] / 1000  # type: ignore[no-any-return]


def of_bounds(lines: dict[str, dict[str, Any]], base: str, other: str) -> float:
    """The quotient of r / bound, which does not depend on the actual spreads of the calls."""
    return lines[base]["ratio_to_bound"] / lines[other]["ratio_to_bound"]  # type: ignore[no-any-return]


def quotient(base: str, other: str) -> Any:
    """A cell with the difference in ms and the quotient of means, as in the paper, and the quotient
    of medians; below it that of r / bound."""

    def cell(lines: dict[str, dict[str, Any]], _size: int, _delay: float) -> str:
        difference = mean(lines, other) - mean(lines, base)
        text = f"{difference:+.0f}<br>**{mean(lines, base) / mean(lines, other):.2f}**"
        text += f" ({lines[base]['median_us'] / lines[other]['median_us']:.2f})"
        return f"{text}<br>_{of_bounds(lines, base, other):.2f}_"

    return cell


def _section(grid: Grid) -> list[str]:
    paper = PAPER[grid.collective]
    base, proposed = paper["base"], paper["proposed"]
    ours = next(name for name in grid.names if "runner=background" in name)

    def of_bound(lines: dict[str, dict[str, Any]], _size: int, _delay: float) -> str:
        return " ".join(f"{lines[name]['ratio_to_bound']:.2f}" for name in grid.names)

    def elapsed(lines: dict[str, dict[str, Any]], _size: int, _delay: float) -> str:
        return " ".join(f"{lines[name]['elapsed_mean_us'] / 1000:.0f}" for name in grid.names)

    def runs(lines: dict[str, dict[str, Any]], _size: int, _delay: float) -> str:
        return " ".join(f"{mean(lines, name):.0f}" for name in grid.names)

    several = " ".join(f"`{name}`" for name in grid.names)
    library = lab_page.library(grid.metadata)
    heading = (f"## {grid.collective.capitalize()}, {library}, {grid.nodes} nodes,"
               f" {grid.rate:g} Mbit/s")  # fmt: skip
    counts = ", ".join(f"{grid.repetitions[d]} ({d:g} ms)" for d in sorted(grid.repetitions))
    lines = [heading, "", f"Repetitions: {counts}.", ""]
    for name, than in ((proposed, base), (ours, "native"), ("auto", "native")):
        if name not in grid.names:
            continue
        lines += [f"`{name}` against `{than}`: difference of mean r in ms, quotient of means (of"
                  " medians), and _the quotient of r / bound_:", ""]  # fmt: skip
        lines += grid.table(quotient(than, name))
    lines += [f"Mean r in ms: {several}", "", *grid.table(runs)]
    lines += [f"Median of r / bound: {several}", "", *grid.table(of_bound)]
    lines += [f"Mean elapsed time in ms: {several}", "", *grid.table(elapsed)]
    return lines


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    into: lab_page.Page = None,
) -> None:
    """Write the tables of all results, as Markdown."""
    grids: dict[tuple[str, str, str, float], list[Path]] = {}
    for path in lab_page.files(folder, "lab-*-*-*-*mbit-*ms.json"):
        _, collective, mpi, nodes, rate, _ = path.stem.split("-")
        key = (collective, mpi, nodes, float(rate.removesuffix("mbit")))
        grids.setdefault(key, []).append(path)
    lines = []
    # By decreasing number of nodes, then by decreasing rate.
    in_order = sorted(
        grids.items(), key=lambda item: (-int(item[0][2]), -item[0][3], item[0][1], item[0][0])
    )
    for (_, _, nodes, rate), files in in_order:
        lines += _section(Grid(files, nodes, rate))
    lab_page.write(lines, into)


if __name__ == "__main__":
    lab_page.main(app)
