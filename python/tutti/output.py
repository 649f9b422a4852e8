"""The standard output of a program's runs: passed on, and compared."""

from __future__ import annotations

import functools
import operator
import os
import select
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
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
    flow = _Flow()
    arguments = (source, target, text, flow)
    thread = threading.Thread(target=_pass_on, args=arguments, daemon=True)
    thread.start()
    try:
        yield end, text
    finally:
        os.close(end)
        seen = -1
        while thread.is_alive() and (flow.is_writing or flow.passed != seen):  # for a reader that pauses
            seen = flow.passed
            thread.join(_PATIENCE)


@dataclass
class _Flow:
    """What a thread passes on."""

    passed: int = 0
    """Bytes so far."""
    is_writing: bool = False


def _pass_on(source: int, target: int, text: bytearray, flow: _Flow) -> None:
    with (
        suppress(OSError),  # of a target that takes no more
        open(source, "rb", buffering=0) as pipe,
        open(target, "wb", buffering=0, closefd=False) as out,
    ):
        while piece := pipe.read(1 << 16):
            if len(text) <= MAX_BYTES:
                text += piece
            flow.is_writing = True
            while piece:
                done = out.write(piece)
                if done is None:  # a target that does not block
                    select.select([], [out], [])
                    continue
                piece = piece[done:]
                flow.passed += done
            flow.is_writing = False


@dataclass
class _Arm:
    """The outputs of all runs of one kind."""

    runs: int = 0
    longest: int = 0
    """The most lines of a run."""
    common: Counter[bytes] = field(default_factory=Counter)
    """The lines of all runs."""
    varying: bytes | None = None
    """A line that not all runs have, or not so often."""

    def add(self, lines: Counter[bytes]) -> None:
        if self.runs == 0:
            self.common = lines
        elif self.varying is None:
            self.varying = _any_of((lines - self.common) + (self.common - lines))
        self.common = self.common & lines
        self.longest = max(self.longest, lines.total())
        self.runs += 1

    @property
    def different(self) -> int:
        """The lines of the longest output that not all runs have."""
        return self.longest - self.common.total()

    def beyond(self, other: Counter[bytes]) -> bytes | None:
        """A line that all these runs have, but not the `other` lines, which another arm's runs have
        in common; else one that varies, unless the others have it. None if there is none."""
        always = _any_of(self.common - other)
        if always is not None or self.varying is None:
            return always
        return None if other[self.varying] > self.common[self.varying] else self.varying


def _any_of(lines: Counter[bytes]) -> bytes | None:
    return next(iter(lines), None)


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    printable = "".join(one if one.isprintable() else " " for one in text).strip()
    return printable if len(printable) <= _WIDTH else printable[: _WIDTH - 2] + ".."


@dataclass
class Outputs:
    """Compares the outputs of runs by their lines, in any sequence, as ranks print in any."""

    is_too_long: bool = False
    """Has a run written more than MAX_BYTES? Then nothing is compared."""
    _arms: dict[str, _Arm] = field(default_factory=dict)

    def add(self, arm: str, text: bytes) -> None:
        """Adds what one run of an arm has written."""
        self.is_too_long = self.is_too_long or len(text) > MAX_BYTES
        lines = Counter[bytes]() if self.is_too_long else Counter(text.splitlines())
        self._arms.setdefault(arm, _Arm()).add(lines)

    @property
    def lines(self) -> int:
        """The most lines of a run."""
        return max(arm.longest for arm in self._arms.values())

    @property
    def different(self) -> int:
        """The lines of the longest output that other runs do not have."""
        return self.lines - _common(self._arms.values()).total()

    def different_within(self, arm: str) -> int | None:
        """The same among the runs of an arm; None of a single run."""
        return self._arms[arm].different if self._arms[arm].runs > 1 else None

    def examples(self) -> dict[str, str | None]:
        """By arm: a line in which it differs from the others, if possible one of all its runs; None
        where it only lacks lines. All are None if runs of each arm differ in the same line. Needs
        runs of two arms."""
        found = {
            name: arm.beyond(_common(one for one in self._arms.values() if one is not arm))
            for name, arm in self._arms.items()
        }
        is_same = len({*found.values()}) == 1
        return {
            name: None if line is None or is_same else _shown(line) for name, line in found.items()
        }

    def verdict(self, basis: str) -> list[str]:
        """Says in a sentence whether the outputs agree, then a line of each arm that differs;
        nothing without output. `basis` is the arm that the others are compared with."""
        if self.is_too_long:
            return [f"output: not compared, as a run wrote more than {MAX_BYTES >> 20} MiB."]
        if self.lines == 0:
            return []
        if self.different == 0:
            runs = sum(arm.runs for arm in self._arms.values())
            return [f"output: the same {count(self.lines, 'line')} in all {runs} runs."]
        within = self.different_within(basis)
        where = ""
        if within == self.different:
            where = f", between {basis} runs too"
        elif within:
            where = f", {within:,} of them between {basis} runs too"
        elif within == 0:
            where = f", but not between {basis} runs"
        examples = self.examples()
        shown = [f"  {arm}: {'-' if line is None else line}" for arm, line in examples.items()]
        has_example = any(line is not None for line in examples.values())
        verb = "differs" if self.different == 1 else "differ"
        head = f"output: {self.different:,} of {count(self.lines, 'line')} {verb}{where}"
        return [head + ", such as:", *shown] if has_example else [head + "."]


def _common(arms: Iterable[_Arm]) -> Counter[bytes]:
    """The lines of all runs of these arms."""
    return functools.reduce(operator.and_, (arm.common for arm in arms))
