#!/usr/bin/env python3
"""Tutti's time models against SimGrid and LogGOPSim on the same calls, and the page of it.

    bench/referees.py run PROGRAM FOLDER SAMPLES
    bench/referees.py page SAMPLES docs/results/referees.md

PROGRAM is tutti-selection of a build with SimGrid and -DTUTTI_BENCH=ON; FOLDER has LogGOPSim and
txt2bin, built from LogGOPSim's source.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean

import lab_page
import selection_runs

from tutti import Call, Machine
from tutti.schedules.files import to_goal

RANKS = 48
LATENCY, OVERHEAD, BANDWIDTH = 1000, 1000, 1
"""Nanoseconds of a link, of which a message crosses 2, and at each processor; bytes per ns."""
SIZES = (8, 1000, 20000)
COLLECTIVES = ("gather", "scatter", "bcast", "allgather", "alltoall", "barrier", "reduce",
               "allreduce", "reduce_scatter_block")  # fmt: skip
CLOSE = 0.15
MODELS = {"loggp": "LogGP", "overlapped": "overlapped Hockney", "simulate": "one port, Hockney"}
"""Call.price() by model, and Call.simulate()."""


def machine() -> Machine:
    """The machine of all: start-ups of LogGP, without a gap beyond the overhead."""
    made = Machine()
    made.latency = (2 * LATENCY + 2 * OVERHEAD) * 1e-9
    made.overhead = made.gap = OVERHEAD * 1e-9
    made.per_byte = 1e-9 / BANDWIDTH
    return made


def in_simgrid(program: str, collective: str) -> dict[tuple[str, int], float]:
    """Seconds by algorithm and bytes."""
    text = f"switch:{RANKS}:bandwidth={BANDWIDTH}G,latency={LATENCY}ns,overhead={OVERHEAD}ns"
    sizes = "8" if collective == "barrier" else ",".join(map(str, SIZES))
    lines = selection_runs.lines((program, "each", f"{collective}:{sizes}"), text, 1)
    return {(line["algorithm"], line["bytes"]): line["last"] for line in lines}


def in_loggopsim(folder: Path, call: Call) -> float:
    """Seconds until the last rank has finished."""
    with tempfile.TemporaryDirectory() as made:
        text, binary = Path(made) / "call.goal", Path(made) / "call.bin"
        text.write_text(to_goal(call))
        subprocess.run([folder / "txt2bin", "-i", text, "-o", binary], check=True,
                       capture_output=True)  # fmt: skip
        done = subprocess.run(
            [folder / "LogGOPSim", "-f", binary, "-L", str(2 * LATENCY), "-o", str(OVERHEAD),
             "-g", str(OVERHEAD), "-G", str(1 // BANDWIDTH), "-O", "0", "-S", "1000000000"],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    return max(map(int, re.findall(r"(?:Host|host) \d+: (\d+)", done))) * 1e-9


def run(program: str, folder: Path, file: Path) -> None:
    """Measures all cells and writes them."""
    lab_page.refuse_unwritable(file)
    samples = []
    for collective in COLLECTIVES:
        measured = in_simgrid(program, collective)
        for (algorithm, size), seconds in measured.items():
            try:
                call = Call(collective, [size] * RANKS, 0, algorithm, machine())
            except ValueError as fault:
                print(f"{collective} {algorithm}: {fault}", file=sys.stderr)
                continue
            samples.append({"collective": collective, "algorithm": algorithm, "bytes": size,
                            "simgrid": seconds, "loggopsim": in_loggopsim(folder, call)})  # fmt: skip
    file.write_text(json.dumps(samples, indent=1) + "\n")


def with_models(cell: dict) -> dict:
    """A cell with the times of Tutti's models."""
    call = Call(cell["collective"], [cell["bytes"]] * RANKS, 0, cell["algorithm"], machine())
    prices = {model: call.price(model) for model in MODELS if model != "simulate"}
    return {**cell, **prices, "simulate": call.simulate().run_time}


def summary(samples: list[dict]) -> list[str]:
    """A row for each pair of a model and a referee."""
    rows = []
    pairs = [(model, referee) for referee in ("loggopsim", "simgrid") for model in MODELS]
    for model, referee in [*pairs, ("loggopsim", "simgrid")]:
        if referee == "loggopsim" and model != "loggp":
            continue
        ratios = [cell[model] / cell[referee] for cell in samples]
        near = sum(abs(ratio - 1) <= CLOSE for ratio in ratios)
        rows.append([
            MODELS.get(model, "LogGOPSim"), "SimGrid" if referee == "simgrid" else "LogGOPSim",
            str(len(ratios)), f"{near} ({near / len(ratios):.0%})",
            *(f"{value:.2f}" for value in (min(ratios), geometric_mean(ratios), max(ratios))),
        ])  # fmt: skip
    titles = ["model", "referee", ">cells", ">within 15 %", ">model / referee: least",
              ">geometric mean", ">most"]  # fmt: skip
    return lab_page.table(titles, rows)


def table(samples: list[dict]) -> list[str]:
    """A row for each cell, in microseconds."""
    titles = ["collective", "algorithm", ">bytes", ">SimGrid", ">LogGOPSim", ">LogGP", ">overlapped",
              ">one port", ">LogGP / LogGOPSim", ">LogGP / SimGrid"]  # fmt: skip
    rows = []
    for cell in samples:
        times = [cell[name] for name in ("simgrid", "loggopsim", *MODELS)]
        ratios = [cell["loggp"] / cell["loggopsim"], cell["loggp"] / cell["simgrid"]]
        rows.append([
            cell["collective"], f"`{cell['algorithm']}`", f"{cell['bytes']:,}",
            *(f"{1e6 * time:,.1f}" for time in times),
            *(f"{r:.2f}" if abs(r - 1) <= CLOSE else f"**{r:.2f}**" for r in ratios),
        ])  # fmt: skip
    return lab_page.table(titles, rows)


def main(words: list[str]) -> int:
    """Runs `run` or `page`."""
    if words[:1] == ["run"] and len(words) == 4:
        run(words[1], Path(words[2]), Path(words[3]))
        return 0
    if words[:1] == ["page"] and len(words) == 3:
        samples = [with_models(cell) for cell in json.loads(Path(words[1]).read_text())]
        lines = ["## Summary", "", *summary(samples), "", "## Cells", "", *table(samples)]
        lab_page.write(lines, Path(words[2]))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    lab_page.main(lambda: main(sys.argv[1:]))
