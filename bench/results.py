#!/usr/bin/env python3
"""Writes tutti-bench.md from the JSON files of bench/results.sh, beside them.

    bench/results.py FOLDER [NOTE]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

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
    return json.loads(path.read_text()) if path.is_file() else None


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


def ran(line: dict) -> str:
    return line["ran"].split(": ")[0] or "native"


def collective_section(document: dict, collective: str, library: str) -> list[str]:
    rows = document["rows"]
    names = [line["name"] for line in rows[0]["algorithms"]]
    others = names[1:]
    lines = [f"## {collective}, {library}", ""]
    lines += ["| algorithm | faster than native | even | slower | best ratio | worst ratio |",
              "| --- | ---: | ---: | ---: | --- | --- |"]  # fmt: skip
    for name in others:
        found = [(row, next(a for a in row["algorithms"] if a["name"] == name)) for row in rows]
        verdicts = Counter(line["ratio_to_native"]["verdict"] for _, line in found)
        unknown = f" and {verdicts['unknown']} unknown" if verdicts["unknown"] else ""
        ranked = sorted(found, key=lambda item: item[1]["ratio_to_native"]["median"])

        def shown(item: tuple[dict, dict]) -> str:
            row, line = item
            ratio = line["ratio_to_native"]["median"]
            return f"{ratio:.3g} ({row['distribution']}, {row['block']})"

        lines.append(
            f"| {name} | {verdicts['faster']} | {verdicts['even']}{unknown} | {verdicts['slower']} "
            f"| {shown(ranked[0])} | {shown(ranked[-1])} |"
        )
    chosen = Counter(
        ran(line) for row in rows for line in row["algorithms"] if line["name"] == "auto"
    )
    if chosen:
        what = ", ".join(f"{name} in {count}" for name, count in chosen.most_common())
        lines += ["", f"Of {len(rows)} problems, `auto` ran {what}."]
    lines += ["", "| distribution | block | bytes | native, median us | " + " | ".join(others)
              + " | native / bound |", "| --- | ---: | ---: | ---: |" + " ---: |" * len(names)]  # fmt: skip
    for row in rows:
        by_name = {line["name"]: line for line in row["algorithms"]}
        bound = by_name[names[0]]["ratio_to_bound"]
        lines.append(
            f"| {row['distribution']} | {row['block']} | {row['bytes']} | "
            + " | ".join(cell(by_name[name]) for name in names)
            + f" | {'-' if bound is None else f'{bound:.1f}'} |"
        )
    return [*lines, ""]


def guidelines_section(document: dict, library: str) -> list[str]:
    names = [line["name"] for line in document["rows"][0]["algorithms"]]
    lines = [f"## Guidelines, {library}", "",
             "Medians in us. (1) Gather <= Gatherv for equal blocks; (2) Gatherv <= Allreduce + "
             "Gather of padded blocks (Träff 2017, section 4). `tutti check` tests them by rank.",
             "", "| distribution | block | m | " + " | ".join(names) + " |",
             "| --- | ---: | ---: |" + " ---: |" * len(names)]  # fmt: skip
    for row in document["rows"]:
        medians = " | ".join(microseconds(line["median_us"]) for line in row["algorithms"])
        lines.append(
            f"| {row['distribution']} | {row['block']} | {row['total_elements']} | {medians} |"
        )
    return [*lines, ""]


def latency_section(document: dict, library: str) -> list[str]:
    lines = [f"## Cost of a call, {library}", ""]
    for row in document["rows"]:
        native = row["algorithms"][0]["median_us"]
        title = row["collective"]
        lines += [f"{title[0].upper()}{title[1:]}:", "",
                  "| call | median ns | more than native | ratio |",
                  "| --- | ---: | ---: | ---: |"]  # fmt: skip
        for line in row["algorithms"]:
            more = 1000 * (line["median_us"] - native)
            lines.append(
                f"| {line['name']} | {1000 * line['median_us']:.0f} | {more:.0f} | {cell(line)} |"
                if line["ratio_to_native"]
                else f"| {line['name']} | {1000 * line['median_us']:.0f} | | |"
            )
        lines.append("")
    return lines


def method(document: dict) -> list[str]:
    metadata = document["metadata"]
    return [f" - {key}: {metadata[key]}" for key in METHOD if key in metadata]


def main() -> int:
    folder = Path(sys.argv[1])
    text = [*HEAD.splitlines(), ""]
    if note := " ".join(sys.argv[2:]):
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
    sys.exit(main())
