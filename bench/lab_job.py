"""Runs tutti-bench in the lab or in SimGrid, for the scripts that measure there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from tutti import mpis
from tutti.refusal import Refusal
from tutti.simgrid import platforms, running
from tutti_lab import state
from tutti_lab.layout import Layout, show_rate

err = Console(stderr=True, markup=False)


SETTLE = 500
"""Calls of `auto`, which explores its candidates in them, before it is measured."""


def label_of(label: str, mpi: str, *, may_divide: bool = False) -> str:
    """The name of the MPI in file names: the label, else --mpi. Raises BadParameter for a path, and
    for a name with "-", at which pages divide names of files, unless it `may_divide`."""
    name = label or mpi
    if "/" in name:
        raise typer.BadParameter(f"expected a --label beside --mpi {mpi}: it names the files")
    if "-" in name and not may_divide:
        raise typer.BadParameter(f"--label {name}: expected a name without -, which divides names of files")
    return name


def current() -> Layout:
    """The lab. Raises BadParameter if there is none."""
    lab = state.load()
    if lab is None:
        raise typer.BadParameter("no lab; make one, such as: tutti lab up 48 --rate 100mbit")
    return lab.layout


def links() -> dict[str, str]:
    """What files with results say of the lab's links; nothing without a lab."""
    lab = state.load()
    if lab is None:
        return {}
    layout = lab.layout
    return {"rate": show_rate(layout.rate), "switches": str(layout.switches),
            "uplink": show_rate(layout.uplink or layout.rate)}  # fmt: skip


def is_measured(path: Path, mpi: str, platform: str = "", **options: object) -> bool:
    """Whether a file with results exists.

    Raises BadParameter if they are of another MPI than `mpi`, of another platform (the lab's name is
    empty), of a lab with other links, or of other `options` of tutti-bench. Older files lack the
    links and some options; files of distances lack the MPI.
    """
    if not path.exists():
        return False
    found = {"platform": "", **json.loads(path.read_text()).get("metadata", {})}
    asked = {"platform": platform}
    if not platform:
        asked |= links()
    if not platform and "library" in found:
        seen = mpis.recognise(found["library"])
        found["library"] = str(mpis.Mpi(*seen, mpirun="")) if seen else found["library"]
        try:
            asked["library"] = str(mpis.find("", mpi))
        except Refusal as missing:
            raise typer.BadParameter(str(missing)) from None
    for name, value in {**asked, **options}.items():
        if found.get(name, str(value)) != str(value):
            raise typer.BadParameter(
                f"{path} was measured with {name} {found[name] or 'lab'}, not {value or 'lab'}; "
                "expected another --label or folder"
            )
    return True


def run(
    path: Path, words: list[str], settings: Mapping[str, str], added: Mapping[str, str] | None = None
) -> None:
    """Runs the command `words` with a file name as last argument; if it fails, `path` stays absent.

    A file of JSON gets the metadata `added`.
    """
    unfinished = path.with_suffix(".part")
    ended = subprocess.run([*words, str(unfinished)], env=os.environ | settings,
                           capture_output=True, text=True, check=False)  # fmt: skip
    if ended.returncode != 0:
        err.print(ended.stdout + ended.stderr)
        unfinished.unlink(missing_ok=True)
        raise typer.Exit(ended.returncode)
    if added and path.suffix == ".json":
        _add(unfinished, added)
    unfinished.rename(path)


def _add(file: Path, metadata: Mapping[str, str]) -> None:
    document = json.loads(file.read_text())
    document["metadata"] = {**document.get("metadata", {}), **metadata}
    file.write_text(json.dumps(document) + "\n")


def run_in_lab(
    path: Path, words: list[str], *, nodes: int, per_node: int = 1, mpi: str = "openmpi",
    mapping: str = "block", limit: float = 900, preloaded: bool = False,
) -> None:  # fmt: skip
    """Runs the command `words` on nodes x per_node ranks, with a file name as last argument.

    Where Tutti is `preloaded`, the calls of its contenders reach it as those of programs do. A file
    of JSON also says what the lab's links are.
    `path` stays absent if the run fails or takes longer than `limit` seconds.
    """
    run(path, ["tutti", "lab", "run", *([] if preloaded else ["--native"]), "--nodes", str(nodes),
               "--ranks-per-node", str(per_node), "--mpi", mpi, "--mapping", mapping,
               "--timeout", f"{limit:g}", "--", *words], {}, links())  # fmt: skip


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
        unfinished.unlink(missing_ok=True)
        raise typer.Exit(1) from None
    _add(unfinished, {"platform": shape})
    unfinished.rename(path)


def use_machine(folder: Path, label: str, shape: str, program: str, **job: Any) -> None:
    """Measures the machine file for the following runs, unless it exists. The lab's rate is in its name."""
    path = folder / f"machine-{label}-{shape}-{current().rate / 1e6:g}mbit"
    if not path.exists():
        run_in_lab(path, [program, "machine", "--output"], **job)
    os.environ["TUTTI_MACHINE"] = str(path.resolve())
