"""Fixtures of the tests of the command."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is slow at times; and each run has the same examples.
settings.register_profile("tutti", deadline=None, derandomize=True)
settings.load_profile("tutti")


class Outcome:
    """The exit status and output of a command."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


_LIMIT = 600
"""Seconds of a test."""


@pytest.fixture(autouse=True)
def watchdog(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that hangs, with the place where it waits."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: object) -> None:
        pytest.fail(f"{request.node.nodeid}: not done after {_LIMIT} s")

    former = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, former)


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    """Handles signals as in the foreground; under nohup, and in background jobs of scripts, tests would
    ignore them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {signal.SIGHUP: signal.SIG_DFL, signal.SIGQUIT: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    former = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def only_settings(monkeypatch) -> None:
    """Removes the variables that tests/python/installed.py has read, which are no settings."""
    for name in ("TUTTI_BUILD", "TUTTI_PREFIX"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def command(capfd, monkeypatch, tmp_path_factory):
    """Runs `tutti` in this process, in an environment without settings."""
    import tutti
    from tutti.cli import main

    for setting in tutti.settings():
        monkeypatch.delenv(setting.name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(sys, "argv", ["tutti"])

    def run(*words: str) -> Outcome:
        capfd.readouterr()
        status = main(list(words))
        return Outcome(status, *capfd.readouterr())

    return run


@pytest.fixture
def installed(tmp_path: Path, monkeypatch) -> Path:
    """A folder that looks like an installation, with empty libraries and an empty program of tutti-bench."""
    from tutti import libraries

    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("libtutti.so", "libtutti-mpich.so", "libtutti-openmpi.so"):
        (tmp_path / "lib" / name).touch()
    (tmp_path / "bin/tutti-bench-mpich").touch()
    monkeypatch.setattr(libraries, "prefixes", lambda: [tmp_path])
    monkeypatch.delenv("TUTTI_LIBRARY_DIR", raising=False)
    return tmp_path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """The folder of a lab's state during a test; the machine's own lab stays untouched."""
    from tutti_lab import state

    monkeypatch.setattr(state, "FOLDER", tmp_path / "lab")
    return tmp_path / "lab"


@pytest.fixture
def quiet_machine(monkeypatch) -> None:
    """A machine without a lab, and root as user."""
    from tutti_lab import machine

    monkeypatch.setattr(machine, "existing", lambda: [])
    monkeypatch.setattr(machine, "other_networks", lambda: [("eth0", "192.168.0.0/24")])
    monkeypatch.setattr(machine, "processes", lambda names: {name: [] for name in names})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
