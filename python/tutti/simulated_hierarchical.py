"""Simulated collectives through node memory beside the averages of Parsons & Pai 2014."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, mean

from tutti._engine import HierarchicalEstimate, NodeMachine, hierarchical_estimate
from tutti.plot import pyplot_for, save

RANKS = 32
"""Cores of each node."""
CORES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
BLOCKS = (8, 64, 512, 4096, 32768, 65536)
"""Bytes that a rank has for one block of the contract."""
_PAPER = {"alltoallv": 14.2, "allgather": 26.0, "reduce_scatter": 32.7}
_PAPER_SENDERS = 2.5
_COLLECTIVES = ("alltoallv", "allgather", "reduce_scatter", "alltoall", "allreduce", "bcast")
_SHAPES = ("ring", "recursive", "pairwise")
_NUMBERS = (
    "latency",
    "per_byte",
    "sender_per_byte",
    "node_gap",
    "local_latency",
    "local_per_byte",
    "copy_per_byte",
    "shared_per_byte",
    "combine_per_byte",
    "flag",
)


@dataclass(frozen=True)
class Row:
    """One collective on so many cores, with blocks of so many bytes."""

    cores: int
    block: int
    times: HierarchicalEstimate

    def factor(self, shape: str) -> float:
        """How much longer the flat algorithm takes than node memory."""
        return self.times.flat[shape] / self.times.level.total

    @property
    def best_factor(self) -> float:
        """The same for the fastest flat algorithm."""
        return min(self.times.flat.values()) / self.times.level.total

    @property
    def senders_factor(self) -> float:
        """What several leaders gain between nodes over one."""
        between = self.times.level.between
        return self.times.one_leader.between / between if between else 1.0


def rows_of(collective: str, machine: NodeMachine) -> list[Row]:
    """All cores and blocks."""
    return [
        Row(cores, block, hierarchical_estimate(collective, cores // RANKS, RANKS, block, machine))
        for cores in CORES
        for block in BLOCKS
    ]


def _averages(rows: list[Row], factor: Callable[[Row], float]) -> str:
    factors = [factor(row) for row in rows]
    return f"{geometric_mean(factors):.1f} / {mean(factors):.1f}"


def _shapes_of(rows: list[Row]) -> list[str]:
    return [shape for shape in _SHAPES if shape in rows[0].times.flat]


def _summary(machine: NodeMachine) -> str:
    text = (
        "| collective | flat ring | flat recursive | flat pairwise | fastest flat "
        "| several leaders over one, between nodes | paper |\n|" + " --- |" + " ---: |" * 6 + "\n"
    )
    for collective in _COLLECTIVES:
        rows = rows_of(collective, machine)
        shapes = _shapes_of(rows)
        cells = [
            _averages(rows, lambda row, shape=shape: row.factor(shape)) if shape in shapes else "-"
            for shape in _SHAPES
        ]
        cells.append(_averages(rows, lambda row: row.best_factor))
        cells.append(_averages(rows, lambda row: row.senders_factor))
        paper = f"{_PAPER[collective]:g}" if collective in _PAPER else "-"
        text += f"| {collective} | " + " | ".join(cells) + f" | {paper} |\n"
    return text


def _changed(machine: NodeMachine, name: str, times: float) -> NodeMachine:
    lines = []
    for line in machine.text().splitlines():
        key, value = line.split("#")[0].split()
        lines.append(f"{key} {float(value) * (times if key == name else 1)!r}")
    return NodeMachine.from_text("\n".join(lines))


@dataclass(frozen=True)
class _Factor:
    """A factor of the summary, to be told for other machines."""

    collective: str
    of: Callable[[Row], float]


class _Sensitivities:
    """All rows with each number of the machine a quarter and four times as large."""

    def __init__(self, machine: NodeMachine) -> None:
        self._rows = {
            (name, times, collective): rows_of(collective, _changed(machine, name, times))
            for name in _NUMBERS
            for times in (0.25, 4.0)
            for collective in _PAPER
        }

    def table(self, factors: list[tuple[str, _Factor]]) -> str:
        """The geometric means of some factors by their names."""
        header = "".join(f" {name} x 1/4 | x 4 |" for name, _ in factors)
        text = f"| number |{header}\n| --- |" + " ---: |" * (2 * len(factors)) + "\n"
        for number in _NUMBERS:
            cells = [
                f"{self._mean(number, times, factor):.2f}"
                for _, factor in factors
                for times in (0.25, 4.0)
            ]
            text += f"| {number} | " + " | ".join(cells) + " |\n"
        return text

    def _mean(self, number: str, times: float, factor: _Factor) -> float:
        return geometric_mean(map(factor.of, self._rows[number, times, factor.collective]))


def _of_shape(collective: str, shape: str) -> tuple[str, _Factor]:
    return shape, _Factor(collective, lambda row: row.factor(shape))


def _sensitivity(machine: NodeMachine) -> str:
    tables = _Sensitivities(machine)
    best = [(name, _Factor(name, lambda row: row.best_factor)) for name in _PAPER]
    senders = [(name, _Factor(name, lambda row: row.senders_factor)) for name in _PAPER]
    text = f"""The geometric mean over the fastest flat algorithm, with one number of the machine
a quarter and four times as large.

{tables.table(best)}
The same of what several leaders gain over one between nodes. It rests on one assumption: that a
sender alone does not fill its node's adapter (sender_per_byte, twice per_byte here). Where it does,
one leader is as good; where it takes eight times per_byte, more of them gain more.

{tables.table(senders)}"""
    for collective in _PAPER:
        shapes = _shapes_of(rows_of(collective, machine))
        text += f"""
The same for the flat algorithms of {collective}, each alone.

{tables.table([_of_shape(collective, shape) for shape in shapes])}"""
    return text


def _table(collective: str, machine: NodeMachine) -> str:
    rows = [row for row in rows_of(collective, machine) if row.cores in (64, 512, 4096, 65536)]
    shapes = _shapes_of(rows)
    text = (
        f"\n### {collective}\n\n| cores | block | through node memory | leaders | copies in "
        "| flags | between nodes | copies out | bound | "
        + " | ".join(f"{shape} / node" for shape in shapes)
        + " |\n|"
        + " ---: |" * (9 + len(shapes))
        + "\n"
    )
    for row in rows:
        level = row.times.level
        parts = (level.copies_in, level.flags, level.between, level.copies_out, row.times.bound)
        cells = [f"{level.total * 1e6:,.1f}", str(row.times.leaders)]
        cells += [f"{seconds * 1e6:,.1f}" for seconds in parts]
        cells += [f"**{row.factor(shape):.2f}**" for shape in shapes]
        text += f"| {row.cores} | {row.block} | " + " | ".join(cells) + " |\n"
    return text


def _readable(line: str) -> str:
    number, meaning = line.split("  # ")
    name, value = number.split()
    return f"{name} {float(value):g}  # {meaning}\n"


def markdown(machine: NodeMachine) -> str:
    """All tables, with the method, as one page."""
    parameters = "".join(_readable(line) for line in machine.text().splitlines())
    text = f"""# Collectives through node memory, simulated

Written by `tutti simulate levels`. **All numbers without the word paper are SIMULATED**: closed
forms of the rounds of each algorithm on nodes of {RANKS} cores that share one adapter, all ranks
arriving at once (`src/cost/hierarchical_times.hpp` says which).
[Tests](../../tests/unit/cost/hierarchical_times_test.cpp) hold them against the schedules themselves: with
one rank a node against their replay, with 2x4, 4x4 and 8x2 ranks against their rounds with adapters
that messages share, one to four leaders included: equal, but for pairwise exchanges, which they
miss by a tenth at most. Copies, flags and oversubscribed memory inside nodes are compared with nothing
here; [the lab](levels-lab.md) measures the whole. Cores are {CORES[0]} to {CORES[-1]:,}, blocks
{BLOCKS[0]} to {BLOCKS[-1]:,} bytes: of a rank, or for a rank, or the whole vector of an allreduce
and bcast. Nothing is fitted to the paper's machine; its averages are over problems that its
abstract does not name, against the MPIs of its day.

 - ring, recursive, pairwise: flat algorithms, blind to nodes.
 - through node memory: copies in, flags, the fastest flat algorithm between nodes, copies out; with
   the number of leaders for which the model is fastest.
 - bound: what must pass each node's adapter, and one latency.

## How much longer flat algorithms take, and the paper's averages

Each cell: geometric mean / arithmetic mean over all cores and blocks. The paper's average for
several senders is {_PAPER_SENDERS}.

{_summary(machine)}
Beside a library that always takes the fastest of the flat algorithms the gain is that of the column
"fastest flat"; where a cell of the tables below has a factor under 1 (large reductions, which memory
and not the network limits, and the largest blocks of an alltoall), Tutti's choice stays flat.
Factors as large as the paper's are against algorithms that do not fit the size.

![The fastest flat algorithm against node memory](../images/simulated-levels.svg)

## Machine

Seconds, and seconds per byte:

```
{parameters}```

## Sensitivity

{_sensitivity(machine)}
## Times

Microseconds.
"""
    return text + "".join(_table(collective, machine) for collective in _COLLECTIVES)


def picture(machine: NodeMachine, path: Path, option: str) -> None:
    """One panel for each of the paper's collectives: how much longer flat algorithms take.

    Raises:
        Refusal: Matplotlib is missing, or the file cannot be written.
    """
    pyplot = pyplot_for(option)
    figure, axes = pyplot.subplots(1, len(_PAPER), figsize=(13, 3.8), sharey=True)
    for axis, (collective, average) in zip(axes, _PAPER.items(), strict=True):
        rows = rows_of(collective, machine)
        for block in (8, 512, 4096, 65536):
            of_block = [row for row in rows if row.block == block]
            factors = [row.best_factor for row in of_block]
            axis.plot(CORES, factors, marker="o", markersize=3, label=f"{block:,} bytes")
        axis.axhline(average, color="gray", linestyle="--", linewidth=1)
        axis.text(CORES[0], average * 1.05, f"the paper's average, {average:g}", fontsize=8)
        axis.axhline(1, color="black", linewidth=0.6)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xlabel(f"cores, {RANKS} a node")
        axis.set_title(f"{collective} (SIMULATED)", fontsize=10)
        axis.grid(True, which="major", alpha=0.25)
    axes[0].set_ylabel("fastest flat / node memory")
    axes[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    save(figure, path, option)
    pyplot.close(figure)
