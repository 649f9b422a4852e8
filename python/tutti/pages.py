"""Writes report pages, and runs programs for them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tutti import reports, source_lines, supervised
from tutti.console import write
from tutti.refusal import Refusal

NO_REPORT = (
    "the program wrote no report: it may not be an MPI program, be linked statically, make no "
    "collective call, or end before MPI_Finalize"
)


def is_page(target: str) -> bool:
    """Does the target of a report name an HTML page?"""
    return target.lower().endswith((".html", ".htm"))


def data_file(page: Path) -> Path:
    """The file in which the library leaves the report of a page; rank 0 may run on another node,
    so it is in the page's folder."""
    return page.with_name(f".{page.name}.{os.getpid()}.json")


def write_page(
    parts: Sequence[dict[str, Any]],
    page: Path,
    command: Sequence[str] = (),
    seconds: float | None = None,
    programs: Sequence[Path] = (),
) -> None:
    """Writes the page of the reports. Raises Refusal if a program is missing or that fails."""
    from tutti import report_page  # imports Jinja2, which other commands do not need

    for program in programs:
        if not program.is_file():
            raise Refusal(f"--program {program}: no such file")
    run = report_page.Run(command, seconds, programs)
    write(page, report_page.render(parts, page.name, run), "--html")


def run_with_page(
    start: Sequence[str], environment: Mapping[str, str], command: Sequence[str], page: Path
) -> tuple[int, str]:
    """Runs a program whose TUTTI_REPORT is data_file(page), and writes the page.

    Args:
        start: the command to execute.
        environment: the variables that Tutti sets for it.
        command: the command as the user typed it.
        page: the file to write.

    Returns:
        The exit status of the program, and why there is no page; empty if there is one.

    Raises:
        Refusal: the command cannot start, or the page cannot be written.
    """
    data = data_file(page)
    try:
        outcome = supervised.run(start, environment)
        if not data.is_file():
            return outcome.status, NO_REPORT
        parts = reports.read(data)
    finally:
        data.unlink(missing_ok=True)
    programs = source_lines.programs_in(command)
    write_page(parts, page, command, outcome.seconds, programs)
    return outcome.status, ""
