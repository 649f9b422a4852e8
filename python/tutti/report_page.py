"""Renders a report as one HTML page that needs no other file and no network."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tutti import drawing, source_lines
from tutti.advice import advice_on
from tutti.candidates import Case, left_out, size_text
from tutti.console import count, duration, volume
from tutti.measured_crossovers import crossings_of
from tutti.reports import (
    PAGE_END,
    PAGE_START,
    Site,
    is_partial,
    one_for_each_site,
    sites_of,
    wall_of,
    whose_time,
    with_patterns,
)
from tutti.site_totals import PARTS, SiteTotal, seconds_of, totals_of

_MAX_PATTERNS = 8
_MIN_SHARE = 0.01  # of all time; arrivals of lines with less are not drawn
_MAX_CASES = 12
_HEAD: dict[str, Any] = {
    "tutti": "", "mpi": "unknown MPI", "ranks": 0, "nodes": 0, "partial": False, "view": "one process",
    "clock": "", "notes": [], "not_handled": [],
}  # fmt: skip
"""What the head of a report may lack, or have as null."""
_TEMPLATES = Path(__file__).parent / "page"


@dataclass(frozen=True)
class Run:
    """What is known of the run beyond its report."""

    command: Sequence[str] = ()
    """The command that started the program; empty if unknown."""
    seconds: float | None = None
    """From its start to its end."""
    programs: Sequence[Path] = field(default_factory=list)
    """Files with debug information, in which call sites are looked up."""
    lab: Sequence[str] = ()
    """The words before the command that started it in the lab; empty elsewhere."""


@dataclass(frozen=True)
class Arrivals:
    """The pictures of one line with recorded arrivals."""

    site: Site
    heat: drawing.HeatMap
    profile: drawing.Bars
    parts: drawing.Bars
    ranks: int
    first_call: int
    last_call: int


def render(reports: Sequence[dict[str, Any]], name: str, run: Run | None = None) -> str:
    """The page of the reports in one file, as HTML.

    The page contains the reports as JSON, so `tutti` reads them from it.

    Args:
        reports: as tutti.reports.read returns them.
        name: the page's path, for the commands that it suggests.
        run: the command, its time and the programs; by default unknown.
    """
    run = run or Run()
    sites = sites_of(list(reports))
    totals = totals_of(sites)
    lines = source_lines.lines_of(source_lines.sites_in(reports), run.programs)
    seconds = sum(total.seconds for total in totals)
    known = with_patterns(sites)
    drawn = [site for site in one_for_each_site(known) if seconds_of(site.fields) >= _MIN_SHARE * seconds]
    drawn = drawn[:_MAX_PATTERNS]
    tuning = [part["tuning"] for part in reports if part.get("tuning")]
    wall, whole = _times_of(reports, run)
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(duration=_time, bytes=volume, size=size_text, short=source_lines.short)
    environment.filters["source"] = lambda site: source_lines.source_of(site, lines)
    environment.filters["shown"] = lambda site: source_lines.shown(site, lines)
    data = "\n".join(json.dumps(part, separators=(",", ":")) for part in reports)
    return environment.get_template("report.html").render(
        reports=[_HEAD | {key: value for key, value in part.items() if value is not None} for part in reports],
        totals=totals, lines=lines, run=run, file=shlex.quote(name), left_out=left_out,
        command=shlex.join(run.command), seconds=seconds, parts=_sums(totals), tuning=tuning,
        count=count, names=PARTS, name_of_case=lambda case: Case(case).name,
        wall=wall, whole=whole, whose=whose_time(reports),
        saved=sum(one["saved"] for one in tuning), exploring=sum(one["exploring"] for one in tuning),
        crossings=crossings_of([case for one in tuning for case in one.get("cases", ())]),
        cases=any(one.get("cases") for one in tuning), max_cases=_MAX_CASES,
        arrivals=[_arrivals(site) for site in drawn], left=len(known) - len(drawn),
        advice=advice_on(reports, name, run.command, run.seconds, run.lab), colours=drawing.COLOURS, data=_embedded(data),
        data_start=PAGE_START, data_end=PAGE_END,
    )  # fmt: skip


def _times_of(reports: Sequence[dict[str, Any]], run: Run) -> tuple[float, float]:
    """The time from the start of a rank to its report, and that of the command; 0 if unknown, or if
    the times of calls are sums over processes, which are no part of it."""
    return (0, 0) if is_partial(reports) else (wall_of(reports), run.seconds or 0)


def _arrivals(site: Site) -> Arrivals:
    pattern = site.pattern
    if pattern is None:
        raise ValueError(f"line {site.number} has no recorded arrivals")
    return Arrivals(
        site, drawing.heat_map(pattern),
        drawing.profile(pattern), drawing.parts(pattern), len(pattern.ranks),
        pattern.calls[0], pattern.calls[-1],
    )  # fmt: skip


def _sums(totals: Sequence[SiteTotal]) -> dict[str, float] | None:
    """The parts of all calls; None if no line has them."""
    known = [total.parts for total in totals if total.parts]
    return {name: sum(one[name] for one in known) for name in PARTS} if known else None


def _embedded(text: str) -> str:
    """JSON that may stand in a script element: no "<" can end the element."""
    return text.replace("<", "\\u003c")


def _time(seconds: float) -> str:
    return duration(seconds) if seconds else "0"
