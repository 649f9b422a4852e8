#!/usr/bin/env python3
"""Writes the page of shared results from results of tutti-bench on emulated nodes.

    TUTTI_NODE=4 mpirun -n 8 tutti-bench allgather_shared --repetitions 25 --json FILE
    bench/shared_results.py FILE 4 > docs/results/shared-results.md
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import lab_page
from lab_page import size

from tutti.bench import read

HEAD = """# Shared results, measured

This page compares allgathers with a private result for each rank, the MPI's (`native`) and hierarchical (`node`), with
`TUTTI_Allgather_shared`, whose result a node's ranks share: read-only or copy on write.

    TUTTI_NODE={node} mpirun -n {ranks} tutti-bench allgather_shared --warmup {warmup} --repetitions {repetitions} --json FILE
    bench/shared_results.py FILE {node} > docs/results/shared-results.md

{library}, {ranks} ranks on emulated nodes of {node}, one machine of {cores} cores ({processor}): no network between nodes,
more ranks than cores. Every sample is in
[tutti-bench-shared-openmpi.json](tutti-bench-shared-openmpi.json).

**Time** is last exit minus first arrival, after a barrier, of the call and the use of the result: none, reading a byte of
every page, or writing a byte to 1 % of pages or to every page. Cells are medians; each repetition calls all in a new random
order. Private buffers are reused, so their pages exist; each call maps a shared result anew. Brackets:
ratio to `native` if its 95 % interval excludes 1.

**Memory** is the increase for a node's ranks over the state before a first call on a new communicator, while they
hold the result. Brackets: what remains after release, until the communicator is freed. It is the sum of Pss in
`/proc/self/smaps_rollup`: of a page that n processes map, each counts 1/n.
"""

USES = {
    "not used": "the call alone",
    "read": "read once",
    "1 % written": "one page of a hundred written",
    "written": "all pages written",
}


def time(line: dict[str, Any]) -> str:
    """Milliseconds, with the ratio to native if it is significant."""
    text = f"{lab_page.milliseconds(line):.3g}"
    ratio = line["ratio_to_native"]
    return text if not ratio or ratio["verdict"] in ("even", "unknown") else f"{text} ({ratio['median']:.2f})"


def memory(line: dict[str, Any], node: int) -> str:
    """The memory of a node: held with the result, and kept after its release."""
    kept = line["kept_bytes_of_a_rank"] * node
    held = size(line["held_bytes_of_a_rank"] * node)
    return f"{held} ({size(kept)})" if kept > 64 << 10 else held


def table(rows: list[dict[str, Any]], cell: Any) -> list[str]:
    titles = [">result", *(f">`{line['name']}`" for line in rows[0]["algorithms"])]
    cells = ([size(row["bytes"]), *map(cell, row["algorithms"])] for row in rows)
    return [*lab_page.table(titles, cells), ""]


def losses(rows: list[dict[str, Any]]) -> list[str]:
    """The cases in which a shared result is significantly slower than the MPI's own call."""
    return [
        f"- {size(row['bytes'])}, {USES[row['distribution']]}: `{line['name']}` "
        f"{line['ratio_to_native']['median']:.2f} times native"
        for row in rows
        for line in row["algorithms"]
        if (line["ratio_to_native"] or {}).get("verdict") == "slower" and line["name"] != "node"
    ]


def main(words: list[str]) -> int:
    """Prints the page."""
    if len(words) != 2 or not words[1].isdecimal():
        print(__doc__, file=sys.stderr)
        return 2
    file, node = words
    document = read(Path(file))
    data, rows = document["metadata"], document["rows"]
    print(HEAD.format(**(data | {"library": lab_page.library(data), "cores": data["cores of a node"]}), node=node))
    for use, title in USES.items():
        of_use = [row for row in rows if row["distribution"] == use]
        if not of_use:
            continue
        print(f"## {title.capitalize()}\n\nms:\n")
        print("\n".join(table(of_use, time)))
        print(f"Memory of a node of {node} ranks:\n")
        print("\n".join(table(of_use, lambda line: memory(line, int(node)))))
    print("## Losses\n\nSignificantly slower than the MPI's own call, with a copy for each rank:\n")
    print("\n".join(losses(rows) or ["- nowhere"]))
    return 0


if __name__ == "__main__":
    lab_page.main(lambda: main(sys.argv[1:]))
