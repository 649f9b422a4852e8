"""Starts programs in SimGrid."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutti import libraries, supervised
from tutti.refusal import Refusal
from tutti.simgrid.platforms import Platform

SELECTORS = ("ompi", "mpich", "mvapich2", "impi", "default")
"""Whose choices SimGrid's own collectives follow."""

_REPLACED = {"ompi": {"smpi/reduce_scatter": "mpich"}}
"""Choices that SimGrid 3.32 implements wrongly: they deadlock."""

FRONT = "libtutti-simgrid.so"
_QUIET = ("xbt_cfg.thres:warning", "smpi_config.thres:error", "smpi_coll.thres:warning",
          "smpi_colls.thres:warning", "smpi_kernel.thres:error")  # fmt: skip


@dataclass(frozen=True)
class Job:
    """What to run, and on what.

    Attributes:
        command: the program and its arguments.
        platform: the machine.
        ranks: their number.
        ppn: ranks of a node.
        native: without Tutti.
        selector: one of SELECTORS.
        settings: further settings of SimGrid, as "key:value".
        taken: for each rank the number of the slot that it takes, node after node; empty: its own.
    """

    command: Sequence[str]
    platform: Platform
    ranks: int
    ppn: int
    native: bool = False
    selector: str = "ompi"
    settings: Sequence[str] = ()
    taken: Sequence[int] = ()


def smpimain() -> Path:
    """SimGrid's program that starts simulated ranks.

    Raises:
        Refusal: SimGrid is not installed.
    """
    script = shutil.which("smpirun")
    if script is not None:
        named = re.search(r'"(/[^"]*/smpimain)"', Path(script).read_text(errors="replace"))
        if named and Path(named[1]).exists():
            return Path(named[1])
    raise Refusal("SimGrid is not installed: no smpirun on the PATH (Debian: libsimgrid-dev)")


def front() -> Path:
    """The library to preload.

    Raises:
        Refusal: Tutti was built without SimGrid, or its library cannot be preloaded.
    """
    path = libraries.folder() / FRONT
    if not path.exists():
        raise Refusal(f"no {FRONT} in {path.parent}; build Tutti where SimGrid is installed "
                      "(docs/simgrid.md)")  # fmt: skip
    return libraries.preloadable(path)


def program(word: str) -> Path:
    """The program to start; `tutti-bench` is the one for SimGrid.

    Raises:
        Refusal: it does not exist, or was not compiled for SimGrid.
    """
    if word == "tutti-bench":
        folder = libraries.programs()
        found = folder / "tutti-bench-simgrid" if folder else None
        if found is None or not found.exists():
            raise Refusal("tutti-bench for SimGrid is not installed; build Tutti where SimGrid is "
                          "installed (docs/simgrid.md)")  # fmt: skip
        return found
    path = Path(shutil.which(word) or word)
    if not path.is_file():
        raise Refusal(f"{word}: no such program")
    if b"libsimgrid" not in path.read_bytes():
        raise Refusal(f"{word} is not a program for SimGrid; compile it with smpicc, smpicxx or "
                      "smpif90")  # fmt: skip
    return path.resolve()


def check(word: str) -> None:
    """Raises Refusal if the program `word` cannot start here: see program(), front() and smpimain()."""
    smpimain()
    front()
    program(word)


def options(job: Job, hosts: Path) -> list[str]:
    """SimGrid's settings for a job.

    Computation takes no simulated time, and a rank that tests for messages none either, so that a
    run is the same every time. Each message costs `overhead` at both ends; otherwise time and
    bandwidth are those of the platform, without SimGrid's correction factors for one cluster.
    """
    overhead = f"0:{job.platform.overhead:.9g}:0"
    given = {
        "smpi/np": str(job.ranks),
        "smpi/hostfile": str(hosts),
        "smpi/privatization": "no" if Path(job.command[0]).name == "tutti-bench" else "dlopen",
        "smpi/simulate-computation": "no",
        "smpi/coll-selector": job.selector,
        "smpi/test": "0",
        "smpi/iprobe": "1e-7",
        "smpi/os": overhead,
        "smpi/ois": overhead,
        "smpi/or": overhead,
        "smpi/bw-factor": "0:1",
        "smpi/lat-factor": "0:1",
        "smpi/tmpdir": str(hosts.parent),
        "network/model": "SMPI",
        "surf/precision": "1e-9",
    }
    given |= _REPLACED.get(job.selector, {})
    for setting in job.settings:
        key, separator, value = setting.partition(":")
        if not separator or not re.fullmatch(r"[a-z][a-z0-9/_-]*", key):
            raise Refusal(f"--cfg {setting}: expected KEY:VALUE, such as smpi/host-speed:1e9")
        given[key] = value
    log = [f"--log={part}" for part in _QUIET]
    return log + [f"--cfg={key}:{value}" for key, value in given.items()]


def command_of(job: Job, folder: Path) -> tuple[list[str], dict[str, str]]:
    """The command and the environment of a job, after writing its files into the folder."""
    hosts, described = folder / "hosts", folder / "platform.xml"
    slots = job.platform.hosts(job.ranks, job.ppn)
    hosts.write_text("\n".join(slots[slot] for slot in job.taken or range(job.ranks)) + "\n")
    described.write_text(job.platform.xml)
    start = str(smpimain())
    words = [start, str(program(job.command[0])), *options(job, hosts), str(described)]
    if job.native:
        return [*words, *job.command[1:]], {}
    # Tutti's library for other MPIs would take the ranks' calls of the MPI.
    others = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    kept = [other for other in others if Path(other).name != libraries.FRONT]
    return [*words, *job.command[1:]], {"LD_PRELOAD": ":".join([str(front()), *kept])}


def run(job: Job, settings: Mapping[str, str] | None = None) -> int:
    """Runs a job. Returns the program's exit status; 128 + the signal's number if one ended it.

    Raises:
        Refusal: SimGrid or the program is missing, or the platform is too small.
    """
    with tempfile.TemporaryDirectory(prefix="tutti-simgrid-") as folder:
        words, environment = command_of(job, Path(folder))
        done = supervised.run(words, {**(settings or {}), **environment})
    if done.status > 128 and not done.interrupted:
        print(f"tutti: {job.command[0]}: {_status(done.status)}", file=sys.stderr)
    return done.status


def _status(status: int) -> str:
    """An exit status, with the signal that it stands for: "status 136: SIGFPE (Floating point
    exception)"."""
    try:
        ended_by = signal.Signals(status - 128)
    except ValueError:
        return f"status {status}"
    return f"status {status}: {ended_by.name} ({signal.strsignal(ended_by)})"


def output(job: Job, settings: Mapping[str, str] | None = None, timeout: float = 3600) -> str:
    """Runs a job and returns its standard output.

    Raises:
        Refusal: as run(), or the program fails or exceeds the timeout in seconds.
        KeyboardInterrupt: on an interrupt, SIGTERM or SIGHUP, once the program has been killed.
    """
    with supervised.terminable(), tempfile.TemporaryDirectory(prefix="tutti-simgrid-") as folder:
        words, environment = command_of(job, Path(folder))
        try:
            done = subprocess.run(
                words, env={**os.environ, **(settings or {}), **environment}, check=False,
                capture_output=True, text=True, timeout=timeout,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Refusal(f"{job.command[0]} on {job.platform.name}: not done after "
                          f"{timeout:.0f} s") from None  # fmt: skip
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        status = done.returncode if done.returncode > 0 else 128 - done.returncode
        raise Refusal(f"{job.command[0]} on {job.platform.name}: {_status(status)}: {last}")
    return done.stdout
