"""Finds at which message sizes another measured candidate becomes the fastest in a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """One class of message sizes."""

    bytes: Sequence[int | None]
    """Its first and last size; None: no bound."""
    fastest: str
    ratio: float
    """The median of the MPI's own over that of the fastest, at least 1."""
    changes: bool
    """Whether the fastest is another one than in the class before."""


@dataclass(frozen=True)
class Crossing:
    """The fastest candidates of one collective on communicators of one size."""

    collective: str
    ranks: int
    steps: list[Step]

    @property
    def top(self) -> float:
        """The largest ratio."""
        return max(step.ratio for step in self.steps)


def crossings_of(cases: Sequence[Mapping[str, Any]]) -> list[Crossing]:
    """The crossovers of every collective with measured times in 2 or more classes of sizes.

    Of several cases of a class, as on several communicators, the one with the most calls counts.

    Args:
        cases: the measured cases of a report, as its JSON has them.
    """
    by_size: dict[tuple[str, int], dict[int, Mapping[str, Any]]] = {}
    for case in cases:
        if len(_medians(case)) < 2 or "native" not in _medians(case):
            continue
        sizes = by_size.setdefault((case["collective"], case["ranks"]), {})
        low = case["bytes"][0] or 0
        if low not in sizes or sizes[low]["calls"] < case["calls"]:
            sizes[low] = case
    return [
        Crossing(collective, ranks, _steps([case for _, case in sorted(sizes.items())]))
        for (collective, ranks), sizes in sorted(by_size.items())
        if len(sizes) > 1
    ]


def _steps(cases: Sequence[Mapping[str, Any]]) -> list[Step]:
    steps: list[Step] = []
    for case in cases:
        medians = _medians(case)
        fastest = min(medians, key=lambda name: medians[name])
        changes = bool(steps) and steps[-1].fastest != fastest
        steps.append(Step(case["bytes"], fastest, medians["native"] / medians[fastest], changes))
    return steps


def _medians(case: Mapping[str, Any]) -> dict[str, float]:
    """The positive medians by candidate."""
    known = {one["name"]: one.get("median") for one in case["candidates"]}
    return {name: float(median) for name, median in known.items() if median and median > 0}
