"""What a reproduced table is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

EVEN = 1.1
"""Factors between 1 / EVEN and EVEN count as even."""


def winner(factor: float, first: str, second: str) -> str:
    """Who wins if `first` takes `factor` times as long as `second`."""
    return second if factor > EVEN else first if factor < 1 / EVEN else "even"


@dataclass(frozen=True)
class Comparison:
    """One problem: two contenders, published and here, in microseconds."""

    problem: str
    published: tuple[float, float]
    here: tuple[float, float]

    @property
    def factors(self) -> tuple[float, float]:
        """The first contender's time over the second's, published and here."""
        return tuple(a / b if b else 1.0 for a, b in (self.published, self.here))  # type: ignore[return-value]


@dataclass(frozen=True)
class Section:
    """One method's view of a table.

    Attributes:
        method: how the times were obtained: "own simulator", "SimGrid", "closed form" or "lab".
        machine: on what.
        contenders: the names of the two compared.
        rows: the problems.
        notes: what limits the comparison.
    """

    method: str
    machine: str
    contenders: tuple[str, str]
    rows: list[Comparison]
    notes: list[str] = field(default_factory=list)

    def differing(self) -> list[Comparison]:
        """The problems whose winner differs from the published one."""
        return [
            row
            for row in self.rows
            if winner(row.factors[0], *self.contenders)
            != winner(row.factors[1], *self.contenders)
        ]

    def verdict(self) -> str:
        """Whether the shape agrees, in one sentence."""
        differ = self.differing()
        agreeing = len(self.rows) - len(differ)
        wins = [
            sum(winner(row.factors[which], *self.contenders) == self.contenders[1]
                for row in self.rows)
            for which in (0, 1)
        ]  # fmt: skip
        text = (
            f"same winner in {agreeing} of {len(self.rows)}; {self.contenders[1]} wins "
            f"{wins[0]} published and {wins[1]} here"
        )
        if not differ:
            return f"{text}: agrees"
        listed = ", ".join(
            f"{row.problem} (published {row.factors[0]:.2f}, here {row.factors[1]:.2f})"
            for row in differ
        )
        return f"{text}. They differ in {listed}"


@dataclass(frozen=True)
class Table:
    """A published table and how to reproduce it.

    Attributes:
        paper: its key on the command line.
        name: the table's key, such as "table-3".
        title: for people.
        steps: the number of results that it computes.
        run: computes the sections; calls its argument after each result.
    """

    paper: str
    name: str
    title: str
    steps: int
    run: Callable[[Callable[[], None]], list[Section]]
