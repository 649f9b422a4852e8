"""The output of commands: tables, JSON, numbers with units, files."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import measure_renderables
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tutti import _engine
from tutti.refusal import Refusal

__all__ = [
    "Refusal", "console", "count", "duration", "expanded", "is_utf_8", "literal", "microseconds",
    "percent", "print_json", "table", "volume", "why_not_writable", "write",
]  # fmt: skip


class _Console(Console):
    """Does not end the process where nobody reads the output any more."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, error: bool = False) -> Console:
    """Standard output or error, as wide as COLUMNS or else the terminal; 80 columns without one."""
    return _Console(file=sys.stderr if error else sys.stdout, highlight=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """Prints a JSON value on standard output."""
    print(json.dumps(value, indent=2))


class FittingTable(Table):
    """A table that breaks no word: where it is too wide for the console, the columns that do not fit
    are below each row, with their names."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unbounded = options.update(max_width=1 << 16)
        ranges = [
            measure_renderables(console, unbounded, [column.header, *column.cells])
            for column in self.columns
        ]
        needed = sum(one.maximum if column.no_wrap else one.minimum
                     for one, column in zip(ranges, self.columns, strict=True))  # fmt: skip
        blanks = 2 if needed + 2 * (len(ranges) - 1) <= options.max_width else 1
        spare = options.max_width - needed - blanks * (len(ranges) - 1)
        if spare < 0:
            yield from self._with_rest_below(options.max_width)
            return
        self.padding = (0, 1, 0, blanks - 1)
        wanted = sum(one.maximum for one in ranges) - needed
        for one, column in zip(ranges, self.columns, strict=True):
            least = one.maximum if column.no_wrap else one.minimum
            share = 1.0 if wanted <= spare else spare / wanted
            column.width = least + int((one.maximum - least) * share)
        yield from super().__rich_console__(console, options)

    def _with_rest_below(self, most: int) -> RenderResult:
        if self.title:
            yield Text.from_markup(str(self.title), style="bold")
        names = [str(column.header) for column in self.columns]
        rows = [
            [Text.from_markup(cell) if isinstance(cell, str) else cell for cell in row]
            for row in zip(*(column.cells for column in self.columns), strict=True)
        ]
        widths = [max(cell.cell_len for cell in column)
                  for column in zip([Text(name) for name in names], *rows, strict=True)]  # fmt: skip
        ends = list(accumulate(widths, lambda end, width: end + 2 + width))
        kept = max(1, sum(end <= most for end in ends))

        def line(cells: list[Text]) -> Text:
            padded = [cell.copy() for cell in cells[:kept]]
            for cell, column, width in zip(padded, self.columns, widths, strict=False):
                cell.align("right" if column.justify == "right" else "left", width)
            joined = Text("  ").join(padded)
            joined.rstrip()
            return joined

        yield line([Text(name, style="bold dim") for name in names])
        for row, cells in zip(self.rows, rows, strict=True):
            rest = [
                Text.assemble((name + ": ", "dim"), cell)
                for name, cell in zip(names[kept:], cells[kept:], strict=True)
                if str(cell)
            ]
            shown = line(cells)
            shown.stylize(row.style or "")
            yield shown
            if rest:
                yield Padding(Text("; ").join(rest), (0, 0, 0, 3), expand=False)


def table(*columns: str, title: str | None = None, right: tuple[str, ...] = ()) -> Table:
    """An empty table without lines; the columns named in `right` hold numbers."""
    made = FittingTable(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        number = column in right
        made.add_column(
            Text(column),  # no markup, as it may be the name of a file
            justify="right" if number else "left",
            no_wrap=number,
            header_style="bold dim",
            overflow="fold",
        )
    return made


def microseconds(seconds: float) -> str:
    """A time in microseconds with 3 or more significant digits."""
    value = seconds * 1e6
    return f"{value:,.0f} us" if value >= 999.5 else f"{value:.3g} us"


def duration(seconds: float) -> str:
    """A time with 3 digits and its unit, as in the library's reports, and a sign if it is negative: "41.0 ms"."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        value = seconds * factor
        size = abs(value)
        if size >= 0.9995 or unit == "us":
            break
    return f"{value:.{2 if size < 9.995 else 1 if size < 99.95 else 0}f} {unit}"


def percent(share: float, digits: int = 0) -> str:
    """A share as the library's reports write it: "96 %"."""
    return f"{100 * share:.{digits}f} %"


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


def is_utf_8(text: str) -> bool:
    """Is it UTF-8, as the engine needs it? Names of files may have other bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def expanded(name: str) -> Path:
    """The file that a value of TUTTI_REPORT names; %j and %p stand for numbers in it."""
    return Path(_engine.expanded(name) if is_utf_8(name) else name)


def literal(file: Path) -> str:
    """The value of TUTTI_REPORT that names this file, whatever its folders are called."""
    return str(file).replace("%", "%%")


def why_not_writable(path: Path) -> str:
    """Why a file cannot be written, to be asked before long work; empty if nothing is known against
    it. A former file may be renamed, so a file must be possible in its folder, which is tried: not
    every folder that permits writing has files. A device needs no new file."""
    if not is_utf_8(str(path)):
        return "expected a name in UTF-8"
    if reason := _engine.why_no_output(str(path)):
        return reason
    folder = path.absolute().parent
    if not folder.is_dir():
        return f"no directory {folder}"
    if path.exists() and not path.is_file():
        return ""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        return f"cannot write in the directory {folder}: {error.strerror}"
    return ""


def write(path: Path, text: str | bytes, option: str) -> None:
    """Writes the file that `option` names, text in UTF-8. Raises Refusal if that fails.

    A former file stays as it was until the new one is whole, unless its folder takes no new files.
    Names of files need not be UTF-8: their other bytes are written as escapes.
    """
    # Such as /dev/stdout, which may lead to a file that others write to.
    is_of_system = path.parts[:2] in (("/", "dev"), ("/", "proc"))
    try:
        if path.is_symlink() or is_of_system or (path.exists() and not path.is_file()):
            _put(path, text)
        else:
            _replace(path, text)
    except OSError as error:
        raise Refusal(f"{option} {path}: {error.strerror}") from None


def _put(path: Path, text: str | bytes) -> None:
    path.write_bytes(text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text)


def _replace(path: Path, text: str | bytes) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _put(new, text)
        if path.exists():
            with suppress(OSError):
                shutil.copymode(path, new)
        new.replace(path)
    except OSError as error:
        if not path.is_file() or error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        _put(path, text)
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)
