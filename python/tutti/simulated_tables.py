"""Simulated gathers beside the measured ones of Träff 2017, tables 1, 4 and 6."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

from tutti._engine import Call, Machine, distribute, distributions

INT = 4
"""Bytes of the paper's elements."""
_TUW = "ordered_tree:rule=gather_time,promote=off"


@dataclass(frozen=True)
class Row:
    """Simulated and measured times of one problem, in microseconds."""

    distribution: str
    block: int
    elements: int
    linear: float
    padded: float
    """Binomial gather of all blocks padded to the largest, after an agreement on its size."""
    tuw: float
    tree: float
    """Tutti's default ordered tree: volume rule, promotions."""
    bound: float
    paper: tuple[float, float, float]
    """The paper's minima: guideline (2), MPI_Gatherv, TUW_Gatherv."""

    @property
    def simulated_factor(self) -> float:
        """The simulated time of the linear gather over that of the paper's tree."""
        return self.linear / self.tuw

    @property
    def measured_factor(self) -> float:
        """The measured time of the paper's MPI_Gatherv over that of its TUW_Gatherv."""
        return self.paper[1] / self.paper[2]


def paper() -> dict[str, Any]:
    """The paper's tables: average and minimum times in microseconds."""
    text = resources.files("tutti").joinpath("traff2017.json").read_text()
    document: dict[str, Any] = json.loads(text)
    return document


def _rounds(ranks: int) -> int:
    return (ranks - 1).bit_length()


def _seconds(
    collective: str, sizes: list[int], root: int, algorithm: str, machine: Machine
) -> float:
    call = Call(collective, sizes, root, algorithm, machine)
    return call.simulate().run_time + call.knowledge_price().steps * machine.latency


def row_of(
    ranks: int, distribution: str, block: int, measured: list[float], machine: Machine
) -> Row:
    """Simulates one problem of the paper: root p/2, elements of 4 bytes."""
    elements = distribute(distribution, ranks, block)
    sizes = [INT * size for size in elements]
    root = ranks // 2
    # The agreement is a reduction and a broadcast of one element.
    agreement = 2 * _rounds(ranks) * (machine.latency + INT * machine.per_byte)
    padded = [max(sizes)] * ranks
    return Row(
        distribution=distribution,
        block=block,
        elements=sum(elements),
        linear=1e6 * _seconds("gatherv", sizes, root, "linear", machine),
        padded=1e6 * (agreement + _seconds("gather", padded, root, "binomial", machine)),
        tuw=1e6 * _seconds("gatherv", sizes, root, _TUW, machine),
        tree=1e6 * _seconds("gatherv", sizes, root, "ordered_tree", machine),
        bound=1e6 * Call("gatherv", sizes, root, "linear", machine).lower_bound(),
        paper=(measured[5], measured[7], measured[9]),
    )


SHOWN = {560: "1", 1600: "4", 6400: "6"}
"""The tables of the page by their numbers of ranks."""


def rows_of(ranks: int, machine: Machine) -> list[Row]:
    """All problems of the paper for one of the numbers of ranks in SHOWN."""
    document = paper()
    rows = document["tables"][SHOWN[ranks]]["rows"]
    return [
        row_of(ranks, distribution, block, measured, machine)
        for distribution in distributions()
        for block, measured in zip(document["blocks"], rows[distribution], strict=True)
    ]


def _table(rows: list[Row]) -> str:
    text = (
        "| problem | b | m | linear | padded binomial | TUW tree | Tutti's tree | bound "
        "| linear / TUW | paper: guideline (2) | MPI_Gatherv | TUW_Gatherv "
        "| Gatherv / TUW |\n|" + " --- |" * 2 + " ---: |" * 11 + "\n"
    )
    for row in rows:
        simulated = (row.linear, row.padded, row.tuw, row.tree, row.bound)
        cells = [f"{row.elements}", *(f"{time:,.1f}" for time in simulated)]
        cells += [f"**{row.simulated_factor:.2f}**", *(f"{time:,.1f}" for time in row.paper)]
        cells += [f"**{row.measured_factor:.2f}**"]
        text += f"| {row.distribution} | {row.block} | " + " | ".join(cells) + " |\n"
    return text


def _agreement(rows: list[Row]) -> str:
    """The simulated and measured winners as text; differences up to 10 % count as even."""

    def winner(factor: float) -> str:
        return "tree" if factor > 1.1 else "linear" if factor < 1 / 1.1 else "even"

    differ = [r for r in rows if winner(r.simulated_factor) != winner(r.measured_factor)]
    simulated = sum(winner(r.simulated_factor) == "tree" for r in rows)
    measured = sum(winner(r.measured_factor) == "tree" for r in rows)
    text = (
        f"The tree wins {simulated} of {len(rows)} simulated and {measured} measured problems; "
        f"simulation and measurement name the same winner in {len(rows) - len(differ)}."
    )
    if differ:
        listed = (
            f"{r.distribution} {r.block} (simulated {winner(r.simulated_factor)}, "
            f"measured {winner(r.measured_factor)})"
            for r in differ
        )
        text += " They differ in " + ", ".join(listed) + "."
    return text


def markdown(machine: Machine) -> str:
    """The page of all tables, with the method."""
    document = paper()
    text = f"""# Träff's tables, simulated

This page compares simulated gathers with the tables of Träff 2017; `tutti simulate tables` writes it. **All times without the
word paper are SIMULATED**, in microseconds: every rank's schedule is replayed with one port per rank and {machine.latency * 1e6:.3g} us + {machine.per_byte * 1e9:.3g} ns a
byte for each message, all ranks arriving at once. Elements have {INT} bytes, the root is rank p/2, b is the
average block. Nothing is fitted to the paper's machines: compare winners and factors, not microseconds.

 - linear: every rank sends to the root, as in most MPI_Gatherv, with a start-up for each message. If messages follow
   each other after a gap, as `auto` models (0.8 us), small blocks take 0.4 of that: 449 us instead of 1,118 with 560
   ranks, and the tree gains correspondingly less.
 - padded binomial: guideline (2), the regular alternative: agree on the largest block, then gather all blocks, padded to it,
   along a binomial tree.
 - TUW tree: the paper's algorithm, construction included (`{_TUW}`).
 - Tutti's tree: `ordered_tree` as it is by default, construction included.
 - bound: no algorithm can finish earlier under this model.
 - paper: the minimum of its 75 repetitions.

Limitation: the paper's random and spiked sizes used its own random numbers, so their m differs.
"""
    for ranks, table in SHOWN.items():
        measured = document["tables"][table]
        rows = rows_of(ranks, machine)
        text += (
            f"\n## p = {ranks} (the paper's table {table}, {measured['library']})\n\n"
            f"{_agreement(rows)}\n\n{_table(rows)}"
        )
    return text + f"\nMeasured times: {document['source']}.\n"
