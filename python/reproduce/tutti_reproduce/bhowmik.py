"""Bhowmik & Bodele 2019: MPI_Allgather on communicators whose ranks are ordered by distance."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from statistics import geometric_mean, median

from tutti._engine import distances_from_text
from tutti.console import count
from tutti.simgrid import platforms
from tutti_reproduce import simulated
from tutti_reproduce.tables import Context, Numbers, Plot, Result, Table, View, published

CONTENDERS = ("default", "reordered")
HEURISTICS = {"ring": ("nearest_next", "RMH"), "recursive_doubling": ("two_partners_each", "RDMH")}
"""Tutti's and the paper's name of the order for each shape."""
NUMBERINGS = 10
"""Random numberings of the ranks."""
_MEASURED = (1, 262144)


def _file(matrices: list[list[list[float]]]) -> str:
    """The distance file of ranks of one node each."""
    measured = [{"bytes": size, "matrix": matrix} for size, matrix in zip(_MEASURED, matrices, strict=False)]
    names = [f"node-{rank}" for rank in range(len(matrices[0]))]
    return json.dumps({"schema": "tutti-distances-1", "unit": "s", "names": names, "measured": measured})


def two_switches(switch_of: list[int], numbers: dict[str, float]) -> str:
    """The file of distances between ranks of one node each, given the switch of each; messages
    between the switches share a link."""

    def seconds(a: int, b: int, size: int) -> float:
        if a == b:
            return 0.0
        across = switch_of[a] != switch_of[b]
        per_byte = numbers["across_per_byte" if across else "per_byte"]
        return float(numbers["far" if across else "near"] + size * per_byte)

    ranks = range(len(switch_of))
    matrices = [[[seconds(a, b, size) for b in ranks] for a in ranks] for size in _MEASURED]
    return _file(matrices)


def figure_1() -> list[int]:
    """The order by nearest neighbours for the paper's matrix."""
    matrix = published("bhowmik")["matrix"]
    found = distances_from_text(_file([matrix])).reordering("allgather", "ring", 1)
    orders = {each.name: each.ranks for each in found.all}
    return orders["nearest_next"]


def placements(nodes: int) -> dict[str, list[list[int]]]:
    """The switch of each rank: in blocks, round robin, and several numberings at random."""
    blocks = [rank * 2 // nodes for rank in range(nodes)]
    chance = random.Random(nodes)
    return {
        "ranks in blocks": [blocks],
        "ranks round robin": [[rank % 2 for rank in range(nodes)]],
        f"ranks at random, mean of {NUMBERINGS}": [
            chance.sample(blocks, nodes) for _ in range(NUMBERINGS)
        ],
    }


def _times(
    shape: str, switches: list[list[int]], block: int, numbers: dict[str, float]
) -> Numbers:
    """Milliseconds in the natural order, in the paper's, and in the best that Tutti finds."""
    heuristic = HEURISTICS[shape][0]
    found = []
    for switch_of in switches:
        known = distances_from_text(two_switches(switch_of, numbers))
        evaluated = known.reordering("allgather", shape, block)
        seconds = {each.name: each.seconds for each in evaluated.all}
        found.append((evaluated.natural.seconds, seconds[heuristic], evaluated.best.seconds))
    means = [1e3 * geometric_mean(each) for each in zip(*found, strict=True)]
    return dict(zip((*CONTENDERS, "order=distance"), means, strict=True))


def _in_simgrid(
    context: Context, shape: str, switches: list[list[int]], kilobytes: list[int], numbers: dict[str, float]
) -> list[Numbers]:
    """Milliseconds on gigabit Ethernet, geometric means over numberings."""
    nodes = len(switches[0])
    machine = platforms.platform(platforms.MACHINES["gbe30-two-switches"].replace(":30:", f":{nodes}:"))
    # The first half of the nodes is on the first switch.
    known = two_switches([node * 2 // nodes for node in range(nodes)], numbers)
    algorithms = {"default": shape, "reordered": f"{shape}:order={HEURISTICS[shape][0]}",
                  "order=distance": f"{shape}:order=distance"}  # fmt: skip
    words = ("allgather", "--block", ",".join(str(size * 256) for size in kilobytes),
             "--repetitions", "2", "--warmup", "1")  # fmt: skip
    found = []
    for switch_of in switches:
        free = [iter(range(nodes // 2)), iter(range(nodes // 2, nodes))]
        taken = [next(free[switch]) for switch in switch_of]
        found.append(simulated.bench(context, words, algorithms, machine, nodes, 1, taken=taken,
                                     distances=known))  # fmt: skip
    return [
        {name: geometric_mean(numbering[i][name] for numbering in found) / 1000 for name in algorithms}
        for i in range(len(kilobytes))
    ]


def _lab(context: Context, shape: str, nodes: int, kilobytes: list[int]) -> View | None:
    """Medians in ms of ranks numbered at random, means over the numberings."""
    names = {"default": shape, "reordered": HEURISTICS[shape][1],
             "order=distance": f"{shape}:order=distance"}  # fmt: skip
    found: dict[int, dict[str, list[float]]] = {}
    for document in context.documents(f"lab-place-openmpi-{nodes}-*.json"):
        for row in document["rows"]:
            lines = {line["name"]: line["samples_us"] for line in row["algorithms"]}
            cell = found.setdefault(row["bytes"] // nodes // 1024, {})
            for name, line in names.items():
                cell.setdefault(name, []).append(median(lines[line]) / 1000)
    if not found:
        return None
    means = {size: {name: geometric_mean(each) for name, each in cell.items()}
             for size, cell in found.items()}  # fmt: skip
    counts = sorted(len(each) for cell in found.values() for each in cell.values())
    least = f"{counts[0]} to " if counts[0] < counts[-1] else ""
    return View(
        "lab", "ranks at random, link between the switches of 25 %, Open MPI 4.1.4",
        [means.get(size, {}) for size in kilobytes], [f"Medians; means of {least}{count(counts[-1], 'numbering')}."],
    )  # fmt: skip


def _figure(context: Context, name: str, done: Callable[[], None]) -> Result:
    document = published("bhowmik")
    shape, nodes = document["figures"][name]
    kilobytes = document["kilobytes"]
    views = []
    for where, switches in placements(nodes).items():
        numbers = []
        for size in kilobytes:
            numbers.append(context.result(_times, shape, switches, size * 1024, document["network"]))
            done()
        views.append(View("own simulator", where, numbers))
    if shape == "ring":
        views[0].notes.append(
            "In blocks the natural ring crosses between the switches once each way, the least possible: "
            "the paper's \"not much of a speed up\" is what ranks in blocks, the usual default, must "
            "show. Round robin or at random it crosses more often, and the order by distance gains."
        )
    else:
        views[0].notes.append(
            "In blocks all pairs of the last stage, which has the largest messages, cross between the "
            "switches; the order moves the crossing to the first stage. Round robin the natural order "
            "already does so. That separates the two shapes as the paper reports, with more than its "
            "12 to 40 % from 8 nodes on, as here all crossing messages share one link of 0.8 Gbit/s."
        )
    if nodes <= context.simgrid_ranks:
        for where, switches in placements(nodes).items():
            there = _in_simgrid(context, shape, switches, kilobytes, document["network"])
            views.append(View("SimGrid", f"gigabit Ethernet, {where}", there))
            done()
    if lab := _lab(context, shape, nodes, kilobytes):
        views.append(lab)
    ahead = {"ahead": 0.0 if shape == "ring" else 1.0} if name.startswith("figure") else {}
    plot = Plot(
        "Gain of the paper's order", "KiB of each rank", "default / reordered",
        {view.heading: [
            (size, each["default"] / each["reordered"])
            for size, each in zip(kilobytes, view.numbers, strict=True) if each]
         for view in views}, log_y=False,
    )  # fmt: skip
    return Result([f"{size} KiB" for size in kilobytes], [dict(ahead) for _ in kilobytes], views, [plot])


def _order(done: Callable[[], None]) -> Result:
    theirs, ours = published("bhowmik")["order"], figure_1()
    equal = sum(a == b for a, b in zip(theirs, ours, strict=True))
    done()
    view = View("own simulator", "the paper's matrix", [{"value": equal}],
                [f"Here: {' '.join(map(str, ours))}."])  # fmt: skip
    return Result(["equal positions of 8"], [{"value": len(theirs)}], [view])


def tables(context: Context) -> list[Table]:
    """Figures 1 to 6, and the ring on 16 nodes, which the paper lacks."""
    document = published("bhowmik")

    def steps(nodes: int) -> int:
        return 3 * len(document["kilobytes"]) + (3 if nodes <= context.simgrid_ranks else 0)

    order = Table("bhowmik", "figure-1", "Figure 1: order of 8 processes by nearest neighbours", None,
                  "positions", 1, _order)  # fmt: skip
    return [order] + [
        Table(
            "bhowmik", name,
            f"{name.replace('-', ' ').capitalize()}: {shape.replace('_', ' ')}, {nodes} nodes on 2 switches",
            CONTENDERS, "ms", steps(nodes),
            lambda done, n=name: _figure(context, n, done),  # type: ignore[misc]
        )
        for name, (shape, nodes) in document["figures"].items()
    ]  # fmt: skip
