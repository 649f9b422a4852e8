"""The state of a lab, kept in a folder between commands."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tutti.console import Refusal
from tutti_lab.layout import Layout

FOLDER = Path("/run/tutti-lab")
"""The state, the tables of nodes and the node shell. A reboot removes the folder and the lab."""

PATIENCE = 20.0
"""Seconds that a run has to end after a signal."""

SOURCES = Path(__file__).resolve().parent / "files"
"""The node shell and the program of `tutti lab check`, as installed."""


@dataclass
class State:
    """A lab, complete or being made."""

    layout: Layout
    settings: dict[str, int] = field(default_factory=dict)
    """The old values of kernel settings that were raised."""
    complete: bool = False
    since: float = field(default_factory=time.time)

    def save(self) -> None:
        """Writes the state; a crash leaves either the old or the new one."""
        FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = FOLDER / "state.json.new"
        new.write_text(json.dumps(asdict(self), indent=2) + "\n")
        new.replace(FOLDER / "state.json")

    def keep_setting(self, name: str, value: int) -> None:
        """Writes the old value of a kernel setting, which is about to change, into the state."""
        self.settings[name] = value
        self.save()


def load() -> State | None:
    """The state of the lab; None without a lab. Raises Refusal if it is unreadable."""
    path = FOLDER / "state.json"
    try:
        stored = json.loads(path.read_text())
        return State(**{**stored, "layout": Layout(**stored["layout"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Refusal(f"{path}: {error}; tutti lab down removes it and the lab") from None


def current() -> State:
    """The existing lab. Raises Refusal if there is none, or only parts of one."""
    found = load()
    if found is None or not found.complete:
        raise Refusal("no lab; make one, such as: tutti lab up 4 --rate 100mbit")
    return found


def write_files(layout: Layout) -> None:
    """Writes the node shell, the tables of nodes that it reads, and a boot id for each node."""
    for name, text in layout.files().items():
        (FOLDER / name).write_text(text)
    ids = FOLDER / "boot_id"
    ids.mkdir(exist_ok=True)
    for node in range(1, layout.nodes + 1):
        (ids / layout.name(node)).write_text(f"{uuid.uuid4()}\n")
    shell = FOLDER / "nodesh"
    shutil.copyfile(SOURCES / "nodesh", shell)
    shell.chmod(0o755)


def forget() -> None:
    """Removes the state and the temporary files of a killed run."""
    _remove_temporary_folder()
    shutil.rmtree(FOLDER, ignore_errors=True)


def _remove_temporary_folder() -> None:
    link = FOLDER / "tmp"
    if link.is_symlink():
        shutil.rmtree(link.readlink(), ignore_errors=True)
        link.unlink()


@contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder for the temporary files of a run, which is removed afterwards.

    The next one removes what a killed run has left. Needs the lock of `alone`. Its name is short,
    because MPIs make sockets in it.
    """
    _remove_temporary_folder()
    made = tempfile.mkdtemp(prefix="tutti-lab-")
    (FOLDER / "tmp").symlink_to(made)
    try:
        yield made
    finally:
        _remove_temporary_folder()


def _lock_file() -> Path:
    """The file that a process locks. It outlives the lab: if it were removed while it is locked, another
    process could lock a new one."""
    return FOLDER.with_suffix(".lock")


def user() -> int | None:
    """The process that uses the lab, 0 if its number is unknown, or None."""
    try:
        with _lock_file().open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
    except FileNotFoundError:
        return None
    except OSError:
        text = _lock_file().read_text().strip()
        return int(text) if text.isdigit() else 0


def end_user() -> None:
    """Ends the process that uses the lab, and waits for it: SIGTERM lets it end its launcher."""
    process = user()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process and user() == process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)
            deadline = time.monotonic() + PATIENCE
            while user() == process and time.monotonic() < deadline:
                time.sleep(0.05)


@contextmanager
def alone(otherwise: str = "end that process") -> Iterator[None]:
    """Locks the lab for this process. Raises Refusal if another process holds the lock.

    Args:
        otherwise: completes "wait, or ..".
    """
    with os.fdopen(os.open(_lock_file(), os.O_RDWR | os.O_CREAT, 0o644), "w") as lock:
        deadline = time.monotonic() + 1
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                process = user()
            # None: another process asked for the user just now. 0: one has just come, or goes.
            if process or time.monotonic() > deadline:
                holder = f"process {process}" if process else "another process"
                raise Refusal(f"the lab is in use by {holder}; wait, or {otherwise}")
            time.sleep(0.01)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        try:
            yield
        finally:  # the number may soon be that of a stranger
            lock.truncate(0)
