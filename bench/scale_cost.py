#!/usr/bin/env python3
"""What Tutti costs a rank as ranks grow: measured in SimGrid, extrapolated by the growth law; and
what a rank's plan takes, for each algorithm.

    bench/scale_cost.py run BUILD [RANKS,..]     measures into docs/results/scale-cost.json
    bench/scale_cost.py page                     writes docs/results/scale-cost.md below its marker
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lab_page
import simgrid_auto
from lab_page import numbers, size

from tutti import Call
from tutti.refusal import Refusal
from tutti.simgrid import platforms, running

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "docs" / "results" / "scale-cost.json"
PAGE = SAMPLES.with_suffix(".md")
PPN = 16
TARGETS = (1024, 4096, 16384, 65536)
PLANS = (1024, 65536)
"""Ranks for which plans are made, without running them."""
PROTOCOLS = ("ordered_tree", "binomial", "linear")
"""Algorithms of gatherv: their protocols acquire subtrees, sizes of subtrees, and nothing."""
MAX_PER_DOUBLING = 4
"""Messages of a rank of an algorithm of O(log p) messages, per doubling of the ranks."""

Sample = dict[str, Any]


def measure(programs: Path, ranks: int) -> Sample:
    """The costs on a fat tree of nodes with 16 ranks."""
    machine = platforms.platform(f"fat-tree:{-(-ranks // PPN)}:taper=2")
    os.environ["LD_PRELOAD"] = str(programs / "tutti-count-memory.so")
    began = time.monotonic()
    job = running.Job((str(programs / "tutti-scale-cost"),), machine, ranks, PPN)
    text = running.output(job, timeout=7200)
    return {**json.loads(text), "wall_seconds": round(time.monotonic() - began, 1)}


def plans(programs: Path) -> list[Sample]:
    """What the plan of each algorithm takes."""
    words = [[str(programs / "tutti-plan-cost"), str(p)] for p in PLANS]
    texts = [subprocess.run(each, check=True, capture_output=True, text=True).stdout for each in words]
    return [json.loads(line) for text in texts for line in text.splitlines()]


LAWS = {"constant": lambda p: 0.0, "log p": math.log2, "p": float}


def law(ranks: list[int], values: list[float]) -> str:
    """The law of growth by the exponent of the power of p through the last two values."""
    (p, q), (a, b) = ranks[-2:], values[-2:]
    power = math.log(b / a) / math.log(q / p) if a > 0 and b > 0 else 0.0
    return "constant" if power < 0.03 else "log p" if power < 0.5 else "p"


def at(target: int, ranks: list[int], values: list[float]) -> float:
    """The value at `target` ranks by the law through the last two."""
    grows = LAWS[law(ranks, values)]
    (p, q), (a, b) = ranks[-2:], values[-2:]
    each = (b - a) / (grows(q) - grows(p)) if grows(q) > grows(p) else 0.0
    return b + each * (grows(target) - grows(q))


def rows(samples: list[Sample]) -> list[tuple[str, list[float]]]:
    """Names, and bytes of a rank at each number of ranks."""

    def each(name: str, which: str = "bytes") -> list[float]:
        return [sample[name][which] for sample in samples]

    found = [
        ("process: its copy of the library's variables (resident)",
         [sample["resident"] for sample in samples]),
        ("process: settings", each("load")),
        ("communicator: the first call", each("auto")),
        ("the same: the first algorithm", each("bcast binomial, first")),
        ("the same: the first hierarchical call", each("bcast hierarchical(binomial), first")),
    ]  # fmt: skip
    names = [name for name in samples[0] if name.endswith(", first") and not name.startswith("bcast")]
    for name in names:
        plan = f"plan of {name.removesuffix(', first')}"
        found.append((plan, each(name)))
        if each(name, "most")[-1] > 2 * each(name)[-1]:
            found.append((f"{plan}: the root", each(name, "most")))
    return found


def table(samples: list[Sample]) -> list[str]:
    """Memory of a rank, measured and extrapolated."""
    ranks = [sample["ranks"] for sample in samples]
    beyond = [target for target in TARGETS if target > ranks[-1]]
    titles = ["memory of a rank", *(f">p = {p:,}" for p in ranks), "growth",
              *(f">*{p:,}*" for p in beyond)]  # fmt: skip
    lines = []
    for name, values in rows(samples):
        cells = [size(value) for value in values] + [law(ranks, values)]
        lines.append([name, *cells, *(f"*{size(at(p, ranks, values))}*" for p in beyond)])
    return lab_page.table(titles, lines)


def plan_times(samples: list[Sample]) -> list[str]:
    """Processor time of a rank for the first call of an algorithm and for the next."""
    names = [name.removesuffix(", first") for name in samples[0] if name.endswith(", first")]
    titles = ["processor time of a rank, us"]
    titles += [f">p = {sample['ranks']:,}: {which}" for sample in samples
               for which in ("first", "again")]  # fmt: skip
    lines = [[name, *(f"{1e6 * sample[f'{name}, {which}']['seconds']:.0f}" for sample in samples
                      for which in ("first", "again"))] for name in names]  # fmt: skip
    return lab_page.table(titles, lines)


def has_few_messages(sample: Sample) -> bool:
    """Has a rank O(log p) messages?"""
    return sample["messages"] <= MAX_PER_DOUBLING * math.log2(sample["ranks"])


def plan_table(samples: list[Sample]) -> list[str]:
    """Plans of O(log p) messages, for the two numbers of ranks."""
    titles = ["collective", "algorithm", ">messages",
              *(f">{name}, p = {p:,}" for name in ("us", "memory", "program") for p in PLANS)]  # fmt: skip
    by_name: dict[tuple[str, str], dict[int, Sample]] = {}
    for one in samples:
        by_name.setdefault((one["collective"], one["algorithm"]), {})[one["ranks"]] = one
    lines = []
    for (collective, algorithm), by_ranks in by_name.items():
        two = [by_ranks[p] for p in PLANS]
        if not all(map(has_few_messages, two)):
            continue
        lines.append([collective, f"`{algorithm}`", f"{two[-1]['messages']}",
                      *(f"{1e6 * one['seconds']:.0f}" for one in two),
                      *(size(one["needed"]) for one in two),
                      *(size(one["program"]) for one in two)])  # fmt: skip
    return lab_page.table(titles, lines)


def protocol_table() -> list[str]:
    """Messages of the protocols of gatherv. The one for `bine` sends all p sizes to each rank."""
    titles = ["protocol of gatherv by", *(f"p = {p:,}" for p in TARGETS)]
    lines = []
    for algorithm in PROTOCOLS:
        cells = []
        for p in TARGETS:
            call = Call("gatherv", [4 * (1 + rank % 7) for rank in range(p)], 0, algorithm)
            price = call.knowledge_price()
            cells.append(f"{price.messages:,} in {price.steps} steps, {size(8 * price.words)}")
        lines.append([f"`{algorithm}`", *cells])
    cells = [f"{p - 1:,} in {math.ceil(math.log2(p))} steps, {size(8 * p * (p - 1))}" for p in TARGETS]
    lines.append(["`bine`", *cells])
    return lab_page.table(titles, lines)


def sections(found: dict[str, Any]) -> list[str]:
    """What the page has below its marker."""
    samples = sorted(found["simulated"], key=lambda sample: sample["ranks"])
    wall = ", ".join(f"{s['ranks']:,} ranks {s['wall_seconds']} s" for s in samples)
    return [
        f"Library of `{found['library']}`. Wall time of the runs: {wall}.", "",
        "## Memory", "", *table(samples), "",
        "## Plans of all algorithms of O(log p) messages", "", *plan_table(found["plans"]), "",
        "## Time of the first call", "", *plan_times(samples), "",
        "## Messages of protocols", "", *protocol_table(),
    ]  # fmt: skip


def main(words: list[str]) -> int:
    """Runs `run` or `page`."""
    if words[:1] == ["run"] and len(words) in (2, 3):
        programs = Path(words[1]).resolve() / "bin"
        ranks = numbers("RANKS", words[2], int) if len(words) == 3 else [64, 256, 1024, 4096]
        if len(set(ranks)) < 2:
            raise Refusal(f"RANKS {words[2]}: expected two or more numbers, between which costs grow")
        found = {"library": simgrid_auto.commit(), "plans": plans(programs),
                 "simulated": [measure(programs, p) for p in ranks]}  # fmt: skip
        SAMPLES.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    if words == ["page"]:
        lab_page.write(sections(json.loads(SAMPLES.read_text())), PAGE)
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    lab_page.main(lambda: main(sys.argv[1:]))
