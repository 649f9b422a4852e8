"""`tutti diff`: compares two reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from tutti import source_lines
from tutti.commands.options import AsJson
from tutti.console import console, duration, print_json, table
from tutti.reports import read, sites_of, whose_time
from tutti.site_totals import Difference, SiteTotal, differences, totals_of


def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="The first report, JSON or HTML.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The second report.")],
    as_json: AsJson = False,
) -> None:
    """Compare two reports of a program: the time at each call site, and its algorithms.

    ```
    tutti diff before.json after.json
    ```
    """
    reports = [read(file) for file in (a, b)]
    totals = [totals_of(sites_of(parts)) for parts in reports]
    whose = [whose_time(parts) for parts in reports]
    found = differences(*totals, is_comparable=whose[0] == whose[1])
    total = _total_ratio(totals) if whose[0] == whose[1] else None
    if as_json:
        print_json(_json(found, totals, total))
        return
    sources: dict[str, str] = {}
    for file, parts in zip((a, b), reports, strict=True):
        sources |= source_lines.of_reports(parts, file.stat().st_mtime)
    _show(found, totals, total, _whose(*whose), sources)
    for name, file in (("a", a), ("b", b)):
        console().print(f"{name}: {file}", markup=False)


def _whose(a: str, b: str) -> str:
    return a if a == b else f"a: {a}; b: {b}: times that have no ratio"


def _total_ratio(totals: Sequence[Sequence[SiteTotal]]) -> float | None:
    left, right = map(_seconds, totals)
    return left / right if right > 0 else None


def _show(
    found: Sequence[Difference], totals: Sequence[Sequence[SiteTotal]], total: float | None,
    whose: str, sources: Mapping[str, str],
) -> None:  # fmt: skip
    numbers = ("a", "b", "a/b")
    listing = table("collective", "call site", *numbers, "algorithm", right=numbers)
    for one in found:
        listing.add_row(
            one.collective, escape(source_lines.shown(one.site, sources)), _time(one.a), _time(one.b), _ratio(one.ratio),
            escape(_algorithms(one)),
        )  # fmt: skip
    left, right = _seconds(totals[0]), _seconds(totals[1])
    listing.add_row("total", "", duration(left), duration(right), _ratio(total), style="bold")
    out = console()
    out.print(listing)
    out.print(
        f"[dim]a, b: from arrival to exit, estimated from the calls with times, {whose}.\n"
        "a/b above 1: b is faster.\n"
        "Call sites are the same if collective, function and offset are.[/]"
    )


def _time(total: SiteTotal | None) -> str:
    return duration(total.seconds) if total else "-"


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def _seconds(totals: Sequence[SiteTotal]) -> float:
    return sum(total.seconds for total in totals)


def _algorithms(one: Difference) -> str:
    """The algorithm with the longest time, of both reports if they differ: "native > ring"."""
    names = [total.algorithms[0] for total in (one.a, one.b) if total]
    return " > ".join(dict.fromkeys(names))


def _json(
    found: Sequence[Difference], totals: Sequence[Sequence[SiteTotal]], total: float | None
) -> dict[str, Any]:
    left, right = _seconds(totals[0]), _seconds(totals[1])
    return {
        "sites": [
            {
                "collective": one.collective, "site": one.site,
                "a": _side(one.a), "b": _side(one.b), "ratio": one.ratio,
            }
            for one in found
        ],
        "total": {"a": left, "b": right, "ratio": total},
    }  # fmt: skip


def _side(total: SiteTotal | None) -> dict[str, Any] | None:
    if total is None:
        return None
    return {
        "seconds": total.seconds, "calls": total.calls, "bytes": total.bytes,
        "algorithms": total.algorithms,
    }  # fmt: skip
