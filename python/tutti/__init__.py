"""Tutti from Python: which algorithms there are, what they do, and whether they are right.

>>> import tutti
>>> print(tutti.explain("gatherv", sizes=[1, 0, 2, 3], root=3).tree)
3 -+- 2:2
   +- 0:1
<BLANKLINE>
"""

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
    """The steps of one rank as text, one a line.

    Args:
        collective: a name that `tutti list` shows, such as "gatherv".
        sizes: bytes of each rank's block.
        rank: whose steps.
        root: the root's rank.
        algorithm: a specification as `tutti list` shows them.

    Raises:
        ValueError: names the argument that is wrong and what is accepted.
    """
    if not 0 <= rank < len(sizes):
        raise ValueError(f"rank {rank}: of {len(sizes)} ranks it is one of 0..{len(sizes) - 1}")
    return Call(collective, sizes, root, algorithm).schedule(rank)


def simulate(
    collective: str,
    sizes: list[int],
    *,
    root: int = 0,
    algorithm: str = "ordered_tree",
    machine: Machine | None = None,
    arrivals: list[float] | None = None,
) -> Timeline:
    """Replays one call in simulated time: every rank takes part in one message at a time.

    Args:
        collective: a name that `tutti list` shows, such as "gatherv".
        sizes: bytes of each rank's block.
        root: the root's rank.
        algorithm: a specification as `tutti list` shows them.
        machine: latency and time per byte; by default those of a common cluster.
        arrivals: when each rank makes the call, in seconds; by default all at once.

    Raises:
        ValueError: names the argument that is wrong and what is accepted.
    """
    call = Call(collective, sizes, root, algorithm, machine or Machine())
    return call.simulate(arrivals or [])
