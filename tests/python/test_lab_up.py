"""tutti lab up: a lab that cannot be made, or whose making is interrupted, is removed."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest
from tutti.console import Refusal
from tutti_lab import machine, state
from tutti_lab.layout import Layout

LAYOUT = Layout(3, 10**9)


def test_settings_that_the_kernel_lacks_are_passed_over(monkeypatch, tmp_path):
    (tmp_path / "has").write_text("7\n")
    (tmp_path / "cannot").mkdir()
    monkeypatch.setattr(machine, "Path", lambda name: tmp_path if name == "/proc/sys" else Path(name))
    kept = {}
    machine.raise_settings({"lacks": 9, "has": 9}, kept.__setitem__)
    assert kept == {"has": 7} and (tmp_path / "has").read_text() == "9"
    with pytest.raises(Refusal, match="cannot: Is a directory"):
        machine.raise_settings({"cannot": 9}, kept.__setitem__)


def test_settings_are_restored_where_the_kernel_still_has_them(monkeypatch, tmp_path):
    (tmp_path / "has").write_text("9\n")
    monkeypatch.setattr(machine, "Path", lambda name: tmp_path if name == "/proc/sys" else Path(name))
    machine.restore_settings({"lacks": 3, "has": 7})
    assert (tmp_path / "has").read_text() == "7" and not (tmp_path / "lacks").exists()


def test_a_setting_that_could_not_change_need_not_be_restored(monkeypatch, tmp_path):
    def refuse(path, text):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    (tmp_path / "has").write_text("7\n")
    monkeypatch.setattr(machine, "Path", lambda name: tmp_path if name == "/proc/sys" else Path(name))
    monkeypatch.setattr(type(tmp_path), "write_text", refuse)
    kept = {}
    with pytest.raises(Refusal, match="has: Read-only file system"):
        machine.raise_settings({"has": 9}, kept.__setitem__)
    machine.restore_settings(kept)
    assert kept == {"has": 7}


def test_no_setting_changes_before_its_old_value_is_kept(folder, monkeypatch, tmp_path):
    (tmp_path / "has").write_text("7\n")
    monkeypatch.setattr(machine, "Path", lambda name: tmp_path if name == "/proc/sys" else Path(name))
    made = state.State(LAYOUT)

    def keep(name, value):
        made.keep_setting(name, value)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        machine.raise_settings({"has": 9}, keep)
    assert (tmp_path / "has").read_text() == "7\n"
    assert state.load().settings == {"has": 7}


def test_a_lab_that_cannot_be_finished_is_removed(command, folder, quiet_machine, monkeypatch):
    ran = []

    def output(words, limit=30):
        ran.append(words)
        if words[:2] == ["ip", "netns"] and words[-1] == "tuttilab-n2":
            raise Refusal("ip netns add tuttilab-n2: no room")
        return ""

    monkeypatch.setattr(machine, "output", output)
    monkeypatch.setattr(machine, "raise_settings", lambda least, keep: keep("net/x", 7))
    put_back = []
    monkeypatch.setattr(machine, "restore_settings", put_back.append)
    done = command("lab", "up", "3")
    assert done.status == 2 and "no room" in done.err
    assert put_back == [{"net/x": 7}] and not folder.exists()
    assert ["ip", "netns", "add", "tuttilab-n3"] not in ran


@pytest.fixture
def half_made(quiet_machine, monkeypatch):
    """A machine on which commands that make a lab do nothing; what is called to remove it."""
    removed: list[str] = []
    monkeypatch.setattr(machine, "raise_settings", lambda least, keep: keep("net/x", 7))
    monkeypatch.setattr(machine, "output", lambda words, limit=30: "")
    monkeypatch.setattr(machine, "kill", lambda spaces: removed.append("processes"))
    monkeypatch.setattr(machine, "remove", lambda names, done: removed.append("names") or [])
    monkeypatch.setattr(machine, "restore_settings", lambda before: removed.append(str(before)))
    return removed


ALL_REMOVED = ["processes", "names", "{'net/x': 7}"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_no_second_signal_disturbs_the_removal_after_a_first_one(
    command, folder, half_made, monkeypatch, number
):
    def signalled(*_):
        os.kill(os.getpid(), number)
        return ""

    def remove(names, done):
        signalled()
        half_made.append("names")
        return []

    monkeypatch.setattr(machine, "output", signalled)
    monkeypatch.setattr(machine, "remove", remove)
    assert command("lab", "up", "3").status == 130
    assert half_made == ALL_REMOVED and not folder.exists()


def test_a_lab_whose_state_cannot_be_completed_is_removed(command, folder, half_made, monkeypatch):
    def save(made, save=state.State.save):
        if made.complete:
            raise OSError(errno.ENOSPC, "no space")
        save(made)

    monkeypatch.setattr(state.State, "save", save)
    done = command("lab", "up", "3")
    assert done.status == 2 and done.err == "tutti: no space\n"
    assert half_made == ALL_REMOVED and not folder.exists()
