#!/usr/bin/env python3
"""Compares `auto` with native and with every algorithm of the list, and writes its page.

    tutti lab up 8 --rate 1gbit
    bench/lab_selection.py measure FOLDER [--shape 8x6] [--mpi openmpi] [--rules rules.json]
    tutti lab down
    bench/lab_selection.py measure FOLDER --platform switch [--shape 8x6]
    bench/lab_selection.py page FOLDER docs/results/selection.md

`measure` writes FOLDER/selection-<MPI>-<shape>[-rules]-<collective>.json: measured in the lab, or,
with `--platform`, simulated by SimGrid, where <MPI> is the platform's shape, or what
--label names. There is no machine file. Existing files are skipped, so an interrupted measurement
can continue; those of another MPI, platform or number of repetitions are refused.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from statistics import geometric_mean, median
from typing import Annotated, Any

import lab_page
import lab_programs
import typer
from lab_job import SETTLE, err, is_measured, label_of, run_in_lab, run_simulated

from tutti import _engine
from tutti.statistics import Interval, median_interval
from tutti.tuning_run import waits_for_all

VECTORS = "2,8192,262144"
"""In ints: 8 B, 32 KiB and 1 MiB of all."""
BLOCKS = "2,1024,32768"
"""8 B, 4 KiB and 128 KiB of each rank."""
PAIRS = "2,256,8192"
"""8 B, 1 KiB and 32 KiB for each other rank."""
FEWEST = 7
"""Calls of each contender that an interval needs."""
GROUP = re.compile(r"(.+)-(\d+x\d+)((?:-rules)?(?:-alone)?(?:-floats)?)")
"""Label, shape and suffix in the names of files, without the collective."""

EXPLANATION = """\
Geometric means over the cells; above 1 the latter of two is faster. "Fastest": the shortest time of
native and the whole list. "At least 0.95": how many cells have 0.95 of the speed of the fastest.
"Slower": cells in which `auto` is beyond doubt (95 %) slower than 0.97 of native. The last three
columns have native once more in place of `auto`, as a control: what noise alone gives. Beside native
only, there is no list, and the fastest is native. Tables of long
and of short calls lack alltoalls of 1 ms or more, some of whose calls stall in the switch."""

LOSSES = """\
What exploring cost `auto` there, by collective, agreements included; the bound is 2 % of the time in
the collective (1 % for exploring, 1 % for comparing), a call and two agreements, beside what explored
calls gained. Then the class of sizes that lost the largest part of its time in any round: its time is
that of its calls at the MPI's own median, of which it may lose 5 %, a call and what explored calls
gained."""

app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class Cell:
    """One collective and size: medians in ms by the criterion of a selection, with an interval."""

    collective: str
    distribution: str
    bytes: int
    native: float
    auto: float
    gain: Interval
    """Native's time over that of `auto`."""
    whole_gain: float
    """The same from the first arrival on."""
    fastest: float
    fastest_name: str
    of_best: float
    """The time of the fastest of native and the list, over that of `auto`: 1 is the best."""
    control: float
    """As of_best, of a second contender that is native too: what noise and method alone give."""
    native_again: float
    """The time of native over that of the second native contender."""
    ran: str


def sizes(collective: str) -> str:
    """The options for the sizes of a collective."""
    kind = _engine.block_kind(collective)
    if kind == "none":
        return ""
    blocks = {"pairs": PAIRS, "ranks": BLOCKS}.get(kind, VECTORS)
    return f"--block {blocks}"


def names(collective: str, ranks: int, per_node: int) -> list[str]:
    """The contenders: native, auto, native again, and all of the list that needs no arrivals."""
    others = (name for name in _engine.useful(collective, ranks, per_node) if name != "native")
    return ["native", "auto", "native", *others]


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="Folder for the results.")],
    shape: Annotated[str, typer.Option(help="Nodes x ranks on each.")] = "8x1",
    mpi: Annotated[str, typer.Option(help="As in tutti lab run --mpi.")] = "openmpi",
    program: Annotated[str, typer.Option(help="Path of tutti-bench.")] = "tutti-bench-openmpi",
    label: Annotated[str, typer.Option(help="Names the files; default: --mpi.")] = "",
    platform: Annotated[str, typer.Option(help="Simulate: as in tutti simgrid --platform, but "
                                               "without nodes.")] = "",
    rules: Annotated[Path | None, typer.Option(help="Rules: then nothing explores.")] = None,
    collective: Annotated[list[str] | None, typer.Option(help="Repeatable. Default: all.")] = None,
    repetitions: Annotated[int, typer.Option(help="Timed calls of each contender.")] = 25,
    alone: Annotated[bool, typer.Option(help="Without the list: then no setting changes.")] = False,
    floats: Annotated[bool, typer.Option("--floats", help="Sums of floats: reductions only.")] = False,
) -> None:
    """Measure every collective; contenders alternate."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes, per_node = (int(word) for word in shape.split("x"))
    os.environ["TUTTI_MACHINE"] = "built-in"
    settle = SETTLE
    suffix = ""
    if rules is not None:
        os.environ["TUTTI_RULES"] = str(rules.resolve())
        settle, suffix = 0, "-rules"
    if alone:
        suffix += "-alone"
    if floats:
        suffix += "-floats"
    wanted = [name for name in collective or _engine.collectives() if not name.startswith("rma_")]
    if floats:
        wanted = [name for name in wanted if _engine.reduces(name)]
    kind, _, values = platform.partition(":")
    simulated = f"{kind}:{nodes}:{values}".rstrip(":") if platform else ""
    label = label_of(label or kind, mpi, may_divide=True)
    paths = {name: folder / f"selection-{label}-{shape}{suffix}-{name}.json"
             for name in wanted}
    missing = {name: path for name, path in paths.items()
               if not is_measured(path, mpi, simulated, repetitions=repetitions)}  # fmt: skip
    for name, path in missing.items():
        err.print(path.name)
        words = [name, *sizes(name).split(), "--settle", str(settle)]
        words += ["--repetitions", str(repetitions), "--budget", "20s", "--warmup", "2"]
        words += ["--rest", "1us" if platform else "1ms"]
        words += ["--root", "first"] if _engine.has_root(name) else []
        words += ["--floats"] if floats else []
        words += ["--distribution", "same,spikes"] if _engine.is_irregular(name) else []
        contenders = names(name, nodes * per_node, per_node)
        for contender in contenders[:3] if alone else contenders:
            words += ["--algorithm", contender]
        words += ["--quiet", "--json"]
        if platform:
            run_simulated(path, words, simulated, per_node, limit=1800)
        else:
            run_in_lab(path, [program, *words], nodes=nodes, per_node=per_node, mpi=mpi, limit=1800,
                       preloaded=True)  # fmt: skip


def times(line: dict[str, Any], after_last: bool) -> list[float]:
    """Until the last exit, after the last arrival, or after the first one as in older files."""
    found: list[float] = line["after_last_arrival_us" if after_last else "samples_us"]
    return found


def fastest(lines: dict[str, list[float]]) -> tuple[str, float]:
    """The algorithm of the least median, found in every second call, and its median in the others.

    The least of many medians is too short by noise if the same calls find and measure it.
    """
    best = min(lines, key=lambda name: median(lines[name][::2]))
    return best, median(lines[best][1::2] or lines[best])


def gain(native: list[float], auto: list[float]) -> Interval:
    """The ratio of two medians; each interval has half of the permitted error (Bonferroni)."""
    if min(len(native), len(auto)) < FEWEST:
        return Interval(median(native) / median(auto), nan, nan)
    over, under = (median_interval(samples, 0.975) for samples in (native, auto))
    return Interval(over.median / under.median, over.low / under.high, over.high / under.low)


def cells(document: dict[str, Any], after_last_always: bool = False) -> Iterator[Cell]:
    """The cells of one collective. Times after the last arrival count where every rank waits for
    all, or always."""
    for row in document["rows"]:
        of_all = row["algorithms"]
        after_last = ((after_last_always or waits_for_all(row["collective"]))
                      and all("after_last_arrival_us" in line for line in of_all))  # fmt: skip
        native, auto, *others = (times(line, after_last) for line in of_all)
        natives = [of for line, of in zip(of_all[2:], others, strict=True)
                   if line["name"] == "native"]  # fmt: skip
        rest = {line["name"]: of for line, of in zip(of_all[2:], others, strict=True)
                if line["name"] != "native"}  # fmt: skip
        again = median(natives[0]) if natives else nan
        name, of_list = fastest(rest or {"native": native})
        _, best = fastest({"native": native, **rest})
        of_native, of_auto = median(native), median(auto)
        yield Cell(
            row["collective"], row["distribution"], row["block"] * row["element_bytes"],
            of_native / 1000, of_auto / 1000, gain(native, auto),
            of_all[0]["median_us"] / of_all[1]["median_us"], of_list / 1000, name, best / of_auto,
            best / again, of_native / again, of_all[1]["ran"].partition(": ")[0],
        )  # fmt: skip


TITLES = [">cells", ">native / `auto`", ">fastest / `auto`", ">at least 0.95", ">slower",
          ">native / native", ">fastest / native", ">at least 0.95"]  # fmt: skip


def row(found: list[Cell]) -> list[str]:
    """The figures of some cells: how many, three of `auto`, and the same of native once more."""
    again = [cell for cell in found if not isnan(cell.control)]
    near = sum(cell.of_best >= 0.95 for cell in found) / len(found)
    lost = sum(cell.gain.high < 0.97 for cell in found)
    controls = ["", "", ""]
    if again:
        as_near = sum(cell.control >= 0.95 for cell in again) / len(again)
        controls = [f"{geometric_mean([cell.native_again for cell in again]):.2f}",
                    f"{geometric_mean([cell.control for cell in again]):.2f}", f"{as_near:.0%}"]  # fmt: skip
    return [
        str(len(found)), f"{geometric_mean([cell.native / cell.auto for cell in found]):.2f}",
        f"{geometric_mean([cell.of_best for cell in found]):.2f}", f"{near:.0%}", str(lost), *controls,
    ]  # fmt: skip


def summary(found: dict[str, list[Cell]]) -> list[str]:
    """The figures that a selection is judged by: of all cells, of long calls, and of short ones,
    without exchanges that stall in the switch."""
    lines: list[str] = []
    for calls, holds in {
        "All calls": lambda cell: True,
        "Calls of 5 ms or more": lambda cell: is_steady(cell) and cell.native >= 5,
        "Calls below 0.7 ms": lambda cell: is_steady(cell) and cell.native < 0.7,
    }.items():
        groups = {where: [cell for cell in of_all if holds(cell)] for where, of_all in found.items()}
        rows = [[where, *row(group)] for where, group in groups.items() if group]
        lines += [*lab_page.table([calls, *TITLES], rows), ""]
    return lines


def is_steady(cell: Cell) -> bool:
    """Does nothing stall in the switch?"""
    return not (cell.collective.startswith("alltoall") and cell.native >= 1)


def interval(ratio: Interval) -> str:
    """Its ends; empty if there were too few calls."""
    return "" if isnan(ratio.low) else f"{ratio.low:.2f} to {ratio.high:.2f}"


def table(found: list[Cell]) -> list[str]:
    """A row for each cell."""
    titles = ["collective", ">bytes", ">native, ms", ">native / `auto`", "95 %", ">from the first arrival",
              ">native / native", "fastest of the list",
              ">native / fastest", "`auto` ran"]  # fmt: skip
    rows = []
    for cell in found:
        spread = "" if cell.distribution in ("", "same") else f" ({cell.distribution})"
        rows.append([
            f"{cell.collective}{spread}", f"{cell.bytes:,}", f"{cell.native:.3f}",
            f"{cell.gain.median:.2f}", interval(cell.gain),
            f"{cell.whole_gain:.2f}", "" if isnan(cell.native_again) else f"{cell.native_again:.2f}",
            f"`{cell.fastest_name}`", f"{cell.native / cell.fastest:.2f}", f"`{cell.ran}`",
        ])  # fmt: skip
    return lab_page.table(titles, rows)


def machine(metadata: dict[str, str]) -> str:
    """What was measured, or simulated."""
    simulated = "platform" in metadata
    return "Simulated by SimGrid" if simulated else lab_page.library(metadata)


def title(group: str, metadata: dict[str, str], *, labelled: bool = False) -> str:
    """The heading of a group of files; `labelled`: with the label and the platform."""
    parsed = GROUP.fullmatch(group)
    label, shape, suffix = parsed.groups() if parsed else ("", group, "")
    suffix = suffix.replace("-rules", ", rules of `tutti tune`")
    suffix = suffix.replace("-alone", ", beside native only")
    suffix = suffix.replace("-floats", ", sums of floats")
    named = f", {label}" if labelled else ""
    if labelled and "platform" in metadata:
        named += f" (`{metadata['platform']}`)"
    return f"{machine(metadata)}{named}, {shape}{suffix}"


def titles(groups: dict[str, dict[str, str]]) -> dict[str, str]:
    """The heading of each group by its metadata, with label and platform where two are alike."""
    short = {group: title(group, metadata) for group, metadata in groups.items()}
    number = Counter(short.values())
    return {group: title(group, metadata, labelled=number[short[group]] > 1)
            for group, metadata in groups.items()}  # fmt: skip


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    page: lab_page.Page = None,
) -> None:
    """Write the tables of all measured shapes."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("selection-*.json")):
        group = path.stem.removeprefix("selection-").rpartition("-")[0]
        groups.setdefault(group, []).append(json.loads(path.read_text()))
    found: dict[str, list[Cell]] = {}
    headings = titles({group: documents[0]["metadata"] for group, documents in groups.items()})
    for group, documents in groups.items():
        found[headings[group]] = [cell for document in documents for cell in cells(document)]
    after_last = {where: [cell for document in documents for cell in cells(document, True)]
                  for where, documents in zip(found, groups.values(), strict=True)}  # fmt: skip
    calls = "All calls, after the last arrival where noted"
    lines = ["## In figures", "", EXPLANATION, "", *summary(found),
             *lab_page.table([calls, *TITLES], [[where, *row(of)] for where, of in after_last.items()]), ""]  # fmt: skip
    for where, of_all in found.items():
        lines += [f"## {where}", "", *table(of_all), ""]
    lines += ["## Whole programs", "", *lab_programs.table(folder), *lab_programs.losses(folder, LOSSES)]
    lab_page.write(lines, page)


if __name__ == "__main__":
    app()
