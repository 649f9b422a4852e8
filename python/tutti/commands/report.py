"""`tutti report`: a report that the library wrote as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from tutti.console import Refusal, console, print_json, table

VERSION = 1  # of the format that docs/report.md describes


def read(path: Path) -> list[dict[str, Any]]:
    """The reports of format version 1 in a file: one, or a line for each part where the library
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
        if version != VERSION:
            raise Refusal(f"{path}: format version {version}; {VERSION} is understood")
    return reports


def _number(call: dict[str, Any], name: str, statistic: str, form: str = ".6f") -> str:
    """A statistic of a call; "-" where the report could not tell."""
    value = call[name]
    return "-" if value is None else format(value[statistic], form)


def report(
    file: Annotated[Path, typer.Argument(help="Written with TUTTI_REPORT=name.json.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show a report: what ran at each call site, how long, and why."""
    reports = read(file)
    if as_json:
        print_json(reports[0] if len(reports) == 1 else reports)
        return
    for told in reports:
        _show(told)


def _show(told: dict[str, Any]) -> None:
    """One report as a table."""
    out = console()
    out.print(
        f"[bold]Tutti {told.get('tutti', '')}[/], {escape(str(told.get('mpi', '')))}, "
        f"{told.get('ranks', '?')} ranks"
    )
    numbers = ("calls", "bytes", "irregularity", "seconds", "spread")
    listing = table(
        "collective", "site", *numbers[:3], "algorithm", *numbers[3:], "why", right=numbers
    )
    for call in told["calls"]:
        listing.add_row(
            escape(call["collective"]),
            escape(call["site"]),
            f"{call['calls']:,}",
            f"{call['bytes']:,}",
            _number(call, "irregularity", "mean", ".2f"),
            f"[cyan]{escape(call['algorithm'])}[/]",
            _number(call, "seconds", "mean"),
            _number(call, "spread", "median"),
            escape(call["reason"]),
        )
    out.print(listing)
    out.print(
        "[dim]irregularity: largest block over mean block; seconds: mean of a call, first arrival "
        "to last exit; spread: last arrival less first, median.[/]"
    )
