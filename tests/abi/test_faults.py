"""A rank is killed while others wait for it in a gather that runs in the background."""

from __future__ import annotations

import os
import time

import pytest
from conftest import LIBRARIES, RANKS, ROOT

PATIENCE = 60  # seconds in which all processes must be gone


def processes_of(program: os.PathLike) -> list[int]:
    """Processes that run this very file."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/exe") == str(program):
                found.append(int(entry))
        except OSError:
            pass  # it has ended, or is another user's
    return found


@pytest.mark.parametrize("killed", ["root", "last"])
def test_killed_rank(mpi, killed):
    program = mpi.compile(
        "killed.c", f"-I{ROOT / 'include'}", f"-L{LIBRARIES}", f"-ltutti-{mpi.name}",
        f"-Wl,-rpath,{LIBRARIES}",
    )
    outcome = mpi.run(program, killed, np=RANKS, preload=(), settings={}, report=False)
    assert outcome.status != 0
    assert "killed" in outcome.out
    assert "survived" not in outcome.out
    end = time.monotonic() + PATIENCE
    while processes_of(program) and time.monotonic() < end:
        time.sleep(0.1)
    assert not processes_of(program)
