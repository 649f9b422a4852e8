"""Parsons & Pai 2014: collectives through node memory, with one and several senders a node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean, mean
from typing import Any

from tutti._engine import Machine, hierarchical_estimate, machine_from_text
from tutti.simgrid import platforms
from tutti.workload import machine_of
from tutti_reproduce import simulated
from tutti_reproduce.tables import Context, Numbers, Plot, Result, Table, View, published

MPICH_LONG = 524288
"""The total bytes from which MPICH of 2014 (and today) leaves recursive algorithms: its defaults
ALLGATHER_LONG_MSG_SIZE and REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE."""
SENDERS = 4
"""Ranks of each node that send, in SimGrid."""
SIMULATED_CORES, SIMULATED_BYTES = 256, 1 << 28
"""The most cores, and bytes of all ranks' data, that run in SimGrid."""
_SIMULATED = f"up to {SIMULATED_CORES} cores, and {SIMULATED_BYTES >> 20} MiB of all ranks' data."


def mpich_shape(collective: str, total: int) -> str:
    """What MPICH runs for a power of 2 of processes and this many bytes in all."""
    if collective == "alltoallv":
        return "pairwise"
    if total < MPICH_LONG:
        return "recursive"
    return "ring" if collective == "allgather" else "pairwise"


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


def _simulated_cores(context: Context) -> list[int]:
    most = min(SIMULATED_CORES, context.simgrid_ranks)
    return [cores for cores in published("parsons")["cores"] if cores <= most]


def _in_simgrid(context: Context, collective: str, done: Callable[[], None]) -> dict[tuple[int, int], Numbers]:
    """Microseconds by cores and block, for MPICH's selection."""
    document = published("parsons")
    ranks = document["cores_of_a_node"]
    machine = platforms.platform("xe6-64x32")
    algorithms = {"flat, MPICH's": "native", "one sender": "hierarchical(native,leaders=1)",
                  "several senders": f"hierarchical(native,leaders={SENDERS})"}  # fmt: skip
    found = {}
    for cores in _simulated_cores(context):
        blocks = [block for block in document["blocks"] if cores * cores * block <= SIMULATED_BYTES]
        words = (collective, "--block", ",".join(str(max(1, block // 4)) for block in blocks),
                 "--repetitions", "1", "--warmup", "1")  # fmt: skip
        words += () if collective == "allgather" else ("--distribution", "same")
        numbers = simulated.bench(context, words, algorithms, machine, cores, ranks, "mpich")
        found |= {(cores, block): each for block, each in zip(blocks, numbers, strict=True)}
        done()
    return found


def _simgrid_view(numbers: list[Numbers], note: str) -> list[View]:
    """A view, or none if nothing ran."""
    return [View("SimGrid", "Cray XE6, 32 ranks per node", numbers, [note])] if any(numbers) else []


def _mean_in_simgrid(found: dict[tuple[int, int], Numbers], slow: str, fast: str) -> Numbers:
    return {"factor": mean(each[slow] / each[fast] for each in found.values())} if found else {}


def _lab(context: Context, collective: str) -> Numbers:
    """Mean speedup over the MPI's own of 48 ranks on 8 emulated nodes, MPICH 5 and Open MPI 4."""
    factors = []
    for document in context.documents(f"lab-levels-*-8x6-{collective}.json"):
        for row in document["rows"]:
            lines = {line["name"]: line["mean_us"] for line in row["algorithms"]}
            native = lines["native"]
            factors += [native / us for name, us in lines.items() if "leaders=1" in name]
    return {"factor": mean(factors)} if factors else {}


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
        f"instead of {1e6 * parameter(machine, 'node_gap'):.2f}, 3 million messages a second "
        "for 32 cores. The gain is in messages: flat algorithms send 32 times as "
        "many.",
        "What is left of allgather and reduce_scatter depends on which flat algorithm they are compared "
        f"with: on this machine the gain over a ring alone is {rows[1][3]:.0f} and {rows[2][3]:.0f}, over "
        f"pairwise exchanges alone {rows[1][4]:.0f} and {rows[2][4]:.0f}. A library that leaves recursive "
        "algorithms at smaller sizes than MPICH's defaults gives the published averages.",
    ]
    views = [
        View("closed form", where, [{"factor": row[i]} for row in rows], said)
        for i, (where, said) in enumerate((
            ("over MPICH's selection of 2014", notes),
            ("the same, message rate fitted", why),
            ("over the fastest flat algorithm", []),
        ))
    ]  # fmt: skip
    there = [_in_simgrid(context, collective, done) for collective in theirs]
    views += _simgrid_view(
        [_mean_in_simgrid(found, *pair) for found in there],
        "SimGrid's selection of MPICH; " + _SIMULATED,
    )
    lab = [_lab(context, collective) for collective in theirs]
    if any(lab):
        views.append(View("lab", "8 emulated nodes of 6 ranks, MPICH 5 and Open MPI 4.1.4", lab))
    return Result(list(theirs), [{"factor": factor} for factor in theirs.values()], views)


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
        "fits cores that push their bytes through the adapter themselves, as over TCP. Where one sender's RDMA fills the link, 2.5 cannot be had."
    ]
    views = [View("closed form", "built-in machine", here, notes),
             View("closed form", "slower senders, fitted", there, why)]  # fmt: skip
    views += _simgrid_view([
        _mean_in_simgrid(_in_simgrid(context, collective, done), *pair) for collective in names
    ], f"{SENDERS} senders of a node, whose adapter is as fast as one; " + _SIMULATED)  # fmt: skip
    return Result(names, [{"factor": wanted} for _ in names], views)


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
    found = _in_simgrid(context, collective, done)
    views += _simgrid_view([found.get((cores, block), {}) for cores, block, _ in cells], _SIMULATED)
    return Result(problems, [{} for _ in cells], views, plots)


def tables(context: Context) -> list[Table]:
    """The averages, the gain of several senders, and all cells of each collective."""
    machine = machine_of(context.machine or Path("built-in"))
    names = published("parsons")["average"]
    simulated_runs = len(_simulated_cores(context))
    steps = len(names) * (1 + simulated_runs)
    return [
        Table("parsons", "averages", "Average speedups of hierarchical collectives",
              ("flat", "hierarchical"), "factor", steps,
              lambda done: _averages(context, machine, done)),
        Table("parsons", "senders", "Average further speedups of several senders",
              ("one sender", "several senders"), "factor", steps,
              lambda done: _senders(context, machine, done)),
        *(
            Table("parsons", name, f"{name}, 64 to 65,536 cores",
                  ("flat, MPICH's", "several senders"), "us", 1 + simulated_runs,
                  lambda done, n=name: _cells(context, machine, n, done))  # type: ignore[misc]
            for name in names
        ),
    ]  # fmt: skip
