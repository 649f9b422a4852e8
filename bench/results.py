#!/usr/bin/env python3
"""Writes tutti-bench.md from the JSON files of bench/results.sh, beside them.

    bench/results.py FOLDER [NOTE]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import lab_page

from tutti.bench import read

HEAD = """# tutti-bench on one machine

This page shows Tutti's gatherv and scatterv on one machine with more ranks than cores; `bench/results.sh build/all 8`
writes it. Every sample is in the JSON files beside it. Ratios are Tutti's median time over native's in the same run:
**bold** is significantly faster and ✗ significantly slower (95 % interval). `traff` is `ordered_tree`, `TUW` the paper's form of
it, `auto` is Tutti's choice; blocks count ints.

**Settings.** Only `TUTTI_GATHERV` and `TUTTI_SCATTERV`, which name the column's algorithm; the machine numbers are
built-in. In the samples of 2026-11-21 `auto` still replaced calls without a measurement where MPICH busy-waits, and ran
`linear` in all problems; now it [explores](../selection.md) first, so `--algorithm linear` in `bench/results.sh` repeats these
figures.

**Limitations.** With more ranks than cores times depend on the scheduler as much as on the algorithm. MPICH
busy-waits and never yields, so a native call often lasts until waiting ranks' time slices end, while Tutti tests
and yields: those ratios do not apply to a machine with a core for each rank. Open MPI yields like Tutti: there the
ratios show algorithms and Tutti's own cost.
"""
LIBRARIES = {"mpich": "MPICH", "openmpi": "Open MPI"}
METHOD = ("library", "ranks", "nodes", "cores of a node", "processor", "load before",
          "clock", "time", "order",
          "statistics", "repetitions", "warmup", "rho", "seed", "root", "data", "machine", "date",
          "note")  # fmt: skip


def load(folder: Path, name: str) -> dict | None:
    """A file of tutti-bench, or None if that MPI was not measured."""
    path = folder / f"tutti-bench-{name}.json"
    return read(path) if path.is_file() else None


def microseconds(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def cell(line: dict) -> str:
    """The ratio of medians to native's: bold if faster, with a cross if significantly slower."""
    ratio = line["ratio_to_native"]
    if ratio is None:
        return microseconds(line["median_us"])
    mark = {"faster": "**", "slower": "✗ "}.get(ratio["verdict"], "")
    closing = "**" if mark == "**" else ""
    return f"{mark}{ratio['median']:.3g}{closing}"


def collective_section(document: dict, collective: str, library: str) -> list[str]:
    rows = document["rows"]
    names = [line["name"] for line in rows[0]["algorithms"]]
    others = names[1:]
    cells = []
    for name in others:
        found = [(row, next(a for a in row["algorithms"] if a["name"] == name)) for row in rows]
        verdicts = Counter(line["ratio_to_native"]["verdict"] for _, line in found)
        unknown = f" and {verdicts['unknown']} unknown" if verdicts["unknown"] else ""
        ranked = sorted(found, key=lambda item: item[1]["ratio_to_native"]["median"])

        def shown(item: tuple[dict, dict]) -> str:
            row, line = item
            ratio = line["ratio_to_native"]["median"]
            return f"{ratio:.3g} ({row['distribution']}, {row['block']})"

        cells.append([name, f"{verdicts['faster']}", f"{verdicts['even']}{unknown}", f"{verdicts['slower']}",
                      shown(ranked[0]), shown(ranked[-1])])  # fmt: skip
    titles = ["algorithm", ">faster than native", ">even", ">slower", "best ratio", "worst ratio"]
    lines = [f"## {collective}, {library}", "", *lab_page.table(titles, cells)]
    chosen = Counter(
        lab_page.ran(line["ran"]) for row in rows for line in row["algorithms"] if line["name"] == "auto"
    )
    if chosen:
        what = ", ".join(f"{name} in {count}" for name, count in chosen.most_common())
        lines += ["", f"Of {len(rows)} problems, `auto` ran {what}."]
    cells = []
    for row in rows:
        by_name = {line["name"]: line for line in row["algorithms"]}
        bound = by_name[names[0]]["ratio_to_bound"]
        cells.append([row["distribution"], f"{row['block']}", f"{row['bytes']}",
                      *(cell(by_name[name]) for name in names),
                      "-" if bound is None else f"{bound:.1f}"])  # fmt: skip
    titles = ["distribution", ">block", ">bytes", ">native, median us", *(f">{name}" for name in others),
              ">native / bound"]  # fmt: skip
    return [*lines, "", *lab_page.table(titles, cells), ""]


def guidelines_section(document: dict, library: str) -> list[str]:
    names = [line["name"] for line in document["rows"][0]["algorithms"]]
    lines = [f"## Guidelines, {library}", "",
             "Medians in us. (1) Gather <= Gatherv for equal blocks; (2) Gatherv <= Allreduce + "
             "Gather of padded blocks (Träff 2017, section 4). `tutti check` tests them by rank.", ""]  # fmt: skip
    cells = ([row["distribution"], f"{row['block']}", f"{row['total_elements']}",
              *(microseconds(line["median_us"]) for line in row["algorithms"])]
             for row in document["rows"])  # fmt: skip
    titles = ["distribution", ">block", ">m", *(f">{name}" for name in names)]
    return [*lines, *lab_page.table(titles, cells), ""]


def latency_section(document: dict, library: str) -> list[str]:
    lines = [f"## Cost of a call, {library}", ""]
    for row in document["rows"]:
        native = row["algorithms"][0]["median_us"]
        title = row["collective"]
        cells = []
        for line in row["algorithms"]:
            beside = [f"{1000 * (line['median_us'] - native):.0f}", cell(line)] if line["ratio_to_native"] else ["", ""]
            cells.append([line["name"], f"{1000 * line['median_us']:.0f}", *beside])
        titles = ["call", ">median ns", ">more than native", ">ratio"]
        lines += [f"{title[0].upper()}{title[1:]}:", "", *lab_page.table(titles, cells), ""]
    return lines


def method(document: dict) -> list[str]:
    metadata = document["metadata"]
    return [f" - {key}: {metadata[key]}" for key in METHOD if key in metadata]


def main(words: list[str]) -> int:
    """Writes the page."""
    if not words:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(words[0])
    lab_page.files(folder, "tutti-bench-*.json")
    text = [*HEAD.splitlines(), ""]
    if note := " ".join(words[1:]):
        text += [note, ""]
    for mpi, library in LIBRARIES.items():
        shown = False
        for collective in ("gatherv", "scatterv"):
            document = load(folder, f"{collective}-{mpi}")
            if document is None:
                continue
            if not shown:
                text += [f"## Method, {library}", "", *method(document), ""]
                shown = True
            text += collective_section(document, collective, library)
        if document := load(folder, f"guidelines-{mpi}"):
            text += guidelines_section(document, library)
        if document := load(folder, f"latency-{mpi}"):
            text += latency_section(document, library)
    (folder / "tutti-bench.md").write_text("\n".join(text).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    lab_page.main(lambda: main(sys.argv[1:]))
