"""The measured times of a tuning by collective and message size, and the sizes it begins with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from tutti import _engine
from tutti.statistics import Interval, median_interval

MIN_GAIN = 0.03
"""A rule needs a median that is so much lower than the MPI's own, as a share of it."""
SCAN, RACE = 5, 12
"""Repetitions of the scan and of the first round of the race."""
_CLEAR = 1.5
"""So many times as fast as native is enough without a race, where no sample contradicts it."""
_FACTORS = (16, 256, 4096)
"""Between the sizes of the first stage; the larger ones for short budgets."""
_HALF_PERFORMANCE = 4096
"""Bytes up to which a call takes about as long as one without data (Hockney's n_1/2)."""
MAX_BUFFER = 1 << 28
"""Bytes of a rank's buffers that a measurement may take."""


@dataclass(frozen=True)
class Measured:
    """The times of one algorithm for one message size, in microseconds."""

    name: str
    samples: tuple[float, ...]
    beside: tuple[float, ...] = ()
    """Those of the MPI's own in the same run: a later one may find a busier machine. None if only
    one run has measured the cell."""

    @property
    def interval(self) -> Interval:
        """The median with its 95 % interval."""
        return median_interval(self.samples)

    @property
    def median(self) -> float:
        """The median time."""
        return self.interval.median


@dataclass
class Cell:
    """All that was measured for one collective and message size."""

    bytes: int
    lines: dict[str, Measured] = field(default_factory=dict)
    choice: str = ""
    """What the rules of a check select; afterwards it may only become native. Empty before."""
    is_usual: bool = False
    """The choice is that of rules for other blocks too: only if it is slower beyond doubt, the check
    refutes it."""
    is_refuted: bool = False
    """The check has not confirmed that its choice is faster than the MPI's own algorithm."""
    span: tuple[int, int] | None = None
    """The least and the largest message size for which the cell's rule holds; None: those around."""
    weight: float = 1.0
    """How much the cell counts where one algorithm must serve several."""
    seconds: float = 0.0
    """How long a call takes, if that is known before it is measured."""
    runs: int = 1
    """Of tutti-bench for one measurement, which share its time."""

    @property
    def native(self) -> Measured:
        """The MPI's own algorithm."""
        return self.lines["native"]

    def native_of(self, line: Measured) -> Measured:
        """The MPI's own algorithm in the run that has measured the line."""
        return Measured("native", line.beside, line.beside) if line.beside else self.native

    def ratio(self, line: Measured) -> float:
        """Its median over that of the MPI's own in the same run."""
        return line.median / self.native_of(line).median

    def growth_to(self, other: Cell) -> float:
        """How many times as long calls of another size are expected to take."""
        return (other.bytes + _HALF_PERFORMANCE) / (self.bytes + _HALF_PERFORMANCE)

    def beats(self, line: Measured, other: Measured) -> bool:
        """True if an algorithm is faster than another one beyond doubt: the intervals of the medians
        do not overlap, and the gain is MIN_GAIN or more, or much more if only the scan measured one."""
        number = min(len(line.samples), len(other.samples))
        most = 1 - MIN_GAIN if number >= RACE else 1 / _CLEAR
        is_apart = line.interval.high < other.interval.low
        return number >= SCAN and is_apart and self.ratio(line) <= most * self.ratio(other)

    def is_faster(self, line: Measured) -> bool:
        """True if the algorithm beats the MPI's own."""
        is_candidate = line.name != "native" and not self.is_refuted
        return is_candidate and self.beats(line, self.native_of(line))

    @property
    def winner(self) -> str:
        """The fastest algorithm that is_faster; "native" if there is none."""
        faster = [line for line in self.lines.values() if self.is_faster(line)]
        return min(faster, key=self.ratio).name if faster else "native"

    @property
    def best(self) -> Measured:
        """The least time beside the MPI's own, significant or not."""
        return min(self.lines.values(), key=self.ratio)


Cells = dict[str, dict[int, Cell]]
"""By collective and message size."""


def grid(collective: str, ranks: int, least: int, most: int, factor: int = _FACTORS[0]) -> list[int]:
    """The message sizes at which a tuning begins: from `least` to `most` bytes in equal steps of
    about 16, and of these, for a larger `factor`, as few as leave steps of at most about that.

    Sizes whose buffers would take more than 256 MiB a rank are left out; none may be left.
    """
    if _engine.block_kind(collective) == "none":
        return [0]
    shares = 1 if _engine.block_kind(collective) == "parts" else ranks
    most = min(most, MAX_BUFFER // shares)
    if most <= least:
        return [least] if most == least else []
    doublings = math.log2(most / least)
    fine, steps = (math.ceil(doublings / math.log2(one) - 1e-9) for one in (_FACTORS[0], factor))
    of_fine = [round(fine * step / steps) for step in range(1, steps)]
    return [least, *(least << round(doublings * step / fine) for step in of_fine), most]


def grids(names: Sequence[str], ranks: int, sizes: tuple[int, int], runs: float = math.inf) -> Cells:
    """Empty cells for the least to the largest size of each collective: as many as so many runs
    measure, but 3 or so of each collective."""
    made: Cells = {}
    for factor in _FACTORS:
        made = {n: {size: Cell(size) for size in grid(n, ranks, *sizes, factor)} for n in names}
        if sum(map(len, made.values())) <= runs:
            break
    return made


def between(low: int, high: int) -> int | None:
    """The power of two in the middle of two message sizes; None if they are within a factor of 2."""
    if low <= 0 or high <= 2 * low:
        return None
    middle = 1 << round((math.log2(low) + math.log2(high)) / 2)
    return middle if low < middle < high else None


def measured_cells(sizes: dict[int, Cell]) -> list[Cell]:
    """The cells for which the MPI's own was measured, by size."""
    return [cell for _, cell in sorted(sizes.items()) if "native" in cell.lines]


def largest_measured(sizes: dict[int, Cell], most: int) -> Cell | None:
    """That of the largest message size up to `most` for which the MPI's own was measured."""
    return next((cell for cell in reversed(measured_cells(sizes)) if cell.bytes <= most), None)


def native_seconds(sizes: dict[int, Cell], cell: Cell) -> float:
    """What a call of the MPI's own is expected to take, by its own size or the one before; 0 if that
    is unknown."""
    known = largest_measured(sizes, cell.bytes)
    return max(cell.seconds, known.native.median * 1e-6 * known.growth_to(cell) if known else 0.0)
