"""Explains one call of a collective: the data that `tutti explain` prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

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
    explored,
    has_root,
    is_irregular,
    useful,
)
from tutti.schedules.tree import to_text


@dataclass(frozen=True)
class Contender:
    """An algorithm of the list, evaluated with the sizes of all ranks."""

    algorithm: str
    messages: int
    rounds: int
    moved: int
    """Bytes of all messages."""
    knowledge: KnowledgePrice
    data_seconds: float
    """Simulated time of the data's messages, from the first arrival to the last exit."""
    learn_seconds: float
    """Modelled time of the protocol before them: a latency for each dependent step."""

    @property
    def seconds(self) -> float:
        """The sum of both times."""
        return self.data_seconds + self.learn_seconds


@dataclass(frozen=True)
class Explanation:
    """One call of a collective under one setting. Seconds are modelled, never measured."""

    collective: str
    root: int
    sizes: list[int] = field(repr=False)
    choice: Choice
    """Tutti's selection, from the facts that every rank knows."""
    call: Call = field(repr=False)
    """The call with the algorithm that is drawn: the selected one or, for native, the fastest."""
    rounds: list[list[Message]] = field(repr=False)
    contenders: list[Contender] = field(repr=False)
    lower_bound: float
    explored: list[str]
    """The candidates that auto explores on the program's own calls, in this sequence."""
    timeline: Timeline = field(repr=False)
    """The data's messages of `call` in simulated time."""

    @property
    def seconds(self) -> float:
        """The modelled time of `call`, including the protocol that acquires its knowledge."""
        return next(c.seconds for c in self.contenders if c.algorithm == self.call.algorithm)

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.sizes)

    @property
    def tree(self) -> str:
        """The tree of transfers as text; empty if data does not flow along a tree."""
        return to_text(self.call)

    @property
    def bytes(self) -> int:
        """Bytes of all blocks; in reductions and bcast, of the vector; in alltoalls, of one rank."""
        kind = block_kind(self.collective)
        if kind == "none" or not self.sizes:
            return 0
        if kind == "parts":
            return self.sizes[0]
        return sum(self.sizes)

    @property
    def rooted(self) -> bool:
        """Whether the collective has a root."""
        return has_root(self.collective)

    @property
    def irregularity(self) -> float:
        """The largest block over the mean block; 1 without data."""
        total = sum(self.sizes)
        return max(self.sizes) * self.ranks / total if total else 1.0

    def _repr_svg_(self) -> str:
        """The timeline, where a notebook shows the value."""
        from tutti.schedules import timeline

        return timeline.to_svg(self.timeline, self.title)

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


def mean_block(sizes: list[int]) -> int:
    """The message size by which Tutti selects, in bytes: the mean block, or else the vector."""
    return sum(sizes) // len(sizes) if sizes else 0


def made_for_arrivals(collective: str, ranks: int, background: bool) -> list[str]:
    """The useful specifications of the list for ranks that arrive at different times."""
    plain = useful(collective, ranks)
    every = useful(collective, ranks, arrivals=True, background=background)
    return [name for name in every if name not in plain]


def made_for_distances(collective: str, ranks: int) -> list[str]:
    """The useful specifications of the list with an order by distance."""
    plain = useful(collective, ranks)
    return [name for name in useful(collective, ranks, distances=True) if name not in plain]


def explored_in(
    collective: str, sizes: list[int], machine: Machine, distances: Distances | None, **more: Any
) -> list[str]:
    """The candidates that auto explores, in this sequence; `more` as _engine.explored takes it."""
    block = mean_block(sizes)
    found = explored(collective, len(sizes), block, machine=machine, **more)
    return [*found, *(distances.explored(collective, block, machine) if distances else [])]


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
    draw_fastest: bool = False,
) -> Explanation:
    """Explains one call.

    Args:
        collective: a collective of `tutti list`, such as "gatherv".
        sizes: bytes of each rank's block. In a bcast and in reductions, bytes of the vector; in an
            alltoall, of the block for one rank. Equal for all ranks unless the collective is
            irregular.
        root: the root's rank; ignored if the collective has no root.
        algorithm: a setting as in TUTTI_GATHERV: auto, native or a specification.
        machine: the model's parameters; by default those of a common cluster.
        arrivals: the actual and expected time at which each rank enters the call, in seconds; by
            default all at 0. If they differ, ranks exchange arrivals, so that auto explores orders
            by arrival too.
        background: every rank has a background thread; algorithms that use it are candidates.
        distances: distances between the ranks, for orders by distance and the time of each
            message.
        draw_fastest: draw the fastest algorithm whatever is selected.

    Raises:
        ValueError: names the wrong argument and the accepted values.
    """
    machine = machine or Machine()
    collective = collective.lower()
    block = sizes[0] if sizes and not is_irregular(collective) else None
    times = arrivals or []
    expected = times if len(set(times)) > 1 else []
    choice = choose(collective, algorithm, len(sizes), block, machine)
    may_explore = algorithm == "auto" and len(sizes) > 1 and not collective.startswith("rma_")
    names = [listed.name for listed in algorithms() if listed.collective == collective]
    if expected:
        names += made_for_arrivals(collective, len(sizes), background)
    if distances:
        names += made_for_distances(collective, len(sizes))
    calls = {
        made.algorithm: made
        for made in (
            Call(collective, sizes, root, name, machine, expected, distances) for name in names
        )
    }
    tried = explored_in(
        collective, sizes, machine, distances, arrivals=expected, background=background
    ) if may_explore else []  # fmt: skip
    contenders = {name: _contender(other, machine, times) for name, other in calls.items()}
    # Without a selected algorithm, the fastest one is drawn.
    fastest = min(contenders.values(), key=lambda contender: contender.seconds).algorithm
    drawn = fastest if draw_fastest or choice.specification == "native" else choice.specification
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
        explored=tried,
        lower_bound=call.lower_bound(times, background) - min(times, default=0.0),
        timeline=call.simulate(times),
    )
