#!/usr/bin/env python3
"""Recomputes the figures in the lists of results from their samples, and writes their page.

    bench/claims.py check docs/results docs/results/README.md README.md
    bench/claims.py page docs/results docs/results/claims.md

claims.json has the sentences, with {names} for figures; this script computes each figure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median
from typing import Annotated, Any

import lab_page
import typer
from lab_levels import LEADERS, leaders_of

from tutti.bench import read

Figures = dict[str, float]
CLAIMS = json.loads((Path(__file__).parent / "claims.json").read_text())
app = typer.Typer(add_completion=False)


def rows(folder: Path, *patterns: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The rows of tutti-bench, each with its first line of each contender."""
    for pattern in patterns:
        for path in lab_page.files(folder, f"{pattern}.json"):
            for row in read(path)["rows"]:
                yield row, {line["name"]: line for line in reversed(row["algorithms"])}


def quotient(lines: dict[str, Any], one: str, other: str, of: Callable[..., float] = median) -> float:
    return of(lines[one]["samples_us"]) / of(lines[other]["samples_us"])


def extremes(name: str, values: list[float]) -> Figures:
    return {f"{name}_least": min(values), f"{name}_most": max(values), f"{name}_count": len(values)}


def tree(folder: Path) -> Figures:
    """A row of the reproduced tables: simulated, with a gap by closed form, and as published.

    SimGrid and the papers have the tree of the paper, TUW_Gatherv, in place of ordered_tree.
    """
    tables = read(folder / "reproduced.json", "tutti-reproduced-1")["tables"]
    of_name = {table["name"]: table for table in tables if table["paper"] == "traff"}
    first = of_name["table-1"]
    row = first["problems"].index("decreasing 100")
    own, simgrid = (next(view["numbers"][row] for view in first["views"] if view["source"] == source)
                    for source in ("own simulator", "SimGrid"))  # fmt: skip
    published = {
        mpi: of_name[name]["published"][row]
        for mpi, name in (("nec", "table-1"), ("mvapich", "table-2"), ("openmpi", "table-3"))
    }
    grown = own["ordered_tree"]
    papers = {mpi: each["MPI_Gatherv"] / each["TUW_Gatherv"] for mpi, each in published.items()}
    return papers | {"grown": grown, "times": own["linear"] / grown, "gap_times": own["gap"] / grown,
                     "simgrid": simgrid["MPI_Gatherv"] / simgrid["TUW_Gatherv"]}  # fmt: skip


def on_two_cores(folder: Path, mpi: str, name: str) -> Figures:
    patterns = [f"tutti-bench-{collective}-{mpi}" for collective in ("gatherv", "scatterv")]
    found = [lines for _, lines in rows(folder, *patterns)]
    verdicts = [lines[name]["ratio_to_native"]["verdict"] for lines in found]
    ratios = [quotient(lines, name, "native") for lines in found]
    counts = {verdict: verdicts.count(verdict) for verdict in ("faster", "even", "slower")}
    return extremes("ratio", ratios) | counts | {"gain": 1 / min(ratios)}


def late_ranks(folder: Path) -> Figures:
    found: Figures = {"kept": 0, "cases": 0}
    for name in ("gather", "scatter"):
        cells = [lines for _, lines in rows(folder, f"lab-{name}-openmpi-48-1000mbit-*ms")]
        found |= extremes(name, [quotient(lines, "auto", "native", mean) for lines in cells])
        found["kept"] += sum(lines["auto"]["ran"].startswith("native:") for lines in cells)
        found["cases"] += len(cells)
    *_, (_, largest) = rows(folder, "lab-gather-openmpi-48-1000mbit-50ms")
    pulled = "linear_pull:flight=4,runner=background"
    times = {"native": largest["native"], "pulled": largest[pulled]}
    return found | {name: mean(line["samples_us"]) / 1000 for name, line in times.items()}


def fft(folder: Path) -> Figures:
    times = read(folder / "lab-fft-openmpi-8.json", "tutti-lab-fft/1")["times"]
    runs = {name: mean(run for _, run, *_ in each) for name, each in times.items()}
    totals = {name: mean(total for total, *_ in each) for name, each in times.items()}
    served = "linear:runner=background"
    fall = 100 * (1 - totals[served] / totals["native"])
    return {"gain": runs["native"] / runs[served], "auto": runs["native"] / runs["auto"], "fall": fall}


def node_memory(folder: Path) -> Figures:
    found: Figures = {}
    for name, shape, collective, leaders in (
        ("allgather", "8x6", "allgather", (1,)), ("alltoallv", "8x6", "alltoallv", (1,)),
        ("bcast", "8x6", "bcast", (1,)), ("gather", "8x6", "gather", (1,)),
        ("large", "4x12", "alltoallv", (1,)), ("allreduce", "8x6", "allreduce", LEADERS),
        ("reduce_scatter", "8x6", "reduce_scatter", LEADERS),
    ):  # fmt: skip
        cells = rows(folder, f"lab-levels-*-{shape}-{collective}")
        found |= extremes(name, [quotient(lines, "native", line) for _, lines in cells
                                 for line in lines if leaders_of(line) in leaders])  # fmt: skip
    return found


def by_distance(folder: Path) -> Figures:
    found: Figures = {}
    for base in ("natural", "native"):
        large, small = [], []
        for row, lines in rows(folder, "lab-place-openmpi-8-*-*"):
            for shape in ("ring", "recursive_doubling"):
                other = shape if base == "natural" else base
                gain = quotient(lines, other, f"{shape}:order=distance")
                (large if row["block"] > 1024 else small).append(gain)
        found |= extremes(base, large) | {f"{base}_small": 1 / min(small)}
    return found


def one_sided(folder: Path) -> Figures:
    cells = rows(folder, "lab-rma-openmpi5-*[0-9]")
    found = extremes("ratio", [quotient(lines, "auto", "native") for _, lines in cells])
    *_, (_, largest) = rows(folder, "lab-rma-openmpi5-48x1")
    return found | {name: median(largest[name]["samples_us"]) / 1000 for name in ("auto", "native")}


def defaults(folder: Path) -> Figures:
    def ratio(samples: str, contender: str = "auto") -> float:
        runs = read(folder / f"{samples}.json", "tutti-lab-programs/2", "tutti-lab-programs/1")["runs"]
        native, other = (median(run["seconds"] for run in runs[name]) for name in ("native", contender))
        return other / native

    *_, (_, largest) = rows(folder, "selection-openmpi-8x1-bcast")
    *_, (_, of_mpich) = rows(folder, "selection-mpich5-8x1-bcast")
    openmpi, mpich = (median(lines["native"]["samples_us"]) for lines in (largest, of_mpich))
    programs = {name: ratio(f"program-{name}") for name in ("tracers", "mixed", "silicon")}
    programs["tracers_rules"] = ratio("program-tracers", "rules")
    learned = ratio("place-learned-openmpi-8")
    broadcasts = ratio("place-learned-openmpi-8-bcast")
    return programs | {"bcast": quotient(largest, "native", "auto"), "learned": learned,
                       "broadcasts": broadcasts, "mpich": openmpi / mpich,
                       "mpich_auto": quotient(of_mpich, "auto", "native")}  # fmt: skip


def verified(folder: Path) -> Figures:
    run = read(folder / "verify.json", "tutti-verify/1")
    return {"millions": run["cases"] / 1e6, "failed": run["failed"]}


FIGURES: dict[str, Callable[[Path], Figures]] = {
    "tree": tree, "late_ranks": late_ranks, "fft": fft, "node_memory": node_memory,
    "by_distance": by_distance, "one_sided": one_sided, "defaults": defaults, "verified": verified,
    "mpich": lambda folder: on_two_cores(folder, "mpich", "auto"),
    "openmpi": lambda folder: on_two_cores(folder, "openmpi", "traff"),
}  # fmt: skip
Folder = Annotated[Path, typer.Argument(help="Folder of the samples.")]


Pages = Annotated[list[Path], typer.Argument(help="The pages that have all claims together.")]


@app.command()
def check(folder: Folder, pages: Pages) -> None:
    """Fail if a list of results has a figure that differs from the samples or belongs to no claim."""
    texts = [claim["text"].format_map(FIGURES[claim["figures"]](folder)) for claim in CLAIMS]
    listings = [page.read_text().partition("<!-- claims -->")[2].partition("<!-- /claims -->")[0]
                for page in pages]  # fmt: skip
    listed = [" ".join(re.sub(r"\]\([^)]*\)|[\[*]", "", text).split()) for text in listings]
    wrong = [f"no list says: {text}" for text in texts if not any(text in left for left in listed)]
    for page, left in zip(pages, listed, strict=True):
        for text in texts:
            left = left.replace(text, "")
        if not wrong and re.search(r"\d", left):
            wrong.append(f"{page} has figures of no claim: {left}")
    if wrong:
        typer.echo("\n".join(wrong), err=True)
        raise typer.Exit(1)


@app.command()
def page(folder: Folder, into: lab_page.Page = None) -> None:
    """Write the table of all claims, as Markdown."""
    cells = []
    for claim in CLAIMS:
        figures = FIGURES[claim["figures"]](folder)
        names = re.findall(r"{(\w+)", claim["text"])
        values = ", ".join(f"{figures[name]:.6g}" for name in names) or "-"
        cells.append([claim["text"].format_map(figures), claim["samples"], claim["setting"], values,
                      claim["verdict"]])  # fmt: skip
    titles = ["claim", "samples", "setting", "recomputed", "verdict"]
    lab_page.write(lab_page.table(titles, cells), into)


if __name__ == "__main__":
    lab_page.main(app)
