#!/usr/bin/env python3
"""What Tutti costs a rank as ranks grow: measured in SimGrid, extrapolated by the growth law.

    bench/scale_cost.py run BUILD [RANKS,..]     measures and writes docs/results/scale-cost.json
    bench/scale_cost.py page                     writes docs/results/scale-cost.md from it

All simulated ranks share one process: its totals divided by the ranks are the mean of a rank.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path

from tutti import Call
from tutti.simgrid import platforms, running

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "docs" / "results" / "scale-cost.json"
PAGE = SAMPLES.with_suffix(".md")
PPN = 16
TARGETS = (1024, 4096, 16384, 65536)
PROTOCOLS = ("ordered_tree", "binomial", "linear")
"""Algorithms of gatherv: their protocols acquire subtrees, sizes of subtrees, and nothing."""


def measure(program: Path, ranks: int) -> dict[str, object]:
    """The costs on a fat tree of nodes with 16 ranks."""
    machine = platforms.platform(f"fat-tree:{-(-ranks // PPN)}:taper=2")
    began = time.monotonic()
    text = running.output(running.Job((str(program),), machine, ranks, PPN), timeout=1500)
    return {**json.loads(text), "wall_seconds": round(time.monotonic() - began, 1)}


def exponent(ranks: list[int], values: list[float]) -> float:
    """The exponent of the power of p that fits the last two values."""
    (p, q), (a, b) = ranks[-2:], values[-2:]
    return math.log(b / a) / math.log(q / p) if a > 0 and b > 0 else 0.0


def law(power: float) -> str:
    """The growth law in words."""
    if power < 0.15:
        return "constant"
    if power < 0.45:
        return "log p"
    return f"p^{power:.1f}"


def at(target: int, ranks: list[int], values: list[float]) -> float:
    """The value at `target` ranks by the law of the last two."""
    power = exponent(ranks, values)
    if power < 0.15:
        return values[-1]
    if power < 0.45:
        return values[-1] * math.log2(target) / math.log2(ranks[-1])
    return values[-1] * (target / ranks[-1]) ** power


def size(value: float) -> str:
    """Bytes with a unit."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor:
            return f"{value / factor:.1f} {unit}"
    return f"{value:.0f} B"


def rows(samples: list[dict]) -> list[tuple[str, list[float]]]:
    """Names and bytes of a rank at each number of ranks."""

    def each(name: str) -> list[float]:
        return [sample[name]["bytes"] for sample in samples]

    first = [sample["first_auto"]["bytes"] + sample["bcast binomial, first"]["bytes"]
             - sample["comm_dup"]["bytes"] for sample in samples]  # fmt: skip
    plans = [
        (f"plan of {name.removesuffix(', first')}", each(name))
        for name in samples[0]
        if name.endswith(", first") and not name.startswith("bcast")
    ]
    return [
        ("process: code that is not shared, variables, settings", each("load")),
        ("communicator: Tutti's first call less the duplicate that it makes", first),
        *plans,
    ]


def table(samples: list[dict]) -> str:
    """Memory of a rank, measured and extrapolated."""
    ranks = [sample["ranks"] for sample in samples]
    beyond = [target for target in TARGETS if target > ranks[-1]]
    text = "| memory of a rank | " + " | ".join(f"p = {p:,}" for p in ranks)
    text += " | growth | " + " | ".join(f"*{p:,}*" for p in beyond) + " |\n"
    text += "|" + " --- |" * (2 + len(ranks) + len(beyond)) + "\n"
    for name, values in rows(samples):
        cells = [size(max(0.0, value)) for value in values]
        cells += [law(exponent(ranks, values))]
        cells += [f"*{size(max(0.0, at(p, ranks, values)))}*" for p in beyond]
        text += f"| {name} | " + " | ".join(cells) + " |\n"
    duplicates = ", ".join(
        f"{size(sample['comm_dup']['bytes'])} at p = {sample['ranks']:,}" for sample in samples
    )
    return text + f"\nA duplicate of SimGrid's own takes {duplicates}, freed memory included.\n"


def plan_times(samples: list[dict]) -> str:
    """Processor time of a rank for the first call of an algorithm and for the next."""
    names = [name.removesuffix(", first") for name in samples[0] if name.endswith(", first")]
    text = "| processor time of a rank, us | " + " | ".join(
        f"p = {sample['ranks']:,}: first | again" for sample in samples
    )
    text += " |\n|" + " --- |" * (1 + 2 * len(samples)) + "\n"
    for name in names:
        cells = []
        for sample in samples:
            cells += [f"{1e6 * sample[f'{name}, {which}']['seconds']:.0f}"
                      for which in ("first", "again")]  # fmt: skip
        text += f"| {name} | " + " | ".join(cells) + " |\n"
    return text


def protocol_table() -> str:
    """Messages of the protocols of gatherv."""
    text = "| protocol of gatherv by | " + " | ".join(f"p = {p:,}" for p in TARGETS) + " |\n"
    text += "|" + " --- |" * (1 + len(TARGETS)) + "\n"
    for algorithm in PROTOCOLS:
        cells = []
        for p in TARGETS:
            price = Call("gatherv", [4 * (1 + rank % 7) for rank in range(p)], 0, algorithm)
            price = price.knowledge_price()
            cells.append(f"{price.messages:,} in {price.steps} steps, {8 * price.words:,} B")
        text += f"| `{algorithm}` | " + " | ".join(cells) + " |\n"
    return text


def page(samples: list[dict]) -> str:
    """The whole page."""
    samples = sorted(samples, key=lambda sample: sample["ranks"])
    wall = ", ".join(f"{s['ranks']:,} ranks {s['wall_seconds']} s" for s in samples)
    return f"""# What Tutti costs on many ranks

`bench/scale_cost.py` writes this page: memory of a rank and time of a first call, on a fat tree of nodes with {PPN} ranks in
[SimGrid](../simgrid.md), whose ranks share one process. A value is the process's total divided by the ranks. Values in *italics* are
extrapolated by the growth between the two largest measured p, and are no measurements. Wall time: {wall}.

## Memory

{table(samples)}
The first row is resident memory; the others are bytes of the heap, SimGrid's objects included. Tutti makes one duplicate of a
communicator, whose size is the MPI's affair. Tutti's own parts of O(p) at a rank are: the list of nodes and ranks of a communicator
with node memory; at the root of a gather or scatter the schedule and, for the v forms, the sizes, as the caller's own `recvcounts`;
and at every rank the sizes of an allgatherv or reduce_scatter, as the caller's arguments.

## Time of the first call

{plan_times(samples)}
Processor time of the simulating process divided by the ranks, with 3 barriers of SimGrid's MPI, its matching of messages and, at
the first call of `bcast binomial`, the creation of a communicator. The difference between the first call and the next is the plan.

## Messages of protocols

{protocol_table()}
Totals of all ranks from the central twins of the protocols, which tests compare with the distributed ones; bytes are payload. All
three need O(p) messages, of which a rank sends O(log p). Orders by size (`order=by_size`) need the sizes of all blocks at every rank.
"""


def main(words: list[str]) -> int:
    """Runs `run` or `page`."""
    if words[:1] == ["run"] and len(words) > 1:
        ranks = [int(p) for p in (words[2] if len(words) > 2 else "64,256,1024").split(",")]
        known = json.loads(SAMPLES.read_text()) if SAMPLES.exists() else []
        for p in ranks:
            known = [sample for sample in known if sample["ranks"] != p]
            known.append(measure(Path(words[1]) / "bin" / "tutti-scale-cost", p))
            SAMPLES.write_text(json.dumps(known, indent=1) + "\n")
        return 0
    if words == ["page"]:
        PAGE.write_text(page(json.loads(SAMPLES.read_text())))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
