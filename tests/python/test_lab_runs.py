"""tutti lab: the cleanup after a run, and the transfer that measures a link; no node is needed."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from tutti_lab import machine, session, transfer
from tutti_lab.layout import Layout

LAYOUT = Layout(3, 10**9)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_the_cleanup_counts_after_it(monkeypatch, number):
    killed = []

    def left(spaces, grace):
        assert signal.getsignal(number) != signal.SIG_IGN, "processes inherit it"
        os.kill(os.getpid(), number)
        return 0

    monkeypatch.setattr(session, "_left", left)
    monkeypatch.setattr(machine, "kill", killed.append)
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        session.run(["true"], LAYOUT, os.environ, 20)
    assert len(killed) == 1
    assert signal.getsignal(number) is before


def test_a_link_is_measured_by_a_python_whose_path_has_blanks(tmp_path, monkeypatch):
    """The node shell joins its words with blanks, as ssh does."""
    shell, python = tmp_path / "nodesh", tmp_path / "a folder" / "python"
    python.parent.mkdir()
    shell.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for script in (shell, python):
        script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert transfer.measure(str(shell), ("n1", "n2"), "127.0.0.1", 0.2, 60) > 0


@pytest.mark.parametrize(
    ("sender", "kind", "text"),
    [
        ("echo first; echo node1: no such node >&2; exit 2", OSError, "n1 to n2: node1: no such node"),
        ("echo TimeoutError: timed out >&2; exit 1", TimeoutError, "n1 to n2: TimeoutError: timed out"),
        ("exit 3", OSError, "n1 to n2: no message"),
        ("exec sleep 60", TimeoutError, r"n1 to n2 within 0.5 s \(--timeout\)"),
    ],
)
def test_a_failed_transfer_says_why(tmp_path, sender, kind, text):
    shell = tmp_path / "nodesh"
    shell.write_text(f'#!/bin/sh\n[ $1 = n2 ] || {{ {sender}; }}\nshift\nexec sh -c "$*"\n')
    shell.chmod(0o755)
    with pytest.raises(OSError, match=text) as failed:
        transfer.measure(str(shell), ("n1", "n2"), "127.0.0.1", 0.2, 0.5)
    assert type(failed.value) is kind


def test_a_receiver_that_does_not_start_says_why(tmp_path):
    shell = tmp_path / "nodesh"
    shell.write_text('#!/bin/sh\necho "$1: gone" >&2\nexit 2\n')
    shell.chmod(0o755)
    with pytest.raises(OSError, match="n1 to n2: n2: gone"):
        transfer.measure(str(shell), ("n1", "n2"), "127.0.0.1", 0.2, 10)
