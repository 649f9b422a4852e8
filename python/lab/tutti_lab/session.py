"""Runs a launcher in the lab, and ends all of its processes with the run."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import IO

from tutti.console import Refusal
from tutti.supervised import end, handling, terminable

from tutti_lab import machine, state
from tutti_lab.layout import Layout

GRACE = 2.0
"""Seconds that a launcher's daemons have to end after the launcher."""

TIMED_OUT = 124
"""The exit status after the time limit, as in timeout(1)."""


@dataclass(frozen=True)
class Ended:
    """The result of a run."""

    status: int
    """The launcher's exit status; 128 plus the signal's number, or TIMED_OUT."""
    output: str = ""
    killed: int = 0
    """The number of processes that remained in the nodes and were killed."""
    timed_out: bool = False
    seconds: float = 0.0
    """From start to end, without the cleanup."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delays Ctrl-C and signals to end: they raise KeyboardInterrupt when a cleanup is done. Those
    that are ignored, such as SIGHUP under nohup, stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        """Unlike SIG_IGN, a function is not inherited by what the cleanup starts."""
        noted.append(number)

    with handling(dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), note)):
        yield
    if noted:
        raise KeyboardInterrupt


def _left(spaces: list[str], grace: float) -> int:
    """The number of processes that remain in the nodes after at most `grace` seconds."""
    deadline = time.monotonic() + grace
    while True:
        left = sum(map(len, machine.processes(spaces).values()))
        if not left or time.monotonic() >= deadline:
            return left
        time.sleep(0.05)


@contextmanager
def alone_in(layout: Layout) -> Iterator[dict[str, str]]:
    """Locks the lab for a run, and ends what earlier ones have left; the run's environment.

    Raises Refusal if the lab is in use, or no longer has this layout.
    """
    with state.alone():
        if state.current().layout != layout:
            raise Refusal("the lab has changed since this command began; repeat it")
        spaces = [layout.namespace(node) for node in range(1, layout.nodes + 1)]
        left = machine.kill(spaces)  # leftovers of a killed run would take time from this one
        if left:
            raise Refusal(f"process {left[0]} of an earlier run cannot be stopped")
        with state.temporary_folder() as folder:
            yield {**os.environ, "TMPDIR": folder}


def run(
    command: list[str],
    layout: Layout,
    environment: Mapping[str, str],
    limit: float,
    capture: bool = False,
) -> Ended:
    """Runs a launcher for at most `limit` seconds, then kills all remaining processes in the nodes.

    Args:
        environment: the entire environment of the launcher, which the nodes inherit.
        capture: return the output instead of printing it.

    Raises:
        KeyboardInterrupt: on Ctrl-C, SIGTERM or SIGHUP, after all processes have been killed.
    """
    spaces = [layout.namespace(node) for node in range(1, layout.nodes + 1)]
    stream: IO[str] | int | None = subprocess.PIPE if capture else None
    with terminable():
        process = subprocess.Popen(
            command,
            env={**environment, "PATH": machine.path_of_system(dict(environment))},
            start_new_session=True,
            stdin=subprocess.DEVNULL if capture else None,
            stdout=stream,
            stderr=subprocess.STDOUT if capture else None,
            text=True,
        )
        output = ""
        status: int | None = None
        began = time.monotonic()
        try:
            output = process.communicate(timeout=limit)[0] or ""
            status = process.returncode
        except subprocess.TimeoutExpired as late:
            output = (late.output or b"").decode(errors="replace")  # bytes in spite of text=True
        finally:
            seconds = time.monotonic() - began
            with undisturbed():
                end(process)
                left = _left(spaces, GRACE if status is not None else 0)
                machine.kill(spaces)
    if status is None:
        return Ended(TIMED_OUT, output, left, timed_out=True, seconds=seconds)
    return Ended(status if status >= 0 else 128 - status, output, left, seconds=seconds)
