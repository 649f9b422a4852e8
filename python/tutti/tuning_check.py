"""Checks the rules of a tuning by a second, shorter run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tutti import _engine, bench
from tutti.rules import UNKNOWN_SIZES
from tutti.tuning import CHECK, Progress, Tuner
from tutti.tuning_cells import Cell, Measured, measured_cells
from tutti.tuning_rules import settle
from tutti.tuning_run import (
    ALONE,
    Run,
    Shape,
    arguments_of,
    budget_words,
    equal_blocks,
    joined,
    kept,
    patience_words,
    samples_of,
)

_CHECKS = 20
"""Repetitions."""
_RULES = ["native", "auto"]
"""What a check compares: with rules, auto runs what they select."""


@dataclass(frozen=True)
class Check:
    """The times of one collective and size under the new rules, beside those without them."""

    collective: str
    bytes: int
    irregularity: int
    """That which stands for the band of the blocks; 1 without one."""
    title: str
    """The collective with the irregularities of its blocks."""
    native: Measured
    rules: Measured
    ran: str
    """What Tutti ran by the rules."""
    best: Measured
    """The fastest of native, what the rules selected and what the tuning found fastest."""
    refutes: bool = False
    """The rules selected something that has not shown here to be better than native."""

    @property
    def is_native(self) -> bool:
        """The rules selected the MPI's own algorithm."""
        return self.ran.startswith("native: ")

    @property
    def speedup(self) -> float:
        """Native's median over that of the rules; 1 where they ran native, as all else is noise."""
        return 1.0 if self.is_native else self.native.median / self.rules.median

    @property
    def loss(self) -> float:
        """What the rules take longer than the best, as a share of the best."""
        least = min(self.native.median, self.rules.median)
        return (least if self.is_native else self.rules.median) / self.best.median - 1

    @property
    def is_slower(self) -> bool:
        """The rules are slower than native beyond doubt, by the intervals of the medians."""
        return not self.is_native and self.rules.interval.low > self.native.interval.high


def check(
    tuner: Tuner, run: Run, rules: Path, left: Callable[[], float] = lambda: math.inf,
    shape: Shape = equal_blocks, progress: Progress = lambda done, planned, text: None,
) -> list[Check]:  # fmt: skip
    """Measures native, the rules and the best found in turn, with received data compared.

    `left` is the number of seconds that the checks may still take. Sizes for which the rules select
    something else than native come first, since only these can be refuted. Where the rules fail,
    what was checked of their collective is dropped. Where only the best found fails, it is left out.

    Raises:
        RunFailed: the MPI's own algorithm alone fails too.
    """
    cells = [
        (collective, cell)
        for collective, sizes in tuner.cells.items()
        for cell in measured_cells(sizes)
    ]
    settle(tuner)
    order = sorted(range(len(cells)), key=lambda at: cells[at][1].choice == "native")
    checks: dict[int, Check] = {}
    for done, at in enumerate(order):
        seconds = left()
        if seconds <= 0:
            break
        collective, cell = cells[at]
        if (collective, CHECK) in tuner.failed:
            continue
        size = _engine.range_text(str(cell.bytes))
        progress(done, len(cells), f"check {tuner.title(collective)} {size}")
        names = [*_RULES, *({cell.best.name} - {"native"})]
        measure = _measuring(
            run, rules, shape, collective, cell.bytes, seconds / (len(cells) - done),
            tuner.patience(collective, [cell]),
        )  # fmt: skip
        row = _checked(tuner, measure, collective, names)
        if row is not None:
            checks[at] = _check_of(row, tuner, collective, cell)
    return _refuted(tuner, [check for _, check in sorted(checks.items())])


_Measure = Callable[[list[str], bool], dict[str, Any]]
"""Measures algorithms, with the rules or without any, and returns a row as `kept`."""


def _measuring(
    run: Run, rules: Path, shape: Shape, collective: str, size: int, seconds: float, patience: int
) -> _Measure:
    """What measures one size in so many seconds, or in any time; each variant is a run of its own,
    which ends after `patience` seconds without progress."""
    variants = shape(collective, size)
    bound = patience_words(patience)
    if seconds < math.inf:
        bound += budget_words(seconds / len(variants))

    def measure(names: list[str], has_rules: bool) -> dict[str, Any]:
        settings = ALONE | ({"TUTTI_RULES": str(rules)} if has_rules else {})
        parts = []
        for variant in variants:
            words = arguments_of(collective, names, _CHECKS) + variant.words + bound
            (row, *_) = run(words, settings)["rows"]
            parts.append((variant.share, kept(row, size, samples_of(collective, words))))
        return joined(parts)

    return measure


def _checked(
    tuner: Tuner, measure: _Measure, collective: str, names: list[str]
) -> dict[str, Any] | None:
    """Runs native, the rules and perhaps the best found. Where that fails, finds out which is to
    blame; none if it is the rules."""
    try:
        return measure(names, True)
    except bench.RunFailed as error:
        if names != _RULES:
            row = _checked(tuner, measure, collective, _RULES)
            if row is not None:
                tuner.leave_out(collective, names[-1], str(error))
            return row
        measure(["native"], False)
        tuner.failed[collective, CHECK] = str(error)
        return None


def _refuted(tuner: Tuner, checks: list[Check]) -> list[Check]:
    """Makes native what a check refutes, what lost its candidate, and collectives that failed. A rule
    that holds for all sizes is refuted by one that is slower, or by no gain in the mean. Returns the
    checks of what has not failed."""
    for name, cells in tuner.cells.items():
        own = [one for one in checks if one.collective == name]
        lost = {one.bytes for one in own if one.refutes}
        lost |= {size for size, cell in cells.items() if cell.choice not in ("", *cell.lines)}
        gains = [one.speedup for one in own if not one.is_native]
        gains_nothing = bool(gains) and geometric_mean(gains) <= 1
        if (name, CHECK) in tuner.failed or (name in UNKNOWN_SIZES and (lost or gains_nothing)):
            lost = set(cells)
        for size in lost:
            cells[size].is_refuted = True
    return [
        replace(one, refutes=not one.is_native and tuner.cells[one.collective][one.bytes].is_refuted)
        for one in checks if (one.collective, CHECK) not in tuner.failed
    ]  # fmt: skip


def _check_of(row: dict[str, Any], tuner: Tuner, collective: str, cell: Cell) -> Check:
    times = {
        line["name"]: Measured(line["name"], tuple(line["samples_us"])) for line in row["algorithms"]
    }
    (ran,) = (line["ran"] for line in row["algorithms"] if line["name"] == "auto")
    best = min(times.values(), key=lambda line: line.median)
    check = Check(
        collective, cell.bytes, tuner.irregularity, tuner.title(collective),
        times["native"], times["auto"], ran, best,
    )  # fmt: skip
    # Where the rule only was as fast as native, the times of the check fall on either side. So do
    # those of some size among several with one rule.
    was_faster = cell.choice in cell.lines and cell.is_faster(cell.lines[cell.choice])
    was_faster = was_faster and collective not in UNKNOWN_SIZES and not cell.is_usual
    is_refuted = check.speedup <= 1 if was_faster else check.is_slower
    return replace(check, refutes=is_refuted and not check.is_native)


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers; 1 without any."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0
