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
    assert transfer.measure(str(shell), ("n1", "n2"), "127.0.0.1", 0.2) > 0
