#!/usr/bin/env python3
"""What `auto` gains on simulated machines over the selections of four MPIs, and its page.

    bench/simgrid_auto.py run PROGRAM SAMPLES [SECONDS]
    bench/simgrid_auto.py page SAMPLES docs/results/simgrid-auto.md

PROGRAM is tutti-selection of a build with SimGrid and -DTUTTI_BENCH=ON. `run` measures what SAMPLES
lacks, for at most so many seconds.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from statistics import geometric_mean, median
from threading import Lock

import lab_page

from tutti.refusal import Refusal
from tutti.simgrid import platforms, running

SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
VECTORS, BLOCKS = "65536,512", "4096,64"
"""Bytes of all, and of a rank's block."""
FOUR = ("switch:32", "fat-tree:32:leaf=8,taper=2", "dragonfly:32", "torus:32")
CALLS = 3000
"""Calls of `auto` at most."""
LIMIT = 225
"""Seconds of one run."""


def plan() -> list[tuple[str, int, str, str]]:
    """Platform, ranks per node, collective and bytes, the most important first."""
    cells = [("bcast", VECTORS), ("gather", BLOCKS), ("scatter", BLOCKS), ("reduce", "512"),
             ("allreduce", "512")]  # fmt: skip
    listed = [(shape, 8, name, sizes) for name, sizes in cells for shape in FOUR]
    more = [("gatherv", BLOCKS), ("scatterv", BLOCKS), ("reduce_scatter_block", BLOCKS),
            ("allgather", BLOCKS), ("alltoall", "64")]  # fmt: skip
    listed += [("fat-tree:8:leaf=4,taper=2", 8, name, sizes) for name, sizes in more]
    every = [(shape, ppn, name, size) for shape, ppn, name, sizes in listed for size in sizes.split(",")]
    return list(dict.fromkeys(every))


def measure(job: running.Job, limit: float) -> object:
    """What a run printed, or the text of its failure; None if it ran out of less time than LIMIT."""
    try:
        text = running.output(job, {"TUTTI_EXPLORE": "1"}, timeout=limit)
    except Refusal as failure:
        reason = str(failure).rpartition(": ")[2]
        return None if reason.startswith("not done") and limit < LIMIT else reason
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


def run(program: str, file: Path, seconds: float) -> None:
    """Measures what is missing, 2 runs at a time, until the time is over."""
    samples = json.loads(file.read_text()) if file.exists() else {}
    end = time.monotonic() + seconds
    lock = Lock()

    def take(one: tuple[str, int, str, str], selector: str) -> None:
        shape, ppn, collective, size = one
        name = f"{shape} x {ppn}, {selector}, {collective}, {size}"
        if name in samples or time.monotonic() > end:
            return
        began = time.monotonic()
        words = (program, collective, size, str(CALLS if selector == "ompi" else 0))
        machine = platforms.platform(shape)
        job = running.Job(words, machine, machine.nodes * ppn, ppn, selector=selector)
        found = measure(job, min(LIMIT, end - began))
        with lock:
            if found is None:
                return
            samples[name] = found
            print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
            file.write_text(json.dumps(samples, indent=1) + "\n")

    with ThreadPoolExecutor(2) as pool:
        for one, selector in product(plan(), SELECTORS):
            pool.submit(take, one, selector)


class Cell:
    """One size of a collective on one platform; seconds until the last exit, and to the mean one."""

    def __init__(self, collective: str, by_selector: dict[str, dict]) -> None:
        ours = by_selector["ompi"]
        self.collective, self.bytes = collective, ours["bytes"]
        self.natives = {name: line["native"] for name, line in by_selector.items()}
        self.auto, self.own = ours["auto"], ours["native"] / ours["auto"]
        self.own_mean = ours["native_mean"] / ours["auto_mean"]
        self.best = min(self.natives.values()) / self.auto
        self.best_mean = min(line["native_mean"] for line in by_selector.values()) / ours["auto_mean"]
        self.selected = ours["selected"].partition(": ")[0]
        self.settled, self.calls = ours["settled"], ours["calls"]
        lost = ours["spent"] - ours["calls"] * ours["native"]
        self.calls_by_default = max(self.calls, lost / (0.01 * ours["native"]))


def cells(samples: dict[str, object], shape: str, ppn: int) -> list[Cell]:
    """The cells of a platform in which `auto` ran."""
    found = []
    for where, each, collective, size in plan():
        runs = {s: samples.get(f"{shape} x {ppn}, {s}, {collective}, {size}") for s in SELECTORS}
        lines = {s: line for s, line in runs.items() if isinstance(line, dict)}
        if (where, each) == (shape, ppn) and "ompi" in lines:
            found.append(Cell(collective, lines))
    return found


def summary(found: list[Cell]) -> list[str]:
    """A row for each collective."""
    lines = [
        "| collective | cells | settled | own / `auto` | in the mean | best of four / `auto` "
        "| in the mean | worst own / `auto` | calls | by default |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for name in [*dict.fromkeys(cell.collective for cell in found), ""]:
        group = [cell for cell in found if name in ("", cell.collective)]
        worst = min(group, key=lambda cell: cell.own)
        done = [cell for cell in group if cell.settled]
        means = [geometric_mean(getattr(cell, ratio) for cell in group)
                 for ratio in ("own", "own_mean", "best", "best_mean")]  # fmt: skip
        calls = [f"{median(getattr(cell, which) for cell in done):,.0f}" if done else ""
                 for which in ("calls", "calls_by_default")]  # fmt: skip
        lines.append(
            f"| {name or '**all**'} | {len(group)} | {len(done)} | "
            + " | ".join(f"{mean:.2f}" for mean in means)
            + f" | {worst.own:.2f} ({worst.collective}, {worst.bytes:,} B) | {' | '.join(calls)} |"
        )
    return lines


def table(found: list[Cell]) -> list[str]:
    """A row for each cell, in microseconds."""
    lines = [
        "| collective | bytes | " + " | ".join(SELECTORS) + " | `auto` | own / `auto` "
        "| in the mean | selected | calls |",
        "| --- | ---: | " + "---: | " * (len(SELECTORS) + 3) + "--- | ---: |",
    ]
    for cell in found:
        natives = " | ".join(
            f"{1e6 * cell.natives[name]:,.1f}" if name in cell.natives else "" for name in SELECTORS
        )
        calls = f"{cell.calls:,}" if cell.settled else f"not in {CALLS:,}"
        lines.append(f"| {cell.collective} | {cell.bytes:,} | {natives} | {1e6 * cell.auto:,.1f} "
                     f"| {cell.own:.2f} | {cell.own_mean:.2f} | `{cell.selected}` | {calls} |")  # fmt: skip
    return lines


def failures(samples: dict[str, object]) -> list[str]:
    """What ended without a result."""
    failed = [f"- {name}: {text}" for name, text in samples.items() if isinstance(text, str)]
    return ["## Runs without a result", "", *failed] if failed else []


def page(samples: dict[str, object], page: Path) -> None:
    """Writes the tables."""
    lines: list[str] = []
    for shape, ppn in dict.fromkeys((where, each) for where, each, _, _ in plan()):
        found = cells(samples, shape, ppn)
        if found:
            ranks = platforms.platform(shape).nodes * ppn
            lines += [f"## {ranks:,} ranks: `{shape}`, {ppn} on a node", "", *summary(found), "",
                      *table(found), ""]  # fmt: skip
    lab_page.write([*lines, *failures(samples)], page)


def main(words: list[str]) -> int:
    """Runs `run` or `page`."""
    if words[:1] == ["run"] and len(words) in (3, 4):
        run(words[1], Path(words[2]), float(words[3]) if len(words) == 4 else 1e9)
        return 0
    if words[:1] == ["page"] and len(words) == 3:
        page(json.loads(Path(words[1]).read_text()), Path(words[2]))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
