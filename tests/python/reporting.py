"""Reports of artificial calls, in the library's format."""

from __future__ import annotations

import json
from pathlib import Path


def pattern_of(delays: list[list[float]]) -> dict:
    """The pattern of gathers to rank 0 in which all ranks move data for 1 ms at the end."""
    ranks, calls = len(delays[0]), len(delays)
    spreads = [max(call) for call in delays]
    waiting = [0.0] * ranks
    last = [0] * ranks
    for call, spread in zip(delays, spreads, strict=True):
        waiting[0] += (spread - call[0]) / calls
        last[call.index(spread)] += 1
    return {
        "communicators": 1,
        "ranks": list(range(ranks)),
        "calls": [2 * call for call in range(calls)],
        "roots": [0] * calls,
        "begins": [float(call) for call in range(calls)],
        "delays": delays,
        "elapsed": [
            [spread - late + 0.001 for late in call]
            for call, spread in zip(delays, spreads, strict=True)
        ],
        "ahead": None,
        "progress_hint": None,
        "waiting": waiting,
        "held": [0.0] * ranks,
        "moving": [0.001] * ranks,
        "mean_delay": [sum(rank) / calls for rank in zip(*delays, strict=True)],
        "last": last,
    }


def line_of(delays: list[list[float]] | None, **changes: object) -> dict:
    """A line of a report; without delays, a line without times."""
    pattern = pattern_of(delays) if delays else None
    calls = len(delays) if delays else 3
    return {
        "collective": "gather",
        "site": "app: main+0x10",
        "other_sites": [],
        "calls": calls,
        "bytes": 4096 * calls * (len(delays[0]) if delays else 4),
        "irregularity": {"mean": 1.0, "max": 1.0},
        "algorithm": "native",
        "reason": "no gain",
        "seconds": {"mean": 0.25, "max": 0.5} if pattern else None,
        "elapsed": {"mean": 0.125, "sum": 0.125 * calls},
        "spread": {"median": 0.02, "max": 0.04} if pattern else None,
        "moving": {"mean": 0.001} if pattern else None,
        "spread_note": "" if pattern else "unknown: clocks of 2 nodes are not synchronised",
        "parts": {"calls": calls, "waiting": 0.0123, "held": 0.0, "moving": 0.001}
        if pattern
        else None,
        "late": "rank 2 is last in 90 % of 10 calls, 41.0 ms behind the first" if pattern else None,
        "pattern": pattern,
        **changes,
    }


def candidate_of(name: str, median: float | None, state: str) -> dict:
    """A candidate of a case, with 16 calls if it has a median."""
    known = median is not None
    return {
        "name": name,
        "state": state,
        "why": f"because it is {state}",
        "calls": 16 if known else 0,
        "median": median,
        "interval": [median / 2, median * 2] if median is not None else None,
        "confidence": 0.979 if known else None,
    }


def case_of(**changes: object) -> dict:
    """A case of 25 gathers in which a hierarchical candidate was selected."""
    return {
        "collective": "gather",
        "ranks": 4,
        "bytes": [2049, 4096],
        "selected": "hierarchical(scatter_allgather,leaders=1)",
        "reason": "measured 2.5x faster than the MPI's own over 16 calls",
        "evidence": "this run",
        "calls": 25,
        "explored": 5,
        "saved": 0.12,
        "saved_interval": [-0.06, 0.36],
        "exploring": 0.25,
        "on_table": {"candidate": "binomial", "seconds": 0.09, "why": "its gain is below 3 %"},
        "sites": [{"site": "app: main+0x10", "calls": 25}],
        "candidates": [
            candidate_of("native", 0.01, "slower"),
            candidate_of("hierarchical(scatter_allgather,leaders=1)", 0.004, "selected"),
            candidate_of("binomial", 0.003, "small gain"),
            candidate_of("linear", None, "not explored"),
        ],
        **changes,
    }


def write_report(
    folder: Path, *lines: dict, cases: list[dict] | None = None, ranks: int = 4
) -> str:
    """The name of a file with a report that has these lines, and cases of tuning."""
    path = folder / "report.json"
    head = {"format": 2, "tutti": "0.1.0", "mpi": "MPICH 4", "ranks": ranks, "nodes": 1}
    more = {"clock_error": 0, "clock": "all ranks read the same clock", "partial": False}
    tuning = {"seconds": 1.5, "saved": 0.06, "exploring": 0.125, "left_out": 0, "method": "median",
              "cases": cases}  # fmt: skip
    section = {"tuning": tuning} if cases is not None else {}
    path.write_text(json.dumps({**head, **more, "calls": list(lines), **section}))
    return str(path)


def late_rank(ranks: int, calls: int, late: int, seconds: float = 0.041) -> list[list[float]]:
    """Delays in which one rank is late, except in every tenth call."""
    row = [seconds if rank == late else 0.0 for rank in range(ranks)]
    return [row if call % 10 != 9 else [0.0] * ranks for call in range(calls)]


def tuning() -> dict:
    """The section of measured candidates, as the library writes it."""
    def candidate(name, median, interval, state):
        return {"name": name, "state": state, "why": f"it is {state}", "calls": 12 if median else 0,
                "median": median, "interval": interval,
                "confidence": 0.96 if interval else None}  # fmt: skip

    candidates = [
        candidate("native", 0.002, [0.0018, 0.0025], "slower"),
        candidate("ring", 0.001, [0.0009, 0.0011], "selected"),
        candidate("bruck", None, None, "unexplored"),
    ]
    case = {
        "collective": "allgather", "ranks": 4, "bytes": [65, None], "selected": "ring",
        "reason": "2.0 times as fast", "evidence": "this run", "calls": 90, "explored": 9,
        "saved": 0.081, "saved_interval": [-0.004, 0.1], "exploring": 0.003,
        "sites": [{"site": "app: main+0x10", "calls": 90}],
        "on_table": {"candidate": "ring", "seconds": 0.01, "why": "calls before it was selected"},
        "candidates": candidates,
    }  # fmt: skip
    return {"seconds": 1.0, "saved": 0.081, "exploring": 0.003, "left_out": 0,
            "method": "median of the latest 32 calls", "cases": [case]}  # fmt: skip
