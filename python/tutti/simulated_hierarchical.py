"""Simulated hierarchical collectives beside the averages of Parsons & Pai 2014."""

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
"""Block sizes in bytes."""
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
    "signal",
)
"""The names of the machine's parameters."""


@dataclass(frozen=True)
class Row:
    """The modelled times of one collective on a number of cores, with one block size."""

    cores: int
    block: int
    times: HierarchicalEstimate

    def factor(self, shape: str) -> float:
        """The time of the flat algorithm over that of the hierarchical one."""
        return self.times.flat[shape] / self.times.level.total

    @property
    def best_factor(self) -> float:
        """The time of the fastest flat algorithm over that of the hierarchical one."""
        return min(self.times.flat.values()) / self.times.level.total

    @property
    def senders_factor(self) -> float:
        """The time between nodes with one leader over that with the best number of leaders."""
        between = self.times.level.between
        return self.times.one_leader.between / between if between else 1.0


def rows_of(collective: str, machine: NodeMachine) -> list[Row]:
    """The rows of a collective, for all numbers of cores and block sizes."""
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
    """A factor of the summary, to evaluate for changed machines."""

    collective: str
    of: Callable[[Row], float]


class _Sensitivities:
    """All rows with each parameter of the machine multiplied by 1/4 and by 4."""

    def __init__(self, machine: NodeMachine) -> None:
        self._rows = {
            (name, times, collective): rows_of(collective, _changed(machine, name, times))
            for name in _NUMBERS
            for times in (0.25, 4.0)
            for collective in _PAPER
        }

    def table(self, factors: list[tuple[str, _Factor]]) -> str:
        """A table of the geometric means of some factors, given with their names."""
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
    text = f"""The geometric mean over the fastest flat algorithm, with one machine number \
multiplied by 1/4 and by 4.

{tables.table(best)}
The same for the gain of several leaders over one between nodes. It assumes that one sender does not saturate its
node's adapter (sender_per_byte, 2 times per_byte here). Otherwise one leader is as good; at 8 times per_byte
more leaders gain more.

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
        "| signals | between nodes | copies out | bound | "
        + " | ".join(f"{shape} / node" for shape in shapes)
        + " |\n|"
        + " ---: |" * (9 + len(shapes))
        + "\n"
    )
    for row in rows:
        times = row.times.level
        parts = (
            times.copies_in, times.signals, times.between, times.copies_out, row.times.bound,
        )  # fmt: skip
        cells = [f"{times.total * 1e6:,.1f}", str(row.times.leaders)]
        cells += [f"{seconds * 1e6:,.1f}" for seconds in parts]
        cells += [f"**{row.factor(shape):.2f}**" for shape in shapes]
        text += f"| {row.cores} | {row.block} | " + " | ".join(cells) + " |\n"
    return text


def _readable(line: str) -> str:
    number, meaning = line.split("  # ")
    name, value = number.split()
    return f"{name} {float(value):g}  # {meaning}\n"


def markdown(machine: NodeMachine) -> str:
    """The page of all tables, with the method."""
    parameters = "".join(_readable(line) for line in machine.text().splitlines())
    text = f"""# Collectives through node memory, simulated

This page shows when hierarchical collectives should pay at scale, beside Parsons & Pai 2014; `tutti simulate levels` writes it.
**All numbers without the word paper are SIMULATED**: closed forms of each algorithm's rounds
(`src/cost/hierarchical_times.hpp`) on nodes of {RANKS} cores that share one adapter, all ranks arriving at once.
Cores are {CORES[0]} to {CORES[-1]:,}, blocks {BLOCKS[0]} to {BLOCKS[-1]:,} bytes: of a rank, for a rank, or the whole vector (allreduce, bcast).

 - ring, recursive, pairwise: flat algorithms, which ignore nodes.
 - through node memory: copies in, signals, the fastest flat algorithm between nodes, copies out; with the
   model's best number of leaders.
 - bound: the bytes through each node's adapter, and one latency.

[Tests](../../tests/unit/cost/hierarchical_times_test.cpp) compare the closed forms with the schedules: their replay for 1 rank a node;
for 2x4, 4x4 and 8x2 ranks their rounds with shared adapters, 1 to 4 leaders. They are equal, except pairwise exchanges, which
differ by at most 10 %.

Limitations: these tests do not cover copies, signals and memory contention inside nodes; [the lab](levels-lab.md) measures the
whole. Nothing is fitted to the paper's machine. The paper's averages are over problems that its abstract does not name,
against the MPIs of its day.

## How much longer flat algorithms take, and the paper's averages

Each cell: geometric mean / arithmetic mean over all cores and blocks. The paper's average for
several senders is {_PAPER_SENDERS}.

{_summary(machine)}
Column "fastest flat" is the gain over a library that always selects the fastest flat algorithm. If a cell below has a factor under
1 (large reductions, limited by memory, and the largest blocks of an alltoall), Tutti stays flat.
Factors as large as the paper's are against algorithms unsuited to the size.

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
    """Draws a panel for each of the paper's collectives: the speedup over flat algorithms.

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
