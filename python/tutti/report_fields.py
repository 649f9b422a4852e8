"""The fields of a report that commands read; docs/report.md describes all."""

from __future__ import annotations

from typing import Any

from tutti.fields import COUNT, FLAG, INTEGER, TEXT, Maybe, Value, fault_of

FORMER = {"delays": "lateness", "mean_delay": "mean_lateness", "progress_hint": "edge"}
"""The names of renamed fields in format 1."""

NUMBER = Value("a number up to 1e30", lambda value: type(value) in (int, float) and abs(value) <= 1e30)
"""Sums and ratios of these are finite; NaN is not among them."""
_DIVISOR = Value("a number above 0", lambda value: NUMBER.fits(value) and value > 0)
_SOME = Value("an integer of 1 or more", lambda value: COUNT.fits(value) and value > 0)

_MEAN = {"mean": NUMBER}
_TIMES = [[NUMBER]]
_PATTERN = {
    "communicators": COUNT, "ranks": [INTEGER], "calls": [INTEGER], "roots": [INTEGER],
    "begins": [NUMBER], "delays": _TIMES, "elapsed": _TIMES, "ahead": Maybe([[Maybe(NUMBER)]]),
    "progress_hint": Maybe([[Maybe(NUMBER)]]), "waiting": [NUMBER], "held": [NUMBER],
    "moving": [NUMBER], "mean_delay": [NUMBER], "last": [COUNT],
}  # fmt: skip
_BY_CALL = ("roots", "begins", "delays", "elapsed", "ahead", "progress_hint")
_BY_RANK = ("waiting", "held", "moving", "mean_delay", "last")
_BY_BOTH = ("delays", "elapsed", "ahead", "progress_hint")
_SIZE = {
    "p": _SOME, "bytes": COUNT, "calls": _SOME, "irregularity": _DIVISOR, "seconds": NUMBER,
    "root": INTEGER, "roots": Maybe([(INTEGER, _SOME)]),
}  # fmt: skip
_LINE = {
    "collective": TEXT, "site": TEXT, "other_sites": Maybe([TEXT], null=False), "calls": COUNT,
    "explored": Maybe(COUNT), "bytes": COUNT, "irregularity": Maybe({"mean": NUMBER, "max": NUMBER}), "sizes": Maybe([_SIZE]),
    "other_sizes": Maybe({"calls": COUNT, "rank_seconds": NUMBER}),
    "algorithm": TEXT, "reason": TEXT, "seconds": Maybe(_MEAN), "elapsed": {"mean": NUMBER, "sum": NUMBER},
    "spread": Maybe({"median": NUMBER}), "moving": Maybe(_MEAN), "spread_note": Maybe(TEXT),
    "parts": Maybe({"waiting": NUMBER, "held": NUMBER, "moving": NUMBER}), "late": Maybe(TEXT),
    "pattern": Maybe(_PATTERN),
}  # fmt: skip
_CANDIDATE = {
    "name": TEXT, "state": TEXT, "why": Maybe(TEXT), "calls": COUNT,
    "median": Maybe(NUMBER, missing=False), "interval": Maybe((NUMBER, NUMBER), missing=False),
}  # fmt: skip
_CASE = {
    "collective": TEXT, "ranks": COUNT, "bytes": (COUNT, Maybe(COUNT)), "selected": TEXT,
    "reason": TEXT, "evidence": TEXT, "calls": COUNT, "explored": COUNT, "saved": NUMBER,
    "saved_interval": Maybe((NUMBER, NUMBER)), "exploring": NUMBER,
    "on_table": Maybe({"candidate": TEXT, "seconds": NUMBER, "why": TEXT}, missing=False),
    "sites": [{"site": TEXT, "calls": COUNT}], "candidates": [_CANDIDATE],
}  # fmt: skip
_REPORT = {
    "tutti": Maybe(TEXT), "mpi": Maybe(TEXT), "ranks": Maybe(COUNT), "nodes": Maybe(COUNT),
    "clock": Maybe(TEXT), "partial": Maybe(FLAG), "view": Maybe(TEXT),
    "seconds": Maybe({"mean": Maybe(NUMBER)}, null=False), "wall": Maybe(NUMBER), "program": Maybe(TEXT),
    "modules": Maybe([TEXT], null=False), "notes": Maybe([TEXT], null=False),
    "not_handled": Maybe([{"function": TEXT, "calls": COUNT}], null=False), "calls": [_LINE],
    "tuning": Maybe({
        "seconds": NUMBER, "saved": NUMBER, "exploring": NUMBER, "method": TEXT,
        "left_out": Maybe(COUNT), "left_out_calls": Maybe(COUNT),
        "cases": Maybe([_CASE], null=False),
    }),
}  # fmt: skip


def complete(report: dict[str, Any]) -> None:
    """Gives a report of an earlier format the names and sums of today's, in place."""
    for line in report["calls"]:
        if not isinstance(line, dict):
            continue
        elapsed, calls = line.get("elapsed"), line.get("calls")
        if isinstance(elapsed, dict) and isinstance(elapsed.get("mean"), (int, float)) and isinstance(calls, int):
            elapsed.setdefault("sum", elapsed["mean"] * calls)
        pattern = line.get("pattern")
        for new, former in FORMER.items() if isinstance(pattern, dict) else ():
            if new not in pattern and former in pattern:
                pattern[new] = pattern[former]


def fault_of_report(report: dict[str, Any]) -> str:
    """Where a report lacks what its readers need, such as "calls[2].site: expected a text"; else
    empty."""
    if fault := fault_of(report, _REPORT):
        return fault
    for number, line in enumerate(report["calls"]):
        if line.get("pattern") and (fault := _uneven(line["pattern"])):
            return f"calls[{number}].pattern.{fault}"
    return ""


def _uneven(pattern: dict[str, Any]) -> str:
    """The field of a pattern that has not a value for each call or rank; else empty."""
    calls, ranks = len(pattern["calls"]), len(pattern["ranks"])
    if not calls or not ranks:
        return f"{'calls' if ranks else 'ranks'}: expected 1 or more"
    for names, number in ((_BY_CALL, calls), (_BY_RANK, ranks)):
        for name in names:
            if pattern.get(name) is not None and len(pattern[name]) != number:
                return f"{name}: expected a list of {number}"
    for name in _BY_BOTH:
        if any(len(row) != ranks for row in pattern.get(name) or ()):
            return f"{name}: expected lists of {ranks}"
    return ""
