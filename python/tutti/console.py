"""The output of commands: tables, JSON, numbers with units, files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tutti.refusal import Refusal

__all__ = [
    "Refusal", "console", "count", "duration", "microseconds", "print_json", "table", "volume",
    "write",
]  # fmt: skip


def console() -> Console:
    """Standard output; wide enough for any table if it is not a terminal."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    return Console(highlight=False, width=width, soft_wrap=False)


def print_json(value: Any) -> None:
    """Prints a JSON value on standard output."""
    print(json.dumps(value, indent=2))


def table(*columns: str, title: str | None = None, right: tuple[str, ...] = ()) -> Table:
    """An empty table without lines; the columns named in `right` hold numbers."""
    made = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        number = column in right
        made.add_column(
            column,
            justify="right" if number else "left",
            no_wrap=number,
            header_style="bold dim",
            overflow="fold",
        )
    return made


def microseconds(seconds: float) -> str:
    """A time in microseconds with 3 or more significant digits."""
    value = seconds * 1e6
    return f"{value:,.0f} us" if value >= 1000 else f"{value:.3g} us"


def duration(seconds: float) -> str:
    """A time with 3 digits and its unit, as in the library's reports: "41.0 ms"."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        value = seconds * factor
        if value >= 0.9995 or unit == "us":
            break
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"


def volume(size: int) -> str:
    """A number of bytes with 3 digits and its unit: "5.00 MiB"."""
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if value < 1023.5:
            break
        value, unit = value / 1024, larger
    if unit == "B":
        return f"{size} B"
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 message", "2 messages"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def write(path: Path, text: str, option: str) -> None:
    """Writes the file that `option` names. Raises Refusal if that fails."""
    try:
        path.write_text(text)
    except OSError as error:
        raise Refusal(f"{option} {path}: {error.strerror}") from None
