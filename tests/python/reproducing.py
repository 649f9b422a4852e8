"""Tables of the papers, computed anew, and what simulations need."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tutti_reproduce.cache import Cache
from tutti_reproduce.context import Context, Numbers
from tutti_reproduce.tables import Result, Table, View

needs_simgrid = pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
"""Not whether the build has found SimGrid: one that has not, though SimGrid is there, fails."""


def context(folder: Path, samples: Path = Path("/none"), simgrid_ranks: int = 0) -> Context:
    return Context(Cache(folder), None, samples, simgrid_ranks)


def run(table: Table) -> Result:
    """A table's result, whose steps are those that it announces."""
    steps: list[int] = []
    result = table.run(lambda: steps.append(1))
    assert len(steps) == table.steps
    return result


def named(tables: list[Table], name: str) -> Table:
    return next(table for table in tables if table.name == name)


def pair(name: str = "table-3", title: str = "Table 3") -> Table:
    return Table("traff", name, title, ("linear", "tree"), "us", 0, lambda done: Result([], [], []))


def single() -> Table:
    return Table("paznikov", "crossovers", "Crossovers", None, "KiB", 0, lambda done: Result([], [], []))


def factors(*numbers: float) -> list[Numbers]:
    return [{"factor": number} for number in numbers]


def result_of(published: list[Numbers], *here: list[Numbers]) -> Result:
    problems = [f"problem {i}" for i in range(len(published))]
    return Result(problems, published, [View("own simulator", "a machine", each, ["a note & more"]) for each in here])
