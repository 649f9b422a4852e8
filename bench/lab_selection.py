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

import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import lab_page
import lab_programs
import selection_cells
import typer
from lab_job import SETTLE, err, is_measured, label_of, run_in_lab, run_simulated, shape_of
from selection_cells import Cell, Kinds, cells

from tutti import _engine
from tutti.bench import read

VECTORS = "2,8192,262144"
"""In ints: 8 B, 32 KiB and 1 MiB of all."""
BLOCKS = "2,1024,32768"
"""8 B, 4 KiB and 128 KiB of each rank."""
PAIRS = "2,256,8192"
"""8 B, 1 KiB and 32 KiB for each other rank."""
GROUP = re.compile(r"(.+)-(\d+x\d+)((?:-rules)?(?:-alone)?(?:-floats)?)")
"""Label, shape and suffix in the names of files, without the collective."""

BEFORE = {"8x1": ["8 nodes of 1, before", "52", "0.96", "1.18"],
          "8x6": ["8 nodes of 6, before", "12", "0.90", "1.67"]}  # fmt: skip
"""Cells, native / `auto` and native / fastest with Open MPI 4.1.4 when a model selected."""
OLDER = "from the first arrival, no sleep after untimed calls"
"""What holds for files without times after the last arrival."""
SUMMARIES: dict[str, Callable[[Cell], bool]] = {
    "All calls": lambda cell: True,
    "All but alltoalls of 1 ms or more": lambda cell: cell.is_steady,
    "Calls of 5 ms or more": lambda cell: cell.is_long,
    "Calls below 0.7 ms": lambda cell: cell.is_short,
}

EXPLANATION = """\
Geometric means over the cells; above 1 the latter of two is faster. "Fastest": the shortest time of native and the whole list. "At
least 0.95": how many cells have 0.95 of the speed of the fastest. "Slower": cells in which `auto` is beyond doubt (95 %) slower
than 0.97 of native. The last four columns have native a second time in place of `auto`. `native / native` shows noise: with as
much, some cells would lack 0.95 even if `auto` always ran the fastest. The last two show what is lost by never changing the
algorithm. Beside native only, there is no list, and the fastest is native. Tables but the first one, and what is named above a
table, lack alltoalls of 1 ms or more. Some of their calls stall in the switch: of one contender they take 3 to 170 ms, so a median
of few is chance.

With several ranks a node the list has hierarchical calls around the MPI's own only. `auto` also explores those around Tutti's
algorithms, so a value above 1 is possible, and a value near 1 does not mean that nothing faster exists."""

BEFORE_TEXT = """\
**Before this selector** a model decided (medians of 25 repetitions, 3 sizes, no scans; then the MPI's own ran in all 52 cells).
Sizes and collectives differ from today's, so only large differences mean anything:"""

LOSSES = """\
What exploring cost `auto` there, by collective, agreements included; the bound is 2 % of the time in the collective (1 % for
exploring, 1 % for comparing), a call and two agreements, beside what explored calls gained. Then the class of sizes that lost the
largest part of its time in any round: its time is that of its calls at the MPI's own median, of which it may lose 5 %, a call and
what explored calls gained."""

app = typer.Typer(add_completion=False)


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
    nodes, per_node = shape_of(shape)
    folder.mkdir(parents=True, exist_ok=True)
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


def ages(groups: dict[str, list[dict[str, Any]]], headings: dict[str, str]) -> list[str]:
    """When the files of each table were sampled, and how many calls of `auto` they timed."""
    rows: list[list[str]] = []
    for group, documents in groups.items():
        days: dict[str, list[dict[str, Any]]] = {}
        for document in documents:
            lines = [line for row in document["rows"] for line in row["algorithms"]]
            of = document["metadata"]
            sampled = of.get("date", "").partition("T")[0]
            if "processor" in of and "platform" not in of:
                sampled += f", {of['processor']}"
            sampled += f", `{of['commit']}`" if "commit" in of else ""
            sampled += "" if selection_cells.has_after_last(lines) else f"; {OLDER}"
            days.setdefault(sampled, []).append(document)
        for sampled, of_day in sorted(days.items()):
            of_auto = [(row["collective"], row["algorithms"][1]) for document in of_day for row in document["rows"]]
            names = sorted({name for name, _ in of_auto})
            rows.append([headings[group], ", ".join(names) if len(days) > 1 else f"all {len(names)}", sampled,
                         selection_cells.span((len(line["samples_us"]) for _, line in of_auto), 0)])  # fmt: skip
    return lab_page.table(["table", "collectives", "sampled", ">calls timed"], rows)


def before(found: Kinds) -> list[str]:
    """The table of what a model selected, beside the same machines today."""
    rows = []
    for shape, old in BEFORE.items():
        rows.append(old)
        today = found.get(f"Open MPI v4.1.4, {shape}")
        if today:
            gained = selection_cells.speed(today)
            rows.append([f"{old[0].partition(',')[0]}, today", str(len(today)), f"{gained:.2f}",
                         f"{gained / selection_cells.of_fastest(today):.2f}"])  # fmt: skip
    return lab_page.table(["Open MPI 4.1.4", ">cells", ">native / `auto`", ">native / fastest"], rows)


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    page: lab_page.Page = None,
) -> None:
    """Write the tables of all measured shapes."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path in lab_page.files(folder, "selection-*.json"):
        group = path.stem.removeprefix("selection-").rpartition("-")[0]
        groups.setdefault(group, []).append(read(path))
    headings = titles({group: documents[0]["metadata"] for group, documents in groups.items()})
    found = {headings[group]: [cell for document in documents for cell in cells(document)]
             for group, documents in groups.items()}  # fmt: skip
    after_last = {headings[group]: [cell for document in documents for cell in cells(document, True)]
                  for group, documents in groups.items()}  # fmt: skip
    every = {"All calls, after the last arrival where noted": SUMMARIES["All calls"]}
    lines = ["## In short", "", *short_of(groups, headings, found), "", BEFORE_TEXT, "", *before(found), "",
             "## In figures", "", EXPLANATION, "", *selection_cells.summary(found, SUMMARIES),
             *selection_cells.summary(after_last, every), *ages(groups, headings), ""]  # fmt: skip
    for where, of_all in found.items():
        lines += [f"## {where}", "", *selection_cells.highlights(of_all), *selection_cells.table(of_all), ""]
    if programs := lab_programs.documents(sorted(folder.glob("program-*.json"))):
        lines += ["## Whole programs", "", *lab_programs.table(programs), "", LOSSES, "",
                  *lab_programs.losses(programs)]  # fmt: skip
    lab_page.write(lines, page)


def short_of(groups: dict[str, list[dict[str, Any]]], headings: dict[str, str], found: Kinds) -> list[str]:
    """What the figures say in short: of all tables with default settings."""
    lab: Kinds = {}
    simulated: Kinds = {}
    alone: list[Cell] = []
    for group, documents in groups.items():
        where = headings[group]
        parsed = GROUP.fullmatch(group)
        suffix = parsed[3] if parsed else ""
        if suffix == "-alone":
            alone += found[where]
        elif not suffix:
            kind = simulated if "platform" in documents[0]["metadata"] else lab
            kind[where] = found[where]
    return selection_cells.in_short(lab, simulated, alone)


if __name__ == "__main__":
    lab_page.main(app)
