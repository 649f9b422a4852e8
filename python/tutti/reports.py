"""Reads reports that the library writes, also from their HTML pages, and the arrivals in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from collections.abc import Mapping, Sequence
from typing import Any

from tutti import source_lines
from tutti.console import Refusal
from tutti.report_fields import complete, fault_of_report

VERSIONS = (1, 2)  # of the format; docs/report.md describes the newest
PAGE_START = '<script type="application/json" id="report">'
PAGE_END = "</script>"
"""The reports stand between these in an HTML page of tutti.report_page."""
_MAX_LISTED = 8
"""Lines in an error."""
_BLANKS = re.compile(r"\s*")
_EXPECTED = "expected a report of tutti run --report NAME.json or NAME.html"


@dataclass(frozen=True)
class Pattern:
    """The recorded arrivals of one call site on one communicator. Times are in seconds.

    docs/report.md defines waiting, held and moving.
    """

    communicators: int
    """The number of communicators of the site; the pattern is that whose ranks waited longest."""
    ranks: list[int]
    """The rank in MPI_COMM_WORLD of each rank."""
    calls: list[int]
    """The numbers of the recorded calls."""
    roots: list[int]
    """The root of each call; -1 if the collective has none."""
    delays: list[list[float]] = field(repr=False)
    """By call and rank: arrival minus first arrival."""
    elapsed: list[list[float]] = field(repr=False)
    """By call and rank: exit minus arrival."""
    ahead: list[list[float | None]] | None = field(repr=False)
    """By call and rank: predicted minus actual arrival; None without a prediction."""
    progress_hint: list[list[float | None]] | None = field(repr=False)
    """By call and rank: arrival minus time of the progress hint; None without a hint."""
    waiting: list[float]
    """By rank: mean time waiting for needed ranks."""
    held: list[float]
    """By rank: mean time while other ranks were late, spent behind them or moving data."""
    moving: list[float]
    """By rank: mean time after all ranks that it saw had arrived."""
    mean_delay: list[float]
    last: list[int]
    """By rank: the number of calls in which it was the last."""

    def mean_hint(self, rank: int) -> float | None:
        """The mean time from a rank's progress hint to its arrival; None without hints."""
        known = [call[rank] for call in self.progress_hint or []]
        times = [time for time in known if time is not None]
        return sum(times) / len(times) if times else None

    @property
    def skipped(self) -> int:
        """The number of calls between the recorded ones that are not recorded with them."""
        return max(0, self.calls[-1] - self.calls[0] + 1 - len(self.calls)) if self.calls else 0

    @property
    def waited(self) -> float:
        """The sum of waiting and held, over all ranks and calls."""
        return (sum(self.waiting) + sum(self.held)) * len(self.calls)

    def text(self) -> str:
        """The text that `tutti-bench --delay recorded:FILE` reads: the delays in seconds, a line
        per call, ranks separated by commas."""
        first, last = self.calls[0], self.calls[-1]
        lines = [
            "# delay of each rank behind the first in seconds, a line for each call",
            f"# {len(self.calls)} calls, numbers {first} to {last}, of {len(self.ranks)} ranks",
        ]
        lines += [",".join(f"{late:.9g}" for late in call) for call in self.delays]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Site:
    """One line of a report: a collective at one call site with one algorithm and reason."""

    number: int
    """The number of the line in the file, from 1."""
    fields: dict[str, Any] = field(repr=False)
    """The line's JSON object."""
    pattern: Pattern | None

    @property
    def name(self) -> str:
        """The collective and its call site, by which a user finds it."""
        return f"{self.fields['collective']} at {self.fields['site']}"

    def shown(self, lines: Mapping[str, str]) -> str:
        """The same for people, with the source line if `lines` has it."""
        return f"{self.fields['collective']} at {source_lines.shown(self.fields['site'], lines)}"

    @property
    def explored(self) -> bool:
        """True if no call ran what was selected for it."""
        return self.fields.get("explored", 0) == self.fields["calls"]

    @property
    def late(self) -> str:
        """One sentence about late ranks; empty if arrivals are unknown."""
        return self.fields.get("late") or ""


def read(path: Path) -> list[dict[str, Any]]:
    """The reports in a file: one, or one per line if the library wrote partial reports.

    The file is JSON, or an HTML page of `tutti report --html`. Call sites get the names of their
    functions, where the modules that hold them are still there.

    Raises:
        Refusal: the file cannot be read or is not a report.
    """
    try:
        # Names of programs need not be UTF-8.
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}") from None
    if PAGE_START in text:
        text = text.split(PAGE_START, 1)[1].split(PAGE_END, 1)[0]
    try:
        reports = _values(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{"):
            raise Refusal(f"{path}: damaged, or cut off while it was written: {error}") from None
        raise Refusal(f"{path}: neither JSON nor a page; {_EXPECTED}") from None
    if not reports:
        raise Refusal(f"{path}: empty; {_EXPECTED}")
    for report in reports:
        if not isinstance(report, dict) or not isinstance(report.get("calls"), list):
            raise Refusal(f"{path}: not a report of Tutti: no list of calls")
        version = report.get("format")
        if version not in VERSIONS:
            raise Refusal(f"{path}: format version {version}; expected {VERSIONS[0]} or {VERSIONS[1]}")
        complete(report)
        if fault := fault_of_report(report):
            raise Refusal(f"{path}: not a report of Tutti: {fault}")
        source_lines.name_functions(report, path.stat().st_mtime)
    return reports


def _values(text: str) -> list[Any]:
    """The JSON values in a text, one after the other."""
    decoder, values = json.JSONDecoder(), []
    at = _end_of_blanks(text, 0)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        values.append(value)
        at = _end_of_blanks(text, at)
    return values


def _end_of_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def with_note(reports: list[dict[str, Any]], note: str) -> list[dict[str, Any]]:
    """The reports with one more remark, in the first of them."""
    first, *rest = reports
    return [{**first, "notes": [*first.get("notes", ()), note]}, *rest]


def _pattern(fields: dict[str, Any] | None) -> Pattern | None:
    if not fields:
        return None
    return Pattern(**{name: fields.get(name) for name in Pattern.__dataclass_fields__})


def wall_of(reports: Sequence[dict[str, Any]]) -> float:
    """The longest time from the start of a rank to its report; 0 if unknown."""
    return max((part.get("wall") or 0 for part in reports), default=0)


def is_partial(reports: Sequence[dict[str, Any]]) -> bool:
    """Has any report the own times of one process, which are no means over ranks?"""
    return any(part.get("partial") for part in reports)


def whose_time(reports: Sequence[dict[str, Any]]) -> str:
    """Whose time the sums over the lines of all reports are."""
    if not is_partial(reports):
        return "mean of the ranks"
    return "one process" if len(reports) == 1 else f"sum of {len(reports):,} processes"


def sites_of(reports: list[dict[str, Any]]) -> list[Site]:
    """The lines of all reports, numbered consecutively."""
    lines = [line for report in reports for line in report["calls"]]
    return [
        Site(number, line, _pattern(line.get("pattern"))) for number, line in enumerate(lines, 1)
    ]


def with_patterns(sites: list[Site]) -> list[Site]:
    """The lines with recorded arrivals of 2 or more ranks, longest waiting time first."""
    known = [site for site in sites if site.pattern is not None and len(site.pattern.ranks) > 1]
    return sorted(known, key=lambda site: -site.pattern.waited if site.pattern else 0.0)


def one_for_each_site(sites: list[Site]) -> list[Site]:
    """The first line of each call site, which has several if several algorithms ran there."""
    found: dict[tuple[str, str], Site] = {}
    for site in sites:
        found.setdefault((site.fields["collective"], site.fields["site"]), site)
    return list(found.values())


def matching(sites: list[Site], wanted: str, option: str) -> list[Site]:
    """The lines with that number, of that collective, or else whose names, in full or as shown, contain that text.

    Raises:
        Refusal: there is none.
    """
    for fits in (
        lambda site: str(site.number) == wanted,
        lambda site: site.fields["collective"] == wanted,
        lambda site: any(wanted in name for name in (site.name, site.shown({}))) and not wanted.isdigit(),
    ):
        if found := [site for site in sites if fits(site)]:
            return found
    raise Refusal(
        f"{option} {wanted}: no line matches: {_listed(sites) or 'the report has no lines'}"
    )


def _listed(sites: list[Site]) -> str:
    """The first lines by number and name: as shown, or in full where several are shown alike."""
    alike = Counter({site.name: site.shown({}) for site in sites}.values())
    names = (site.name if alike[site.shown({})] > 1 else site.shown({}) for site in sites[:_MAX_LISTED])
    listed = "; ".join(f"{site.number}: {name}" for site, name in zip(sites, names, strict=False))
    left = len(sites) - _MAX_LISTED
    return f"{listed}; and {left:,} more, which tutti report lists" if left > 0 else listed


def find(sites: list[Site], wanted: str, option: str) -> Site:
    """The matching line of the one call site that matches: that whose ranks waited longest, or
    else the first.

    Raises:
        Refusal: no line matches, or lines of several call sites do.
    """
    found = matching(sites, wanted, option)
    if len(one_for_each_site(found)) > 1:
        raise Refusal(f"{option} {wanted}: several lines match: {_listed(found)}")
    return [*with_patterns(found), *found][0]


def find_pattern(sites: list[Site], wanted: str | None, option: str) -> tuple[Site, Pattern]:
    """A line and its recorded arrivals; without `wanted`, the line whose ranks waited longest.

    Raises:
        Refusal: there is no such line, or it is not known who arrived when.
    """
    if wanted is None:
        known = with_patterns(sites)
        if not known:
            raise Refusal(
                "no line of the report has recorded arrivals of 2 or more ranks; "
                f"{option} LINE models one as if all ranks came together"
            )
        site = known[0]
    else:
        site = find(sites, wanted, option)
    if site.pattern is None:
        note = site.fields.get("spread_note") or "the report has no times of single ranks"
        raise Refusal(f"{option} {site.number}: no recorded arrivals: {note}")
    if len(site.pattern.ranks) < 2:
        raise Refusal(f"{option} {site.number}: a single rank waits for no other")
    return site, site.pattern
