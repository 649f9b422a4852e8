"""The state of a lab, kept in a folder between commands."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
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
    """Removes the state."""
    shutil.rmtree(FOLDER, ignore_errors=True)


def user() -> int | None:
    """The process that uses the lab, or None."""
    try:
        with (FOLDER / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
    except FileNotFoundError:
        return None
    except OSError:
        text = (FOLDER / "lock").read_text().strip()
        return int(text) if text.isdigit() else 0


@contextmanager
def alone() -> Iterator[None]:
    """Locks the lab for this process. Raises Refusal if another process holds the lock."""
    FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
    with os.fdopen(os.open(FOLDER / "lock", os.O_RDWR | os.O_CREAT, 0o644), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refusal(f"the lab is in use by process {user()}; wait, or end that process") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield
