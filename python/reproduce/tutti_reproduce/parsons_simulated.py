"""Parsons & Pai's collectives on one machine, Cray's XE6: in SimGrid, in Tutti's simulator, in closed form."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from statistics import geometric_mean

from tutti._engine import Call, Distances, HierarchicalProblem, Machine, distances_from_text, machine_from_text
from tutti.simgrid import platforms
from tutti_reproduce import simulated
from tutti_reproduce.context import Context, Numbers, published

PLATFORM = "xe6-64x32"
MPICH_LONG = 524288
"""The total bytes from which MPICH of 2014 (and today) leaves recursive algorithms: its defaults
ALLGATHER_LONG_MSG_SIZE and REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE."""
BATCH = 32
"""Messages that a rank of MPICH's alltoallv has under way (MPIR_CVAR_ALLTOALL_THROTTLE)."""
MPICH_ALGORITHMS = {("allgather", "recursive"): "rdb", ("allgather", "ring"): "NTSLR",
                    ("reduce_scatter", "recursive"): "ompi_basic_recursivehalving",
                    ("reduce_scatter", "pairwise"): "mpich_pair"}  # fmt: skip
"""SimGrid's for what MPICH runs. Its own selection for MPICH takes `ring`, which is none, for long blocks of
an allgather, and for short ones of a reduce_scatter recursive doubling of whole vectors, up to a number of
elements instead of bytes. Its alltoallv for MPICH has all messages of a rank under way."""
SENDERS = 4
"""Ranks of each node that send."""
RATIO = 3
"""How many times as fast as one sender the adapter of the second machine is."""
SELECTORS = ("mpich", "ompi", "mvapich2", "impi")
"""The MPIs of today whose choices SimGrid imitates."""
MAX_CORES = {("reduce_scatter", "impi"): 0, ("alltoallv", "ompi"): 64, ("alltoallv", "impi"): 64}
"""Beyond these SimGrid's own return wrong data (3.32), or end with a segmentation fault."""
SIMULATED_BYTES = 1 << 28
"""The most bytes of all ranks' data that run in SimGrid."""
SECONDS, FEWER_SECONDS = 90, 10
"""The longest that a cell may take on one core of 2 GHz: with MPICH's choices, and with other ones."""
REPLAYED, REPLAYED_MESSAGES = 1024, 300_000
"""The most ranks and messages of a flat algorithm in Tutti's simulator: some seconds a cell."""

Cells = dict[tuple[int, int], Numbers]
"""Microseconds of contenders by cores and block."""


def mpich_shape(collective: str, total: int) -> str:
    """What MPICH runs for a power of 2 of processes and this many bytes in all.

    An alltoallv is scattered (MPIR_Alltoallv_intra_scattered); only one in place is pairwise.
    """
    if collective == "alltoallv":
        return "scattered"
    if total < MPICH_LONG:
        return "recursive"
    return "ring" if collective == "allgather" else "pairwise"


def cell_seconds(collective: str, cores: int) -> float:
    """About what one block size takes in SimGrid, measured with 256 cores; the time grows with the number
    of pairs of ranks."""
    return (40 if collective == "alltoallv" else 5) * (cores / 256) ** 2


def cores_in_simgrid(
    context: Context, collective: str, seconds: float, selector: str = SELECTORS[0]
) -> list[int]:
    """The numbers of cores on which the selector works, and whose cells take at most so long."""
    most = min(context.simgrid_ranks, MAX_CORES.get((collective, selector), context.simgrid_ranks))
    return [cores for cores in published("parsons")["cores"]
            if cores <= most and cell_seconds(collective, cores) <= seconds]  # fmt: skip


def switch() -> platforms.Platform:
    """The machine's nodes at one switch instead of a torus, with the same rate in each direction."""
    shared = ("bandwidth", "limiter")
    kept = [part for part in _parameters() if part.partition("=")[0] not in shared]
    return platforms.platform(f"switch:64:bandwidth={adapter() / 1e9:g}G,{','.join(kept)}")


def faster_adapter() -> platforms.Platform:
    """The same, with an adapter that is RATIO times as fast as one message: a link that messages do not
    share bounds each of them."""
    machine = switch()
    one = adapter() / RATIO
    bound = f'sharing_policy="SPLITDUPLEX" bb_bw="{one:.6g}Bps" bb_lat="0s" bb_sharing_policy="FATPIPE"'
    return replace(machine, name=f"{machine.name}, messages of {one:.6g} B/s",
                   xml=machine.xml.replace('sharing_policy="SPLITDUPLEX"', bound))  # fmt: skip


def _settings(collective: str, selector: str, total: int) -> tuple[str, ...]:
    """SimGrid's, with which it runs what MPICH does for this many bytes in all; none for other MPIs."""
    shape = (collective, mpich_shape(collective, total))
    known = selector == SELECTORS[0] and shape in MPICH_ALGORITHMS
    return (f"smpi/{collective}:{MPICH_ALGORITHMS[shape]}",) if known else ()


def _in_simgrid(
    context: Context, collective: str, algorithms: dict[str, str], machine: platforms.Platform,
    selector: str, seconds: float, done: Callable[[], None],
) -> Cells:  # fmt: skip
    document = published("parsons")
    found: Cells = {}
    for cores in cores_in_simgrid(context, collective, seconds, selector):
        by_settings: dict[tuple[str, ...], list[int]] = {}
        for block in document["blocks"]:
            if cores * cores * block <= SIMULATED_BYTES:
                by_settings.setdefault(_settings(collective, selector, cores * block), []).append(block)
        for settings, blocks in by_settings.items():
            words = [collective, "--block", ",".join(str(max(1, block // 4)) for block in blocks),
                     "--repetitions", "1", "--warmup", "1"]  # fmt: skip
            words += [] if collective == "allgather" else ["--distribution", "same"]
            numbers = simulated.bench(context, words, algorithms, machine, cores, document["cores_of_a_node"],
                                      selector, configuration=settings)  # fmt: skip
            found |= {(cores, block): {name: each[name] for name in algorithms}
                      for block, each in zip(blocks, numbers, strict=True)}  # fmt: skip
        done()
    return found


def hierarchical(senders: int) -> str:
    """The specification of a collective through node memory."""
    return f"hierarchical(native,leaders={senders})"


CONTENDERS = {"flat, MPICH's": "native", "one sender": hierarchical(1),
              "several senders": hierarchical(SENDERS)}  # fmt: skip


def in_simgrid(context: Context, collective: str, done: Callable[[], None]) -> Cells:
    """All contenders with MPICH's choices, and the fastest flat collective of the MPIs of today that run
    there."""
    machine = platforms.platform(PLATFORM)
    found = _in_simgrid(context, collective, CONTENDERS, machine, SELECTORS[0], SECONDS, done)
    others = [
        _in_simgrid(context, collective, {selector: "native"}, machine, selector, FEWER_SECONDS, done)
        for selector in SELECTORS[1:]
    ]
    for cell in dict.fromkeys(cell for each in others for cell in each):
        flat = {selector: us for each in others for selector, us in each.get(cell, {}).items()}
        found[cell] |= {f"flat, {selector}'s": us for selector, us in flat.items()}
        found[cell]["flat, today's best"] = min(found[cell]["flat, MPICH's"], *flat.values())
    return found


def steps_in_simgrid(context: Context, collective: str) -> int:
    """The runs of in_simgrid."""
    fewer = sum(len(cores_in_simgrid(context, collective, FEWER_SECONDS, each)) for each in SELECTORS[1:])
    return len(cores_in_simgrid(context, collective, SECONDS)) + fewer


def at_a_switch(
    context: Context, collective: str, machine: platforms.Platform, done: Callable[[], None]
) -> Cells:
    """All contenders with MPICH's choices on one of the machines with a switch."""
    return _in_simgrid(context, collective, CONTENDERS, machine, SELECTORS[0], FEWER_SECONDS, done)


def _parameters() -> list[str]:
    return platforms.MACHINES[PLATFORM].split(":")[2].split(",")


def adapter() -> float:
    """Bytes a second of a node in each direction while it sends and receives, which share the limiter."""
    numbers = rates()
    return min(numbers["bandwidth"], numbers.get("limiter", 2 * numbers["bandwidth"]) / 2)


def rates() -> dict[str, float]:
    """The numbers of the platform in seconds and bytes a second."""
    units = {"G": 1e9, "us": 1e-6}
    found = {}
    for part in _parameters():
        name, _, text = part.partition("=")
        digits = text.rstrip("Gus")
        found[name] = float(digits) * units[text.removeprefix(digits)]
    return found


def same_machine(ratio: float = 1.0) -> Machine:
    """SimGrid's machine in the parameters of the closed form; `ratio`: of adapter and one sender.

    A message inside a node is a copy, and copies do not slow each other down. A wait for the signals of
    all other ranks of a node costs one latency.
    """
    numbers, ranks = rates(), published("parsons")["cores_of_a_node"]
    byte, copy = 1 / adapter(), 1 / numbers["memory-bandwidth"]
    overhead = numbers["overhead"]
    parameters = {
        "latency": 2 * (numbers["latency"] + overhead), "per_byte": byte, "overhead": overhead,
        "gap": overhead, "sender_per_byte": ratio * byte, "node_gap": 1e-10,
        "local_latency": numbers["memory-latency"] + 2 * overhead, "local_per_byte": copy,
        "copy_per_byte": copy, "shared_per_byte": 1e-14, "combine_per_byte": copy,
        "signal": numbers["memory-latency"] / (ranks - 1),
    }  # fmt: skip
    return machine_from_text("\n".join(f"{name} {value!r}" for name, value in parameters.items()))


@cache
def _between(cores: int, senders: int, numbers: tuple[float, ...]) -> Distances:
    """Times between ranks when so many of each node send to other nodes at once."""
    latency, sender, node, local_latency, local = numbers
    ranks = published("parsons")["cores_of_a_node"]
    per_byte = max(sender, senders * node)
    sizes = (1, 262144)
    near, far = ([local_latency + size * local for size in sizes], [latency + size * per_byte for size in sizes])
    matrices = []
    for a, b in zip(near, far, strict=True):
        rows = [[b] * start + [a] * ranks + [b] * (cores - start - ranks) for start in range(0, cores, ranks)]
        matrices.append([[*rows[rank // ranks][:rank], 0.0, *rows[rank // ranks][rank + 1:]] for rank in range(cores)])
    measured = [{"bytes": size, "matrix": matrix} for size, matrix in zip(sizes, matrices, strict=True)]
    names = [f"node-{rank // ranks}" for rank in range(cores)]
    return distances_from_text(json.dumps(
        {"schema": "tutti-distances-1", "unit": "s", "names": names, "measured": measured}))  # fmt: skip


def replayed(collective: str, cores: int, block: int, ratio: float) -> Numbers:
    """Microseconds on SimGrid's machine: of the messages of MPICH's flat algorithm, replayed, and of the
    programs of all ranks through node memory, executed.

    In the flat replay a message between nodes has the part of the adapter that is left to a rank when all
    ranks of its node send there at once, or all of it in a ring, where one does. A scattered exchange is
    pairwise, but a latency is that of a batch of messages, and a message takes its gap or its bytes.
    """
    ranks = published("parsons")["cores_of_a_node"]
    machine = same_machine(ratio)
    shape = mpich_shape(collective, cores * block)
    halving = collective == "reduce_scatter" and shape == "recursive"
    recursive = "recursive_halving" if halving else "recursive_doubling"
    algorithm = {"recursive": recursive, "scattered": "pairwise"}.get(shape, shape)
    byte, local = 1 / adapter(), 1 / rates()["memory-bandwidth"]
    senders = 1 if shape == "ring" else ranks
    latency, local_latency = machine.latency, rates()["memory-latency"] + 2 * machine.overhead
    if shape == "scattered":
        latency = latency / BATCH + max(0.0, machine.gap - block * max(ratio, senders) * byte)
        local_latency = local_latency / BATCH + max(0.0, machine.overhead - block * local)
    distances = _between(cores, senders, (latency, ratio * byte, byte, local_latency, local))
    call = Call(collective, [block] * cores, 0, algorithm, machine, distances=distances)
    reduced = 0.0
    if collective == "reduce_scatter":
        # Each rank combines as many blocks as it receives, one after the other.
        reduced = (cores - 1) * block * local
    found = {"flat, MPICH's": call.simulate().run_time + reduced}
    for name, leaders in (("one sender", 1), ("several senders", SENDERS)):
        problem = HierarchicalProblem(collective, [block] * cores, f"{cores // ranks}x{ranks}", 0,
                                      hierarchical(leaders), machine=machine)  # fmt: skip
        found[name] = next(each.seconds for each in problem.proposals() if each.name.startswith("hierarchical"))
    return {name: 1e6 * seconds for name, seconds in found.items()}


def in_tutti(context: Context, collective: str, done: Callable[[], None]) -> Cells:
    """Tutti's simulator on SimGrid's machine, up to REPLAYED ranks."""
    document = published("parsons")
    found: Cells = {}
    for cores in cores_replayed(collective):
        for block in document["blocks"]:
            if messages(collective, cores, cores * block) <= REPLAYED_MESSAGES:
                found[cores, block] = context.result(replayed, collective, cores, block, 1.0)
        done()
    return found


def messages(collective: str, cores: int, total: int) -> int:
    """Those of MPICH's flat algorithm."""
    each = cores.bit_length() - 1 if mpich_shape(collective, total) == "recursive" else cores - 1
    return cores * each


def cores_replayed(collective: str) -> list[int]:
    """The numbers of cores in Tutti's simulator, some blocks of which run."""
    document = published("parsons")
    return [cores for cores in document["cores"] if cores <= REPLAYED
            and messages(collective, cores, cores * document["blocks"][0]) <= REPLAYED_MESSAGES]  # fmt: skip


def times_as_long(here: Cells, there: Cells) -> dict[str, float]:
    """By contender, how many times as long it takes there, in the geometric mean over common cells."""
    common = [(here[cell], there[cell]) for cell in here if cell in there]
    names = [name for name in ("flat, MPICH's", "one sender", "several senders")
             if common and all(name in a and name in b for a, b in common)]  # fmt: skip
    return {name: geometric_mean(b[name] / a[name] for a, b in common) for name in names}


def gain(cells: Cells, fast: str, slow: str, of: Cells) -> float:
    """The gain of a contender in the geometric mean over those of these cells that `of` has too."""
    return geometric_mean(each[slow] / each[fast] for cell, each in cells.items() if cell in of)
