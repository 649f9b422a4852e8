"""Runs a command as a child process, with its signals and exit status; signals that end work."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tutti.refusal import Refusal


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    """The exit status; 128 + the signal's number if a signal ended the command."""
    seconds: float
    """From start to end, by the monotonic clock."""
    interrupted: bool
    """Whether an interrupt (Ctrl-C) or a signal to end came meanwhile."""


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    stdin: int | None = None,
    stdout: int | None = None,
) -> Outcome:
    """Runs a command and waits for its end.

    SIGTERM and SIGHUP are passed on to it; an interrupt from the terminal reaches it by itself.

    Args:
        command: the program and its arguments.
        environment: variables, in addition to those of this process.
        stdin, stdout: as in subprocess.Popen; by default those of this process.

    Raises:
        Refusal: the command cannot start.
    """
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []
    signals: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        signals.append(number)
        for child in children:
            child.send_signal(number)
        if not children:
            early.append(number)

    def note(number: int, _: FrameType | None) -> None:
        """Unlike SIG_IGN, a function is not inherited by the command."""
        signals.append(number)

    # Before the start, so that no signal is lost.
    handlers = {signal.SIGTERM: pass_on, signal.SIGHUP: pass_on, signal.SIGINT: note}
    former = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    start = time.monotonic()
    try:
        child = subprocess.Popen(
            command, env={**os.environ, **environment}, stdin=stdin, stdout=stdout
        )
        children.append(child)
        for number in early:
            child.send_signal(number)
        status = child.wait()
    except OSError as error:
        raise Refusal(f"{shlex.join(command)}: {error.strerror}") from None
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    seconds = time.monotonic() - start
    return Outcome(status if status >= 0 else 128 - status, seconds, bool(signals))


def stamp_of(file: Path) -> tuple[int, int] | None:
    """Changes whenever the file is written; None if it does not exist."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns


@contextmanager
def terminable() -> Iterator[None]:
    """Turns SIGTERM and SIGHUP into KeyboardInterrupt: they end work like Ctrl-C, which removes
    temporary files."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    former = {one: signal.signal(one, interrupt) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
