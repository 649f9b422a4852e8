"""`tutti report`: shows a report that the library wrote as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tutti import pages
from tutti.arrival_picture import draw
from tutti.candidates import restricted
from tutti.commands.options import AsJson, Full, refuse_others, refuse_report, refuse_with_json
from tutti.console import Refusal, console, count, print_json, write
from tutti.plot import check
from tutti.report_text import print_reports, title_of
from tutti.reports import find_pattern, matching, read, sites_of, with_note, with_patterns

_WITH_PATTERN = ("file", "site", "html", "program", "picture", "pattern", "output")
_WITH_HTML = (*_WITH_PATTERN, "as_json")


def report(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Report of tutti run --report FILE.json.")
    ],
    site: Annotated[
        str | None,
        typer.Option(metavar="SITE", help="Only these lines: a number, a collective, or a part of names."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the report as one HTML page, with its data."),
    ] = None,
    program: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="For --html: find source lines in this program."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the delay of each rank in each call (.svg, .png, .pdf)."
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="SITE",
            help="Print the arrivals of this line, for tutti-bench --delay recorded:FILE.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write those of --pattern to FILE."),
    ] = None,
    candidates: Annotated[
        bool,
        typer.Option("--candidates", help="Show the measured times of all candidates."),
    ] = False,
    full: Full = False,
    as_json: AsJson = False,
) -> None:
    """Show a report: which algorithm ran at each call site, how long, why, what was saved, and who
    was late.

    ```
    tutti run --report run.json -- mpirun -n 16 ./app
    tutti report run.json --candidates
    tutti report run.json --picture arrivals.svg
    tutti report run.json --pattern 1 --output pattern.csv
    tutti report run.json --html run.html --program ./app
    ```
    """
    reports = read(file)
    sites = sites_of(reports)
    if output is not None and pattern is None:
        raise Refusal(f"--output {output} needs --pattern SITE")
    if program and html is None:
        raise Refusal(f"--program {program[0]} needs --html FILE")
    if pattern is not None:
        refuse_others(ctx, f"--pattern {pattern}", _WITH_PATTERN)
    if html is not None:
        refuse_others(ctx, f"--html {html}", _WITH_HTML)
    refuse_with_json(ctx, as_json, "candidates", "full")
    refuse_report(file, {"--html": html, "--picture": picture, "--output": output})
    if picture is not None:
        check(picture, "--picture")
    shown = sites if site is None else matching(sites, site, "--site")
    parts = reports if site is None else restricted(reports, shown)
    written = file.stat().st_mtime
    if html is not None:
        left = f"{len(shown)} of {count(len(sites), 'line')}, by --site {site}"
        noted = parts if site is None else with_note(parts, left)
        pages.write_page(noted, html, written, programs=program or [])
    if picture is not None:
        draw(title_of(reports[0]), with_patterns(shown), picture)
    if pattern is not None:
        text = find_pattern(shown, pattern, "--pattern")[1].text()
        if output is None:
            print(text, end="")
        else:
            write(output, text, "--output")
        return
    if as_json:
        print_json(parts[0] if len(parts) == 1 else parts)
        return
    if html is not None:
        return
    wanted = None if site is None else shown
    print_reports(
        console(), reports, wanted, written=written, with_candidates=candidates, full=full
    )
