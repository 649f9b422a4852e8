"""Compares a program's native runs with its runs under Tutti."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tutti.console import percent
from tutti.statistics import Interval, median_interval

MIN_ROUNDS = 5
"""The rounds that a difference beyond doubt needs: of fewer, all differ in one direction by chance
in more than 10 % of the cases."""

ARMS = ("native", "Tutti")


@dataclass(frozen=True)
class Sample:
    """One run of the program. Times are seconds."""

    seconds: float
    """From the start of the launcher to its end."""
    collectives: float | None
    """In collectives, mean over ranks; None if the run left no full report."""


@dataclass(frozen=True)
class Row:
    """One time of the program, natively and under Tutti: medians with their intervals."""

    name: str
    native: Interval
    tutti: Interval
    saved: Interval
    """Of the difference native - Tutti in each round."""
    rounds: int

    @property
    def is_beyond_doubt(self) -> bool:
        """Does the interval of the difference exclude 0, from enough rounds?"""
        excludes = self.saved.low > 0 or self.saved.high < 0
        return self.rounds >= MIN_ROUNDS and excludes


class Failed(Exception):
    """A run of the program failed; `status` is its exit status."""

    def __init__(self, arm: str, number: int, status: int) -> None:
        super().__init__(f"the {arm} run of round {number} failed with exit status {status}")
        self.status = status


def in_turn(
    rounds: int,
    run: Callable[[str], tuple[int, Sample]],
    progress: Callable[[int, str, Sample], None],
) -> dict[str, list[Sample]]:
    """Runs native and Tutti in turn, and returns the samples by arm. Each begins every other round,
    as the first run of a round may find other caches, clock rates or neighbours than the second.

    Args:
        rounds: the number of runs of each.
        run: runs one arm of ARMS; returns its exit status and times.
        progress: receives the round from 1, the arm and its sample.

    Raises:
        Failed: a run ended with an exit status other than 0; no further run is started.
    """
    samples: dict[str, list[Sample]] = {arm: [] for arm in ARMS}
    for number in range(1, rounds + 1):
        for arm in ARMS if number % 2 else reversed(ARMS):
            status, sample = run(arm)
            if status != 0:
                raise Failed(arm, number, status)
            samples[arm].append(sample)
            progress(number, arm, sample)
    return samples


def rows_of(samples: dict[str, list[Sample]]) -> list[Row]:
    """Seconds in all and, if all runs left reports, seconds in collectives."""
    native, tutti = (samples[arm] for arm in ARMS)
    made = [_row("in all", [one.seconds for one in native], [one.seconds for one in tutti])]
    left = [one.collectives for one in native if one.collectives is not None]
    right = [one.collectives for one in tutti if one.collectives is not None]
    if len(left) == len(native) and len(right) == len(tutti):
        made.append(_row("in collectives", left, right))
    return made


def _row(name: str, native: Sequence[float], tutti: Sequence[float]) -> Row:
    saved = [a - b for a, b in zip(native, tutti, strict=True)]
    return Row(
        name, median_interval(native), median_interval(tutti), median_interval(saved), len(saved)
    )


def confidence(rounds: int) -> float:
    """The confidence of the intervals of this many rounds: at least 0.95 from 6 rounds on."""
    return 0.95 if rounds >= 6 else 1 - 2.0 ** (1 - rounds)


def verdict(row: Row) -> str:
    """One sentence about a row."""
    if row.rounds < MIN_ROUNDS:
        return (
            f"{row.name}: not beyond doubt, since {row.rounds} of the {MIN_ROUNDS} rounds that a "
            "verdict needs were run"
        )
    if not row.is_beyond_doubt:
        return f"{row.name}: the difference is not beyond doubt, its interval includes 0"
    share = abs(row.saved.median) / row.native.median if row.native.median > 0 else 0.0
    return f"{row.name}: Tutti {'saves' if row.saved.median > 0 else 'loses'} {percent(share, 1)}"
