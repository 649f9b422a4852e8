"""What one call of a collective would do, and why: the data behind `tutti explain`."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

from tutti._engine import (
    Call,
    Choice,
    Distances,
    KnowledgePrice,
    Machine,
    Message,
    Timeline,
    algorithms,
    block_kind,
    choose,
    has_root,
    is_irregular,
)


@dataclass(frozen=True)
class Contender:
    """An algorithm of the list, for these sizes as an outside observer knows them."""

    algorithm: str
    messages: int
    rounds: int
    moved: int
    """Bytes over all hops."""
    knowledge: KnowledgePrice
    data_seconds: float
    """Simulated, from the first arrival to the last exit."""
    learn_seconds: float
    """Before that: a latency for each dependent step of the protocol."""

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.data_seconds + self.learn_seconds


@dataclass(frozen=True)
class Explanation:
    """One call of a collective under one setting. Seconds are modelled, never measured."""

    collective: str
    root: int
    sizes: list[int] = field(repr=False)
    choice: Choice
    """What Tutti would run, from what every rank knows."""
    call: Call = field(repr=False)
    """Under the algorithm that is drawn: the chosen one; for native, Tutti's best candidate."""
    rounds: list[list[Message]] = field(repr=False)
    contenders: list[Contender] = field(repr=False)
    lower_bound: float
    timeline: Timeline = field(repr=False)
    """The data's messages of `call` in simulated time."""

    @property
    def seconds(self) -> float:
        """The modelled time of `call`, what its ranks must learn first included."""
        return next(c.seconds for c in self.contenders if c.algorithm == self.call.algorithm)

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.sizes)

    @property
    def tree(self) -> str:
        """The tree of transfers as text; empty where data does not flow along a tree."""
        return self.call.tree()

    @property
    def bytes(self) -> int:
        """Of all blocks, of the vector, or of what one rank has for the others."""
        kind = block_kind(self.collective)
        if kind == "none" or not self.sizes:
            return 0
        if kind == "parts":
            return self.sizes[0]
        return sum(self.sizes)

    @property
    def rooted(self) -> bool:
        """One rank has a part of its own."""
        return has_root(self.collective)

    @property
    def irregularity(self) -> float:
        """The largest block over the mean block; 1 where there is no data."""
        total = sum(self.sizes)
        return max(self.sizes) * self.ranks / total if total else 1.0

    @property
    def title(self) -> str:
        """One line that names the call."""
        return (
            f"{self.collective}, {self.call.algorithm}, {self.ranks} ranks, "
            f"{f'root {self.root}, ' if self.rooted else ''}{self.bytes} bytes"
        )


def _contender(call: Call, machine: Machine, arrivals: list[float]) -> Contender:
    messages = call.messages()
    price = call.knowledge_price()
    return Contender(
        algorithm=call.algorithm,
        messages=len(messages),
        rounds=messages[-1].round if messages else 0,
        moved=sum(message.bytes for message in messages),
        knowledge=price,
        data_seconds=call.simulate(arrivals).run_time,
        learn_seconds=price.steps * machine.latency,
    )


_FOR_ARRIVALS = {
    "gather": (
        ["SLS", "SBN", "binomial:order=late_leaf"],
        ["BSLS", "BSBN", "binomial:order=late_leaf,runner=background"],
    ),
    "scatter": (["SLIN", "SBN"], ["BSLN", "BSBN", "linear:order=arrival,runner=background"]),
    "bcast": (["SLIN", "SBN"], ["BSLN", "BSBN", "earliest:runner=background"]),
    "allgather": (
        ["sync_bcast:order=arrival"],
        ["BDR", "BSLB", "linear:runner=background", "broadcasts:runner=background"],
    ),
}
"""The points that papers name for ranks that arrive apart, and what goes beyond them: without a
background thread, and further ones with it. The irregular forms have the same."""


_PLACED = ("binomial", "knomial", "ring", "recursive_doubling")
"""The shapes whose time depends on the distances between the ranks that stand in them."""


def made_for_arrivals(collective: str, background: bool) -> list[str]:
    """Those of `_FOR_ARRIVALS` for this collective."""
    without, with_thread = _FOR_ARRIVALS.get(collective.removesuffix("v"), ([], []))
    return without + with_thread if background else without


def explain(
    collective: str,
    sizes: list[int],
    root: int = 0,
    *,
    algorithm: str = "auto",
    machine: Machine | None = None,
    arrivals: list[float] | None = None,
    background: bool = False,
    distances: Distances | None = None,
    mpi: str = "",
) -> Explanation:
    """Explains one call.

    Args:
        collective: a name that `tutti list` shows, such as "gatherv".
        sizes: bytes of each rank's block; equal ones where blocks do not differ, of the vector in
            a bcast and reductions, of the block for one rank in an alltoall.
        root: the root's rank, where there is one.
        algorithm: a setting as in TUTTI_GATHERV: auto, native or a specification.
        machine: the model's parameters; by default those of a common cluster.
        arrivals: when each rank makes the call, and is expected to, in seconds; by default all
            at once.
        background: every rank has a background thread, so that points that use it count.
        distances: between the ranks, for orders by distance and the time of each message.
        mpi: whose rules the MPI's own follows where ranks arrive apart, "openmpi" or "mpich".

    Raises:
        ValueError: names the argument that is wrong and what is accepted.
    """
    machine = machine or Machine()
    collective = collective.lower()
    block = sizes[0] if sizes and not is_irregular(collective) else None
    times = arrivals or []
    expected = times if len(set(times)) > 1 else []
    choice = choose(
        collective, algorithm, len(sizes), block, machine, root, expected,
        background=background, mpi=mpi,
    )  # fmt: skip
    # Native is taken as linear, so that drawing linear for it would show nothing of Tutti's own.
    own = [c.name for c in choice.candidates if c.name not in ("native", "linear")]
    names = [listed.name for listed in algorithms() if listed.collective == collective]
    if expected:
        names += made_for_arrivals(collective, background) + own
    if distances:
        names += [f"{name}:order=distance" for name in names if name in _PLACED]
    calls = {
        made.algorithm: made
        for made in (
            Call(collective, sizes, root, name, machine, expected, distances) for name in names
        )
    }
    contenders = {name: _contender(other, machine, times) for name, other in calls.items()}
    # Where nothing is chosen, the fastest is drawn.
    fastest = min(contenders.values(), key=lambda contender: contender.seconds).algorithm
    drawn = choice.algorithm if choice.algorithm != "native" else [*own, fastest][0]
    call = Call(collective, sizes, root, drawn, machine, expected, distances)
    contenders.setdefault(call.algorithm, _contender(call, machine, times))
    return Explanation(
        collective=collective,
        root=root if has_root(collective) else 0,
        sizes=sizes,
        choice=choice,
        call=call,
        rounds=[list(group) for _, group in groupby(call.messages(), key=lambda m: m.round)],
        contenders=sorted(contenders.values(), key=lambda contender: contender.seconds),
        lower_bound=call.lower_bound(times, background) - min(times, default=0.0),
        timeline=call.simulate(times),
    )
