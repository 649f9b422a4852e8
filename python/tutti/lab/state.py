"""What is remembered of a lab between two commands."""

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
from tutti.lab.layout import Layout

FOLDER = Path("/run/tutti-lab")
"""Holds the state, the tables of nodes and the node shell; gone after a reboot, as the lab is."""

SOURCES = Path(__file__).resolve().parent / "files"
"""The node shell and the program of `tutti lab check`, where the package is installed."""


@dataclass
class State:
    """A lab that has been made, or that somebody has begun to make."""

    layout: Layout
    settings: dict[str, int] = field(default_factory=dict)
    """Kernel settings that were raised, with what they were before."""
    complete: bool = False
    since: float = field(default_factory=time.time)

    def save(self) -> None:
        """Writes the state so that a crash leaves the old one or the new one."""
        FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = FOLDER / "state.json.new"
        new.write_text(json.dumps(asdict(self), indent=2) + "\n")
        new.replace(FOLDER / "state.json")


def load() -> State | None:
    """The state of the lab; None where there is none. Raises Refusal where it is unreadable."""
    path = FOLDER / "state.json"
    try:
        stored = json.loads(path.read_text())
        return State(**{**stored, "layout": Layout(**stored["layout"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Refusal(f"{path}: {error}; tutti lab down removes it and the lab") from None


def write_files(layout: Layout) -> None:
    """Writes what the node shell reads: itself, the tables of nodes, and a boot id for each."""
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
    """Removes all that is remembered."""
    shutil.rmtree(FOLDER, ignore_errors=True)


def user() -> int | None:
    """The process that is using the lab, or None."""
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
    """Holds the lab for this process. Raises Refusal where another process does."""
    FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
    with os.fdopen(os.open(FOLDER / "lock", os.O_RDWR | os.O_CREAT, 0o644), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refusal(f"the lab is in use by process {user()}; wait, or kill that") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield
