"""Parsons & Pai 2014: collectives through node memory, with one and several senders a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import geometric_mean, mean
from typing import Any

from tutti._engine import Machine, hierarchical_estimate, machine_from_text
from tutti.console import count
from tutti.workload import machine_of
from tutti_reproduce import parsons_simulated
from tutti_reproduce.context import Context, Numbers, published
from tutti_reproduce.parsons_simulated import mpich_shape
from tutti_reproduce.tables import Plot, Result, Table, View, libraries, measured_with

FLAT = "flat, MPICH's"
_CRAY = "Cray XE6, 32 ranks per node"
_BEST = "flat, today's best"
_TODAY = (
    "The same cells. The fastest of the choices of MPICH, Open MPI, MVAPICH2 and Intel MPI in each cell, as SimGrid has "
    "them; without Intel MPI's reduce_scatter, which returns wrong data there, and beyond 64 cores without the "
    "alltoallvs of Open MPI and Intel MPI, which end with a segmentation fault."
)


def _own_note(*senders: int) -> str:
    """How Tutti's simulator gets its times, with these numbers of senders."""
    return (
        "Flat: every message, replayed; one between nodes has a 32nd of the adapter, in a ring all of it, so "
        "that pairwise rounds in which fewer ranks send take too long. Through node memory: the programs of all "
        f"ranks, executed, with {' and '.join(count(each, 'sender') for each in senders)} and closed forms "
        "between nodes."
    )


def changed(machine: Machine, name: str, value: float) -> Machine:
    """A machine with another value of one parameter."""
    return machine_from_text(f"{machine!r}{name} {value!r}")


def parameter(machine: Machine, name: str) -> float:
    """One parameter of a machine."""
    lines = (line.split("#")[0].split() for line in repr(machine).splitlines())
    return float(dict(lines)[name])


def problem(collective: str, cores: int, block: int, machine: Machine) -> Numbers:
    """Modelled microseconds: flat by shape and by MPICH's selection, and through node memory."""
    ranks = published("parsons")["cores_of_a_node"]
    times = hierarchical_estimate(collective, cores // ranks, ranks, block, machine)
    numbers = {f"flat {shape}": seconds for shape, seconds in times.flat.items()}
    numbers["flat, MPICH's"] = times.flat[mpich_shape(collective, cores * block)]
    numbers["flat, fastest"] = min(times.flat.values())
    numbers |= {"one sender": times.one_leader.total, "several senders": times.level.total}
    return {name: 1e6 * seconds for name, seconds in numbers.items()}


def grid(collective: str, machine: Machine) -> list[tuple[int, int, Numbers]]:
    """All numbers of cores and block sizes."""
    document = published("parsons")
    return [(cores, block, problem(collective, cores, block, machine))
            for cores in document["cores"] for block in document["blocks"]]  # fmt: skip


def mean_factor(collective: str, machine: Machine, slow: str, fast: str) -> float:
    """The arithmetic mean of one contender's time over another's, as averages of speedups are."""
    return mean(numbers[slow] / numbers[fast] for _, _, numbers in grid(collective, machine))


def fitted(
    collective: str, machine: Machine, name: str, most: float, pair: tuple[str, str], wanted: float
) -> float:
    """The value of a parameter, from the machine's own up to `most`, with which the mean factor of two
    contenders, which grows with it, reaches the wanted one."""

    def missing(value: float) -> float:
        return wanted - mean_factor(collective, changed(machine, name, value), *pair)

    low, high = parameter(machine, name), most
    below, above = missing(low), missing(high)
    if below <= 0 or above >= 0:
        return low if below <= 0 else high
    # The secant between both ends; one that stays twice counts half (Illinois method).
    stays = ""
    while True:
        value = (low * above - high * below) / (above - below)
        now = missing(value)
        if abs(now) < 1e-6 * wanted or high - low < 1e-6 * high:
            return value
        if now > 0:
            low, below = value, now
            above /= 2 if stays == "high" else 1
            stays = "high"
        else:
            high, above = value, now
            below /= 2 if stays == "low" else 1
            stays = "low"


def _mean(cells: parsons_simulated.Cells, slow: str, fast: str) -> Numbers:
    """The arithmetic mean of a factor over the cells that know both; empty without any."""
    factors = [each[slow] / each[fast] for each in cells.values() if slow in each]
    return {"factor": mean(factors)} if factors else {}


def _where(cells: parsons_simulated.Cells) -> str:
    """What cells a source has."""
    most = max(cores for cores, _ in cells)
    return f"{len(cells)} cells of up to {most:,} cores"


def _listed(names: Iterable[str], found: list[parsons_simulated.Cells]) -> str:
    """What cells a source has of each collective."""
    return "; ".join(f"{name}: {_where(cells)}" for name, cells in zip(names, found, strict=True) if cells)


def _samples(context: Context, collective: str) -> list[tuple[str, dict[str, Any]]]:
    """The lab's samples of 48 ranks on 8 and 4 emulated nodes, each with its shape."""
    return [(shape.replace("x", " nodes of "), document) for shape in ("8x6", "4x12")
            for document in context.documents(f"lab-levels-*-{shape}-{collective}.json")]  # fmt: skip


def _lab(context: Context, collective: str, slow: str, fast: str) -> Numbers:
    """The mean factor of two of tutti-bench's algorithms, native or with so many leaders."""
    factors = []
    for _, document in _samples(context, collective):
        for row in document["rows"]:
            lines = {line["name"].rpartition(",")[2].rstrip(")"): line["mean_us"] for line in row["algorithms"]}
            factors.append(lines[slow] / lines[fast])
    return {"factor": mean(factors)} if factors else {}


def _lab_view(context: Context, names: list[str], slow: str, fast: str, note: str) -> list[View]:
    """A view of the mean factors, which says what was measured of each collective; none without samples."""
    found = {name: samples for name in names if (samples := _samples(context, name))}
    if not found:
        return []
    measured = []
    for name, samples in found.items():
        shapes: dict[str, list[str]] = {}
        for shape, document in samples:
            shapes.setdefault(libraries([document]), []).append(shape)
        listed = ", ".join(f"{library} on {' and '.join(of)}" for library, of in sorted(shapes.items()))
        measured.append(f"{name} with {listed}")
    where = f"emulated nodes, {measured_with([document for of in found.values() for _, document in of])}"
    rows = [_lab(context, name, slow, fast) for name in names]
    return [View("lab", where, rows, [f"{note} Measured: {'; '.join(measured)}."])]


def _averages(context: Context, machine: Machine, done: Callable[[], None]) -> Result:
    theirs = published("parsons")["average"]
    pair = ("flat, MPICH's", "one sender")
    gap = context.result(
        fitted, "alltoallv", machine, "node_gap", 5e-6, pair, theirs["alltoallv"]
    )
    slower = changed(machine, "node_gap", gap)
    rows = []
    for collective in theirs:
        compared = [(machine, *pair), (slower, *pair), (machine, "flat, fastest", "one sender")]
        if collective != "alltoallv":
            compared += [(slower, f"flat {shape}", "one sender") for shape in ("ring", "pairwise")]
        rows.append([context.result(mean_factor, collective, *each) for each in compared])
        done()
    notes = [
        "Means over 11 numbers of cores from 64 to 65,536 and 6 blocks from 8 to 65,536 bytes, with one "
        "sender a node; the model has no number of the paper's machine, and the abstract names neither "
        "its problems nor their weights.",
    ]
    why = [
        f"One number, the time between two messages of a node, fitted to alltoallv: {1e6 * gap:.2f} us "
        f"instead of {1e6 * parameter(machine, 'node_gap'):.2f}, {1e-6 / gap:.1f} million messages a second "
        "for 32 cores. The gain is in messages: in flat algorithms all 32 ranks of a node send them. A flat "
        f"alltoallv is MPICH's: {parsons_simulated.BATCH} messages of a rank at once, so that latencies hardly count.",
        "What is left of allgather and reduce_scatter depends on which flat algorithm they are compared "
        f"with: on this machine the gain over a ring alone is {rows[1][3]:.0f} and {rows[2][3]:.0f}, over "
        f"pairwise exchanges alone {rows[1][4]:.0f} and {rows[2][4]:.0f}. A library that leaves recursive "
        "algorithms at smaller sizes than MPICH's defaults would be between, as the published averages are.",
    ]
    views: list[View] = [
        View("closed form", where, [{"factor": row[i]} for row in rows], said)
        for i, (where, said) in enumerate((
            ("over MPICH's selection of 2014", notes),
            ("the same, message rate fitted", why),
            ("over the fastest flat algorithm", []),
        ))
    ]  # fmt: skip
    own = [parsons_simulated.in_tutti(context, collective, done) for collective in theirs]
    views.append(View("own simulator", f"{_CRAY}, MPICH's selection", [_mean(found, *pair) for found in own],
                      [f"{_listed(theirs, own)}. {_own_note(1)}"]))  # fmt: skip
    there = [parsons_simulated.in_simgrid(context, collective, done) for collective in theirs]
    views += _averages_in_simgrid(context, list(theirs), pair, there)
    note = "Over the MPI's own; times include waiting for a core."
    views += _lab_view(context, list(theirs), "native", "leaders=1", note)
    return Result(list(theirs), [{"factor": factor} for factor in theirs.values()], views)


def _averages_in_simgrid(
    context: Context, names: list[str], pair: tuple[str, str], there: list[parsons_simulated.Cells]
) -> list[View]:
    """The means over MPICH's choices and over the best of today, of the cells that have both; and of all
    cells in closed form on the same machine."""
    same = parsons_simulated.same_machine()
    closed = [dict(_by_cell(context.result(grid, name, same))) for name in names]
    gains = sorted((each[pair[0]] / each[pair[1]], cell) for cells in closed for cell, each in cells.items())
    ends = " to ".join(f"{gain:.3g} ({block:,} bytes on {cores:,} cores)" for gain, (cores, block) in (gains[0], gains[-1]))
    cray = View("closed form", f"{_CRAY}, MPICH's selection", [_mean(cells, *pair) for cells in closed],
                [f"SimGrid's machine, all {len(closed[0])} cells of up to 65,536 cores; cells gain from {ends}."])
    common = [{cell: each for cell, each in cells.items() if _BEST in each} for cells in there]
    if not any(common):
        return [cray]

    def means(of: list[parsons_simulated.Cells]) -> str:
        factors = ((name, _mean(cells, *pair)) for name, cells in zip(names, of, strict=True))
        return ", ".join(f"{name} {mean['factor']:.3g}" for name, mean in factors if mean)

    known = [{cell: of[cell] for cell in cells} for cells, of in zip(common, closed, strict=True)]
    cray.notes.append(f"Over the cells of SimGrid's two views: {means(known)}.")
    return [
        cray,
        View("SimGrid", f"{_CRAY}, MPICH's selection", [_mean(cells, *pair) for cells in common],
             [f"The cells that the next view has too: {_listed(names, common)}. Over all that ran ("
              f"{_listed(names, there)}): {means(there)}."]),
        View("SimGrid", f"{_CRAY}, best selection of today", [_mean(cells, _BEST, pair[1]) for cells in common], [_TODAY]),
    ]  # fmt: skip


def _senders(context: Context, machine: Machine, done: Callable[[], None]) -> Result:
    document = published("parsons")
    names, wanted = list(document["average"]), document["senders"]
    pair = ("one sender", "several senders")
    here: list[Numbers] = []
    there: list[Numbers] = []
    ratios = []
    for collective in names:
        most = 32 * parameter(machine, "per_byte")
        value = context.result(fitted, collective, machine, "sender_per_byte", most, pair, wanted)
        slower = changed(machine, "sender_per_byte", value)
        built_in, with_it = (context.result(mean_factor, collective, each, *pair)
                             for each in (machine, slower))  # fmt: skip
        here.append({"factor": built_in})
        there.append({"factor": with_it})
        ratios.append(f"{collective} {value / parameter(machine, 'per_byte'):.1f}")
        done()
    ratio = parameter(machine, "sender_per_byte") / parameter(machine, "per_byte")
    notes = [
        f"The adapter is {ratio:.2g} times as fast as one sender, which bounds the gain; copies and "
        "signals, which do not change, leave less of it."
    ]
    why = [
        f"2.5 on average needs an adapter this many times as fast as one sender: {', '.join(ratios)}. That "
        "fits cores that push their bytes through the adapter themselves, as over TCP. Where one sender's RDMA fills the "
        "link, 2.5 cannot be had."
    ]
    views = [View("closed form", "built-in machine", here, notes),
             View("closed form", "slower senders, fitted", there, why)]  # fmt: skip
    views += _senders_in_simgrid(context, names, pair, done)
    note = (
        "4 senders instead of one. The ranks of all nodes share 2 cores: more senders are more ranks that wait "
        "for a core, and one sender fills the link."
    )
    views += _lab_view(context, names, "leaders=1", "leaders=4", note)
    return Result(names, [{"factor": wanted} for _ in names], views)


def _senders_in_simgrid(
    context: Context, names: list[str], pair: tuple[str, str], done: Callable[[], None]
) -> list[View]:
    """On SimGrid's machine, and where the adapter is faster than one sender."""
    cray = [parsons_simulated.in_simgrid(context, collective, done) for collective in names]
    if not any(cray):
        return []
    ratio, machine = parsons_simulated.RATIO, parsons_simulated.faster_adapter()
    faster = [parsons_simulated.at_a_switch(context, collective, machine, done) for collective in names]
    same = parsons_simulated.same_machine(ratio)
    closed = [dict(_by_cell(context.result(grid, collective, same))) for collective in names]
    listed = ", ".join(
        f"{name} {mean(by_cell[cell]['one sender'] / by_cell[cell]['several senders'] for cell in cells):.2f}"
        for name, by_cell, cells in zip(names, closed, faster, strict=True) if cells
    )  # fmt: skip
    most = ", ".join(
        f"{name} {max(each['one sender'] / each['several senders'] for each in cells.values()):.2f}"
        for name, cells in zip(names, faster, strict=True) if cells
    )  # fmt: skip
    senders = f"{parsons_simulated.SENDERS} senders of a node"
    return [
        View("SimGrid", _CRAY, [_mean(cells, *pair) for cells in cray],
             [f"{senders}, whose adapter is as fast as one: nothing to gain but signals."]),
        View("SimGrid", f"switch, adapter {ratio} times as fast as one message",
             [_mean(cells, *pair) for cells in faster],
             [f"{senders}; not fitted. The closed form on the same machine gives {listed} over the same "
              f"cells. The most in a cell: {most}. Copies, which do not change, bound the gain of allgather "
              "and reduce_scatter."]),
    ]  # fmt: skip


def _cells(context: Context, machine: Machine, collective: str, done: Callable[[], None]) -> Result:
    cells: list[Any] = context.result(grid, collective, machine)
    done()
    blocks = published("parsons")["blocks"]
    plots = [
        Plot(
            title, "cores, 32 a node", "speedup",
            {f"{block:,} bytes": [(cores, numbers[slow] / numbers[fast])
                                  for cores, size, numbers in cells if size == block] for block in blocks},
        )
        for title, slow, fast in (
            ("MPICH's flat algorithm / one sender", "flat, MPICH's", "one sender"),
            ("fastest flat algorithm / several senders", "flat, fastest", "several senders"),
            ("one sender / several senders", "one sender", "several senders"),
        )
    ]  # fmt: skip
    numbers = [each for _, _, each in cells]
    gain = geometric_mean(each["flat, fastest"] / each["several senders"] for each in numbers)
    notes = [f"Over the fastest flat algorithm, which today's libraries come near, several senders gain "
             f"{gain:.2f} in the geometric mean; under 1 in a cell Tutti stays flat."]  # fmt: skip
    problems = [f"{cores:,} cores, {block:,} bytes" for cores, block, _ in cells]
    views = [View("closed form", "node machine", numbers, notes)]
    same = context.result(grid, collective, parsons_simulated.same_machine())
    views.append(View("closed form", _CRAY, [each for _, _, each in same],
                      ["The rates of SimGrid's platform; no link but the adapter is shared."]))
    own = parsons_simulated.in_tutti(context, collective, done)
    found = parsons_simulated.in_simgrid(context, collective, done)
    at_switch = parsons_simulated.at_a_switch(context, collective, parsons_simulated.switch(), done)
    closed = dict(_by_cell(same))
    views.append(View("own simulator", _CRAY, [own.get((cores, block), {}) for cores, block, _ in cells],
                      [f"{_where(own)}. {_own_note(1, parsons_simulated.SENDERS)} "
                       f"{_ratios('The closed form', own, closed)}"]))  # fmt: skip
    if found:
        gains = ", ".join(
            f"{name} {parsons_simulated.gain(of, 'one sender', FLAT, found):.1f}"
            for name, of in (("here", found), ("in closed form with the same numbers", closed),
                             ("on the built-in machine", dict(_by_cell(cells))))
        )  # fmt: skip
        where = _where(found)
        notes = [f"{where}. Gain of one sender over MPICH's choice in the geometric mean over these cells: {gains}.",
                 f"{_ratios('SimGrid', closed, found)} "
                 f"{_ratios('At a switch with the same rates it', closed, at_switch)}",
                 _algorithms(collective)]
        views.append(View("SimGrid", _CRAY, [found.get((cores, block), {}) for cores, block, _ in cells], notes))
        views.append(View("SimGrid", "the same nodes at a switch",
                          [at_switch.get((cores, block), {}) for cores, block, _ in cells], [f"{_where(at_switch)}."]))
    return Result(problems, [{} for _ in cells], views, plots)


def _by_cell(cells: list[tuple[int, int, Numbers]]) -> list[tuple[tuple[int, int], Numbers]]:
    return [((cores, block), numbers) for cores, block, numbers in cells]


def _algorithms(collective: str) -> str:
    """By which of its algorithms SimGrid runs what MPICH does, as a sentence."""
    names = [f"`{name}` for {shape}" for (of, shape), name in parsons_simulated.MPICH_ALGORITHMS.items()
             if of == collective]  # fmt: skip
    if not names:
        return f"SimGrid has all messages of a rank under way, MPICH {parsons_simulated.BATCH}."
    return f"SimGrid's algorithms are those of MPICH's defaults: {', '.join(names)}."


def _ratios(who: str, of: parsons_simulated.Cells, there: parsons_simulated.Cells) -> str:
    """How many times as long each contender takes, as a sentence; empty without common cells."""
    ratios = parsons_simulated.times_as_long(of, there)
    listed = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    return f"{who} takes this many times as long: {listed}." if ratios else ""


def tables(context: Context) -> list[Table]:
    """The averages, the gain of several senders, and all cells of each collective."""
    machine = machine_of(context.machine or Path("built-in"))
    names = published("parsons")["average"]
    own = {name: len(parsons_simulated.cores_replayed(name)) for name in names}
    there = {name: parsons_simulated.steps_in_simgrid(context, name) for name in names}
    fewer = {name: len(parsons_simulated.cores_in_simgrid(context, name, parsons_simulated.FEWER_SECONDS))
             for name in names}  # fmt: skip
    all_there = sum(there.values())
    return [
        Table("parsons", "averages", "Average speedups of hierarchical collectives",
              ("flat", "hierarchical"), "factor", len(names) + sum(own.values()) + all_there,
              lambda done: _averages(context, machine, done), by_size=True),
        Table("parsons", "senders", "Average further speedups of several senders",
              ("one sender", "several senders"), "factor", len(names) + all_there + sum(fewer.values()),
              lambda done: _senders(context, machine, done), by_size=True),
        *(
            Table("parsons", name, f"{name}, 64 to 65,536 cores",
                  (FLAT, "several senders"), "us", 1 + own[name] + there[name] + fewer[name],
                  lambda done, n=name: _cells(context, machine, n, done))  # type: ignore[misc]
            for name in names
        ),
    ]  # fmt: skip
