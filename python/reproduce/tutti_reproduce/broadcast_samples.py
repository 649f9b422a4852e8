"""The lab's samples of one-sided broadcasts, beside what LogP and LogGP predict."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from tutti.console import count
from tutti.statistics import quotient_interval
from tutti_reproduce.context import Context, Numbers
from tutti_reproduce.tables import ABOVE, View, measured_with

CONTENDERS = ("linear", "tree")
MEASURED = {"linear": "linear", "tree": "paznikov:protocol=windows", "tree, notifications": "paznikov"}
"""The contenders of tutti-bench by their names here: the paper's system has the windows."""
MODELS = {"LogP": "logp_us", "LogGP": "loggp_us"}
Cell = tuple[int, int, int]
"""Nodes, processes, bytes."""


def _whose(newest: dict[Cell, dict[str, Any]]) -> str:
    """The links and the MPI of all cells; of several, which nodes and ranks were measured with which."""
    shapes: dict[str, dict[str, None]] = {}
    for (nodes, ranks, _), document in sorted(newest.items(), key=lambda item: item[0]):
        shape = f"{count(nodes, 'node')} of {ranks // nodes}"
        shapes.setdefault(measured_with([document]), {})[shape] = None
    if len(shapes) == 1:
        return next(iter(shapes))
    return "; ".join(f"{what} ({', '.join(of)})" for what, of in shapes.items())


class Lab:
    """The lab's samples of tutti-bench.

    Attributes:
        lines: by cell, sorted, and by the contender's name here; of several runs with a cell those of
            the newest.
    """

    def __init__(self, context: Context) -> None:
        found: dict[Cell, dict[str, dict[str, Any]]] = {}
        newest: dict[Cell, dict[str, Any]] = {}
        documents = context.documents("lab-rma-*.json")
        for document in sorted(documents, key=lambda each: str(each["metadata"]["date"])):
            nodes, ranks = (int(document["metadata"][key]) for key in ("nodes", "ranks"))
            for row in document["rows"]:
                lines = {line["name"]: line for line in row["algorithms"]}
                newest[nodes, ranks, row["bytes"]] = document
                found[nodes, ranks, row["bytes"]] = {
                    name: lines[line] for name, line in MEASURED.items() if line in lines
                }
        self.lines = dict(sorted(found.items()))
        self.heading = f"emulated nodes, {_whose(newest)}"

    def cell(self, p: int, size: int) -> Cell | None:
        """The cell with the tree; of several, the one with the most nodes."""
        found = [cell for cell, lines in self.lines.items() if cell[1:] == (p, size) and "tree" in lines]
        return found[-1] if found else None

    def processes(self) -> list[int]:
        """The numbers of processes for which the tree was measured."""
        return sorted({cell[1] for cell, lines in self.lines.items() if "tree" in lines})

    def numbers(self, cell: Cell | None) -> Numbers:
        """Milliseconds: means, as in the paper, and the predictions beside them."""
        lines = self.lines.get(cell, {}) if cell else {}
        means = {name: mean(line["samples_us"]) / 1e3 for name, line in lines.items()}
        return means | {f"{name}, {model}": line[key] / 1e3 for name, line in lines.items()
                        for model, key in MODELS.items() if key in line}  # fmt: skip

    def predictions(self, cell: Cell, model: str) -> Numbers:
        """Those of both contenders, as if they had been measured."""
        numbers = self.numbers(cell)
        both = {name: numbers.get(f"{name}, {model}") for name in CONTENDERS}
        return {name: value for name, value in both.items() if value}

    def note(self, cells: Sequence[Cell | None]) -> list[str]:
        """In which of the cells predictions are others' than their contenders'; empty if in none."""
        pairs = {cell: [lines[name].get("loggp_us") for name in MEASURED if name != "linear"]
                 for cell in cells if cell and (lines := self.lines.get(cell, {})).keys() == MEASURED.keys()}  # fmt: skip
        alike = [cell for cell, (windows, others) in pairs.items() if windows is not None and windows == others]
        if not alike:
            return []
        shapes = sorted({cell[:2] for cell in alike})
        where = ", ".join(f"{ranks} ranks on {count(nodes, 'node')}" for nodes, ranks in shapes)
        return [
            f"In {len(alike)} of {len(pairs)} cells, of {where}, the prediction of the tree is that of its order with "
            "notifications: their samples are older than the price of windows."
        ]

    def view(self, cells: Sequence[Cell | None], notes: Sequence[str] = ()) -> View:
        """Some of the cells are not measured."""
        spread = []
        for cell in cells:
            lines = self.lines.get(cell, {}) if cell else {}
            samples = [lines[name]["samples_us"] for name in CONTENDERS if name in lines]
            spread.append(quotient_interval(*samples) if len(samples) == len(CONTENDERS) else 0.0)
        return View("lab", self.heading, [self.numbers(cell) for cell in cells],
                    [*notes, *self.note(cells)], spread)  # fmt: skip

    def ahead_from(self, along: str, fixed: int, unit: int, kind: str = "") -> Numbers:
        """The least measured size in units, or number of processes, from which the tree stays ahead, and
        the one before, which the crossover is above, or 0; empty if it does not.

        Args:
            along: "size" or "processes".
            fixed: the number of processes, or the size in units.
            unit: its bytes.
            kind: ", LogP" or ", LogGP" for the predictions.
        """
        ahead: Numbers = {}
        behind = 0.0
        sizes = sorted({cell[2] for cell in self.lines})
        cells = ([(size / unit, self.cell(fixed, size)) for size in sizes] if along == "size" else
                 [(float(p), self.cell(p, fixed * unit)) for p in self.processes()])  # fmt: skip
        for x, cell in cells:
            numbers = self.numbers(cell)
            linear, tree = (numbers.get(name + kind) for name in CONTENDERS)
            if linear and tree and tree < linear:
                ahead = ahead or {"value": x, ABOVE: behind}
            elif linear and tree:
                ahead, behind = {}, x
        return ahead
