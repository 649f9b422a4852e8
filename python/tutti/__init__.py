"""Tutti from Python: its algorithms, their schedules and modelled times, and their verification.

>>> import tutti
>>> print(tutti.explain("gatherv", [1, 0, 2, 3], root=3, algorithm="ordered_tree").tree)
3 -+- 2:2
   +- 0:1
<BLANKLINE>
"""

from collections.abc import Sequence

from tutti._engine import (
    Algorithm,
    Alias,
    Call,
    Candidate,
    Choice,
    Machine,
    Message,
    Setting,
    SweepResult,
    Timeline,
    algorithms,
    aliases,
    collectives,
    distribute,
    distributions,
    settings,
)
from tutti._engine import version as __version__
from tutti.explanation import Contender, Explanation, explain
from tutti.shared import (
    SharedResult,
    allgather_shared,
    allgatherv_shared,
    allreduce_shared,
    bcast_shared,
)
from tutti.verification import verify

__all__ = [
    "Algorithm",
    "Alias",
    "Call",
    "Candidate",
    "Choice",
    "Contender",
    "Explanation",
    "Machine",
    "Message",
    "Setting",
    "SharedResult",
    "SweepResult",
    "Timeline",
    "__version__",
    "algorithms",
    "allgather_shared",
    "allgatherv_shared",
    "allreduce_shared",
    "aliases",
    "bcast_shared",
    "collectives",
    "distribute",
    "distributions",
    "explain",
    "schedule",
    "settings",
    "simulate",
    "verify",
]


def schedule(
    collective: str, sizes: list[int], rank: int, *, root: int = 0, algorithm: str = "ordered_tree"
) -> str:
    """The steps of one rank as text, one per line.

    Args:
        collective: a collective of `tutti list`, such as "gatherv".
        sizes: bytes of each rank's block.
        rank: the rank.
        root: the root's rank.
        algorithm: a specification such as "knomial:k=4"; `tutti list` has the names. The default
            exists for gathers and scatters only.

    Raises:
        ValueError: names the wrong argument and the accepted values.
    """
    if not 0 <= rank < len(sizes):
        raise ValueError(f"rank {rank}: expected 0 to {len(sizes) - 1}")
    return Call(collective, sizes, root, algorithm).schedule(rank)


def simulate(
    collective: str,
    sizes: list[int],
    *,
    root: int = 0,
    algorithm: str = "ordered_tree",
    machine: Machine | None = None,
    arrivals: Sequence[float] | None = None,
) -> Timeline:
    """Replays one call in simulated time.

    In gathers and scatters a rank takes part in one message at a time; in other collectives it
    may send one message while it receives another.

    Args:
        collective: a collective of `tutti list`, such as "gatherv".
        sizes: bytes of each rank's block.
        root: the root's rank.
        algorithm: a specification such as "knomial:k=4"; `tutti list` has the names. The default
            exists for gathers and scatters only.
        machine: latency and time per byte; by default those of a common cluster.
        arrivals: the time at which each rank enters the call, in seconds; by default all at 0.

    Raises:
        ValueError: names the wrong argument and the accepted values.
    """
    call = Call(collective, sizes, root, algorithm, machine or Machine())
    return call.simulate([] if arrivals is None else arrivals)
