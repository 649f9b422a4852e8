"""Runs a command as a child process, with its signals and exit status; signals that end work."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tutti.refusal import Refusal

_Handler = Callable[[int, FrameType | None], None]
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_OTHERS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)
"""Signals that end no work: by some, a batch system asks a program to save its state."""
_GRACE = 0.2
"""Seconds that a command has to end by an interrupt of its own before it gets ours."""
_PATIENCE = 3.0
"""Seconds that a launcher has to end its ranks before all are killed."""


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

    Signals that end work, SIGUSR1, SIGUSR2 and SIGCONT are passed on to it. An interrupt is if the
    command still runs after 0.2 s, as one to the whole process group has reached it too. In the
    foreground of a terminal none is: Ctrl-C reaches the command by itself, and a second interrupt
    would make a launcher leave ranks behind; so there `kill -INT` of this process alone ends nothing.

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
    interrupts: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        if number not in _OTHERS:
            signals.append(number)
        if number == signal.SIGINT:
            if not _in_foreground():
                interrupts.append(number)
            return
        for child in children:
            child.send_signal(number)
        if not children:
            early.append(number)

    # Before the start, so that no signal is lost.
    handlers = dict.fromkeys((*_ENDING, signal.SIGINT, *_OTHERS), pass_on)
    with handling(handlers), _signals_noted() as next_signal:
        start = time.monotonic()
        try:
            child = subprocess.Popen(
                command, env={**os.environ, **environment}, stdin=stdin, stdout=stdout
            )
            children.append(child)
            for number in early:
                child.send_signal(number)
            while child.poll() is None:
                if not next_signal(_GRACE if interrupts else None):
                    interrupts.clear()
                    child.send_signal(signal.SIGINT)
            status = child.returncode
        except OSError as error:
            raise Refusal(f"{command[0]}: {error.strerror}") from None
    seconds = time.monotonic() - start
    return Outcome(status if status >= 0 else 128 - status, seconds, bool(signals))


def end(process: subprocess.Popen[str]) -> None:
    """Ends a launcher and its session, which it leads: SIGTERM first, SIGKILL after 3 s."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            continue


def _in_foreground() -> bool:
    """Does Ctrl-C at this process's terminal reach its group, and so the command?"""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


@contextmanager
def _signals_noted() -> Iterator[Callable[[float | None], bool]]:
    """Gives a function that returns true once a signal that this process handles has come since its
    last return, among them the end of a child, or false after some seconds. Waiting for a child would not do: a signal that
    comes just before that wait, or to another thread, is handled only after it."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    former = signal.signal(signal.SIGCHLD, lambda *_: None)
    former_end = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        yield lambda seconds: (
            bool(select.select([read_end], [], [], seconds)[0]) and bool(os.read(read_end, 4096))
        )
    finally:
        signal.set_wakeup_fd(former_end)
        signal.signal(signal.SIGCHLD, former)
        os.close(read_end)
        os.close(write_end)


@contextmanager
def handling(handlers: Mapping[signal.Signals, _Handler]) -> Iterator[None]:
    """Handles signals meanwhile. Those that this process ignores stay ignored, here and in its
    children: SIGHUP under nohup, SIGINT in a background job of a script."""
    former = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


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
    temporary files. Those that are ignored, such as SIGHUP under nohup, stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with handling(dict.fromkeys((signal.SIGTERM, signal.SIGHUP), interrupt)):
        yield
