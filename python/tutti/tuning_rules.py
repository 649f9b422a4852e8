"""Makes rules of what a tuning has measured."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tutti import _engine
from tutti.rules import UNKNOWN_SIZES
from tutti.tuning import Job, Tuner
from tutti.tuning_cells import MIN_GAIN, Cell, measured_cells

_SMALL = 8
"""Bytes; messages of fewer take as long."""
_MIN_SAMPLES = 6
"""Fewer have no interval with 95 %."""


@dataclass(frozen=True)
class Span:
    """Message sizes with one winner; without `most` up to any size."""

    use: str
    least: int
    most: int | None
    cells: Sequence[Cell]
    """The sizes at which it was measured, at least one."""

    @property
    def weakest(self) -> Cell:
        """The size at which the winner gains least."""
        return max(self.cells, key=lambda cell: cell.ratio(cell.lines[self.use]))

    def holds(self, size: int) -> bool:
        """Is a message size one of these?"""
        return self.least <= size and (self.most is None or size <= self.most)


def spans_of(tuner: Tuner) -> dict[str, list[Span]]:
    """By collective, what is selected at all measured sizes: the MPI's own algorithm where nothing
    beats it."""
    found = {}
    for name, done in _measured(tuner).items():
        choices = _choices(name, done)
        if name in UNKNOWN_SIZES or done[0].bytes == 0:
            use = choices[0] if len(set(choices)) == 1 else "native"
            found[name] = [_span_of(done, use, 0, None)]
        elif done[0].span is not None:
            found[name] = _spans_of_calls(done, choices)
        else:
            found[name] = _spans(done, choices)
    return found


def rules_of(
    tuner: Tuner, date: str, command: str, before: Sequence[tuple[str, str, Span]] = ()
) -> list[dict[str, Any]]:
    """Rules for all measured sizes. First come those `before`, each with its collective and
    irregularity."""
    made = [_rule(tuner.job, name, span, date, command, text) for name, text, span in before]
    for name, spans in spans_of(tuner).items():
        made += [_rule(tuner.job, name, span, date, command) for span in spans]
    return made


def mpi_of(job: Job) -> tuple[str, str]:
    """The MPI that rules hold for, and the first two numbers of its version."""
    mpi, version = _engine.mpi_version(job.library)
    return mpi, ".".join(version.split(".")[:2])


def settle(tuner: Tuner) -> None:
    """Fixes what rules select at each size, so that what a check refutes has no other successor
    than native, which the check has run."""
    for name, done in _measured(tuner).items():
        for cell, choice in zip(done, _choices(name, done), strict=True):
            cell.choice = choice


def _measured(tuner: Tuner) -> dict[str, list[Cell]]:
    """By collective, the cells for which there can be rules, by size."""
    return {name: cells for name, sizes in tuner.cells.items() if (cells := measured_cells(sizes))}


def _choices(collective: str, cells: list[Cell]) -> list[str]:
    """What rules select at each size."""
    if all(cell.choice for cell in cells):
        return ["native" if cell.is_refuted else cell.choice for cell in cells]
    return [_common(cells)] * len(cells) if collective in UNKNOWN_SIZES else smoothed(cells)


def _rule(
    job: Job, collective: str, span: Span, date: str, command: str, irregularity: str = ""
) -> dict[str, Any]:
    mpi, version = mpi_of(job)
    rule: dict[str, Any] = {
        "collective": collective,
        "p": job.ranks,
        "nodes": job.nodes,
        "ranks_per_node": job.ranks_per_node,
    }
    if irregularity:
        rule["irregularity"] = irregularity
    if span.least > 0 or span.most is not None:
        most = "inf" if span.most is None else str(span.most)
        rule["bytes"] = _engine.range_text(f"{span.least}..{most}")
    rule |= {"mpi": mpi, "version": version}
    if job.network and job.nodes > 1:  # inside a node it does not matter
        rule["network"] = job.network
    rule["use"] = span.use
    return rule | {"evidence": _evidence(span) | {"date": date, "command": command}}


def _evidence(span: Span) -> dict[str, Any]:
    """The times of the size at which the choice gains least, and those of each size if it gains."""
    evidence = _times(span.weakest, span.use)
    if span.use != "native" and len(span.cells) > 1:
        evidence["sizes"] = [{"bytes": cell.bytes, **_times(cell, span.use)} for cell in span.cells]
    evidence["calls"] = len(span.weakest.lines[span.use].samples)
    return evidence


def _times(cell: Cell, use: str) -> dict[str, Any]:
    """Medians in microseconds, with intervals where there are enough samples."""
    line = cell.lines[use]
    measured = {"native": cell.native_of(line)} | ({} if use == "native" else {"choice": line})
    times: dict[str, Any] = {}
    for name, one in measured.items():
        interval = one.interval
        times[f"{name}_us"] = round(interval.median, 3)
        if len(one.samples) >= _MIN_SAMPLES:
            times[f"{name}_interval_us"] = [round(interval.low, 3), round(interval.high, 3)]
    return times


def _span_of(cells: list[Cell], use: str, least: int, most: int | None) -> Span:
    return Span(use, least, most, [cell for cell in cells if use in cell.lines])


def smoothed(cells: list[Cell]) -> list[str]:
    """The winners by size; the winner of the size before stays if it is as good as the new one."""
    winners: list[str] = []
    for cell in cells:
        winner = cell.winner
        before = cell.lines.get(winners[-1]) if winners else None
        if before is not None and winner != "native" and cell.is_faster(before):
            if cell.ratio(before) <= (1 + MIN_GAIN) * cell.ratio(cell.lines[winner]):
                winner = before.name
        winners.append(winner)
    return winners


def _native_span(cell: Cell, least: int, most: int | None) -> Span:
    """Native for sizes beyond a cell."""
    return Span("native", least, most, [cell])


def _spans(cells: list[Cell], winners: list[str]) -> list[Span]:
    """Spans from 0 bytes on. An algorithm holds between sizes that it has won; between two
    algorithms the change is in the middle; towards native it is at the last size that was won.
    Sizes outside of those measured are native, but what wins at 8 bytes holds below too."""
    spans: list[Span] = []
    first = 0
    least = 0
    if cells[0].bytes > _SMALL and winners[0] != "native":
        least = cells[0].bytes
        spans.append(_native_span(cells[0], 0, least - 1))
    for i, winner in enumerate(winners):
        if i + 1 < len(cells) and winners[i + 1] == winner:
            continue
        most: int | None = None
        if i + 1 < len(cells):
            low, high = cells[i].bytes, cells[i + 1].bytes
            most = low if winners[i + 1] == "native" else high - 1
            if "native" not in (winner, winners[i + 1]):
                most = (low + high) // 2
        elif winner != "native":
            most = cells[i].bytes
        spans.append(_span_of(cells[first : i + 1], winner, least, most))
        first = i + 1
        least = 0 if most is None else most + 1
    if spans[-1].most is not None:
        spans.append(_native_span(cells[-1], least, None))
    return spans


def _spans_of_calls(cells: list[Cell], winners: list[str]) -> list[Span]:
    """Spans of the cells' own sizes. Sizes between two cells belong to them if one algorithm has
    won both; else no rule holds there."""
    spans: list[Span] = []
    first = 0
    end = -1
    for i, winner in enumerate(winners):
        if i + 1 < len(cells) and winners[i + 1] == winner:
            continue
        least, most = cells[first].span or (0, 0), cells[i].span or (0, 0)
        if most[1] > end:
            spans.append(_span_of(cells[first : i + 1], winner, max(least[0], end + 1), most[1]))
            end = most[1]
        first = i + 1
    return spans


def _common(cells: list[Cell]) -> str:
    """The algorithm for all sizes: faster at one size at least, and slower at none."""
    use, gain = "native", 1 - MIN_GAIN
    for name in cells[0].lines:
        if any(name not in cell.lines for cell in cells):
            continue
        lines = [(cell, cell.lines[name]) for cell in cells]
        if any(line.interval.low > cell.native_of(line).interval.high for cell, line in lines):
            continue
        ratio = math.exp(
            sum(cell.weight * math.log(cell.ratio(line)) for cell, line in lines)
            / sum(cell.weight for cell in cells)
        )
        if ratio <= gain and any(cell.is_faster(line) for cell, line in lines):
            use, gain = name, ratio
    return use


def to_text(rules: list[dict[str, Any]], date: str, command: str) -> str:
    """A rules file, one rule a line."""
    head = {"schema": _engine.rules_schema, "date": date, "command": command}
    lines = ",\n  ".join(json.dumps(rule) for rule in rules)
    return f'{json.dumps(head)[:-1]},\n "rules": [\n  {lines}\n ]}}\n'
