"""Writes results into a page, below its hand-written text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

try:
    import typer
except ModuleNotFoundError:
    sys.exit("typer is missing; ./test and ./demo install it into .venv: . .venv/bin/activate")

MARKER = "<!-- Written by `page`: all that follows. -->"
"""The line of a page below which all text is generated."""

Page = Annotated[
    Path | None, typer.Argument(help="Page to update below its marker. Default: print.")
]


def library(metadata: dict[str, str]) -> str:
    """Name and version of the MPI, for a heading."""
    return " ".join(metadata["library"].split(",")[0].replace("Version:", "").split())


def size(count: float) -> str:
    """Bytes in the largest unit that gives a number above 1."""
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if abs(count) >= 1 << shift:
            return f"{count / (1 << shift):.3g} {unit}"
    return f"{count:.0f} B"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table. Columns whose titles begin with ">" align to the right."""
    aligned = ["---:" if title.startswith(">") else "---" for title in titles]
    plain = [title.removeprefix(">") for title in titles]
    return [f"| {' | '.join(cells)} |" for cells in (plain, aligned, *rows)]


def write(lines: list[str], page: Path | None) -> None:
    """Replaces the text below the page's marker, or prints the lines if no page is given.

    A page without the marker stays unchanged, because its text may be hand-written.
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
