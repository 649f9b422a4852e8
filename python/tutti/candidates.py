"""The measured candidates in a report, and what their selection saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from tutti import source_lines
from tutti.console import count, duration
from tutti.reports import Site
from tutti.rules import UNKNOWN_SIZES

_NAME = 33


def size_text(limits: Sequence[int | None]) -> str:
    """A class of message sizes: "65 to 128 bytes"."""
    low, high = limits
    if high is None:
        return f"{low:,} bytes and more" if low else "any size"
    return f"{low:,} to {high:,} bytes" if low != high else count(high, "byte")


@dataclass(frozen=True)
class Case:
    """The calls of one collective and message size, and the candidates for them.

    Sizes follow the definition in docs/report.md.
    """

    fields: dict[str, Any] = field(repr=False)
    """The case's JSON object."""

    @property
    def name(self) -> str:
        """The collective, message size and number of ranks."""
        collective, limits = self.fields["collective"], self.fields["bytes"]
        size = size_text(limits)
        if collective in UNKNOWN_SIZES and limits == [0, 0]:
            size += " or not known yet"  # the ranks have not agreed on the mean block
        return f"{collective}, {size}, {count(self.fields['ranks'], 'rank')}"

    @property
    def measured(self) -> list[dict[str, Any]]:
        """The candidates with a measured time."""
        return [one for one in self.fields["candidates"] if one["median"] is not None]

    def median(self, name: str) -> float | None:
        """The median time of a candidate in seconds; None if it was not measured."""
        found = [one["median"] for one in self.fields["candidates"] if one["name"] == name]
        return found[0] if found else None

    def decides(self, site: Site) -> bool:
        """True if a line of the report has calls of this case."""
        line = site.fields
        return self.fields["collective"] == line["collective"] and any(
            one["site"] == line["site"] for one in self.fields["sites"]
        )


def cases_of(reports: list[dict[str, Any]]) -> list[Case]:
    """The cases of all reports, in their sequence. None if a report has no section `tuning`."""
    return [
        Case(case) for report in reports for case in (report.get("tuning") or {}).get("cases", [])
    ]


def restricted(reports: Sequence[dict[str, Any]], kept: Sequence[Site]) -> list[dict[str, Any]]:
    """The reports with these lines only, and the cases that decided calls of them."""
    fields = {id(one.fields) for one in kept}
    parts = []
    for report in reports:
        part = {**report, "calls": [line for line in report["calls"] if id(line) in fields]}
        if known := report.get("tuning"):
            cases = [one for one in known.get("cases", ()) if any(map(Case(one).decides, kept))]
            unknown = {"left_out": None, "left_out_calls": None}  # of which lines they are
            part["tuning"] = {**known, **_sums_of(cases, part), **unknown, "collectives": [], "cases": cases}
        parts.append(part)
    return parts


def _sums_of(cases: list[dict[str, Any]], part: dict[str, Any]) -> dict[str, float]:
    """What these cases saved in the lines of a report, in the mean over its ranks. Cases share it
    among their call sites by calls."""
    lines = {(line["collective"], line["site"]) for line in part["calls"]}
    sums = {"seconds": sum(line["elapsed"]["sum"] for line in part["calls"]), "saved": 0.0, "exploring": 0.0}
    for case in cases:
        calls = sum(at["calls"] for at in case["sites"] if (case["collective"], at["site"]) in lines)
        share = 1 if part.get("partial") else case["ranks"] / (part.get("ranks") or case["ranks"] or 1)
        for name in ("saved", "exploring"):
            sums[name] += case[name] * share * calls / max(1, case["calls"])
    return sums


def _gain(saved: float) -> str:
    return f"lost {duration(-saved)}" if saved < 0 else f"saved {duration(saved)}"


def _bounds(known: dict[str, Any]) -> str:
    ends = known.get("saved_interval")
    return f" ({duration(ends[0])} to {duration(ends[1])})" if ends and known["saved"] else ""


def print_cases(out: Console, cases: list[Case], full: bool, sources: Mapping[str, str]) -> None:
    """Prints what was selected for each case; with `full`, all candidates and their times. `sources`: the
    source lines of call sites."""
    if not cases:
        if full:
            out.print("\nNo candidates were measured: nothing was explored in these calls.")
        return
    out.print("\n[bold]candidates[/], times of each rank")
    for case in cases:
        _print_case(out, case, sources)
        if full:
            _print_candidates(out, case)
    more = "" if full else "; --candidates shows all times"
    out.print(
        "[dim]median: of at most the latest 32 calls noted, time after the last arrival (rooted, "
        "irregular and scans without a common clock: mean of the longest and the mean elapsed time); interval: holds the "
        "median with 95 % or more, by order statistics; saved: calls times the difference of medians, in brackets by the ends of "
        "their intervals; on the table: what the fastest "
        f"measured candidate would have saved beyond that{more}.[/]"
    )


def _print_case(out: Console, case: Case, sources: Mapping[str, str]) -> None:
    known = case.fields
    native, selected = case.median("native"), case.median(known["selected"])
    times = ""
    if native is not None and selected is not None and known["selected"] != "native":
        times = f" ({duration(selected)}; native {duration(native)})"
    out.print(
        f"{escape(case.name)}: [cyan]{escape(known['selected'])}[/]{times}: {escape(known['reason'])}"
    )
    costs = f"{_gain(known['saved'])}{_bounds(known)} in {count(known['calls'], 'call')}"
    if known["explored"]:
        costs += f", exploring cost {duration(known['exploring'])} in {count(known['explored'], 'call')}"
    lines = [f"at {source_lines.shown(one['site'], sources)}: {count(one['calls'], 'call')}" for one in known["sites"]]
    lines += [f"evidence: {known['evidence']}", costs]
    if known["on_table"]:
        table = known["on_table"]
        lines.append(
            f"on the table: {duration(table['seconds'])} with {table['candidate']}: {table['why']}"
        )
    for line in lines:
        out.print(Padding(escape(line), (0, 0, 0, 2), expand=False))


def _print_candidates(out: Console, case: Case) -> None:
    out.print(
        f"  [bold dim]{'candidate':<{_NAME - 2}}{'median':>7}{'interval':>20}{'calls':>6}[/]",
        soft_wrap=True,
    )
    for one in case.measured:
        interval = " to ".join(duration(end) for end in one["interval"] or ()) or "-"
        name = f"{'  ' + one['name']:<{_NAME - 1}}"
        if len(name) > _NAME - 1:
            out.print(escape(name), soft_wrap=True)
            name = " " * (_NAME - 1)
        calls = f"{one['calls']:,}" if one["calls"] else "-"
        out.print(
            f"{escape(name)}{duration(one['median']):>8}{interval:>20}{calls:>6}  {escape(one['state'])}",
            soft_wrap=True,
        )
    others: dict[str, list[str]] = {}
    for one in case.fields["candidates"]:
        if one["median"] is None:
            others.setdefault(one["state"] or "not measured", []).append(one["name"])
    for state, names in others.items():
        out.print(Padding(escape(f"{state}: {', '.join(names)}"), (0, 0, 0, 2), expand=False))


def left_out(tuning: dict[str, Any]) -> str:
    """A sentence about what the cases of a report do not have; empty if that is nothing."""
    cases, calls = tuning.get("left_out") or 0, tuning.get("left_out_calls") or 0
    words = [f"{count(cases, 'collective')} of some communicators"] if cases else []
    words += [count(calls, "call")] if calls else []
    return f"Not among these candidates: {' and '.join(words)}." if words else ""


def print_account(out: Console, report: dict[str, Any]) -> None:
    """Prints the last line of a report: time in collectives, saved, spent exploring."""
    known = report.get("tuning")
    if known:
        if sentence := left_out(known):
            out.print(sentence)
        out.print(
            f"time in collectives {duration(known['seconds'])}, {_gain(known['saved'])}, spent "
            f"exploring {duration(known['exploring'])}"
        )
