"""`tutti explain --report`: recorded arrivals, their prediction, and each algorithm's modelled time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from tutti import _engine, source_lines
from tutti.candidates import cases_of, print_cases
from tutti.console import console, count, duration, microseconds, percent, print_json, table
from tutti.prediction import (
    Judgement,
    Replay,
    from_predictor,
    from_library,
    judge,
    replay,
    replayed,
    together as all_together,
)
from tutti.reports import Pattern, Site, find, find_pattern, read, sites_of
from tutti.workload import fault_of_ranks, machine_of, source_of_machine

_MAX_RANKS = 8


def explain_report(
    file: Path, wanted: str | None, machine: Path | None, background: bool, as_json: bool
) -> None:
    """Explains the line `wanted` of a report; by default the line whose ranks waited longest. Without
    recorded arrivals, the models assume that all ranks come together.

    Raises:
        Refusal: the file is not a report, or the line does not exist or has a single rank or none known.
    """
    reports = read(file)
    sites = sites_of(reports)
    together = None if wanted is None else _together(find(sites, wanted, "--site"), reports)
    site, pattern = together or find_pattern(sites, wanted, "--site")
    cases = [case for case in cases_of(reports) if case.decides(site)]
    ranks = len(pattern.ranks)
    block = _block(site.fields, ranks)
    from_earlier = from_predictor(pattern.delays)
    in_run = from_library(pattern)
    judged = {
        "from earlier calls": judge(pattern, from_earlier),
        "by the library in the run": judge(pattern, in_run) if in_run else None,
    }
    known = {name: one for name, one in judged.items() if one is not None}
    expected = in_run or from_earlier
    missing = fault_of_ranks(site.fields["collective"], ranks)
    calls = [] if missing else replayed(pattern, expected)
    replays = [] if missing else replay(
        site.fields["collective"], block, pattern, expected, machine_of(machine), background
    )  # fmt: skip
    if as_json:
        print_json(
            {
                "site": site.number,
                "collective": site.fields["collective"],
                "ranks": ranks,
                "block": block,
                "late": site.late,
                "mean_delay": None if together else pattern.mean_delay,
                "predictions": {name: asdict(one) for name, one in known.items()},
                "skipped_calls": pattern.skipped,
                "replayed_calls": [] if together else [pattern.calls[at] for at in calls],
                "algorithms": [asdict(one) for one in replays],
                "not_replayed": missing,
                "tuning": [case.fields for case in cases],
            }
        )
        return
    out = console()
    sources = source_lines.of_reports(reports, file.stat().st_mtime)
    _head(out, site, pattern, block, sources)
    if not together:
        _predictions(out, known, pattern.skipped)
        _ranks(out, pattern, known)
    if missing:
        out.print(f"\nNo modelled times: {missing}.")
    else:
        _replays(out, replays, 0 if together else len(calls), source_of_machine(machine))
    print_cases(out, cases, full=True, sources=sources)


def _together(site: Site, reports: list[dict[str, Any]]) -> tuple[Site, Pattern] | None:
    """A line without recorded arrivals, and ranks that come together: as many as in the calls with the most
    time, or else as in the report. None if it has arrivals, or if the number of ranks is unknown."""
    if site.pattern is not None:
        return None
    sizes = site.fields.get("sizes") or ()
    most = max(sizes, key=lambda one: one["seconds"], default=None)
    own = next(part for part in reports if any(line is site.fields for line in part["calls"]))
    ranks, root = (most["p"], most["root"]) if most else (own.get("ranks") or 0, 0)
    return (site, all_together(ranks, root)) if ranks > 1 else None


def _block(line: dict[str, Any], ranks: int) -> int:
    """The mean message size of a line's calls on this number of ranks; without it, of all calls."""
    sizes = [one for one in line.get("sizes") or () if one["p"] == ranks]
    if calls := sum(one["calls"] for one in sizes):
        return round(sum(one["bytes"] * one["calls"] for one in sizes) / calls)
    blocks = 1 if _engine.block_kind(line["collective"]) == "parts" else ranks
    return round(line["bytes"] / max(1, line["calls"]) / blocks)


def _head(out: Console, site: Site, pattern: Pattern, block: int, sources: Mapping[str, str]) -> None:
    out.print(
        f"[bold]{site.number}: {escape(site.shown(sources))}[/]: "
        f"{count(len(pattern.calls) if site.pattern else site.fields['calls'], 'call')} of "
        f"{count(len(pattern.ranks), 'rank')}, ran {escape(site.fields['algorithm'])}"
    )
    is_mean = block and _engine.is_irregular(site.fields["collective"])
    mean = " (mean; the report has no sizes of single ranks)" if is_mean else ""
    late = site.late if site.pattern else f"arrivals {site.fields.get('spread_note') or 'unknown'}; modelled as if together"
    out.print(f"{escape(late)}; blocks of {count(block, 'byte')}{mean}\n")


def _predictions(out: Console, known: dict[str, Judgement], skipped: int) -> None:
    if not known:
        out.print("No predictions: the report has a single call.\n")
        return
    numbers = ("calls", "error", "if predicted together", "last rank predicted")
    listing = table("prediction", *numbers, right=numbers)
    for name, one in known.items():
        listing.add_row(
            name, f"{one.calls:,}", duration(one.error), duration(one.together), percent(one.last)
        )
    out.print(listing)
    out.print(
        "[dim]error: mean over ranks and calls of |predicted - actual|. From earlier calls: the "
        "mean of a rank's delays, in which the latest call has the weight 0.5.[/]"
    )
    if skipped:
        out.print(f"[dim]{count(skipped, 'call')} between these are not recorded here. The library "
                  "predicts from all, so its predictions from earlier calls may differ.[/]")  # fmt: skip
    out.print()


def _ranks(out: Console, pattern: Pattern, known: dict[str, Judgement]) -> None:
    """Prints actual and predicted delays of the latest ranks."""
    ranks = sorted(range(len(pattern.ranks)), key=lambda rank: -pattern.mean_delay[rank])
    numbers = ["rank", "mean delay"]
    for name in known:
        numbers += [f"predicted {name}", "error"]
    listing = table(*numbers, right=tuple(numbers))
    for rank in sorted(ranks[:_MAX_RANKS]):
        cells = [str(rank), duration(pattern.mean_delay[rank])]
        for one in known.values():
            cells += [duration(one.expected[rank]), duration(one.by_rank[rank])]
        listing.add_row(*cells)
    out.print(listing)
    if len(ranks) > _MAX_RANKS:
        out.print(f"[dim]The {_MAX_RANKS} latest of {len(ranks):,} ranks.[/]")


def _replays(out: Console, replays: list[Replay], calls: int, source: str) -> None:
    numbers = ("predicted", "/bound")
    listing = table("with these arrivals" if calls else "all ranks together", *numbers, right=numbers)
    for one in replays:
        ratio = one.seconds / one.bound if one.bound else 1.0
        listing.add_row(f"[cyan]{one.algorithm}[/]", microseconds(one.seconds), f"{ratio:.2f}")
    out.print()
    out.print(listing)
    of = f"mean of {count(calls, 'recorded call')}" if calls else "one call"
    orders = "; orders by arrival use the predictions" if calls else ""
    out.print(f"[dim]SIMULATED: {of}, first arrival to last exit{orders}.\n{escape(source)}[/]")
