"""Bhowmik & Bodele 2019: MPI_Allgather on communicators whose ranks are ordered by distance."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from statistics import geometric_mean, median
from typing import Any

from tutti._engine import distances_from_text
from tutti.console import count
from tutti.simgrid import platforms
from tutti_reproduce import bhowmik_gains, simulated
from tutti_reproduce.context import Context, Numbers, published
from tutti_reproduce.tables import Plot, Result, Table, View, libraries

CONTENDERS = ("default", "reordered")
HEURISTICS = {"ring": ("nearest_next", "RMH"), "recursive_doubling": ("two_partners_each", "RDMH")}
"""Tutti's and the paper's name of the order for each shape."""
REORDERED = "native:reordered"
"""tutti-bench's name of the MPI's own on the communicator that TUTTI_Comm_reorder returns."""
MPI_ALGORITHMS = {"ring": "NTSLR", "recursive_doubling": "rdb"}
"""SimGrid's for MPI_Allgather. Its `ring` is none: in step i a rank sends its block to rank + i."""
TRUNKS = {"1 Gbit/s": "gbe30-two-switches", "10 Gbit/s": "gbe30-two-switches-10g"}
"""The machines by the rate of the link between their switches, which the paper omits."""
NUMBERINGS = 10
"""Random numberings of the ranks."""
MPI_NUMBERINGS = 3
"""Of them for MPI_Allgather in SimGrid."""
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


def placements(nodes: int, numberings: int = NUMBERINGS) -> dict[str, list[list[int]]]:
    """The switch of each rank: in blocks, round robin, and several numberings at random."""
    blocks = [rank * 2 // nodes for rank in range(nodes)]
    chance = random.Random(nodes)
    return {
        "ranks in blocks": [blocks],
        "ranks round robin": [[rank % 2 for rank in range(nodes)]],
        f"ranks at random, mean of {numberings}": [
            chance.sample(blocks, nodes) for _ in range(numberings)
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


_ASSUMED_THERE = (
    "Assumed, as the paper names neither: 1 Gbit/s between the switches too, and all latencies."
)


def _assumed(numbers: dict[str, float]) -> str:
    """Which numbers of the network the paper does not name, as a sentence."""
    near, far = (1e6 * numbers[name] for name in ("near", "far"))
    return (
        f"Assumed, as the paper names neither: latencies of {near:.0f} us, and of {far:.0f} between the switches, "
        f"whose link has {8e-9 / numbers['across_per_byte']:.1f} Gbit/s."
    )


def _machine(name: str, nodes: int) -> platforms.Platform:
    """A machine of two switches with fewer nodes."""
    return platforms.platform(platforms.MACHINES[name].replace(":30:", f":{nodes}:"))


def _nodes_of(switch_of: list[int]) -> list[int]:
    """The node of each rank, given its switch: the first half of the nodes is on the first switch."""
    nodes = len(switch_of)
    free = [iter(range(nodes // 2)), iter(range(nodes // 2, nodes))]
    return [next(free[switch]) for switch in switch_of]


def _in_simgrid(
    context: Context, shape: str, switches: list[list[int]], kilobytes: list[int], numbers: dict[str, float]
) -> list[Numbers]:
    """Milliseconds on gigabit Ethernet, geometric means over numberings."""
    nodes = len(switches[0])
    machine = _machine("gbe30-two-switches", nodes)
    known = two_switches([node * 2 // nodes for node in range(nodes)], numbers)
    algorithms = {"default": shape, "reordered": f"{shape}:order={HEURISTICS[shape][0]}",
                  "order=distance": f"{shape}:order=distance"}  # fmt: skip
    words = ("allgather", "--block", ",".join(str(size * 256) for size in kilobytes),
             "--repetitions", "2", "--warmup", "1")  # fmt: skip
    found = [
        simulated.bench(context, words, algorithms, machine, nodes, 1, taken=_nodes_of(switch_of),
                        distances=known)
        for switch_of in switches
    ]  # fmt: skip
    return _means(found, list(algorithms))


def _means(found: list[list[Numbers]], names: list[str]) -> list[Numbers]:
    """Milliseconds of each size, geometric means over numberings, from microseconds."""
    return [{name: geometric_mean(each[name] for each in of_size) / 1000 for name in names}
            for of_size in zip(*found, strict=True)]  # fmt: skip


def heuristic_order(shape: str, switch_of: list[int], numbers: dict[str, float]) -> list[int]:
    """The paper's order for a shape: the rank at each position."""
    found = distances_from_text(two_switches(switch_of, numbers)).reordering("allgather", shape, 1024)
    return next(each.ranks for each in found.all if each.name == HEURISTICS[shape][0])


def of_the_mpi(
    context: Context, shape: str, machine: str, switches: list[list[int]], kilobytes: list[int],
    numbers: dict[str, float],
) -> list[Numbers]:  # fmt: skip
    """Milliseconds of MPI_Allgather, which is SimGrid's, geometric means over numberings.

    A rank of the paper's communicator is where its position in the order is: it takes that node.
    `TUTTI_Comm_reorder` is the communicator of the library, whose order suits several shapes.
    """
    nodes = len(switches[0])
    known = two_switches([node * 2 // nodes for node in range(nodes)], numbers)
    words = ("allgather", "--block", ",".join(str(size * 256) for size in kilobytes),
             "--repetitions", "1", "--warmup", "0")  # fmt: skip
    found = []
    for switch_of in switches:
        taken = _nodes_of(switch_of)
        reordered = [taken[rank] for rank in heuristic_order(shape, switch_of, numbers)]
        before, after = (
            simulated.bench(context, words, algorithms, _machine(machine, nodes), nodes, 1, taken=slots,
                            distances=known, configuration=[f"smpi/allgather:{MPI_ALGORITHMS[shape]}"])
            for algorithms, slots in (
                ({"default": "native", "TUTTI_Comm_reorder": REORDERED}, taken),
                ({"reordered": "native"}, reordered),
            )
        )  # fmt: skip
        found.append([a | b for a, b in zip(before, after, strict=True)])
    return _means(found, [*CONTENDERS, "TUTTI_Comm_reorder"])


def _lab(context: Context, shape: str, nodes: int, kilobytes: list[int]) -> View | None:
    """Medians in ms of ranks numbered at random, means over the numberings; those of the MPI's own on
    the reordered communicator where they are measured."""
    names = {"default": shape, "reordered": HEURISTICS[shape][1],
             "order=distance": f"{shape}:order=distance"}  # fmt: skip
    found: dict[int, dict[str, list[float]]] = {}
    documents = context.documents(f"lab-place-openmpi-{nodes}-*.json")
    for document in documents:
        for row in document["rows"]:
            lines = {line["name"]: line["samples_us"] for line in row["algorithms"]}
            cell = found.setdefault(row["bytes"] // nodes // 1024, {})
            own = [name for name in ("native", REORDERED) if REORDERED in lines]
            for name, line in (names | dict(zip(own, own, strict=True))).items():
                cell.setdefault(name, []).append(median(lines[line]) / 1000)
    if not found:
        return None
    means = {size: {name: geometric_mean(each) for name, each in cell.items()}
             for size, cell in found.items()}  # fmt: skip
    counts = sorted(len(each) for cell in found.values() for each in cell.values())
    least = f"{counts[0]} to " if counts[0] < counts[-1] else ""
    return View(
        "lab", f"ranks at random, {_links(documents)}, {libraries(documents)}",
        [means.get(size, {}) for size in kilobytes], [f"Medians; means of {least}{count(counts[-1], 'numbering')}."],
    )  # fmt: skip


def _links(documents: list[dict[str, Any]]) -> str:
    """The links of the lab; older samples do not say them."""
    older = {"rate": "400 Mbit/s", "uplink": "100 Mbit/s"}
    found = [older | document["metadata"] for document in documents]
    return " or ".join(sorted({f"links of {of['rate']}, {of['uplink']} between the switches" for of in found}))


def _figure(context: Context, name: str, done: Callable[[], None]) -> Result:
    document = published("bhowmik")
    shape, nodes = document["figures"][name]
    kilobytes = document["kilobytes"]
    views = []
    assumed = _assumed(document["network"])
    for where, switches in placements(nodes).items():
        numbers = []
        for size in kilobytes:
            numbers.append(context.result(_times, shape, switches, size * 1024, document["network"]))
            done()
        views.append(View("own simulator", where, numbers, [assumed]))
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
            "12 to 40 % from 8 nodes on, as here all crossing messages share one link."
        )
    if nodes <= context.simgrid_ranks:
        for where, switches in placements(nodes).items():
            there = _in_simgrid(context, shape, switches, kilobytes, document["network"])
            views.append(View("SimGrid", f"gigabit Ethernet, {where}", there, [_ASSUMED_THERE]))
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


def _simulated_nodes(context: Context) -> list[int]:
    """The paper's numbers of nodes, as far as SimGrid is asked for them."""
    nodes = sorted({nodes for _, nodes in published("bhowmik")["figures"].values()})
    return [each for each in nodes if each <= context.simgrid_ranks]


def _mpi_views(context: Context, shape: str, done: Callable[[], None]) -> list[View]:
    """The paper's own experiment, on the machines by placements: all nodes, all sizes."""
    document = published("bhowmik")
    kilobytes = document["kilobytes"]
    views: dict[str, View] = {}
    for nodes in _simulated_nodes(context):
        for rate, machine in TRUNKS.items():
            for where, switches in placements(nodes, MPI_NUMBERINGS).items():
                heading = f"{rate} between the switches, {where}"
                view = views.setdefault(heading, View("SimGrid", heading, []))
                view.numbers.extend(
                    of_the_mpi(context, shape, machine, switches, kilobytes, document["network"])
                )
        done()
    return list(views.values())


def _gain(numbers: Numbers) -> float:
    return numbers["default"] / numbers["reordered"]


def _allgather(context: Context, shape: str, done: Callable[[], None]) -> Result:
    """MPI_Allgather on the communicator that the paper's order numbers."""
    document = published("bhowmik")
    kilobytes = document["kilobytes"]
    views = _mpi_views(context, shape, done)
    cells = [(nodes, size) for nodes in _simulated_nodes(context) for size in kilobytes]
    if views:
        views[0].notes.append(
            f"SimGrid's `{MPI_ALGORITHMS[shape]}`; its `ring` is none, as each block goes directly to each rank. The "
            "paper omits the rate between its switches: at 10 Gbit/s the messages of 8 pairs cross at the same "
            "time, and an order saves only latency."
        )
        views[0].notes.append(
            "The order is the paper's for this shape. `TUTTI_Comm_reorder` takes one order for all shapes of an "
            "allgather, and none that slows one of them down."
        )
    low, high = document["gain"]
    range_ = f"; published {100 * (low - 1):.0f} to {100 * (high - 1):.0f} %" if shape != "ring" else ""
    plots = [
        Plot(
            f"{shape.replace('_', ' ')}, {nodes} nodes{range_}", "KiB of each rank", "default / reordered",
            {view.machine: [(size, _gain(each)) for (of, size), each
                            in zip(cells, view.numbers, strict=True) if of == nodes]
             for view in views}, log_y=False,
        )
        for nodes in _simulated_nodes(context)
    ]  # fmt: skip
    ahead = {"ahead": 0.0 if shape == "ring" else 1.0}
    theirs = [dict(ahead) if [shape, nodes] in _drawn() else {} for nodes, _ in cells]
    return Result([f"{nodes} nodes, {size} KiB" for nodes, size in cells], theirs, views, plots)


def _drawn() -> list[list[str | int]]:
    """Shape and nodes of the paper's figures."""
    figures = published("bhowmik")["figures"]
    return [of for name, of in figures.items() if name.startswith("figure")]


def _ends(numbers: list[list[Numbers]]) -> list[Numbers]:
    """The least and the largest gain of each shape."""
    return [{"factor": choose(map(_gain, each))} if each else {} for each in numbers for choose in (min, max)]


def _gains(context: Context, done: Callable[[], None]) -> Result:
    """The range of gains over nodes and sizes, beside that of the abstract."""
    document = published("bhowmik")
    low, high = document["gain"]
    problems = [f"{shape.replace('_', ' ')}: {end} gain" for shape in HEURISTICS for end in ("least", "largest")]
    theirs: list[Numbers] = [{"ahead": 0.0}, {"ahead": 0.0}, {"factor": low}, {"factor": high}]
    found = {shape: _mpi_views(context, shape, done) for shape in HEURISTICS}
    ends = {each[0].machine: _ends([view.numbers for view in each]) for each in zip(*found.values(), strict=True)}
    views = [View("SimGrid", where, each, bhowmik_gains.beside(each)) for where, each in ends.items()]
    if views:
        views[0].notes.append(
            "MPI_Allgather with SimGrid's algorithms, 4 to 16 nodes, 1 KiB to 2 MiB. The abstract's range does not say "
            "which shape and nodes have which gain; the text has it for recursive doubling, and none for the ring."
        )
    lab = [_lab(context, shape, 8, document["kilobytes"]) for shape in HEURISTICS]
    measured = [[each for each in view.numbers if each] if view else [] for view in lab]
    if lab[0] and any(measured):
        here = _ends(measured)
        views.append(View("lab", f"8 nodes, {lab[0].machine}, Tutti's schedules", here, bhowmik_gains.beside(here)))
    return Result(problems, theirs, [*views, bhowmik_gains.closed_form()])


def _order(done: Callable[[], None]) -> Result:
    theirs, ours = published("bhowmik")["order"], figure_1()
    equal = sum(a == b for a, b in zip(theirs, ours, strict=True))
    done()
    view = View("own simulator", "the paper's matrix", [{"value": equal}],
                [f"Here: {' '.join(map(str, ours))}."])  # fmt: skip
    return Result(["equal positions of 8"], [{"value": len(theirs)}], [view])


def tables(context: Context) -> list[Table]:
    """Figures 1 to 6, the ring on 16 nodes, which the paper lacks, and the paper's own experiment."""
    document = published("bhowmik")

    def steps(nodes: int) -> int:
        return 3 * len(document["kilobytes"]) + (3 if nodes <= context.simgrid_ranks else 0)

    order = Table("bhowmik", "figure-1", "Figure 1: order of 8 processes by nearest neighbours", None,
                  "positions", 1, _order)  # fmt: skip
    runs = len(_simulated_nodes(context))
    own = [
        Table(
            "bhowmik", f"allgather-{shape.replace('_', '-')}",
            f"MPI_Allgather on the reordered communicator: {shape.replace('_', ' ')}",
            CONTENDERS, "ms", runs,
            lambda done, s=shape: _allgather(context, s, done),  # type: ignore[misc]
        )
        for shape in HEURISTICS
    ]  # fmt: skip
    gains = Table("bhowmik", "gains", "Range of gains", CONTENDERS, "ms", runs * len(HEURISTICS),
                  lambda done: _gains(context, done), by_size=True)  # fmt: skip
    return [order] + [
        Table(
            "bhowmik", name,
            f"{name.replace('-', ' ').capitalize()}: {shape.replace('_', ' ')}, {nodes} nodes on 2 switches",
            CONTENDERS, "ms", steps(nodes),
            lambda done, n=name: _figure(context, n, done),  # type: ignore[misc]
        )
        for name, (shape, nodes) in document["figures"].items()
    ] + [*own, gains]  # fmt: skip
