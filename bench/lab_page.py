"""Writes what the lab has measured into a page, below the text that people wrote."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

MARKER = "<!-- Written by `page`: all that follows. -->"
"""The line of a page below which nothing is written by hand."""

Page = Annotated[
    Path | None, typer.Argument(help="Page to write into, below its marker; printed without one.")
]


def library(metadata: dict[str, str]) -> str:
    """Name and version of the MPI, as a heading has them."""
    return " ".join(metadata["library"].split(",")[0].replace("Version:", "").split())


def write(lines: list[str], page: Path | None) -> None:
    """Replaces what stands below the page's marker, or prints the lines where no page is given.

    A page without the marker is refused and stays as it is: its text may be by hand.
    """
    measured = "\n".join(lines).rstrip() + "\n"
    if page is None:
        sys.stdout.write(measured)
        return
    text = page.read_text() if page.is_file() else ""
    by_hand, marker, _ = text.partition(f"{MARKER}\n")
    if not marker:
        raise typer.BadParameter(f"no marker in {page}: {MARKER}", param_hint="page")
    page.write_text(f"{by_hand}{MARKER}\n\n{measured}")
