#!/usr/bin/env python3
"""Prints ./demo's summary: the seconds natively and under Tutti, and why they differ.

    tools/demo_summary.py WHERE FOLDER ROUNDS

FOLDER has the reports off-N.json of native runs and on-N.json of runs under Tutti, the program's
output on.bin, and the page of the last report.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path
from statistics import median
from typing import Any

from tutti.console import percent

WIDTH = 80
MAX_REASONS = 3
MIN_GAIN = 0.05
"""Below this share, so few rounds show no difference."""

Report = dict[str, Any]


def report_of(path: Path) -> Report:
    """A report; the first part if the library wrote several."""
    part: Report = json.loads(path.read_text().splitlines()[0])
    return part


def row(name: str, native: list[float], tutti: list[float]) -> str:
    """A line of the table: medians, in brackets the shortest and the longest of several."""

    def cell(seconds: list[float]) -> str:
        if len(seconds) == 1:
            return f"{seconds[0]:.2f}"
        return f"{median(seconds):.2f} ({min(seconds):.2f}..{max(seconds):.2f})"

    saved = 1 - median(tutti) / median(native)
    return f"{name:<16}{cell(native):>22}{cell(tutti):>22}{percent(saved):>10}"


def reasons(report: Report) -> list[str]:
    """Why Tutti was faster: its replaced calls with the most time, one line for each collective."""
    ran = [call for call in report["calls"] if call["algorithm"] != "native"
           and call.get("explored", 0) < call["calls"]]  # fmt: skip
    lines: dict[str, str] = {}
    for call in sorted(ran, key=lambda one: -one["elapsed"]["sum"]):
        text = f"{call['collective']}: {call['algorithm']}: {call['reason']}"
        lines.setdefault(call["collective"], text)
    return list(lines.values())[:MAX_REASONS]


def closing(native: list[float], tutti: list[float], report: Report) -> str:
    """One sentence: what was gained and why, or that nothing was and what would be needed."""
    saved = 1 - median(tutti) / median(native)
    if not reasons(report):
        chance = " The difference is the machine's load." if abs(saved) >= MIN_GAIN else ""
        return (
            "Nothing is gained here: Tutti measured no candidate to be faster beyond doubt, and left "
            f"the calls to the MPI.{chance} A gain needs several nodes, emulated ones too, and hundreds "
            "of calls, or a measurement beforehand (tutti tune)."
        )
    if saved < -MIN_GAIN:
        return f"A loss: collectives take {percent(-saved)} longer under Tutti. TUTTI=off switches it off."
    if saved < MIN_GAIN:
        return "These runs show no difference, though Tutti replaced calls:"
    # Both ranges must be apart to speak of a gain.
    sure = "" if max(tutti) < min(native) else ", though the ranges overlap"
    return f"Collectives take {percent(saved)} less time under Tutti{sure}. Why:"


def summary(where: str, native: list[Report], tutti: list[Report], size: int) -> list[str]:
    """The lines of the summary, each at most WIDTH long."""
    last = tutti[-1]
    times = {
        name: ([pick(one) for one in native], [pick(one) for one in tutti])
        for name, pick in (
            ("in collectives", lambda one: one["seconds"]["mean"]),
            ("in all", lambda one: one["wall"]),
        )
    }
    lines = textwrap.wrap(f"{last['mpi']}, {last['ranks']} ranks on {where}", WIDTH)
    lines.append(f"output of all {2 * len(native)} runs, {size:,} bytes: identical")
    lines += ["", f"{'seconds':<16}{'native':>22}{'Tutti':>22}{'saved':>10}"]
    lines += [row(name, *both) for name, both in times.items()]
    lines += ["", *textwrap.wrap(closing(*times["in collectives"], last), WIDTH)]
    if lines[-1].endswith(":"):
        for reason in reasons(last):
            lines += textwrap.wrap(reason, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines


def next_steps(folder: Path, mpi: str, cores: int, is_root: bool) -> list[str]:
    """The report, and the command for the user's own program, which Open MPI starts neither as root
    nor with more ranks than cores."""
    own = f"build/demo/bin/tutti run --compare -- mpirun -n {min(4, cores)} ./your-program"
    lines = ["", f"Report: {folder}/report.html", f"Your own program: {own}"]
    if is_root and mpi.startswith("Open MPI"):
        lines += ["As root, before: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
    return lines


def main(where: str, folder: Path, rounds: int) -> None:
    """Prints the summary of a folder of reports."""
    arms = [[report_of(folder / f"{arm}-{number + 1}.json") for number in range(rounds)]
            for arm in ("off", "on")]  # fmt: skip
    lines = summary(where, *arms, (folder / "on.bin").stat().st_size)
    cores = len(os.sched_getaffinity(0))
    print("\n".join(lines + next_steps(folder, arms[0][0]["mpi"], cores, os.geteuid() == 0)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
