"""Costs of the libraries of Träff 2017 that one latency and one rate cannot show.

Each model has one number that is fitted to the problems of equal blocks, and is tested on all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tutti._engine import Call, Machine, distribute
from tutti_reproduce.context import Numbers

INT = 4
"""Bytes of the paper's elements."""
TUW = "ordered_tree:rule=gather_time,promote=off"
EAGER_LIMIT = 12 << 10
"""Bytes up to which Open MPI sends over InfiniBand at once (its default of btl_openib_eager_limit);
longer messages wait for their receiver, and their memory is registered."""
LINK = 3.2e9
"""Bytes per second of a QDR InfiniBand link."""
FITTED_TO = "same"
_GRID = [1.05**k for k in range(-40, 41)]
"""Fractions of the guess among which a fit looks."""

Problem = tuple[str, int]
"""Distribution and average elements of a block."""
Times = Callable[[int, Problem, Machine], Callable[[float], Numbers]]
"""For the number of ranks, a problem and a machine: its times in microseconds by the fitted number."""


def agreement(ranks: int, machine: Machine) -> float:
    """Seconds of the agreement of guideline (2): a reduction and a broadcast of one element."""
    return 2 * (ranks - 1).bit_length() * (machine.latency + INT * machine.per_byte)


def closed_linear(sizes: Sequence[int], root: int, machine: Machine) -> float:
    """Seconds of a linear gather whose root takes messages one after the other, each for its bytes
    or for the gap, if that is longer, after one latency (LogGP)."""
    each = (max(machine.gap, size * machine.per_byte) for rank, size in enumerate(sizes)
            if rank != root and size > 0)  # fmt: skip
    return machine.latency + sum(each)


def replay(call: Call, seconds: Callable[[int], float]) -> float:
    """Seconds of a gather along a tree in which a message of some bytes occupies its sender and its
    receiver for so long, and who is ready first is received first."""
    children: dict[int, list[tuple[int, int]]] = {}
    for message in call.messages():
        children.setdefault(message.target, []).append((message.source, message.bytes))

    def ready(rank: int) -> float:
        now = 0.0
        for begin, size in sorted((ready(child), size) for child, size in children.get(rank, [])):
            now = max(now, begin) + seconds(size)
        return now

    return ready(call.root)


def _sizes(ranks: int, problem: Problem) -> list[int]:
    return [INT * size for size in distribute(problem[0], ranks, problem[1])]


def rendezvous(ranks: int, problem: Problem, machine: Machine) -> Callable[[float], Numbers]:
    """Times by the microseconds of a rendezvous. Trees wait for that of each message on their longest
    path; those of a linear gather overlap, so that it pays the gap of the machine or its bytes."""
    sizes = _sizes(ranks, problem)
    root = ranks // 2
    tree = Call("gatherv", sizes, root, TUW, machine)
    padded = Call("gather", [max(sizes)] * ranks, root, "binomial", machine)
    linear = closed_linear(sizes, root, machine)

    def times(extra: float) -> Numbers:
        def message(size: int) -> float:
            waiting = 1e-6 * extra if size > EAGER_LIMIT else 0.0
            return machine.latency + size * machine.per_byte + waiting

        constructed = tree.knowledge_price().steps * machine.latency
        return {
            "MPI_Gatherv": 1e6 * linear,
            "MPI_Gather": 1e6 * replay(padded, message),
            "guideline (2)": 1e6 * (agreement(ranks, machine) + replay(padded, message)),
            "TUW_Gatherv": 1e6 * (constructed + replay(tree, message)),
        }

    return times


def copied(ranks: int, problem: Problem, machine: Machine) -> Callable[[float], Numbers]:
    """Times by the nanoseconds that a tree's gatherv takes for each byte beyond the network's time."""
    sizes = _sizes(ranks, problem)
    root = ranks // 2

    def seconds(collective: str, blocks: Sequence[int], algorithm: str) -> float:
        call = Call(collective, blocks, root, algorithm, machine)
        return call.simulate().run_time + call.knowledge_price().steps * machine.latency

    gather = seconds("gather", [max(sizes)] * ranks, "binomial")
    tree, tuw = seconds("gatherv", sizes, "binomial"), seconds("gatherv", sizes, TUW)

    def times(extra: float) -> Numbers:
        return {
            "MPI_Gatherv": 1e6 * tree + 1e-3 * extra * sum(sizes),
            "MPI_Gather": 1e6 * gather,
            "guideline (2)": 1e6 * (agreement(ranks, machine) + gather),
            "TUW_Gatherv": 1e6 * tuw,
        }

    return times


def with_number(
    model: Times, number: float, ranks: int, problems: list[Problem], machine: Machine
) -> list[Numbers]:
    """The times of all problems with this number."""
    return [model(ranks, (name, block), machine)(number) for name, block in problems]


def fitted(
    model: Times, guess: float, ranks: int, problems: list[Problem], factors: list[float], machine: Machine
) -> tuple[float, list[Numbers]]:
    """The number with which the factors of equal blocks are nearest to the published, and the times of
    all problems with it.

    Args:
        model: rendezvous or copied.
        guess: about the number; the fit looks from a seventh of it to seven times.
        ranks: their number.
        problems: those of the table.
        factors: the published factors of the problems.
        machine: the network.
    """
    to = [(model(ranks, problem, machine), factor)
          for problem, factor in zip(problems, factors, strict=True) if problem[0] == FITTED_TO]  # fmt: skip

    def distance(number: float) -> float:
        found = [(one(number), factor) for one, factor in to]
        return sum(abs(math.log(each["MPI_Gatherv"] / each["TUW_Gatherv"] / factor)) for each, factor in found)

    best = min((guess * share for share in _GRID), key=distance)
    return best, with_number(model, best, ranks, problems, machine)
