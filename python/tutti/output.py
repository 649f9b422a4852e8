"""The standard output of a program's runs: passed on, and compared."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tutti.console import count

MAX_BYTES = 1 << 24
"""The longest output of a run that is compared: its lines are kept in memory."""
_PATIENCE = 1.0
"""Seconds to wait for the end of the output, which a process that a launcher leaves behind delays."""
_WIDTH = 60
"""The letters of a line that are shown."""


@contextmanager
def passed_on(target: int) -> Iterator[tuple[int, bytearray]]:
    """A pipe for a program's output, which is passed on to the open file `target` as it comes.

    Gives the number of the end to write to, and what was written, complete at the end of the context;
    of more than MAX_BYTES, the first ones. If `target` takes no more, writing to the pipe fails too. The
    context does not end before `target` has taken all.
    """
    source, end = os.pipe()
    text = bytearray()
    writing = threading.Event()
    arguments = (source, target, text, writing)
    thread = threading.Thread(target=_pass_on, args=arguments, daemon=True)
    thread.start()
    try:
        yield end, text
    finally:
        os.close(end)
        thread.join(_PATIENCE)
        while thread.is_alive() and writing.is_set():  # for a reader that pauses
            thread.join(_PATIENCE)


def _pass_on(source: int, target: int, text: bytearray, writing: threading.Event) -> None:
    with (
        suppress(OSError),  # of a target that takes no more
        open(source, "rb", buffering=0) as pipe,
        open(target, "wb", buffering=0, closefd=False) as out,
    ):
        while piece := pipe.read(1 << 16):
            if len(text) <= MAX_BYTES:
                text += piece
            writing.set()
            while piece:
                piece = piece[out.write(piece) :]
            writing.clear()


@dataclass
class _Arm:
    """The outputs of all runs of one kind."""

    first: Counter[bytes]
    """The lines of the first run."""
    runs: int = 1
    is_same: bool = True
    """Have all runs the lines of the first?"""
    added: bytes | None = None
    """A line of another run that the first has not, or not so often."""

    def add(self, lines: Counter[bytes]) -> None:
        self.runs += 1
        self.is_same = self.is_same and lines == self.first
        if self.added is None:
            self.added = next(iter(lines - self.first), None)

    def beyond(self, common: Counter[bytes]) -> str | None:
        """A line that not all runs of all kinds have; None where these runs only lack lines."""
        found = self.added
        if found is None and self.is_same:
            found = next(iter(self.first - common), None)
        return None if found is None else _shown(found)


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    printable = "".join(one if one.isprintable() else " " for one in text).strip()
    return printable if len(printable) <= _WIDTH else printable[: _WIDTH - 2] + ".."


@dataclass
class Outputs:
    """Compares the outputs of runs by their lines, in any sequence, as ranks print in any."""

    runs: int = 0
    lines: int = 0
    """The most lines of a run."""
    is_too_long: bool = False
    """Has a run written more than MAX_BYTES? Then nothing is compared."""
    _arms: dict[str, _Arm] = field(default_factory=dict)
    _common: Counter[bytes] = field(default_factory=Counter)
    """The lines of all runs."""

    def add(self, arm: str, text: bytes) -> None:
        """Adds what one run of an arm has written."""
        self.is_too_long = self.is_too_long or len(text) > MAX_BYTES
        lines = Counter[bytes]() if self.is_too_long else Counter(text.splitlines())
        self._common = lines if self.runs == 0 else self._common & lines
        self.runs += 1
        self.lines = max(self.lines, lines.total())
        if arm in self._arms:
            self._arms[arm].add(lines)
        else:
            self._arms[arm] = _Arm(lines)

    @property
    def different(self) -> int:
        """The lines of the longest output that other runs do not have."""
        return self.lines - self._common.total()

    def agrees_within(self, arm: str) -> bool:
        """Did all runs of an arm write the same?"""
        return self._arms[arm].is_same

    def examples(self) -> dict[str, str | None]:
        """By arm: a line that not all runs have; None where an arm has none."""
        return {arm: one.beyond(self._common) for arm, one in self._arms.items()}

    def verdict(self, basis: str) -> list[str]:
        """Says in a sentence whether the outputs agree, then a line of each arm that differs;
        nothing without output. `basis` is the arm that the others are compared with."""
        if self.is_too_long:
            return [f"output: not compared, as a run wrote more than {MAX_BYTES >> 20} MiB."]
        if self.lines == 0:
            return []
        if self.different == 0:
            return [f"output: the same {count(self.lines, 'line')} in all {self.runs} runs."]
        where = ""
        if not self.agrees_within(basis):
            where = f", between {basis} runs too"
        elif self._arms[basis].runs > 1:
            where = f", but not between {basis} runs"
        shown = [f"  {arm}: {'-' if line is None else line}" for arm, line in self.examples().items()]
        verb = "differs" if self.different == 1 else "differ"
        head = f"output: {self.different:,} of {count(self.lines, 'line')} {verb}{where}, such as:"
        return [head, *shown]
