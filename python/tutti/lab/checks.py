"""What `tutti lab check` measures: the links, and what an MPI makes of the nodes."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tutti.console import Refusal
from tutti.lab import launch, session, state, transfer
from tutti.lab.launch import ProcessMapping, Site
from tutti.lab.layout import FRAME, Layout, show_rate
from tutti.lab.mpi import Mpi

MIN_RATE, MAX_RATE = 0.9, 1.05
"""Of a link, relative to what it was made for. The bucket's burst lets a little more through."""

MAX_TIME = 1.25
"""Of a scatter, relative to the wire's time, where the machine carries the lab."""


@dataclass(frozen=True)
class Line:
    """One measured quantity beside the one that is meant."""

    what: str
    measured: float
    meant: float
    unit: str
    good: bool
    advice: str = ""

    @property
    def ratio(self) -> float:
        return self.measured / self.meant


def links(layout: Layout, shell: str) -> Iterator[Line]:
    """Measures the links between the first two nodes and, of several switches, across them."""
    pairs = [(1, 2), (2, 1)] if layout.nodes > 1 else []
    if layout.switches > 1:
        pairs.append((1, layout.nodes))
    for pair in pairs:
        crosses = len({layout.switch_of(node) for node in pair}) > 1
        rate = min(layout.rate, layout.uplink or layout.rate) if crosses else layout.rate
        names = (layout.name(pair[0]), layout.name(pair[1]))
        what = f"link {names[0]} to {names[1]}" + (", across switches" if crosses else "")
        # Long enough for some thousand frames: the bucket and the scheduler show for short ones.
        seconds = max(1.0, 3e7 / rate)
        try:
            bits = 8 * FRAME * transfer.measure(shell, names, layout.address(pair[1]), seconds)
        except OSError as error:
            raise Refusal(f"{error}; does a firewall filter bridged packets?") from None
        good = MIN_RATE <= bits / rate <= MAX_RATE
        advice = "" if good else f"the machine does not carry {show_rate(rate)} now"
        yield Line(what, bits / 1e6, rate / 1e6, "Mbit/s", good, advice)


def compile_program(mpi: Mpi, folder: Path) -> Path:
    """Compiles what the ranks execute. Raises Refusal where the MPI has no compiler wrapper."""
    mpicc = mpi.mpicc()
    if mpicc is None:
        raise Refusal(f"there is no mpicc beside {mpi.mpirun}: tutti lab check --mpi takes another")
    # The wrapper of an MPI outside the system's folders does not always say where its library is.
    near = Path(mpicc).resolve().parent.parent / "lib"
    found = [f"-Wl,-rpath,{near}"] if any(near.glob("libmpi.so*")) else []
    program = folder / "check"
    words = [mpicc, "-O2", *found, str(state.SOURCES / "check.c"), "-o", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise Refusal(f"{' '.join(words)}: {done.stderr.strip()}")
    return program


def nodes(layout: Layout, mpi: Mpi, placement: ProcessMapping, limit: float) -> list[Line]:
    """Starts ranks as `placement` says; counts the nodes that the MPI sees and times a scatter."""
    launch.check(mpi, placement)
    site = Site(str(state.FOLDER / "nodesh"), str(state.FOLDER / "ranks"))
    Path(site.hosts).write_text(launch.hosts_of_ranks(layout, placement))
    with tempfile.TemporaryDirectory(prefix="tutti-lab-") as folder:
        program = compile_program(mpi, Path(folder))
        words = [*launch.command(mpi, layout, placement, site), str(program)]
        environment = {**os.environ, **launch.environment(mpi, os.environ)}
        ended = session.run(words, layout, environment, limit, capture=True)
    lines = [line for line in ended.output.splitlines() if line.startswith('{"ranks"')]
    if ended.status or not lines:
        how = f"ended with {ended.status}"
        if ended.status == session.TIMED_OUT:
            how = f"did not end within {limit:g} s"
        raise Refusal(f"{mpi} on {placement.nodes} nodes {how}\n{ended.output.strip()}")
    return judge(layout, placement, json.loads(lines[-1]))


def judge(layout: Layout, placement: ProcessMapping, seen: dict[str, float]) -> list[Line]:
    """What the program saw, beside what is there."""
    count = placement.nodes
    lines = []
    for function, key in (("MPI_Get_processor_name", "names"), ("MPI_Comm_split_type", "groups")):
        good = seen[key] == count
        advice = "" if good else "the MPI takes several nodes for one, or one for several"
        lines.append(Line(f"nodes by {function}", seen[key], count, "", good, advice))
    if seen["seconds"] <= 0:
        raise Refusal("MPI_Scatter delivered wrong data")
    wire = layout.scatter_time(list(placement.ranks), int(seen["bytes"]))
    if wire:
        good = seen["seconds"] <= MAX_TIME * wire
        advice = "" if good else "far from the wire: other load, polling ranks, or too high a rate"
        times = (seen["seconds"] * 1e3, wire * 1e3)
        lines.append(Line("MPI_Scatter of 2 Mi floats", *times, "ms", good, advice))
    return lines
