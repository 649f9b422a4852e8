"""tutti lab: the cleanup after a run, and how links are measured; no node is needed."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from tutti import mpis
from tutti.console import Refusal
from tutti_lab import checks, machine, session, transfer
from tutti_lab.layout import FRAME, Layout

GBIT = 10**9
LAYOUT = Layout(3, GBIT)


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
    ("sender", "limit", "kind", "text"),
    [
        ("echo first; echo node1: no such node >&2; exit 2", 60, OSError,
         "n1 to n2: node1: no such node"),
        ("echo TimeoutError: timed out >&2; exit 1", 60, TimeoutError,
         "n1 to n2: TimeoutError: timed out"),
        ("exit 3", 60, OSError, "n1 to n2: no message"),
        ("exec sleep 60", 0.5, TimeoutError, r"n1 to n2 within 0.5 s \(--timeout\)"),
    ],
)  # fmt: skip
def test_a_failed_transfer_says_why(tmp_path, sender, limit, kind, text):
    shell = tmp_path / "nodesh"
    shell.write_text(f'#!/bin/sh\n[ $1 = n2 ] || {{ {sender}; }}\nshift\nexec sh -c "$*"\n')
    shell.chmod(0o755)
    with pytest.raises(OSError, match=text) as failed:
        transfer.measure(str(shell), ("n1", "n2"), "127.0.0.1", 0.2, limit)
    assert type(failed.value) is kind


@pytest.mark.parametrize(
    ("receiver", "limit", "text"),
    [
        ("exec sleep 60", 0.5, r"within 0.5 s \(--timeout\)"),
        ("exit 0", 60, "ended without a result"),
    ],
)
def test_a_receiver_that_says_nothing_is_an_error(tmp_path, receiver, limit, text):
    shell = tmp_path / "nodesh"
    shell.write_text(f"#!/bin/sh\n{receiver}\n")
    shell.chmod(0o755)
    with pytest.raises(OSError, match=text):
        transfer.measure(str(shell), ("n1", "n2"), "127.0.0.1", 0.2, limit)


def test_a_receiver_that_does_not_start_says_why(tmp_path):
    shell = tmp_path / "nodesh"
    shell.write_text('#!/bin/sh\necho "$1: gone" >&2\nexit 2\n')
    shell.chmod(0o755)
    with pytest.raises(OSError, match="n1 to n2: n2: gone"):
        transfer.measure(str(shell), ("n1", "n2"), "127.0.0.1", 0.2, 10)


@pytest.mark.parametrize(
    ("share", "advice"),
    [
        (0.91, ""),
        (1.04, ""),
        (0.89, "the machine cannot carry 1 Gbit/s now"),
        (1.06, "the kernel does not limit this link to 1 Gbit/s"),
    ],
)
def test_links_are_judged_by_their_rates(monkeypatch, share, advice):
    """Both directions between two nodes, and the uplink between two switches."""
    asked = []

    def measure(shell, names, address, seconds, limit):
        asked.append((*names, address))
        rate = GBIT // 4 if names == ("node1", "node4") else GBIT
        return share * rate / (8 * FRAME)

    monkeypatch.setattr(checks.transfer, "measure", measure)
    lines = list(checks.links(Layout(4, GBIT, 2, GBIT // 4), "/lab/nodesh", 60))
    assert asked == [
        ("node1", "node2", "10.77.0.2"),
        ("node2", "node1", "10.77.0.1"),
        ("node1", "node4", "10.77.0.4"),
    ]
    assert [line.meant for line in lines] == [1000, 1000, 250]
    assert [line.good for line in lines] == [not advice] * 3
    assert [line.advice for line in lines] == [advice] * 2 + [advice.replace("1 G", "250 M")]


@pytest.mark.parametrize(("rate", "limit", "expected"), [(GBIT, 60, 1), (10**6, 200, 30), (10**4, 60, 15)])
def test_a_link_is_measured_within_the_limit(monkeypatch, rate, limit, expected):
    given = []
    monkeypatch.setattr(checks.transfer, "measure", lambda *words: given.append(words[-2:]) or rate / (8 * FRAME))
    assert all(line.good for line in checks.links(Layout(2, rate), "/lab/nodesh", limit))
    assert given == [(expected, limit)] * 2


@pytest.mark.parametrize("kind", [TimeoutError, OSError])
def test_only_where_no_answer_comes_the_firewall_is_suspected(monkeypatch, kind):
    def measure(*_):
        raise kind("no transfer")

    monkeypatch.setattr(checks.transfer, "measure", measure)
    with pytest.raises(Refusal) as refused:
        list(checks.links(LAYOUT, "/lab/nodesh", 60))
    assert ("firewall" in str(refused.value)) == (kind is TimeoutError)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.c:1:10: fatal error: mpi.h: No such file\n 1 | #include\n   | ^~~\ncompilation terminated.\n",
         "a.c:1:10: fatal error: mpi.h: No such file"),
        ("first\nnot enough slots\n------\n", "not enough slots"),
        ("\n", "failed"),
    ],
)  # fmt: skip
def test_a_failed_command_gives_one_line(tmp_path, text, message):
    mpicc = tmp_path / "mpicc"
    mpicc.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{text}END\nexit 1\n")
    mpicc.chmod(0o755)
    with pytest.raises(Refusal) as refused:
        checks.compile_program(mpis.Mpi("openmpi", "4.1.4", str(tmp_path / "mpirun")), tmp_path)
    assert str(refused.value).endswith(f"check: {message}")


def test_a_compiler_that_takes_too_long_is_named(tmp_path, monkeypatch):
    mpirun, mpicc = tmp_path / "mpirun", tmp_path / "mpicc"
    mpicc.write_text("#!/bin/sh\nexec sleep 60\n")
    mpicc.chmod(0o755)
    monkeypatch.setattr(checks, "_SECONDS", 0.1)
    with pytest.raises(Refusal, match=f"^{mpicc} -O2 .*: not done after 0.1 s$"):
        checks.compile_program(mpis.Mpi("openmpi", "4.1.4", str(mpirun)), tmp_path)
