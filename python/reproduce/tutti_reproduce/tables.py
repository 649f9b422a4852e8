"""What a reproduced table is: problems, the published numbers, and those of each source."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tutti import _engine, mpis
from tutti_reproduce.context import Numbers

EVEN = 1.1
"""Factors between 1 / EVEN and EVEN count as even."""
AHEAD = 1.02
"""The same where the paper has only the side of a crossover: who is ahead, by however little."""
NEAR = 1.5
"""Single numbers and averages within this factor of the published one agree."""
CLOSE = 1.2
"""Factors within this factor of the published one are close."""
ABOVE = "above"
"""The name in Numbers of what a `value` exceeds, if samples enclose it: it is above that, and at most itself."""
OLDER = {"library": "Open MPI v4.1.4", "rate": "1 Gbit/s"}
"""What older samples of the lab were measured with and do not say."""


def side(factor: float, even: float = EVEN) -> int:
    """Who wins by a factor: 1 the second contender, -1 the first, 0 neither."""
    return (factor > even) - (factor < 1 / even)


@dataclass(frozen=True)
class View:
    """The numbers of one source, a list parallel to the problems.

    Attributes:
        source: "own simulator", "SimGrid", "closed form" or "lab".
        machine: on what.
        numbers: for each problem.
        notes: what limits them, and why they differ from the paper.
        spread: for each problem the half-width of the factor's 95 % interval; empty if unknown.
    """

    source: str
    machine: str
    numbers: list[Numbers]
    notes: list[str] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)

    @property
    def heading(self) -> str:
        return f"{self.source}: {self.machine}"


@dataclass(frozen=True)
class Plot:
    """Lines over x, each with its points."""

    title: str
    x_label: str
    y_label: str
    lines: dict[str, list[tuple[float, float]]]
    log_x: bool = True
    log_y: bool = True


@dataclass(frozen=True)
class Sweep:
    """Problems that differ in one number, along which the winner may change.

    Attributes:
        along: what the number is, such as "elements of a block".
        at: for each problem its series and the number; None if it belongs to no series.
        log: whether crossovers are interpolated on a logarithmic axis, where all numbers are positive.
    """

    along: str
    at: Sequence[tuple[str, float] | None]
    log: bool = True

    def series(self) -> dict[str, list[tuple[float, int]]]:
        """For each series its numbers, ascending, each with the index of its problem."""
        found: dict[str, list[tuple[float, int]]] = {}
        for problem, position in enumerate(self.at):
            if position is not None:
                found.setdefault(position[0], []).append((position[1], problem))
        return {name: sorted(points) for name, points in found.items()}


@dataclass(frozen=True)
class Course:
    """Who wins along a series.

    Attributes:
        first: the contender that wins first; "even" if none ever does.
        changes: the crossovers: from which number on another contender wins, and which.
    """

    first: str
    changes: list[tuple[float, str]]

    def __str__(self) -> str:
        if not self.changes:
            return f"none ({self.first})"
        rounded = [(float(f"{at:.3g}"), name) for at, name in self.changes]
        return f"{self.first}, " + ", ".join(f"{name} from {at:,.10g}" for at, name in rounded)

    def agrees(self, other: Course) -> bool:
        """Whether the same contenders win in the same sequence, with crossovers near each other."""
        names, others = ([each.first, *(name for _, name in each.changes)] for each in (self, other))
        return names == others and all(
            max(a, b) <= NEAR * min(a, b)
            for (a, _), (b, _) in zip(self.changes, other.changes, strict=True)
        )


@dataclass(frozen=True)
class Result:
    """The problems of a table, the published numbers, those of the sources, and the sweeps over which
    winners are compared."""

    problems: list[str]
    published: list[Numbers]
    views: list[View]
    plots: list[Plot] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)


Comparison = Callable[[Numbers, Numbers], "bool | None"]
"""Whether published numbers and those of a source agree; None if that is unknown."""


def _on_courses(crossing: list[bool], others: list[bool]) -> str:
    """What a verdict says of courses, given which agree."""
    same = f"{sum(others)} of {len(others)}"
    if not crossing:
        return f"; no series has a crossover, and in {same} the same contender wins throughout" if others else ""
    text = f"; crossovers agree in {sum(crossing)} of {len(crossing)} series that have one"
    return f"{text}; in {same} others the same contender wins throughout" if others else text


@dataclass(frozen=True)
class Table:
    """A published table or figure and how to reproduce it.

    Attributes:
        paper: its key on the command line.
        name: the table's key, such as "table-3".
        title: for people.
        contenders: the two compared by their numbers' factor; None if problems have one value each.
        unit: of the numbers, such as "us".
        steps: the number of results that it computes.
        run: computes the result; calls its argument after each step.
        even: factors between 1 / even and even count as even.
        by_size: whether factors must agree by their size too, as averages and ends of ranges do.
    """

    paper: str
    name: str
    title: str
    contenders: tuple[str, str] | None
    unit: str
    steps: int
    run: Callable[[Callable[[], None]], Result]
    even: float = EVEN
    by_size: bool = False

    def factor(self, numbers: Numbers) -> float | None:
        """The first contender's number over the second's, or the single value; None if unknown."""
        if self.contenders is None:
            return numbers.get("value")
        first, second = (numbers.get(name) for name in self.contenders)
        return numbers.get("factor", first / second if first and second else None)

    def winner(self, numbers: Numbers) -> str | None:
        """The contender that wins, or "even"; None if unknown."""
        if self.contenders is None:
            return None
        first, second = self.contenders
        if "ahead" in numbers:
            return ("even", second, first)[int(numbers["ahead"])]
        factor = self.factor(numbers)
        if factor is None:
            return None
        return ("even", second, first)[side(factor, self.even)]

    def same_winner(self, published: Numbers, here: Numbers) -> bool | None:
        """Whether the winners are equal; None if one is unknown."""
        names = self.winner(published), self.winner(here)
        return None if None in names else names[0] == names[1]

    def near(self, published: Numbers, here: Numbers) -> bool | None:
        """Whether the factors or values are near; None if one is unknown, or not known well enough."""
        theirs, ours = self.factor(published), self.factor(here)
        if not theirs or not ours:
            return None
        # Of a value that samples enclose, both ends are near, or all in between are not.
        ends = [here.get(ABOVE, ours), ours]
        if all(theirs <= NEAR * end and end <= NEAR * theirs for end in ends):
            return True
        return False if NEAR * ends[1] < theirs or ends[0] >= NEAR * theirs or ends[0] == ends[1] else None

    def agrees(self, published: Numbers, here: Numbers) -> bool | None:
        """Whether the winners are equal or the values near, or both (`by_size`); None if one is unknown."""
        if self.contenders is None:
            return self.near(published, here)
        same = self.same_winner(published, here)
        return same and self.near(published, here) is not False if self.by_size else same

    def course(self, sweep: Sweep, points: list[tuple[float, int]], numbers: list[Numbers]) -> Course | None:
        """Who wins along a series, by winners and not by what is even; between them the crossover is
        where the factor is 1, or in the middle if factors are unknown. None if fewer than two are known.

        Args:
            sweep: the axis.
            points: one of its series.
            numbers: of each problem, by one source.
        """
        known = [(x, winner, numbers[i]) for x, i in points if (winner := self.winner(numbers[i]))]
        if self.contenders is None or len(known) < 2:
            return None
        sides = dict(zip((*self.contenders, "even"), (-1.0, 1.0, 0.0), strict=True))
        xs = [math.log(x) if sweep.log else x for x, _, _ in known]
        heights = [math.log(factor) if "ahead" not in each and (factor := self.factor(each))
                   else sides[winner] for _, winner, each in known]  # fmt: skip
        decided = [i for i, (_, winner, _) in enumerate(known) if winner != "even"]
        changes = []
        for last, now in zip(decided, decided[1:], strict=False):
            winner = known[now][1]
            if winner == known[last][1]:
                continue
            height = sides[winner]
            end = next(i for i in range(last + 1, now + 1) if height * heights[i] >= 0)
            before, after = heights[end - 1 : end + 1]
            x = xs[end - 1] + (xs[end] - xs[end - 1]) * before / (before - after)
            changes.append((math.exp(x) if sweep.log else x, winner))
        return Course(known[decided[0]][1] if decided else "even", changes)

    def courses(self, sweep: Sweep, numbers: list[Numbers]) -> dict[str, Course | None]:
        """The course of each series by one source."""
        return {name: self.course(sweep, points, numbers) for name, points in sweep.series().items()}

    def doubtless(self, result: Result, view: View) -> int:
        """In how many problems no factor of the whole interval has the published winner."""
        found = 0
        for published, numbers, spread in zip(result.published, view.numbers, view.spread, strict=True):
            factor, winner = self.factor(numbers), self.winner(published)
            if self.contenders is None or factor is None or winner is None:
                continue
            theirs = (self.contenders[0], "even", self.contenders[1]).index(winner) - 1
            low, high = (side(factor + end * spread, self.even) for end in (-1, 1))
            found += not low <= theirs <= high
        return found

    def compared(self, result: Result, view: View, by: Comparison | None = None) -> list[bool]:
        """For each problem that both know, whether they agree; `by`: same_winner or near alone."""
        pairs = zip(result.published, view.numbers, strict=True)
        known = ((by or self.agrees)(published, here) for published, here in pairs)
        return [each for each in known if each is not None]

    def compared_courses(self, result: Result, view: View) -> tuple[list[bool], list[bool]]:
        """Whether courses agree, for each series whose course both know: of those with a crossover, published
        or here, and of the others."""
        crossing: list[bool] = []
        others: list[bool] = []
        for sweep in result.sweeps:
            theirs, ours = (self.courses(sweep, of) for of in (result.published, view.numbers))
            for name, course in theirs.items():
                if course and (here := ours[name]):
                    (crossing if course.changes or here.changes else others).append(course.agrees(here))
        return crossing, others

    def verdict(self, result: Result, view: View) -> str:
        """Whether the shape agrees, in one sentence."""
        if self.contenders is None:
            return self._verdict_on_values(result, view)
        second, same = self.contenders[1], self.compared(result, view, self.same_winner)
        if not same:
            winners = [winner for numbers in view.numbers if (winner := self.winner(numbers))]
            return f"{second} wins {winners.count(second)} of {len(winners)}; the paper has no numbers to compare"
        both = [[self.winner(numbers) for numbers in pair] for pair in
                zip(result.published, view.numbers, strict=True)]  # fmt: skip
        published, here = (sum(pair[i] == second for pair in both if None not in pair) for i in (0, 1))
        text = f"same winner in {sum(same)} of {len(same)}"
        if self.by_size:
            text = f"winner and size agree in {sum(self.compared(result, view))} of {len(same)}; {text}"
        if view.spread and not all(same):
            text += f" (beyond doubt another one in {self.doubtless(result, view)})"
        pairs = [(self.factor(a), self.factor(b)) for a, b in
                 zip(result.published, view.numbers, strict=True)]  # fmt: skip
        if factors := [max(a / b, b / a) for a, b in pairs if a and b]:
            close, near = (sum(each <= within for each in factors) for within in (CLOSE, NEAR))
            text += f", factor within 20 % in {close} and within {NEAR:g} in {near} of {len(factors)}"
        text += f"; {second} wins {published} published and {here} here"
        return text + _on_courses(*self.compared_courses(result, view))

    def _verdict_on_values(self, result: Result, view: View) -> str:
        """The verdict on single values."""
        near = self.compared(result, view)
        pairs = zip(result.published, view.numbers, strict=True)
        known = sum(None not in map(self.factor, pair) for pair in pairs)
        if not known:
            return "the paper has no numbers to compare"
        text = f"within a factor of {NEAR:g} in {sum(near)} of {len(near)}"
        rest = known - len(near)
        return f"{text}; {rest} more between samples too far apart to tell" if rest else text

    def mean_factor(self, numbers: list[Numbers]) -> float | None:
        """The geometric mean of the known factors of contenders."""
        factors = [factor for each in numbers if (factor := self.factor(each))]
        if self.contenders is None or not factors:
            return None
        return math.exp(sum(map(math.log, factors)) / len(factors))


def libraries(documents: Iterable[dict[str, Any]]) -> str:
    """The MPIs of samples, as in "MPICH 5.0.2 and Open MPI 4.1.4"."""
    names = set()
    for text in {(OLDER | document.get("metadata", {}))["library"] for document in documents}:
        seen = mpis.recognise(text)
        names.add(str(mpis.Mpi(*seen, mpirun="")) if seen else text.partition(",")[0])
    return " and ".join(sorted(names))


def measured_with(documents: Sequence[dict[str, Any]]) -> str:
    """The rates of the links and the MPIs of the lab's samples: "1 Gbit/s, Open MPI 4.1.4"."""
    rates = {(OLDER | document.get("metadata", {}))["rate"] for document in documents}
    return f"{' and '.join(sorted(rates))}, {libraries(documents)}"


def network(numbers: dict[str, float]) -> _engine.Machine:
    """A machine with these parameters and the built-in others."""
    return _engine.machine_from_text("\n".join(f"{name} {value!r}" for name, value in numbers.items()))
