"""The measurements of `tutti lab check`: links, the nodes that an MPI sees, and a scatter."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tutti.console import Refusal
from tutti.mpis import Mpi
from tutti_lab import launch, machine, session, state, transfer
from tutti_lab.launch import ProcessMapping, Site
from tutti_lab.layout import FRAME, Layout, show_rate

MIN_RATE, MAX_RATE = 0.9, 1.05
"""Bounds of a link's measured rate over its configured rate. The burst of the token bucket lets a
little more through."""

MAX_TIME = 1.25
"""Maximum of a scatter's time over the time of the wire, unless the machine is overloaded."""

_SECONDS = 120
"""That compiling may take."""


@dataclass(frozen=True)
class Line:
    """A measured quantity beside its intended value."""

    what: str
    measured: float
    meant: float
    unit: str
    good: bool
    advice: str = ""

    @property
    def ratio(self) -> float:
        return self.measured / self.meant


def links(layout: Layout, shell: str, limit: float) -> Iterator[Line]:
    """Measures the links between nodes 1 and 2 and, with several switches, across switches.

    Raises Refusal, with the reason, if nothing arrives, or if a transfer takes longer than `limit`
    seconds.
    """
    pairs = [(1, 2), (2, 1)] if layout.nodes > 1 else []
    if layout.switches > 1:
        pairs.append((1, layout.nodes))
    for pair in pairs:
        crosses = len({layout.switch_of(node) for node in pair}) > 1
        rate = min(layout.rate, layout.uplink or layout.rate) if crosses else layout.rate
        names = (layout.name(pair[0]), layout.name(pair[1]))
        what = f"link {names[0]} to {names[1]}" + (", across switches" if crosses else "")
        # Some thousand frames: shorter transfers would measure the token bucket and the scheduler.
        # On a slow link it takes several times as long until all that was sent has arrived.
        seconds = min(max(1.0, 3e7 / rate), limit / 4)
        address = layout.address(pair[1])
        try:
            bits = 8 * FRAME * transfer.measure(shell, names, address, seconds, limit)
        except TimeoutError as error:
            raise Refusal(f"{error}; does a firewall filter bridged packets?") from None
        except OSError as error:
            raise Refusal(str(error)) from None
        advice = ""
        if bits < MIN_RATE * rate:
            advice = f"the machine cannot carry {show_rate(rate)} now"
        elif bits > MAX_RATE * rate:
            advice = f"the kernel does not limit this link to {show_rate(rate)}"
        yield Line(what, bits / 1e6, rate / 1e6, "Mbit/s", not advice, advice)


def compile_program(mpi: Mpi, folder: Path) -> Path:
    """Compiles the program of the check. Raises Refusal if the MPI has no compiler wrapper, or if that fails or
    takes too long."""
    mpicc = mpi.mpicc()
    if mpicc is None:
        raise Refusal(f"no mpicc beside {mpi.mpirun}; choose another MPI by --mpi")
    # Wrappers of MPIs outside the system's folders do not always set the path of their library.
    near = Path(mpicc).resolve().parent.parent / "lib"
    found = [f"-Wl,-rpath,{near}"] if any(near.glob("libmpi.so*")) else []
    program = folder / "check"
    words = [mpicc, "-O2", *found, str(state.SOURCES / "check.c"), "-o", str(program)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Refusal(f"{' '.join(words)}: not done after {_SECONDS} s") from None
    if done.returncode:
        raise Refusal(f"{' '.join(words)}: {machine.message_in(done.stderr or done.stdout)}")
    return program


def nodes(
    layout: Layout, mpi: Mpi, processes: ProcessMapping, limit: float, environment: Mapping[str, str]
) -> list[Line]:
    """Starts ranks by the process mapping, counts the nodes that the MPI sees, times a scatter."""
    launch.check(mpi, processes)
    site = Site(str(state.FOLDER / "nodesh"), str(state.FOLDER / "ranks"))
    Path(site.hosts).write_text(launch.hosts_of_ranks(layout, processes))
    with tempfile.TemporaryDirectory(prefix="tutti-lab-") as folder:
        program = compile_program(mpi, Path(folder))
        words = [*launch.command(mpi, layout, processes, site), str(program)]
        added = launch.environment(mpi, environment)
        ended = session.run(words, layout, {**environment, **added}, limit, capture=True)
    lines = [line for line in ended.output.splitlines() if line.startswith('{"ranks"')]
    if ended.status or not lines:
        how = f"ended with {ended.status}"
        if ended.timed_out:
            how = f"did not end within {limit:g} s"
        raise Refusal(f"{mpi} on {processes.nodes} nodes {how}: {machine.message_in(ended.output)}")
    return judge(layout, processes, json.loads(lines[-1]))


def judge(layout: Layout, processes: ProcessMapping, seen: dict[str, float]) -> list[Line]:
    """Compares the program's measurements with the layout of the lab."""
    count = processes.nodes
    lines = []
    for function, key in (("MPI_Get_processor_name", "names"), ("MPI_Comm_split_type", "groups")):
        good = seen[key] == count
        advice = "" if good else "the MPI sees another number of nodes"
        lines.append(Line(f"nodes by {function}", seen[key], count, "", good, advice))
    if seen["seconds"] <= 0:
        raise Refusal("MPI_Scatter delivered wrong data")
    wire = layout.scatter_time(list(processes.ranks), int(seen["bytes"]))
    if wire:
        good = seen["seconds"] <= MAX_TIME * wire
        advice = "" if good else "much slower than the link: other load, polling ranks or too high a rate"
        times = (seen["seconds"] * 1e3, wire * 1e3)
        lines.append(Line("MPI_Scatter of 2 Mi floats", *times, "ms", good, advice))
    return lines
