"""Runs tutti-bench in the lab or in SimGrid, for the scripts that measure there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from tutti.refusal import Refusal
from tutti.simgrid import platforms, running

err = Console(stderr=True)


def run_in_lab(
    path: Path, words: list[str], *, nodes: int, per_node: int = 1, mpi: str = "openmpi",
    mapping: str = "block", limit: float = 900, preloaded: bool = False,
) -> None:  # fmt: skip
    """Runs the command `words` on nodes x per_node ranks, with a file name as last argument.

    Where Tutti is `preloaded`, the calls of its contenders reach it as those of programs do.
    `path` stays absent if the run fails or takes longer than `limit` seconds.
    """
    unfinished = path.with_suffix(".part")
    command = ["tutti", "lab", "run", *([] if preloaded else ["--native"]), "--nodes", str(nodes),
               "--ranks-per-node", str(per_node), "--mpi", mpi, "--mapping", mapping,
               "--timeout", f"{limit:g}",
               "--", *words, str(unfinished)]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        err.print(ended.stdout + ended.stderr)
        raise typer.Exit(ended.returncode)
    unfinished.rename(path)


def run_simulated(path: Path, words: list[str], shape: str, per_node: int, limit: float) -> None:
    """The same in SimGrid, where `words` are the arguments of tutti-bench.

    `shape` is the platform, all of whose nodes have `per_node` ranks; the metadata names it.
    """
    unfinished = path.with_suffix(".part")
    machine = platforms.platform(shape)
    command = ("tutti-bench", *words, str(unfinished))
    try:
        running.output(running.Job(command, machine, machine.nodes * per_node, per_node),
                       timeout=limit)  # fmt: skip
    except Refusal as failure:
        err.print(str(failure))
        raise typer.Exit(1) from None
    document = json.loads(unfinished.read_text())
    document["metadata"]["platform"] = shape
    unfinished.write_text(json.dumps(document) + "\n")
    unfinished.rename(path)


def use_machine(path: Path, program: str, **job: Any) -> None:
    """Measures the machine file for the following runs, unless it exists."""
    if not path.exists():
        run_in_lab(path, [program, "machine", "--output"], **job)
    os.environ["TUTTI_MACHINE"] = str(path.resolve())
