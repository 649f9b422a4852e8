"""Child processes of tutti run: exit status and signals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tutti import bench, supervised
from tutti.commands.compare import compare
from tutti.refusal import Refusal
from tutti.shared_folder import shared_folder


@pytest.mark.parametrize(("script", "status"), [("exit 3", 3), ("kill -KILL $$", 137)])
def test_the_exit_status_is_that_of_the_command(script, status):
    outcome = supervised.run(["sh", "-c", script], {})
    assert outcome.status == status and outcome.seconds > 0


@pytest.mark.parametrize("name", ["TERM", "HUP", "QUIT"])
def test_signals_are_passed_on(name):
    before = signal.getsignal(signal.SIGTERM)
    script = f"trap 'exit 9' {name}; kill -{name} $PPID; while :; do sleep 0.02; done"
    outcome = supervised.run(["sh", "-c", script], {})
    assert outcome.status == 9 and outcome.interrupted
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("name", ["USR1", "USR2", "CONT"])
def test_signals_that_end_no_work_are_passed_on(name):
    script = f"trap 'exit 9' {name}; kill -{name} $PPID; while :; do sleep 0.02; done"
    outcome = supervised.run(["sh", "-c", script], {})
    assert outcome.status == 9 and not outcome.interrupted


def test_a_signal_that_does_not_interrupt_the_wait_is_passed_on():
    """As one that comes just before the wait begins; here another thread takes it."""
    script = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGUSR1, lambda *_: os._exit(9))\n"
        "signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])\n"
        "os.kill(os.getppid(), signal.SIGUSR1)\n"
        "time.sleep(10)\n"
    )
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    former = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        assert supervised.run([sys.executable, "-c", script], {}).status == 9
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
        over.set()
        other.join()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_what_is_ignored_stays_ignored(number):
    signal.signal(number, signal.SIG_IGN)
    script = f"kill -{int(number)} $PPID; kill -{int(number)} $$; exit 3"
    outcome = supervised.run(["sh", "-c", script], {})
    assert outcome.status == 3 and not outcome.interrupted
    with supervised.terminable():
        os.kill(os.getpid(), number)


_COUNTS = """
import os, signal, sys, time
got = []
signal.signal(signal.SIGINT, lambda *_: got.append(1))
print(os.getpid(), flush=True)
end = time.monotonic() + 20
while time.monotonic() < end:
    if got:
        end = min(end, time.monotonic() + float(sys.argv[1]))
    time.sleep(0.02)
sys.exit(10 + len(got))
"""


@pytest.mark.parametrize("way", ["alone", "group", "terminal"])
def test_the_command_gets_an_interrupt_once(way):
    """By Ctrl-C at the terminal, or sent to this process alone, or to its group without a terminal."""
    has_terminal = way == "terminal"
    ours, theirs = pty.openpty() if has_terminal else os.pipe()
    begin = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n" if has_terminal else ""
    code = (
        "import os, sys; from tutti import supervised\n"
        "outcome = supervised.run([sys.executable, '-c', *sys.argv[1:]], {})\n"
        "os._exit(outcome.status + 100 * outcome.interrupted)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", begin + code, _COUNTS, "0.05" if way == "group" else "0.5"],
        stdin=theirs, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None
    child.stdout.readline()
    if has_terminal:
        os.write(ours, b"\x03")
    elif way == "group":
        os.killpg(child.pid, signal.SIGINT)
    else:
        child.send_signal(signal.SIGINT)
    assert child.wait(60) == 111
    child.stdout.close()
    for end in (ours, theirs):
        os.close(end)


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_to_end_ends_what_runs_several_commands(tmp_path, monkeypatch, name):
    started = tmp_path / "started"
    words = ["sh", "-c", f"echo >> {started}; kill -{name} $PPID; sleep 0.1"]
    monkeypatch.setattr(bench, "command_of", lambda *_: words)
    with pytest.raises(KeyboardInterrupt):
        bench.run("mpirun", ["gather"], {})
    prepare = lambda settings: (words, {})  # noqa: E731
    with pytest.raises(KeyboardInterrupt):
        compare(prepare, words, {}, 3, as_json=False)
    assert started.read_text().count("\n") == 2


def test_what_ranks_write_is_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with shared_folder() as folder:
        assert folder.parent == tmp_path and folder.is_dir()
    assert not folder.exists()

    def refuse():
        raise FileNotFoundError

    monkeypatch.setattr(Path, "cwd", refuse)
    with shared_folder() as folder:
        assert folder.is_dir() and folder.parent != tmp_path


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_a_signal_to_end_removes_temporary_files(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt), shared_folder():
        subprocess.run(["sh", "-c", f"kill -{name} $PPID; sleep 10"], check=False)
    assert not list(tmp_path.iterdir())


def test_a_command_that_cannot_start_is_named():
    with pytest.raises(Refusal, match="^/none/app: No such file"):
        supervised.run(["/none/app", "-x"], {})
