"""Proficz 2020: scatters and gathers whose ranks arrive at random times, and the parallel FFT."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from statistics import mean
from typing import Any

from tutti._engine import Call, Machine
from tutti.statistics import quotient_interval
from tutti_reproduce import proficz_lab
from tutti_reproduce.context import Context, Numbers, published
from tutti_reproduce.proficz_lab import FLOAT, Cell
from tutti_reproduce.tables import Plot, Result, Table, View, measured_with, network

DRAWS = 60
"""Random arrivals of each cell, the same for all algorithms."""
_MOST_RANKS = 48
EAGER = 65536
"""Open MPI sends smaller messages over TCP without waiting for the receiver."""
ALGORITHMS = {
    "scatter": ("LIN", "BNOM", "SLIN", "SBN", "BSLN", "BSBN"),
    "gather": ("LIN", "LS", "BNOM", "SLS", "SBN", "BSLS", "BSBN"),
}
CONTENDERS = {"scatter": ("LIN", "BSLN"), "gather": ("LS", "BSLS")}
SHOWN_DELAY, SHOWN_SIZE = 50, 2048
"""The delay of figures 16 and 17 and the size of figure 17, which the paper's text omits: those of
its example."""
MEASURES = ("run", "elapsed")
"""Last exit less first arrival, and the mean over ranks of exit less arrival."""
_EXAMPLE = ("LIN", "SLIN", "BSLN")
_ROW = "the row's algorithm"
"""The second contender of table 5."""
_EAGER_NOTE = (
    "Blocks under 64 KiB (128 to 512 Ki floats) are eager in Open MPI: LIN and SLIN then do not wait "
    "for late ranks, and BSLN gains nothing, published and here."
)
_COLLISIONS_NOTE = (
    "The published BSLS at 50 ms and 2 Mi floats (55.5 ms, from difference and quotient) is "
    "shorter than the 65.7 ms that its bytes need on the root's link after the first arrival: "
    "a factor of 2.52 cannot be had. LS takes 136 ms there without delays, twice the link's "
    "time: the paper blames collisions in its switch, which no model here has; hence its "
    "gains and losses at 1 and 2 Mi floats."
)
_APPENDIX_NOTE = (
    "The text has no numbers of the appendix's figures and names only their collectives: axes here are "
    "those of figures 14, 16 and 15."
)
_HIDDEN_NOTE = (
    "Bytes take 10 times as long, so that handshakes and turns of the 48 ranks hide behind them."
)
_TURNS_NOTE = (
    "48 ranks take turns on 2 cores here: the 47 handshakes of LS and BSLS take 90 ms and more even with "
    "small blocks. So BSLS gains most where delays are as long (50 and 100 ms), with small blocks not at "
    "5 and 10 ms as published."
)


def run_times(
    collective: str, algorithm: str, block: int, arrivals: list[list[float]], machine: Machine
) -> list[tuple[float, float]]:
    """Run time and mean elapsed time in ms for each pattern of arrivals, predicted exactly."""
    if block < EAGER and algorithm in ("LIN", "SLIN") and collective == "scatter":
        order = "order=arrival," if algorithm == "SLIN" else ""
        algorithm = f"linear_sequence:{order}runner=background"
    found = []
    for each in arrivals:
        call = Call(collective, [block] * len(each), 0, algorithm, machine, expected=each)
        timeline = call.simulate(each)
        found.append((1e3 * timeline.run_time, 1e3 * timeline.elapsed))
    return found


def simulated(cell: Cell, machine: Machine) -> dict[str, Any]:
    """By measure, run or elapsed time: the mean times in ms, and the half-width of the compared factor."""
    collective, size, delay, ranks = cell
    chance = random.Random(1)  # All cells have the same arrivals, but for scale and number.
    shares = [[chance.random() for _ in range(_MOST_RANKS)] for _ in range(DRAWS if delay else 1)]
    arrivals = [[delay / 1000 * share for share in each[:ranks]] for each in shares]
    block = size * 1024 // ranks * FLOAT
    times = {
        name: [*zip(*run_times(collective, name, block, arrivals, machine), strict=True)]
        for name in ALGORITHMS[collective]
    }
    first, second = CONTENDERS[collective]
    return {
        measure: {"ms": {name: mean(each[part]) for name, each in times.items()},
                  "spread": quotient_interval(times[first][part], times[second][part]) if delay else 0.0}
        for part, measure in enumerate(MEASURES)
    }  # fmt: skip


def _published(cell: Cell, measure: str) -> Numbers:
    """The quotient of table 3 or 4; empty if the paper has none."""
    document = published("proficz")
    collective, size, delay, ranks = cell
    if measure != "run" or ranks != document["nodes"] or delay not in document["delays_ms"]:
        return {}
    row, column = document["kilofloats"].index(size), document["delays_ms"].index(delay)
    table = document[collective]
    return {"difference, ms": table["difference_ms"][row][column],
            "factor": table["quotient"][row][column]}  # fmt: skip


def _best(cells: list[Cell], numbers: list[Numbers]) -> list[str]:
    """Which algorithm is fastest in how many cells that know all, with those within 1 % of it; empty if
    none does."""
    names = ALGORITHMS[cells[0][0]]
    whole = [each for each in numbers if each.keys() >= set(names)]
    wins = [[name for name in names if each[name] <= 1.01 * min(each[other] for other in names)] for each in whole]
    listed = proficz_lab.counted(wins, names)
    return [f"Fastest or within 1 % of it, of {len(whole)} cells: {listed}."] if whole else []


def _distance(simulated: list[Numbers], measured: list[Numbers], contenders: tuple[str, str]) -> str:
    """How far measured factors are from the simulator's, where both are known."""
    first, second = contenders
    logs = [abs(log(there[first] / there[second] * here[second] / here[first]))
            for here, there in zip(simulated, measured, strict=True)
            if {first, second} <= there.keys()]  # fmt: skip
    percent = 100 * (exp(mean(logs)) - 1)
    return f"Factors differ from the simulator's by {percent:.0f} % in the geometric mean."


@dataclass(frozen=True)
class Grid:
    """A table or figure of cells.

    Attributes:
        name: its key.
        title: for people.
        cells: of one collective.
        measure: one of MEASURES.
        along: the part of a cell over which a figure draws its lines; 0: a table.
    """

    name: str
    title: str
    cells: list[Cell]
    measure: str = "run"
    along: int = 0

    @property
    def collective(self) -> str:
        return self.cells[0][0]

    def plot(self, views: list[View]) -> list[Plot]:
        """Lines of the simulator and points of the lab at the paper's rate; none for a table."""
        if not self.along:
            return []
        x_label = {1: "Ki floats", 2: "largest delay in ms", 3: "processes"}[self.along]
        lines = {}
        for view in views:
            if view.source == "lab" and not view.machine.startswith(proficz_lab.links(proficz_lab.RATES[0])):
                continue
            suffix = ", lab" if view.source == "lab" else ""
            for name in ALGORITHMS[self.collective]:
                # Without delay a point has a place left of all others on the logarithmic axis.
                points = [
                    (float(cell[self.along]) or 0.5, numbers[name])
                    for cell, numbers in zip(self.cells, view.numbers, strict=True)
                    if name in numbers
                ]
                if points:
                    lines[name + suffix] = points
        return [Plot(self.title, x_label, f"{self.measure} time in ms", lines)]


def _grid(context: Context, grid: Grid, done: Callable[[], None]) -> Result:
    machine = network(published("proficz")["network"])
    results = []
    for cell in grid.cells:
        results.append(context.result(simulated, cell, machine)[grid.measure])
        done()
    numbers = [result["ms"] for result in results]
    where = f"1 Gbit/s, {machine.latency * 1e6:.0f} us, {DRAWS} random arrivals a cell"
    notes = _best(grid.cells, numbers)
    if not grid.along:
        notes.append(_EAGER_NOTE if grid.collective == "scatter" else _COLLISIONS_NOTE)
    if grid.measure == "elapsed":
        notes.append(_APPENDIX_NOTE)
    views = [View("own simulator", where, numbers, notes, [result["spread"] for result in results])]
    contenders = CONTENDERS[grid.collective]
    for rate in proficz_lab.RATES:
        names = ALGORITHMS[grid.collective]
        lab = proficz_lab.view(context, grid.cells, rate, grid.measure, names, contenders)
        if lab:
            lab.notes.append(_distance(numbers, lab.numbers, contenders))
            if grid.measure == "run":
                lab.notes.extend(proficz_lab.fastest_note(context, grid.cells, rate, names))
            if grid.collective == "gather" and not grid.along:
                lab.notes.append(_TURNS_NOTE if rate == proficz_lab.RATES[0] else _HIDDEN_NOTE)
            views.append(lab)
    problems = [
        f"{size} Ki floats, {delay:g} ms" + (f", p = {ranks}" if grid.along == 3 else "")
        for _, size, delay, ranks in grid.cells
    ]
    return Result(problems, [_published(cell, grid.measure) for cell in grid.cells], views, grid.plot(views))


def _example(context: Context, done: Callable[[], None]) -> Result:
    machine = network(published("proficz")["network"])
    theirs = published("proficz")["example_ms"]
    cells = [(SHOWN_SIZE, float(delay)) for delay in (0, SHOWN_DELAY)]
    numbers = []
    for size, delay in cells:
        result = context.result(simulated, ("scatter", size, delay, 48), machine)["run"]
        numbers += [{"value": result["ms"][name]} for name in _EXAMPLE]
        done()
    views = [View("own simulator", "1 Gbit/s", numbers)]
    for rate in proficz_lab.RATES:
        known = proficz_lab.samples(context, "scatter", rate)
        rows = [known.get(cell, proficz_lab.Samples()).means("run", _EXAMPLE) for cell in cells]
        if any(rows):
            measured = [{"value": row[name]} if name in row else {} for row in rows for name in _EXAMPLE]
            wire = SHOWN_SIZE * 1024 * FLOAT * machine.per_byte * 1e3
            note = _HIDDEN_NOTE
            if rate == proficz_lab.RATES[0]:
                note = proficz_lab.example_note(known, SHOWN_SIZE, wire)
            views.append(View("lab", proficz_lab.machine(context, "scatter", rate), measured, [note] if note else []))
    return Result(list(theirs), [{"value": value} for value in theirs.values()], views)


def fft_arrivals(in_sequence: bool, machine: Machine, draws: int) -> list[list[float]]:
    """Arrivals at the FFT's gather: rank 0 sends seven pieces, which leave one after the other, then
    all compute equally long; each is up to 2 ms late. Rank 0 computes while its pieces leave."""
    chance = random.Random(1)
    transfer = machine.latency + 2**17 * machine.per_byte
    patterns = []
    for _ in range(draws):
        turns = list(range(1, 8))
        if not in_sequence:
            chance.shuffle(turns)
        patterns.append([turn * transfer + chance.uniform(0, 2e-3) for turn in [0, *turns]])
    return patterns


def fft_times(
    in_sequence: bool, names: list[str], machine: Machine
) -> dict[str, tuple[float, float]]:
    """Mean run and elapsed time in ms of each algorithm."""
    arrivals = fft_arrivals(in_sequence, machine, 4 * DRAWS)
    found = {}
    for name in names:
        runs, elapsed = zip(*run_times("gather", name, 2**17, arrivals, machine), strict=True)
        found[name] = (mean(runs), mean(elapsed))
    return found


def _fft(context: Context, done: Callable[[], None]) -> Result:
    document = published("proficz")
    machine = network(document["network"])
    rows = document["fft_ms"]
    names = [name for name in rows if name != "native"]

    def against_ls(of: dict[str, Any], totals: dict[str, float] | None = None) -> list[Numbers]:
        found = []
        for name in [*names[1:], "native"]:
            numbers = {"LS": of["LS"][0], _ROW: of[name][0], f"{_ROW}, elapsed": of[name][1]} if name in of else {}
            if totals:
                numbers |= {"LS, total in s": totals["LS"], f"{_ROW}, total in s": totals[name]}
            found.append(numbers)
        return found

    views = []
    for sequence in (True, False):
        found = context.result(fft_times, sequence, names, machine)
        done()
        where = f"pieces sent in {'rank' if sequence else 'random'} sequence"
        note = (
            "Each rank's computation begins when its piece has come, so arrivals are a transfer apart: "
            "BSLS and SLS follow them, the trees' inner ranks wait for later ones, and LS stalls on "
            "each rank that comes out of sequence. The published LS of 12 ms lies between both "
            "sequences; the text does not say which the program had. The MPI's own is LS, as the paper says, "
            "so that its row compares nothing here."
        )
        views.append(View("own simulator", where, against_ls(found), [note] if sequence else []))
    for lab in context.documents("lab-fft-openmpi-8.json", "tutti-lab-fft/1"):
        times = lab["times"]
        measured = {name: [mean(each[part] for each in times[name]) for part in (1, 2)] for name in rows}
        totals = {name: sum(each[0] for each in times[name]) for name in rows}
        best = min(names, key=lambda name: totals[name])
        note = (
            "8 ranks of 2 threads on 2 cores: half of the run time is spread that the machine adds, "
            "larger than the differences between the algorithms. The total of "
            f"{lab['iterations']:,} iterations is least with {best}, {totals[best]:.1f} s, "
            f"{_percent(totals[best], totals['LS'])} of LS's; published, it is least with SLS, "
            f"{_percent(rows['SLS'][0], rows['LS'][0])} of LS's."
        )
        where = f"8 emulated nodes, {measured_with([lab])}"
        views.append(View("lab", where, against_ls(measured, totals), [note]))
    theirs = against_ls({name: row[1:] for name, row in rows.items()},
                        {name: row[0] / 1000 for name, row in rows.items()})  # fmt: skip
    return Result([*names[1:], "MPI's own"], theirs, views)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def tables(context: Context) -> list[Table]:
    """Tables 3 to 5, the example of section 5.2, and figures 14 to 20."""
    document = published("proficz")
    delays, sizes, processes = (document[key] for key in ("delays_ms", "kilofloats", "processes"))

    def by_delay(collective: str) -> list[Cell]:
        return [(collective, SHOWN_SIZE, delay, 48) for delay in delays]

    by_size: list[Cell] = [("scatter", size, SHOWN_DELAY, 48) for size in sizes]
    by_processes: list[Cell] = [("scatter", SHOWN_SIZE, SHOWN_DELAY, ranks) for ranks in processes]
    grids = [
        Grid(f"table-{number}", f"Table {number}: {' and '.join(CONTENDERS[collective])}, 48 processes",
             [(collective, size, delay, 48) for size in sizes for delay in delays])
        for number, collective in ((3, "scatter"), (4, "gather"))
    ]  # fmt: skip
    figures: list[tuple[str, str, list[Cell], str, int]] = [
        ("14", "Scatter of 2 Mi floats", by_delay("scatter"), "run", 2),
        ("15", "Gather of 2 Mi floats", by_delay("gather"), "run", 2),
        ("16", "Scatter with delays up to 50 ms", by_size, "run", 1),
        ("17", "Scatter of 2 Mi floats, delays up to 50 ms", by_processes, "run", 3),
        ("18", "Elapsed times of scatters of 2 Mi floats", by_delay("scatter"), "elapsed", 2),
        ("19", "Elapsed times of scatters with delays up to 50 ms", by_size, "elapsed", 1),
        ("20", "Elapsed times of gathers of 2 Mi floats", by_delay("gather"), "elapsed", 2),
    ]  # fmt: skip
    grids += [Grid(f"figure-{name}", f"Figure {name}: {what}", cells, measure, along)
              for name, what, cells, measure, along in figures]  # fmt: skip
    made = [
        Table("proficz", grid.name, grid.title, CONTENDERS[grid.collective], "ms", len(grid.cells),
              lambda done, g=grid: _grid(context, g, done))  # type: ignore[misc]
        for grid in grids
    ]  # fmt: skip
    example = Table("proficz", "example", "Example of section 5.2: scatter of 2 Mi floats", None, "ms",
                    2, lambda done: _example(context, done))  # fmt: skip
    fft = Table("proficz", "table-5", "Table 5: gathers of the parallel FFT, 8 processes", ("LS", _ROW),
                "ms", 2, lambda done: _fft(context, done))  # fmt: skip
    return [*made[:2], example, fft, *made[2:]]
