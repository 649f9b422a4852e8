"""Proficz 2020: scatters and gathers whose ranks arrive at random times, and the parallel FFT."""

from __future__ import annotations

import random
from collections.abc import Callable
from statistics import mean
from typing import Any

from tutti._engine import Call, Machine
from tutti.statistics import quotient_interval
from tutti_reproduce.tables import Context, Numbers, Plot, Result, Table, View, network, published

FLOAT = 4
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
_EAGER_NOTE = (
    "Blocks under 64 KiB (128 to 512 Ki floats) are eager in Open MPI: LIN and SLIN then do not wait "
    "for late ranks, and BSLN gains nothing, published and here."
)

_TURNS_NOTE = (
    "48 ranks take turns on 2 cores here: the 47 handshakes of LS and BSLS take 90 ms and more even with "
    "small blocks. So BSLS gains most where delays are as long (50 and 100 ms), with small blocks not at "
    "5 and 10 ms as published."
)

Cell = tuple[str, int, float, int]
"""Collective, size in Ki floats, largest delay in ms, number of processes."""


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
    """Mean run times in ms, and the half-width of the compared factor."""
    collective, size, delay, ranks = cell
    chance = random.Random(1)  # All cells have the same arrivals, but for scale and number.
    shares = [[chance.random() for _ in range(_MOST_RANKS)] for _ in range(DRAWS if delay else 1)]
    arrivals = [[delay / 1000 * share for share in each[:ranks]] for each in shares]
    block = size * 1024 // ranks * FLOAT
    times = {
        name: [run for run, _ in run_times(collective, name, block, arrivals, machine)]
        for name in ALGORITHMS[collective]
    }
    first, second = CONTENDERS[collective]
    return {"ms": {name: mean(each) for name, each in times.items()},
            "spread": quotient_interval(times[first], times[second]) if delay else 0.0}  # fmt: skip


def _published(cell: Cell) -> Numbers:
    """The quotient of table 3 or 4; empty if the paper has none."""
    document = published("proficz")
    collective, size, delay, ranks = cell
    if ranks != document["nodes"] or delay not in document["delays_ms"]:
        return {}
    row, column = document["kilofloats"].index(size), document["delays_ms"].index(delay)
    table = document[collective]
    return {"difference, ms": table["difference_ms"][row][column],
            "factor": table["quotient"][row][column]}  # fmt: skip


def _lab(context: Context, collective: str, nodes: int) -> dict[tuple[int, float], dict[str, list[float]]]:
    """Samples in ms by size in Ki floats and delay, then by algorithm; the paper's rate of 1 Gbit/s."""
    found = {}
    for document in context.documents(f"lab-{collective}-openmpi-{nodes}-1000mbit-*ms.json"):
        delay = document["metadata"]["delay"].removeprefix("uniform:").removesuffix("ms")
        for row in document["rows"]:
            size = round(row["bytes"] / FLOAT / 1024)
            found[size, 0.0 if delay == "none" else float(delay)] = {
                line["name"]: [us / 1000 for us in line["samples_us"]]
                for line in row["algorithms"]
                if line["name"] in ALGORITHMS[collective]
            }
    return found


def _best(cells: list[Cell], numbers: list[Numbers]) -> str:
    """Which algorithm is fastest in how many cells, with those within 1 % of it."""
    wins = dict.fromkeys(ALGORITHMS[cells[0][0]], 0)
    for each in numbers:
        for name in wins:
            wins[name] += each[name] <= 1.01 * min(each[other] for other in wins)
    listed = ", ".join(f"{name} {count}" for name, count in sorted(wins.items(), key=lambda w: -w[1]))
    return f"Fastest or within 1 % of it, of {len(numbers)} cells: {listed}."


def _grid(
    context: Context, cells: list[Cell], along: int, title: str, done: Callable[[], None]
) -> Result:
    """Cells, and if they have a title, their plot over the cell's part `along`."""
    collective = cells[0][0]
    machine = network(published("proficz")["network"])
    results = []
    for cell in cells:
        results.append(context.result(simulated, cell, machine))
        done()
    numbers = [result["ms"] for result in results]
    where = f"1 Gbit/s, {machine.latency * 1e6:.0f} us, {DRAWS} random arrivals a cell"
    notes = [_best(cells, numbers)]
    if collective == "scatter" and not title:
        notes.append(_EAGER_NOTE)
    elif not title:
        notes.append(
            "The published BSLS at 50 ms and 2 Mi floats (55.5 ms, from difference and quotient) is "
            "shorter than the 65.7 ms that its bytes need on the root's link after the first arrival: "
            "a factor of 2.52 cannot be had. LS takes 136 ms there without delays, twice the link's "
            "time: the paper blames collisions in its switch, which no model here has; hence its "
            "gains and losses at 1 and 2 Mi floats."
        )
    views = [View("own simulator", where, numbers, notes, [result["spread"] for result in results])]
    lab = _lab(context, collective, 48)
    if lab:
        samples = [lab.get((cell[1], cell[2]), {}) if cell[3] == 48 else {} for cell in cells]
        first, second = CONTENDERS[collective]
        measured = [{name: mean(each) for name, each in line.items()} for line in samples]
        counts = [len(line[first]) for line in samples if first in line]
        whole = [line for line in measured if line.keys() >= set(ALGORITHMS[collective])]
        notes = [_best(cells, whole)] if whole else []
        if collective == "gather" and not title:
            notes.append(_TURNS_NOTE)
        if counts:
            notes.insert(0, f"{min(counts)} to {max(counts)} repetitions; ± is the factor's 95 % "
                         "interval by Student's t.")  # fmt: skip
        views.append(View(
            "lab", "48 emulated nodes, 1 Gbit/s, Open MPI 4.1.4",
            measured, notes,
            [quotient_interval(line[first], line[second]) if first in line and second in line else 0.0
             for line in samples],
        ))  # fmt: skip
    x_label = {1: "Ki floats", 2: "largest delay in ms", 3: "processes"}[along]
    plots = [
        Plot(
            title, x_label, "run time in ms",
            {name: [(float(cell[along]) or 0.5, each[name])  # type: ignore[arg-type]
                    for cell, each in zip(cells, numbers, strict=True)]
             for name in ALGORITHMS[collective]},
        )
    ] if title else []  # fmt: skip
    problems = [
        f"{size} Ki floats, {delay:g} ms" + (f", p = {ranks}" if along == 3 else "")
        for _, size, delay, ranks in cells
    ]
    return Result(problems, [_published(cell) for cell in cells], views, plots)


def _example(context: Context, done: Callable[[], None]) -> Result:
    machine = network(published("proficz")["network"])
    theirs = published("proficz")["example_ms"]
    numbers = []
    for delay in (0, SHOWN_DELAY):
        result = context.result(simulated, ("scatter", SHOWN_SIZE, delay, 48), machine)
        numbers += [{"value": result["ms"][name]} for name in ("LIN", "SLIN", "BSLN")]
        done()
    views = [View("own simulator", "1 Gbit/s", numbers)]
    lab = _lab(context, "scatter", 48)
    if lab:
        measured = [
            {"value": mean(lines[name])} if name in lines else {}
            for lines in (lab.get((SHOWN_SIZE, delay), {}) for delay in (0.0, 50.0))
            for name in ("LIN", "SLIN", "BSLN")
        ]
        views.append(View("lab", "48 emulated nodes, 1 Gbit/s, Open MPI 4.1.4", measured))
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
    names = [name for name in document["fft_ms"] if name != "native"]

    def against_ls(of: dict[str, Any]) -> list[Numbers]:
        return [{"LS": of["LS"][0], "row's": of[name][0], "row's elapsed time": of[name][1]}
                for name in names[1:]]  # fmt: skip

    views = []
    for sequence in (True, False):
        found = context.result(fft_times, sequence, names, machine)
        done()
        where = f"pieces sent in {'rank' if sequence else 'random'} sequence"
        note = (
            "Each rank's computation begins when its piece has come, so arrivals are a transfer apart: "
            "BSLS and SLS follow them, the trees' inner ranks wait for later ones, and LS stalls on "
            "each rank that comes out of sequence. The published LS of 12 ms lies between both "
            "sequences; the text does not say which the program had."
        )
        views.append(View("own simulator", where, against_ls(found), [note] if sequence else []))
    for lab in context.documents("lab-fft-openmpi-8.json"):
        measured = {
            name: [mean(each[part] for each in lab["times"][name]) for part in (1, 2)] for name in names
        }
        note = (
            "8 ranks of 2 threads on 2 cores: half of the run time is spread that the machine adds, "
            "larger than the differences between the algorithms."
        )
        views.append(View("lab", "8 emulated nodes, 1 Gbit/s, Open MPI 4.1.4", against_ls(measured), [note]))
    rows = document["fft_ms"]
    theirs = against_ls({name: row[1:] for name, row in rows.items()})
    for name, numbers in zip(names[1:], theirs, strict=True):
        numbers["row's total, s"] = rows[name][0] / 1000
    return Result(names[1:], theirs, views)


def tables(context: Context) -> list[Table]:
    """Tables 3 to 5, the example of section 5.2, and figures 14 to 17."""
    document = published("proficz")
    delays, sizes, processes = (document[key] for key in ("delays_ms", "kilofloats", "processes"))
    grids: list[tuple[str, str, list[Cell], int, str]] = [
        (f"table-{number}", f"Table {number}: {' and '.join(CONTENDERS[collective])}, 48 processes",
         [(collective, size, delay, 48) for size in sizes for delay in delays], 2, "")
        for number, collective in ((3, "scatter"), (4, "gather"))
    ]  # fmt: skip
    figures: list[tuple[str, str, list[Cell], int]] = [
        ("14", "Scatter of 2 Mi floats", [("scatter", SHOWN_SIZE, delay, 48) for delay in delays], 2),
        ("15", "Gather of 2 Mi floats", [("gather", SHOWN_SIZE, delay, 48) for delay in delays], 2),
        ("16", "Scatter with delays up to 50 ms", [("scatter", size, SHOWN_DELAY, 48) for size in sizes], 1),
        ("17", "Scatter of 2 Mi floats, delays up to 50 ms",
         [("scatter", SHOWN_SIZE, SHOWN_DELAY, ranks) for ranks in processes], 3),
    ]  # fmt: skip
    for name, what, cells, along in figures:
        title = f"Figure {name}: {what}"
        grids.append((f"figure-{name}", title, cells, along, title))
    made = [
        Table(
            "proficz", name, title, CONTENDERS[cells[0][0]], "ms", len(cells),
            lambda done, c=cells, a=along, t=figure: _grid(context, c, a, t, done),  # type: ignore[misc]
        )
        for name, title, cells, along, figure in grids
    ]  # fmt: skip
    example = Table("proficz", "example", "Example of section 5.2: scatter of 2 Mi floats", None, "ms",
                    2, lambda done: _example(context, done))  # fmt: skip
    fft = Table("proficz", "table-5", "Table 5: gathers of the parallel FFT, 8 processes", ("LS", "row's"),
                "ms", 2, lambda done: _fft(context, done))  # fmt: skip
    return [*made[:2], example, fft, *made[2:]]
