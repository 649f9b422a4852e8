"""Finds out by measurement which algorithm is fastest for which calls, and writes rules.

Three stages keep the number of measurements small. A scan measures all candidates with few
repetitions at a coarse grid of message sizes. In the race, candidates that are clearly slower than the
MPI's own algorithm or than the best candidate drop out; the others run again with more repetitions.
Where the winners of two neighbouring sizes differ, bisection locates the crossover.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tutti import _engine
from tutti.bench import RunFailed
from tutti.console import count
from tutti.rules import UNKNOWN_SIZES
from tutti.statistics import rank_test
from tutti.tuning_blocks import Band
from tutti.tuning_cells import (
    RACE, SCAN, Cell, Cells, Measured, between, largest_measured, measured_cells, native_seconds,
)  # fmt: skip

_FINAL = 30
"""Repetitions of the last round of the race."""
WARMUP = 2
"""Calls before the timed ones."""
SHARES = (0.6, 0.93, 1.0)
"""The ends of the three stages in shares of the budget."""
FOR_TUNING = 0.8
"""The share of a budget for the tuning; the check has the rest."""
CHECK = "check"
"""Stands for a candidate's name where the check of a collective's rules failed."""
_LEAST_SECONDS = 0.1
_MAX_FINALISTS = 4
_DOUBT = 0.05
_PATIENCE = (10.0, 300.0)
"""The least and the most seconds that a call of a candidate may take."""
_HOPELESS = 100
"""So many times the MPI's own: such a call hangs, or may as well. Under a budget 10 % of that."""


@dataclass(frozen=True)
class Job:
    """The ranks that the launcher starts, and their MPI."""

    ranks: int
    nodes: int
    ranks_per_node: int
    """Of the node with the most ranks."""
    library: str
    """What the MPI says of itself."""
    machine: str = ""
    """Processor, cores and network of rank 0's node."""
    network: str = ""
    """Empty if it is unknown."""
    cores: int = 0
    """Of rank 0's node; 0 if they are unknown."""


Measure = Callable[[str, Sequence[int], Sequence[str], int, float, int], list[dict[str, Any]]]
"""Runs tutti-bench: collective, message sizes, algorithms, repetitions, seconds for each size (0: no
bound), seconds without progress after which it gives up. Returns a row for each size: `bytes`, and
`algorithms` with `name`, `ran` and `samples_us`."""

Progress = Callable[[int, int, str], None]
"""Gets the finished and the planned number of runs, and what runs next."""


def title(collective: str, band: Band | None) -> str:
    """The name of a collective, with the irregularities of its blocks if they have a band."""
    return collective + (f" (irregularity {band.text})" if band else "")


def planned_runs(cells: Cells) -> int:
    """About as many runs of tutti-bench as a tuning of these cells needs."""
    return 3 * sum(len(sizes) for sizes in cells.values()) + 3 * len(cells)


def _is_slower(line: Measured, other: Measured) -> bool:
    return line.median > other.median and rank_test(line.samples, other.samples) < _DOUBT


class Tuner:
    """Tunes the collectives of one job.

    Args:
        job: as tutti-bench has found it.
        measure: runs tutti-bench.
        cells: what to measure, empty; the most important collective first.
        arrivals: collectives that are measured with ranks that arrive apart.
        band: the irregularities of the blocks; None where rules for them ask for none.
        budget: seconds for all measurements; 0 for no bound.
        start_up: seconds that a run takes before it measures.
        clock: seconds from any zero.
        progress: shows how far the tuning is.
    """

    def __init__(
        self,
        job: Job,
        measure: Measure,
        cells: Cells,
        *,
        arrivals: Collection[str] = (),
        band: Band | None = None,
        budget: float = 0,
        start_up: float = 0,
        clock: Callable[[], float],
        progress: Progress = lambda done, planned, text: None,
    ) -> None:
        self.job = job
        self.failed: dict[tuple[str, str], str] = {}
        """Candidates whose runs ended with an error, by collective and name; CHECK: the rules."""
        self.unfinished: list[str] = []
        """Collectives that the budget did not suffice for."""
        self.band = band
        self.irregularity = band.irregularity if band else 1
        """That which stands for the band; 1 without one."""
        self.runs = 0
        """Runs of tutti-bench that have begun."""
        self.seconds = 0.0
        """That the tuning took."""
        self.planned = planned_runs(cells)
        """About as many runs as a tuning without a budget needs."""
        self._measure = measure
        self._clock = clock
        self._progress = progress
        self._budget = budget
        self._end = math.inf
        """Of the stage; nothing starts after it."""
        self._left = 0
        """Runs that the stage may still start."""
        self._done = 0
        self._start_up = start_up
        self._arrivals = arrivals
        self.cells = cells

    @property
    def done(self) -> int:
        """Finished runs of tutti-bench, and those that were not needed."""
        return self._done

    def title(self, collective: str) -> str:
        """The name of a collective with the irregularities of its blocks."""
        return title(collective, self.band)

    def run(self) -> None:
        """Measures. All collectives come through one stage before any enters the next, size by
        size, so that a short budget serves all of them."""
        cells = sum(len(sizes) for sizes in self.cells.values())
        runs = {self._scan: cells, self._race: 2 * cells, self._refine: 3 * len(self.cells)}
        start, before = self._clock(), 0
        for (stage, planned), share in zip(runs.items(), SHARES, strict=True):
            self._end = start + share * self._budget if self._budget else math.inf
            self._done, self._left, before = before, planned, before + planned
            stage()
        self.seconds = self._clock() - start

    def _seconds(self) -> float:
        """What the next run may take for each size; 0 for any time."""
        if not self._budget:
            return 0
        return max(_LEAST_SECONDS, (self._end - self._clock()) / max(1, self._left))

    def patience(self, collective: str, cells: Sequence[Cell]) -> int:
        """The seconds after which a call of these sizes counts as hanging, by what the MPI's own
        takes there or at the size before. Under a budget 5 % of it, but many times the MPI's own."""
        native = max(native_seconds(self.cells[collective], cell) for cell in cells)
        few = max(_PATIENCE[0], 3 * self._start_up, _HOPELESS / 10 * native)
        many = _HOPELESS * native or math.inf
        return math.ceil(min(_PATIENCE[1], max(few, min(many, self._budget / 20 or math.inf))))

    def _may_start(self, collective: str) -> bool:
        """False after the end of the stage; notes that the collective is not finished."""
        if self._clock() <= self._end:
            return True
        if collective not in self.unfinished:
            self.unfinished.append(collective)
        return False

    def _scan(self) -> None:
        """Each size with all candidates; under a budget the larger sizes with as many as fit, by
        their times at the size before. Of equal weight, small sizes of all collectives come first:
        what these leave of the budget serves the large ones."""
        waiting = [
            (-cell.weight, level, name)
            for name, sizes in self.cells.items()
            for level, cell in enumerate(sizes.values())
        ]
        for _, level, name in sorted(waiting, key=lambda one: one[:2]):
            cell = list(self.cells[name].values())[level]
            if self._may_start(name):
                self._launch(name, [cell.bytes], self._fitting(name, cell), SCAN)

    def _fitting(self, collective: str, cell: Cell) -> list[str]:
        """As many candidates for a size as the budget allows, if it is known what a call takes."""
        listed = _engine.useful(
            collective, self.job.ranks, self.job.ranks_per_node,
            arrivals=collective in self._arrivals,
        )  # fmt: skip
        explored = self._explored(collective, cell)
        # Where no rank knows the sizes, one candidate holds for all of them.
        further = [] if collective in UNKNOWN_SIZES else explored
        names = [name for name in dict.fromkeys((*listed, *further))
                 if (collective, name) not in self.failed]  # fmt: skip
        before = largest_measured(self.cells[collective], cell.bytes - 1)
        a_call = cell.seconds
        if before is not None:
            mean = fmean(line.median for line in before.lines.values())
            a_call = max(a_call, mean * 1e-6 * before.growth_to(cell))
        if not self._budget or not a_call:
            return names
        seconds = max(0.0, self._seconds() / cell.runs - self._start_up)
        fitting = int(seconds / (a_call * (SCAN + WARMUP))) - 1
        promising = self._promising(names, explored, before)
        return promising[: max(_MAX_FINALISTS, fitting)]

    def _explored(self, collective: str, cell: Cell) -> list[str]:
        """What `auto` explores for a size, the most promising first by the model; also the best of
        the list between nodes."""
        return _engine.explored(
            collective, self.job.ranks, max(0, cell.bytes), self.job.ranks_per_node
        )[1:]

    @staticmethod
    def _promising(names: list[str], explored: list[str], before: Cell | None) -> list[str]:
        """Candidates in the sequence of their better places: as explored, and by the times at the
        size before."""
        times = {} if before is None else {n: line.median for n, line in before.lines.items()}
        measured = sorted((name for name in names if name in times), key=times.__getitem__)

        def place(name: str) -> int:
            return min(
                ranking.index(name) if name in ranking else len(names)
                for ranking in (explored, measured)
            )

        return sorted(names, key=place)

    def _race(self) -> None:
        """Two rounds; each runs what the one before has left, the greatest gains first."""
        for repetitions in (RACE, _FINAL):
            heats = sorted(self._heats(), key=lambda heat: -self._promise(heat[1]))
            for collective, cells in heats:
                is_common = collective in UNKNOWN_SIZES
                names = self._common(cells) if is_common else self._remaining(cells[0], repetitions)
                if names and self._may_start(collective):
                    self._launch(collective, [cell.bytes for cell in cells], names, repetitions)
                else:
                    self._left -= 1

    def _heats(self) -> list[tuple[str, list[Cell]]]:
        """What runs together: each size, or all of a collective whose sizes ranks do not know."""
        heats = []
        for name, sizes in self.cells.items():
            cells = measured_cells(sizes)
            heats += [(name, cells)] if name in UNKNOWN_SIZES else [(name, [c]) for c in cells]
        return [(name, cells) for name, cells in heats if cells]

    @staticmethod
    def _promise(cells: Sequence[Cell]) -> float:
        """What the best candidates would save, as a share of native, by the weights of the sizes."""
        return sum(cell.weight * (1 - cell.ratio(cell.best)) for cell in cells)

    @staticmethod
    def _common(cells: Sequence[Cell]) -> list[str]:
        """The candidates that no size shows to be slower than native."""
        names = [
            name
            for name in cells[0].lines
            if name != "native"
            and all(name in c.lines and not Tuner._is_behind(c, c.lines[name]) for c in cells)
        ]
        names.sort(key=lambda name: sum(math.log(c.ratio(c.lines[name])) for c in cells))
        return names[:_MAX_FINALISTS]

    @staticmethod
    def _is_behind(cell: Cell, line: Measured) -> bool:
        """Beyond doubt slower than native."""
        return _is_slower(line, cell.native_of(line))

    @staticmethod
    def _remaining(cell: Cell, repetitions: int) -> list[str]:
        """The candidates that stay in the race."""
        others = [line for name, line in cell.lines.items() if name != "native"]
        if repetitions == _FINAL:
            others = [line for line in others if len(line.samples) >= RACE]
        if "native" not in cell.lines or not others:
            return []
        best = min(others, key=lambda line: line.median)
        left = [
            line
            for line in others
            if not _is_slower(line, best) and not Tuner._is_behind(cell, line)
        ]
        left.sort(key=lambda line: line.median)
        most = _MAX_FINALISTS if repetitions == _FINAL else 2 * _MAX_FINALISTS
        return [line.name for line in left[:most]]

    def _refine(self) -> None:
        for collective in self.cells:
            if collective not in UNKNOWN_SIZES:
                self._bisect(collective)

    def _bisect(self, collective: str) -> None:
        cells = self.cells[collective]
        sizes = [cell.bytes for cell in measured_cells(cells)]
        waiting = list(zip(sizes, sizes[1:], strict=False))
        while waiting:
            low, high = waiting.pop(0)
            winners = [cells[size].winner for size in (low, high)]
            middle = between(low, high)
            if winners[0] == winners[1] or middle is None:
                continue
            if not self._may_start(collective):
                return
            cells[middle] = self._between(middle, cells[low])
            names = [name for name in dict.fromkeys(winners) if name != "native"]
            self._launch(collective, [middle], names, _FINAL)
            if "native" not in cells[middle].lines:
                del cells[middle]
                continue
            waiting += [(low, middle), (middle, high)]

    @staticmethod
    def _between(size: int, low: Cell) -> Cell:
        """A cell of a bisection; where `low` has a span, the sizes down to half of `size`."""
        if low.span is None:
            return Cell(size)
        span = (size // 2 + 1, size)
        return Cell(size, span=span, weight=0, seconds=low.seconds, runs=low.runs)

    def leave_out(self, collective: str, name: str, why: str) -> None:
        """What was measured of a broken candidate counts no more."""
        self.failed[collective, name] = why
        for cell in self.cells[collective].values():
            cell.lines.pop(name, None)

    def _has_native(self, collective: str, sizes: list[int]) -> bool:
        """Has the MPI's own been measured for all of them?"""
        return all("native" in self.cells[collective][size].lines for size in sizes)

    def _launch(
        self, collective: str, sizes: list[int], names: list[str], repetitions: int
    ) -> None:
        """Measures the MPI's own algorithm and candidates in one run, and keeps the times.

        Where a run fails, its halves run again, so that one broken candidate spoils no other. If
        native alone fails too, no candidate is to blame: the size is left out.

        Raises:
            RunFailed: native alone fails, and no run has succeeded before.
        """
        where = _engine.range_text(str(sizes[0])) if len(sizes) == 1 else f"{len(sizes)} sizes"
        text = f"{self.title(collective)} {where}, {count(len(names), 'candidate')}"
        self.runs += 1
        self._progress(self._done, max(self.planned, self._done + 1), text)
        try:
            patience = self.patience(collective, [self.cells[collective][size] for size in sizes])
            rows = self._measure(
                collective, sizes, ["native", *names], repetitions, self._seconds(), patience
            )
        except RunFailed as error:
            if not names:
                if not any(map(measured_cells, self.cells.values())):
                    raise
                self.failed[collective, "native"] = str(error)
                return
            if not self._has_native(collective, sizes):
                self._launch(collective, sizes, [], repetitions)
                if not self._has_native(collective, sizes):
                    return
            if len(names) == 1:
                self.leave_out(collective, names[0], str(error))
                return
            for half in (names[: len(names) // 2], names[len(names) // 2 :]):
                self._launch(collective, sizes, half, repetitions)
            return
        self._done += 1
        self._left -= 1
        for row in rows:
            cell = self.cells[collective].get(row["bytes"])
            if cell is None:
                continue
            samples = {line["name"]: tuple(line["samples_us"]) for line in row["algorithms"]}
            for line in row["algorithms"]:
                if line["name"] == "native" or line.get("ran", "").startswith(line["name"] + ":"):
                    name = line["name"]
                    cell.lines[name] = Measured(name, samples[name], samples.get("native", ()))
