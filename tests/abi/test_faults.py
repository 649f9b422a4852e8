"""A rank or the launcher is killed while ranks wait for each other: nothing of the job remains.

The tests ignore leftovers of the MPI itself in /dev/shm.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import LIBRARIES, RANKS, ROOT, of_all_processes

PATIENCE = 60  # seconds in which all processes must be gone
NODE_MEMORY = re.compile(r"(\w+:\w+ \d+) +/(?:memfd:|dev/shm/)tutti")


def processes_of(program: os.PathLike) -> list[int]:
    """The processes that run this file."""
    executables = of_all_processes(lambda folder: os.readlink(folder / "exe"))
    return [pid for pid, executable in executables.items() if executable == str(program)]


def node_memory(folder: Path) -> set[str]:
    """The segments of node memory that a process maps, by device and file number."""
    return set(NODE_MEMORY.findall((folder / "maps").read_text()))


def named_segments(processes: list[int]) -> list[str]:
    """The names in /dev/shm that these processes gave; other tests run beside this one."""
    starts = tuple(f"tutti-{pid}-" for pid in processes)
    return [name for name in os.listdir("/dev/shm") if name.startswith(starts)]


def check_killed(program, outcome):
    """Checks that `program`, of which a rank was killed, fails and leaves no process."""
    assert outcome.status != 0
    assert "killed" in outcome.out
    assert "survived" not in outcome.out
    end = time.monotonic() + PATIENCE
    while processes_of(program) and time.monotonic() < end:
        time.sleep(0.1)
    assert not processes_of(program)


def linked(mpi) -> list[str]:
    """Options for a program that calls the C API."""
    return [f"-I{ROOT / 'include'}", f"-L{LIBRARIES}", f"-ltutti-{mpi.name}",
            f"-Wl,-rpath,{LIBRARIES}"]  # fmt: skip


def is_running(*words: str) -> bool:
    commands = of_all_processes(lambda folder: (folder / "cmdline").read_text().split("\0"))
    return any(tuple(command[: len(words)]) == words for command in commands.values())


def test_a_program_that_hangs_says_where_its_ranks_wait(mpi):
    seconds = f"300.{os.getpid()}"
    with pytest.raises(pytest.fail.Exception, match=r"(?s)not done after 3 s.*rank [012]: process \d+ in"):
        mpi.run("sleep", seconds, preload=(), settings={}, report=False, limit=3)
    end = time.monotonic() + PATIENCE
    while is_running("sleep", seconds):
        assert time.monotonic() < end, "the ranks go on"
        time.sleep(0.1)


@pytest.mark.parametrize("killed", ["root", "last"])
def test_killed_rank(mpi, killed):
    program = mpi.compile("killed.c", *linked(mpi))
    check_killed(program, mpi.run(program, killed, preload=(), settings={}, report=False))


class Reports:
    """The lines that ranks write into a fifo, which they keep open until they end."""

    def __init__(self, path: Path):
        os.mkfifo(path)
        self.file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.text = ""

    def read(self) -> bool:
        """Waits for more; False when all ranks have ended."""
        poll = select.poll()
        poll.register(self.file, select.POLLIN)
        assert poll.poll(PATIENCE * 1000), f"nothing happens after {self.text!r}"
        more = os.read(self.file, 4096).decode()
        self.text += more
        return more != ""

    def processes(self, *ranks: int) -> list[int]:
        """The processes of these ranks, once they have written theirs."""
        parsed: dict[int, int] = {}
        while not parsed.keys() >= set(ranks):
            assert self.read(), f"the job has ended after {self.text!r}"
            lines = self.text[: self.text.rfind("\n") + 1].splitlines()
            parsed = {int(rank): int(pid) for rank, pid in map(str.split, lines)}
        return [parsed[rank] for rank in ranks]


def check_nothing_left(mpi, folder, program, killed, **launched):
    """Starts `program`, whose last rank keeps the others waiting, and kills one of its processes."""
    reports = Reports(folder / "fifo")
    command, environment = mpi.launch(program, folder / "fifo", **launched)
    launcher = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)  # fmt: skip
    try:
        # Of one node; a rank alone on its node waits for them without an operation to do.
        waiting, stays = reports.processes(RANKS - 2, RANKS - 1)
        memory = node_memory(Path("/proc") / str(stays))
        assert memory, "there is no node memory"
        job = processes_of(program)
        assert {waiting, stays} <= {*job}, "its processes are found"
        assert not named_segments(job)
        victims = {"waiting rank": waiting, "rank that others wait for": stays,
                   "launcher": launcher.pid}  # fmt: skip
        os.kill(victims[killed], signal.SIGKILL)
        while reports.read():
            pass
        assert "survived" not in launcher.communicate(timeout=PATIENCE)[0]
        assert launcher.returncode != 0
    finally:
        launcher.kill()
        for process in processes_of(program):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        launcher.wait()
    assert not processes_of(program)
    assert not memory & set().union(*of_all_processes(node_memory).values())
    assert not named_segments(job)


@pytest.mark.parametrize("killed", ["waiting rank", "rank that others wait for", "launcher"])
def test_killed_in_node_memory(mpi, tmp_path, killed):
    settings = {"TUTTI_ALLREDUCE": "hierarchical(native)", "TUTTI_NODE": "1,2", "TUTTI_SPLIT_USER_OPS": "on"}
    check_nothing_left(mpi, tmp_path, mpi.compile("killed_in_node.c"), killed, settings=settings)


@pytest.mark.parametrize(
    ("kind", "killed"), [("anonymous", "launcher"), ("named", "waiting rank")]
)
def test_killed_with_shared_results(mpi, tmp_path, kind, killed):
    options = ["-DNAMES_ONLY"] if kind == "named" else []
    program = mpi.compile("killed_sharing.c", *linked(mpi), *options, output=f"killed_{kind}")
    check_nothing_left(mpi, tmp_path, program, killed, settings={"TUTTI_NODE": "1,2"}, preload=())
