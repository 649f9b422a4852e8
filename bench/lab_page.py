"""What scripts of bench/ share: tables of results, written into a page below its hand-written text;
default settings, and one line for bad input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

try:
    import tutti
    import typer
    from tutti.console import why_not_writable
    from tutti.refusal import Refusal
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is missing; ./test installs it into .venv: . .venv/bin/activate")

DEFAULTS = {"TUTTI_MACHINE": "built-in", "TUTTI_RULES": "none", "TUTTI_LEARN": "run"}
"""Nothing that this user or the site has measured."""

MARKER = "<!-- Written by `page`: all that follows. -->"
"""The line of a page below which all text is generated."""

Number = TypeVar("Number", int, float)

Page = Annotated[
    Path | None, typer.Argument(help="Page to update below its marker. Default: print.")
]


def main(script: Callable[[], Any]) -> None:
    """Runs a script with default settings instead of the user's, and ends the process with the status
    that it returns; 1, after one line on standard error, if the input is bad."""
    for setting in tutti.settings():
        os.environ.pop(setting.name, None)
    os.environ.update(DEFAULTS)
    try:
        sys.exit(script())
    except (Refusal, OSError, ValueError) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


def files(folder: Path, pattern: str) -> list[Path]:
    """The files whose names match, by name. Raises Refusal if there are none: a page would lose its
    tables."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise Refusal(f"{folder} has no {pattern}")
    return found


def refuse_unwritable(file: Path) -> None:
    """Raises Refusal if a file cannot be written, to be asked before long work."""
    if reason := why_not_writable(file):
        raise Refusal(f"{file}: {reason}")


def refuse_former(file: Path) -> None:
    """Raises Refusal if a file exists or cannot be written, to be asked before long work whose first part would
    already replace it."""
    if file.exists():
        raise Refusal(f"{file} exists; remove it, or name another file")
    refuse_unwritable(file)


def numbers(option: str, text: str, kind: Callable[[str], Number]) -> list[Number]:
    """The numbers of an option, separated by commas. Raises Refusal for other text."""
    try:
        return [kind(word) for word in text.split(",")]
    except ValueError:
        raise Refusal(f"{option} {text}: expected numbers, separated by commas") from None


def library(metadata: dict[str, str]) -> str:
    """Name and version of the MPI, for a heading."""
    return " ".join(metadata["library"].split(",")[0].replace("Version:", "").split())


def ran(text: str) -> str:
    """The specification of what ran, without the reason that follows it."""
    return text.partition(": ")[0] or "native"


def milliseconds(line: dict[str, Any]) -> float:
    """The median time of a contender."""
    return float(line["median_us"]) / 1000


def size(count: float) -> str:
    """Bytes with 3 digits, in the largest unit that gives a number above 1."""
    value, unit = count, "B"
    for larger in ("KiB", "MiB"):
        if abs(value) >= 1023.5:
            value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" or abs(value) >= 999.5 else f"{value:.3g} {unit}"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table. Columns whose titles begin with ">" align to the right."""
    aligned = ["---:" if title.startswith(">") else "---" for title in titles]
    plain = [title.removeprefix(">") for title in titles]
    return [f"| {' | '.join(cells)} |" for cells in (plain, aligned, *rows)]


def write(lines: list[str], page: Path | None) -> None:
    """Replaces the text below the page's marker, or prints the lines if no page is given.

    Raises Refusal for a page without the marker, whose text may be hand-written.
    """
    measured = "\n".join(lines).rstrip() + "\n"
    if page is None:
        sys.stdout.write(measured)
        return
    text = page.read_text() if page.is_file() else ""
    by_hand, marker, _ = text.partition(f"{MARKER}\n")
    if not marker:
        raise Refusal(f"no marker in {page}: {MARKER}")
    page.write_text(f"{by_hand}{MARKER}\n\n{measured}")
