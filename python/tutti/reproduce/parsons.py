"""The averages of Parsons & Pai 2014: hierarchical collectives over flat ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import mean

import tutti
from tutti import simulated_hierarchical as simulated
from tutti._engine import NodeMachine
from tutti.reproduce.cache import Cache, content_of
from tutti.reproduce.tables import Comparison, Section, Table

PUBLISHED = {"alltoallv": 14.2, "allgather": 26.0, "reduce_scatter": 32.7}
"""Average speedups of the abstract."""


def _factors(collective: str, machine: NodeMachine) -> float:
    return mean(row.best_factor for row in simulated.rows_of(collective, machine))


def tables(cache: Cache, machine: NodeMachine) -> list[Table]:
    """The one table: average speedups by collective."""

    def run(done: Callable[[], None]) -> list[Section]:
        rows = []
        for collective, factor in PUBLISHED.items():
            depends = ["parsons", content_of(Path(tutti._engine.__file__)), collective, str(machine)]
            ours = cache.get(depends, lambda c=collective: _factors(c, machine))
            rows.append(Comparison(collective, (factor, 1.0), (ours, 1.0)))
            done()
        notes = [
            f"Mean over {len(simulated.CORES)} numbers of cores from {simulated.CORES[0]} to "
            f"{simulated.CORES[-1]:,} and {len(simulated.BLOCKS)} block sizes, against the fastest "
            "flat algorithm of the list, not against those of the MPIs of 2014.",
            "Times are in units of the hierarchical call.",
        ]
        return [Section("own simulator", "the built-in node machine", ("flat", "hierarchical"),
                        rows, notes)]  # fmt: skip

    return [
        Table("parsons", "averages", "Average speedups of hierarchical collectives",
              len(PUBLISHED), run)
    ]  # fmt: skip
