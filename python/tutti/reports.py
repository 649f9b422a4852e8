"""Reads the reports that the library writes, and the patterns of arrival in them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tutti.console import Refusal

VERSIONS = (1, 2)  # of the format; docs/report.md describes the newest
FORMER = {"delays": "lateness", "mean_delay": "mean_lateness", "progress_hint": "edge"}
"""The names of fields in format 1."""


@dataclass(frozen=True)
class Pattern:
    """Who arrived when at the calls of one site on one communicator. Seconds."""

    communicators: int
    """On which the site made its calls; this is the one whose ranks waited longest."""
    ranks: list[int]
    """The rank in MPI_COMM_WORLD of each rank."""
    calls: list[int]
    """The number of each call that was kept."""
    roots: list[int]
    """-1 where the collective has none."""
    delays: list[list[float]] = field(repr=False)
    """By call and rank: behind the first arrival."""
    elapsed: list[list[float]] = field(repr=False)
    """By call and rank: from arrival to exit."""
    ahead: list[list[float | None]] | None = field(repr=False)
    """By call and rank: when the library expected it less its arrival; None where it did not."""
    progress_hint: list[list[float | None]] | None = field(repr=False)
    """By call and rank: from its progress hint to its arrival; None without one."""
    waiting: list[float]
    """By rank, in the mean: for ranks that it needs."""
    held: list[float]
    """By rank, in the mean: others were late, and it stood behind them or moved data."""
    moving: list[float]
    """By rank, in the mean: with nobody missing whom it saw come."""
    mean_delay: list[float]
    last: list[int]
    """By rank: in how many calls it was the last."""

    def mean_hint(self, rank: int) -> float | None:
        """From its progress hint to its arrival, over the calls before which it gave one."""
        known = [call[rank] for call in self.progress_hint or []]
        times = [time for time in known if time is not None]
        return sum(times) / len(times) if times else None

    @property
    def waited(self) -> float:
        """Waiting and held, of all ranks in all calls."""
        return (sum(self.waiting) + sum(self.held)) * len(self.calls)

    def text(self) -> str:
        """The form that `tutti-bench --delay recorded:FILE` reads: a line for each call, seconds
        of each rank between commas."""
        first, last = self.calls[0], self.calls[-1]
        lines = [
            "# seconds by which each rank was behind the first one, a line for each call",
            f"# {len(self.calls)} calls, numbers {first} to {last}, of {len(self.ranks)} ranks",
        ]
        lines += [",".join(f"{late:.9g}" for late in call) for call in self.delays]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Site:
    """One line of a report: a collective from one call site under one decision."""

    number: int
    """In the file, from 1."""
    fields: dict[str, Any] = field(repr=False)
    """As the file has it."""
    pattern: Pattern | None

    @property
    def name(self) -> str:
        """The collective and where it was called."""
        return f"{self.fields['collective']} at {self.fields['site']}"

    @property
    def late(self) -> str:
        """One sentence about who is late; empty where that is not known."""
        return self.fields.get("late") or ""


def read(path: Path) -> list[dict[str, Any]]:
    """The reports in a file: one, or a line for each part where the library
    could only write parts. Raises Refusal where the file is not that."""
    try:
        text = path.read_text()
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}") from None
    try:
        try:
            reports = [json.loads(text)]
        except ValueError:
            reports = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise Refusal(f"{path}: no JSON: {error}; TUTTI_REPORT=name.json writes it") from None
    if not reports:
        raise Refusal(f"{path}: no JSON: it is empty; TUTTI_REPORT=name.json writes it")
    for report in reports:
        if not isinstance(report, dict) or not isinstance(report.get("calls"), list):
            raise Refusal(f"{path}: no report of Tutti: it has no list of calls")
        version = report.get("format")
        if version not in VERSIONS:
            raise Refusal(f"{path}: format version {version}; {VERSIONS[0]} and {VERSIONS[1]} are understood")
    return reports


def _pattern(fields: dict[str, Any] | None) -> Pattern | None:
    if not fields:
        return None
    return Pattern(
        **{
            name: fields.get(name, fields.get(FORMER.get(name, name)))
            for name in Pattern.__dataclass_fields__
        }
    )


def sites_of(reports: list[dict[str, Any]]) -> list[Site]:
    """The lines of all parts, numbered through."""
    lines = [line for report in reports for line in report["calls"]]
    return [
        Site(number, line, _pattern(line.get("pattern"))) for number, line in enumerate(lines, 1)
    ]


def with_patterns(sites: list[Site]) -> list[Site]:
    """Those of which it is known who arrived when; where ranks waited longest comes first."""
    known = [site for site in sites if site.pattern is not None]
    return sorted(known, key=lambda site: -site.pattern.waited if site.pattern else 0.0)


def find(sites: list[Site], wanted: str, option: str) -> Site:
    """The line of that number, or the only one whose name has that text.

    Raises:
        Refusal: there is none, or there are several.
    """
    if wanted.isdigit():
        found = [site for site in sites if site.number == int(wanted)]
    else:
        found = [site for site in sites if wanted in site.name]
    if len(found) == 1:
        return found[0]
    listed = "; ".join(f"{site.number}: {site.name}" for site in found or sites)
    which = "several lines have it" if found else "no line has it"
    raise Refusal(f"{option} {wanted}: {which}: {listed or 'the report has no lines'}")


def find_pattern(sites: list[Site], wanted: str | None, option: str) -> tuple[Site, Pattern]:
    """A line and its pattern; without `wanted`, the one whose ranks waited longest.

    Raises:
        Refusal: there is no such line, or it is not known who arrived when.
    """
    if wanted is None:
        known = with_patterns(sites)
        if not known:
            raise Refusal("the report does not know who arrived when in any line")
        site = known[0]
    else:
        site = find(sites, wanted, option)
    if site.pattern is None:
        note = site.fields.get("spread_note") or "the report has no times of single ranks"
        raise Refusal(f"{option} {site.number}: who arrived when is not known: {note}")
    return site, site.pattern
