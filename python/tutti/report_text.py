"""Prints reports as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from tutti import heatmap, source_lines
from tutti.candidates import cases_of, print_account, print_cases
from tutti.console import count, duration, percent, table, volume
from tutti.prediction import from_library, judge
from tutti.reports import Pattern, Site, one_for_each_site, sites_of, with_patterns
from tutti.site_totals import seconds_of

_MAX_SITES = 3
_MAX_RANKS = 8
_NAME = 17


def _part(call: dict[str, Any], name: str) -> str:
    parts = call.get("parts")
    return duration(parts[name]) if parts else "-"


def print_reports(
    out: Console,
    reports: Sequence[dict[str, Any]],
    wanted: Sequence[Site] | None = None,
    *,
    written: float,
    with_candidates: bool = False,
    full: bool = False,
) -> None:
    """Prints reports as text, or only some of their lines. `written` is the time of their file."""
    shown = sites_of(reports) if wanted is None else list(wanted)
    sources = source_lines.of_reports(reports, written)
    for part in reports:
        _head(out, part)
        own = {id(line) for line in part["calls"]}
        lines = [one for one in shown if id(one.fields) in own]
        full_part = full or wanted is not None
        listed = lines if full_part else [one for one in lines if not one.explored]
        if listed:
            _lines(out, listed, sources, part.get("wall"))
        left = sum(one.fields["calls"] for one in lines if one.explored)
        if left and not full_part:
            out.print(f"not listed: {count(left, 'call')} that explored candidates; --full shows them")
        if not own:
            out.print("No collective was recorded.")
    cases = [case for case in cases_of(reports) if any(case.decides(one) for one in wanted or ()) or wanted is None]
    print_cases(out, cases, with_candidates, sources)
    if not with_candidates:
        _arrivals(out, with_patterns(shown), sources, full)
    for part in reports:
        print_account(out, part)


def title_of(part: dict[str, Any]) -> str:
    """The version, the MPI and the ranks of a report."""
    ranks = part.get("ranks")
    words = [f"Tutti {part.get('tutti') or ''}".strip(), part.get("mpi") or "unknown MPI"]
    return ", ".join([*words, count(ranks, "rank") if ranks else "? ranks"])


def _head(out: Console, part: dict[str, Any]) -> None:
    first, rest = title_of(part).split(", ", 1)
    where = f" on {count(part['nodes'], 'node')}" if part.get("nodes") else ""
    out.print(f"[bold]{escape(first)}[/], {escape(rest)}{where}")
    if part.get("partial"):
        out.print(f"partial: {escape(part.get('view') or 'one process')}")
    if part.get("clock"):
        out.print(f"times: {escape(part['clock'])}")
    for line in _remarks_of(part):
        out.print(escape(line))


def _remarks_of(part: dict[str, Any]) -> list[str]:
    """The share of collectives in the run, calls that Tutti passed on, and what is odd."""
    lines = []
    wall, seconds = part.get("wall"), part.get("seconds", {}).get("mean")
    if wall and seconds is not None:
        whose = "of this process" if part.get("partial") else "mean of the ranks"
        lines.append(
            f"collectives: {duration(seconds)}, {percent(seconds / wall, 1)} of {duration(wall)} from the "
            f"start to MPI_Finalize, {whose}"
        )
    if others := part.get("not_handled"):
        listed = ", ".join(f"{one['calls']:,} {one['function']}" for one in others)
        lines.append(f"not handled: {listed}")
    return [*lines, *(f"note: {note}" for note in part.get("notes", ()))]


_HEADS = ("calls", "bytes", "block", "time", "spread", "waiting", "held", "moving")
_WIDTHS = (8, 9, 6, 8, 8, 8, 8, 8)


def _time(call: dict[str, Any], name: str, statistic: str) -> str:
    """A time of a call; "-" if the report lacks it."""
    value = call.get(name)
    return "-" if value is None else duration(value[statistic])


def _row(name: str, cells: Iterable[str]) -> str:
    """A name and cells, each behind a blank; a cell that is too wide moves the next ones as little
    as possible."""
    line, end = name, _NAME
    for cell, width in zip(cells, _WIDTHS, strict=True):
        end += width
        line += f" {cell:>{max(0, end - len(line) - 1)}}"
    return line


def _lines(
    out: Console, sites: list[Site], sources: Mapping[str, str], wall: float | None
) -> None:
    """Prints the lines of a report, each with its site, algorithm and reason below."""
    out.print(f"[bold dim]{_row('   collective', _HEADS)}[/]", soft_wrap=True)
    for site in sites:
        call = site.fields
        block = call.get("irregularity")
        cells = (
            str(call["calls"]),
            volume(call["bytes"]),
            f"{block['mean']:.2f}" if block else "-",
            _time(call, "seconds", "mean"),
            _time(call, "spread", "median"),
            *(_part(call, name) for name in ("waiting", "held", "moving")),
        )
        name = f"{site.number:<2} {call['collective']:<14}"
        if len(name) > _NAME:
            out.print(escape(name))
            name = " " * _NAME
        out.print(escape(_row(name, cells)), soft_wrap=True)
        reason = f": {call['reason']}" if call["reason"] else ""
        share = f": {percent(seconds_of(call) / wall, 1)} of the run" if wall else ""
        others = ", ".join(source_lines.shown(one, sources) for one in call.get("other_sites", ()))
        for below in (
            f"at {escape(source_lines.shown(call['site'], sources))}{share}",
            *([f"also from {escape(others)}"] if others else []),
            f"[cyan]{escape(call['algorithm'])}[/]{escape(reason)}",
        ):
            out.print(Padding(below, (0, 0, 0, 3), expand=False))
    out.print(
        "[dim]block: largest over mean block; time: mean of a call, first arrival to last exit; "
        "spread: last arrival minus first, median.\n"
        "A rank's mean time in a call: waiting for ranks that it needs; held behind late ranks or "
        "moving data for them; moving data with no rank missing.[/]"
    )


def _arrivals(out: Console, sites: list[Site], sources: Mapping[str, str], full: bool) -> None:
    """Prints the arrivals of the lines whose ranks waited longest."""
    shown = sites if full else one_for_each_site(sites)[:_MAX_SITES]
    for site in shown:
        pattern = site.pattern
        if pattern is None:
            continue
        out.print(f"\n[bold]{site.number}: {escape(site.shown(sources))}[/]")
        out.print(escape(site.late))
        if pattern.communicators > 1:
            out.print(
                f"of {count(pattern.communicators, 'communicator')}, the one that waited longest"
            )
        _ranks(out, pattern, full)
        shades = heatmap.shades_of(out.encoding)
        for line in heatmap.text_of(pattern.delays, min(out.width, 110), shades=shades):
            out.print(line, markup=False, no_wrap=True, overflow="crop")
    left = len(sites) - len(shown)
    if left > 0:
        out.print(f"\n.. and {count(left, 'more line')} with arrivals; --full shows them")


def _ranks(out: Console, pattern: Pattern, full: bool) -> None:
    """Prints the parts of each rank's time: all ranks, or the latest and those that lost most."""
    ranks = range(len(pattern.ranks))
    shown = list(ranks)
    if not full and len(shown) > _MAX_RANKS:
        lost = sorted(ranks, key=lambda rank: -(pattern.waiting[rank] + pattern.held[rank]))
        late = sorted(ranks, key=lambda rank: -pattern.mean_delay[rank])
        half = _MAX_RANKS // 2
        shown = sorted({*late[:half], *lost[:half]})
    judged = judge(pattern, from_library(pattern) or [])
    numbers = ("rank", "last in", "mean delay", "waiting", "held", "moving")
    predicted = ("predicted", "error") if judged else ()
    hints = ("hint before",) if pattern.progress_hint else ()
    listing = table(*numbers, *predicted, *hints, right=(*numbers, *predicted, *hints))
    for rank in shown:
        row = [
            str(rank),
            percent(pattern.last[rank] / len(pattern.calls)),
            duration(pattern.mean_delay[rank]),
            duration(pattern.waiting[rank]),
            duration(pattern.held[rank]),
            duration(pattern.moving[rank]),
        ]
        if judged:
            row += [duration(judged.expected[rank]), duration(judged.by_rank[rank])]
        if pattern.progress_hint:
            hint = pattern.mean_hint(rank)
            row.append("-" if hint is None else duration(hint))
        listing.add_row(*row)
    out.print(listing)
    if judged:
        out.print(
            f"The library predicted {count(judged.calls, 'call')}: mean error "
            f"{duration(judged.error)} ({duration(judged.together)} if all ranks were "
            f"predicted together); it predicted the last rank in {percent(judged.last)}."
        )
    if len(shown) < len(pattern.ranks):
        out.print(
            f"[dim]The latest of {len(pattern.ranks):,} ranks and those who waited longest; "
            "--full shows all.[/]"
        )
