"""Runs a command as a child process, with its signals and exit status."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

from tutti.refusal import Refusal


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    """The exit status; 128 + the signal's number if a signal ended the command."""
    seconds: float
    """From start to end, by the monotonic clock."""


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
    start = time.monotonic()
    try:
        child = subprocess.Popen(
            command, env={**os.environ, **environment}, stdin=stdin, stdout=stdout
        )
    except OSError as error:
        raise Refusal(f"{shlex.join(command)}: {error.strerror}") from None

    def pass_on(number: int, _: FrameType | None) -> None:
        child.send_signal(number)

    former = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    former[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status = child.wait()
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    return Outcome(status if status >= 0 else 128 - status, time.monotonic() - start)
