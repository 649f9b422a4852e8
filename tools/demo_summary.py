#!/usr/bin/env python3
"""Prints ./demo's summary for one MPI: times alone and under Tutti, algorithms, gain and reason.

    tools/demo_summary.py NAME ALONE UNDER_TUTTI REPORT

ALONE and UNDER_TUTTI have the seconds of one run per line; REPORT is a report in JSON.
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from statistics import median
from typing import Any

WIDTH = 80
MAX_CALLS = 6


def seconds_in(path: Path) -> list[float]:
    """The times of all runs."""
    return [float(line) for line in path.read_text().split()]


def calls_in(path: Path) -> list[dict[str, Any]]:
    """The lines of a report, longest total time first."""
    reports = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    calls = [call for report in reports for call in report["calls"]]
    return sorted(calls, key=lambda call: -call["calls"] * call["seconds"]["mean"])


def times(name: str, seconds: list[float]) -> str:
    """A line of the table of times."""
    numbers = "".join(f"{one:11.6f}" for one in (median(seconds), min(seconds), max(seconds)))
    return f"  {name:28}{numbers}"


def gain(alone: list[float], under: list[float]) -> str:
    """The gain as text: faster or slower only if all runs of one are faster than all of the other."""
    ratio = median(alone) / median(under)
    if max(under) < min(alone):
        return f"snapshots are {ratio:.2f} times faster"
    if min(under) > max(alone):
        return f"snapshots are {1 / ratio:.2f} times slower, a loss"
    return f"these runs show no significant difference (native / Tutti {ratio:.2f})"


def cause(calls: list[dict[str, Any]]) -> str:
    """The reason of the gain, from the line with the longest time that explains it."""
    replaced = [call for call in calls if call["algorithm"] != "native"]
    if not calls:
        return "no call reached Tutti"
    first = (replaced or calls)[0]
    what = f"{first['collective']}: {first['algorithm']}: {first['reason']}"
    if not replaced:
        return f"Tutti left all calls to the MPI ({what})"
    names = ", ".join(dict.fromkeys(call["collective"] for call in replaced))
    return f"Tutti ran {names} itself ({what})"


def summary(
    name: str, alone: list[float], under: list[float], calls: list[dict[str, Any]]
) -> list[str]:
    """The lines of the summary, each at most WIDTH long."""
    heads = "".join(f"{head:>11}" for head in ("median", "minimum", "maximum"))
    lines = [f"  {'seconds in snapshots':28}{heads}", times(f"{name} alone", alone)]
    lines += [times("with Tutti", under)]
    for call in calls[:MAX_CALLS]:
        text = f"{call['calls']} {call['collective']}: {call['algorithm']}: {call['reason']}"
        lines.append("  " + textwrap.shorten(text, WIDTH - 2, placeholder=" .."))
    if len(calls) > MAX_CALLS:
        lines.append(f"  .. and {len(calls) - MAX_CALLS} more lines in the report")
    sentence = f"{name}: {gain(alone, under)}: {cause(calls)}."
    return [*lines, *textwrap.wrap(sentence, WIDTH)]


if __name__ == "__main__":
    name, alone, under, report = sys.argv[1:]
    print("\n".join(summary(name, seconds_in(Path(alone)), seconds_in(Path(under)),
                            calls_in(Path(report)))))  # fmt: skip
