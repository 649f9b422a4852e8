"""Tunes collectives for uneven blocks too: rules for these only where equal blocks have another one.

The rules for equal blocks hold for all irregularities. So uneven blocks are measured after equal
ones, and get a rule of their own only where another algorithm is faster than the one that the rules
select already, beyond doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from tutti.tuning import Tuner
from tutti.tuning_blocks import Band, blocks_for, has_bands
from tutti.tuning_cells import Cell, Cells
from tutti.tuning_rules import Span, smoothed, spans_of
from tutti.tuning_run import Shape, Variant


def shape_of(ranks: int, band: Band) -> Shape:
    """How calls with blocks of this irregularity are measured."""
    return lambda collective, size: [
        Variant(blocks_for(collective, ranks, size, band.irregularity, band))
    ]


def cells_of(equal: Cells, ranks: int, band: Band) -> Cells:
    """Empty cells for the collectives whose rules may ask for irregularity, of the sizes that are
    measured with equal blocks. None for sizes for which tutti-bench has no such blocks."""
    return {
        name: {
            size: Cell(size)
            for size in cells
            if blocks_for(name, ranks, size, band.irregularity, band)
        }
        for name, cells in equal.items()
        if has_bands(name)
    }


def choose(equal: Tuner, uneven: Tuner) -> None:
    """Fixes what rules select for uneven blocks: what the rules for equal ones do, unless something
    beats it. Cells that have not measured that are left out."""
    known = spans_of(equal)
    for name, cells in uneven.cells.items():
        usual = {size: _use(known.get(name, []), size) or "native" for size in cells}
        left = {
            size: cell
            for size, cell in sorted(cells.items())
            if "native" in cell.lines and usual[size] in cell.lines
        }
        for cell, winner in zip(left.values(), smoothed(list(left.values())), strict=True):
            cell.choice = _better(cell, usual[cell.bytes], winner)
            cell.is_usual = cell.choice == usual[cell.bytes]
        cells.clear()
        cells.update(left)


def _use(spans: Sequence[Span], size: int) -> str | None:
    """What rules with these spans select; None if none holds."""
    return next((span.use for span in spans if span.holds(size)), None)


def _better(cell: Cell, usual: str, winner: str) -> str:
    """The winner if it beats the usual algorithm, else that."""
    line = cell.lines[usual]
    if usual == "native":
        return winner
    other = cell.native_of(line) if winner == "native" else cell.lines[winner]
    return winner if cell.beats(other, line) else usual


def spans_beside(equal: Tuner, uneven: Tuner, band: Band) -> list[tuple[str, str, Span]]:
    """Where uneven blocks need other rules than equal ones: collective, irregularity, sizes."""
    known = spans_of(equal)
    return [
        (name, band.text, part)
        for name, spans in spans_of(uneven).items()
        for span in spans
        for part in _compared(span, known.get(name, []))
        if any(_differs(cell, part.use, known.get(name, [])) for cell in part.cells)
    ]


def _compared(span: Span, usual: Sequence[Span]) -> list[Span]:
    """The parts of a span without the sizes between two of its cells for which the rules for equal
    blocks select something else, which nothing has compared with it there."""
    parts = [span]
    for low, high in pairwise(span.cells):
        others = [one for one in usual if one.use != span.use and one.most is not None
                  and low.bytes < one.least and one.most < high.bytes]  # fmt: skip
        if others:
            at = parts[-1].cells.index(high)
            last = parts.pop()
            end = min(one.least for one in others) - 1
            first = max(one.most or 0 for one in others) + 1
            parts += [replace(last, most=end, cells=last.cells[:at]),
                      replace(last, least=first, cells=last.cells[at:])]  # fmt: skip
    return parts


def _differs(cell: Cell, use: str, usual: Sequence[Span]) -> bool:
    """Does a cell select this algorithm, and the rules for equal blocks another one or none?"""
    choice = "native" if cell.is_refuted else cell.choice
    return choice == use != _use(usual, cell.bytes)
