"""Runs the benchmark in the lab; what the measuring scripts share."""

from __future__ import annotations

import subprocess
from pathlib import Path

import typer
from rich.console import Console

err = Console(stderr=True)


def run_in_lab(
    path: Path, words: list[str], *, nodes: int, per_node: int = 1, mpi: str = "openmpi",
    mapping: str = "block", limit: float = 900,
) -> None:  # fmt: skip
    """Runs `words` on nodes x per_node ranks; the file's name is added as the last one.

    Nothing is left at `path` if the run fails or takes longer than `limit` seconds.
    """
    unfinished = path.with_suffix(".part")
    command = ["tutti", "lab", "run", "--native", "--nodes", str(nodes),
               "--ranks-per-node", str(per_node), "--mpi", mpi, "--mapping", mapping,
               "--timeout", f"{limit:g}",
               "--", *words, str(unfinished)]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        err.print(ended.stdout + ended.stderr)
        raise typer.Exit(ended.returncode)
    unfinished.rename(path)
