"""tutti lab: its state between commands, its lock, and the temporary files of its runs."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tutti import mpis
from tutti.console import Refusal
from tutti_lab import checks, machine, session, state
from tutti_lab import command as commands
from tutti_lab.layout import Layout

GBIT = 10**9
LAYOUT = Layout(3, GBIT)


def test_the_state_survives(folder):
    assert state.load() is None
    kept = state.State(Layout(5, GBIT, 2, GBIT // 2), {"net/a": 3}, True, 12.5)
    kept.save()
    assert state.load() == kept
    state.forget()
    assert state.load() is None and not folder.exists()


def test_an_unreadable_state_is_said(folder):
    folder.mkdir()
    for text in ("", "[]", '{"layout": {"nodes": 1, "colour": 2}}'):
        (folder / "state.json").write_text(text)
        with pytest.raises(Refusal, match="state.json: .*; tutti lab down removes it"):
            state.load()


def test_one_process_at_a_time_has_the_lab(folder):
    assert state.user() is None
    with state.alone():
        assert state.user() == os.getpid()
        with pytest.raises(Refusal, match=f"in use by process {os.getpid()}"), state.alone():
            raise AssertionError
    assert state.user() is None


def test_a_user_whose_number_is_unknown_is_another_process(command, folder, quiet_machine, monkeypatch):
    for number, text in ((7, "in use by process 7\n"), (0, "in use by another process\n")):
        monkeypatch.setattr(state, "user", lambda number=number: number)
        assert command("lab", "status").out == f"no lab\n{text}"


USER = """
import signal, sys, time
from pathlib import Path
from tutti_lab import state
state.FOLDER = Path(sys.argv[1])
if sys.argv[2] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with state.alone():
    print("locked", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize(("manner", "number"), [("polite", signal.SIGTERM), ("stubborn", signal.SIGKILL)])
def test_a_lab_in_use_is_removed_only_by_force(command, folder, monkeypatch, manner, number):
    monkeypatch.setattr(machine, "existing", lambda: [("namespace", "tuttilab-n1")])
    monkeypatch.setattr(machine, "require", lambda work: None)
    if manner == "stubborn":
        monkeypatch.setattr(state, "PATIENCE", 0.5)
    folder.mkdir()
    with subprocess.Popen([sys.executable, "-c", USER, folder, manner], stdout=subprocess.PIPE) as user:
        assert user.stdout and user.stdout.readline() == b"locked\n"
        removed: list[int | None] = []
        monkeypatch.setattr(commands, "_remove", lambda: removed.append(user.wait(20)))
        shown = command("lab", "down")
        assert shown.err == (
            f"tutti: the lab is in use by process {user.pid}; wait, or kill what runs in it: --force\n"
        )
        assert shown.status == 2 and not removed
        assert command("lab", "down", "--force").out == "removed\n" and removed == [-number]
        user.kill()
    assert command("lab", "down").out == "removed\n"


def test_a_lab_whose_user_just_leaves_is_free(folder):
    with state._lock_file().open("w") as lock:  # the user has removed its number
        fcntl.flock(lock, fcntl.LOCK_EX)
        leaving = threading.Timer(0.2, lambda: fcntl.flock(lock, fcntl.LOCK_UN))
        leaving.start()
        with state.alone():
            assert state.user() == os.getpid()
        leaving.join()


def test_no_other_process_gets_the_lab_while_it_is_removed(command, folder, quiet_machine, monkeypatch):
    monkeypatch.setattr(machine, "require", lambda work: None)
    state.State(LAYOUT, complete=True).save()
    tried: list[str] = []

    def remove(names, done):
        with pytest.raises(Refusal, match="in use"), state.alone():
            raise AssertionError
        tried.append("during")
        state.forget()
        with pytest.raises(Refusal, match="in use"), state.alone():
            raise AssertionError
        tried.append("after")
        return []

    monkeypatch.setattr(machine, "remove", remove)
    assert command("lab", "down").out == "removed\n" and tried == ["during", "after"]


def test_a_lab_whose_removal_is_interrupted_is_no_lab(command, folder, quiet_machine, monkeypatch):
    def remove(names, done):
        raise KeyboardInterrupt

    monkeypatch.setattr(machine, "require", lambda work: None)
    monkeypatch.setattr(machine, "remove", remove)
    state.State(LAYOUT, complete=True).save()
    assert command("lab", "down").status == 130
    assert "no lab" in command("lab", "run", "--", "true").err


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda: state.State(Layout(2, GBIT), complete=True).save(), "the lab has changed since"),
        (state.forget, "no lab"),
    ],
)
def test_a_lab_that_changes_before_the_lock_is_not_used(
    command, folder, quiet_machine, monkeypatch, change, text
):
    monkeypatch.setattr(mpis, "find", lambda *_: mpis.Mpi("openmpi", "4.1.4", "/usr/bin/mpirun"))
    monkeypatch.setattr(machine, "require", lambda work: change())
    monkeypatch.setattr(session, "run", lambda *_, **__: session.Ended(0))
    for words in (("run", "--native", "--mpi", "openmpi", "--", "true"), ("check",)):
        state.State(LAYOUT, complete=True).save()
        done = command("lab", *words)
        assert done.status == 2 and text in done.err, words


def test_a_run_has_a_folder_for_temporary_files_of_its_own(folder, quiet_machine):
    state.State(LAYOUT, complete=True).save()
    seen = []
    for _ in range(2):
        with session.alone_in(LAYOUT) as environment:
            seen.append(Path(environment["TMPDIR"]))
            (seen[-1] / "ompi.node1.0").mkdir()
        assert not seen[-1].exists()
    assert seen[0] != seen[1]


def test_a_check_that_is_ended_removes_its_temporary_files(command, folder, quiet_machine, monkeypatch):
    def links(*_):
        assert (folder / "tmp").is_symlink()
        os.kill(os.getpid(), signal.SIGTERM)

    state.State(LAYOUT, complete=True).save()
    monkeypatch.setattr(machine, "require", lambda work: None)
    monkeypatch.setattr(mpis, "find", lambda *_: mpis.Mpi("openmpi", "4.1.4", "/usr/bin/mpirun"))
    monkeypatch.setattr(checks, "links", links)
    assert command("lab", "check").status == 130
    assert not (folder / "tmp").is_symlink()


@pytest.mark.parametrize("removed_by", ["down", "the next run"])
def test_the_temporary_files_of_a_killed_run_are_removed(folder, removed_by):
    state.State(LAYOUT, complete=True).save()
    killed = state.temporary_folder()  # its cleanup does not run before the end of the test
    left = Path(killed.__enter__())
    (left / "ompi.node1.0").mkdir()
    if removed_by == "down":
        state.forget()
    else:
        with state.temporary_folder():
            assert not left.exists()
    assert not left.exists()


def test_a_look_at_the_lock_makes_no_run_fail(folder, monkeypatch):
    """`tutti lab status` shares the lock for a moment."""
    folder.mkdir()
    looks = [1, 1]

    def flock(lock, how, flock=fcntl.flock):
        if how & fcntl.LOCK_EX and looks:
            looks.pop()
            raise BlockingIOError
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with state.alone():
        assert state.user() == os.getpid() and not looks
