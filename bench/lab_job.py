"""Runs tutti-bench in the lab or in SimGrid, for the scripts that measure there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from tutti import mpis
from tutti.refusal import Refusal
from tutti.simgrid import platforms, running
from tutti.supervised import terminable
from tutti_lab import state
from tutti_lab.layout import show_rate

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


def shape_of(text: str) -> tuple[int, int]:
    """The nodes and the ranks on each that a shape has, such as 8x6. Raises Refusal for other text."""
    found = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", text)
    if not found:
        raise Refusal(f"shape {text}: expected nodes x ranks on each, such as 8x6")
    return int(found[1]), int(found[2])


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


def output(words: list[str], settings: Mapping[str, str]) -> str:
    """Runs a command with further settings and returns its standard output. If it fails, prints all
    that it said and raises Exit.

    An interrupt, SIGTERM and SIGHUP end the command by SIGTERM and wait for it: `tutti lab run` needs
    seconds to remove a run from the lab.
    """
    with terminable(), subprocess.Popen(
        words, env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as started:  # fmt: skip
        try:
            out, said = started.communicate()
        except KeyboardInterrupt:
            started.terminate()
            started.communicate()
            raise
    if started.returncode != 0:
        err.print(out + said)
        raise typer.Exit(started.returncode)
    return out


@contextmanager
def _written(path: Path, added: Mapping[str, str]) -> Iterator[str]:
    """The name of a file to write, which is then called `path`; after a failure it is removed. A file of
    JSON gets the metadata `added`."""
    unfinished = path.with_suffix(".part")
    try:
        yield str(unfinished)
        if added and path.suffix == ".json":
            document = json.loads(unfinished.read_text())
            document["metadata"] = {**document.get("metadata", {}), **added}
            unfinished.write_text(json.dumps(document) + "\n")
        unfinished.rename(path)
    finally:
        unfinished.unlink(missing_ok=True)


def run(
    path: Path, words: list[str], settings: Mapping[str, str], added: Mapping[str, str] | None = None
) -> None:
    """Runs the command `words` with a file name as last argument; if it fails, `path` stays absent.

    A file of JSON gets the metadata `added`.
    """
    with _written(path, added or {}) as unfinished:
        output([*words, unfinished], settings)


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
    Raises Refusal if the run fails.
    """
    machine = platforms.platform(shape)
    with _written(path, {"platform": shape}) as unfinished:
        command = ("tutti-bench", *words, unfinished)
        running.output(running.Job(command, machine, machine.nodes * per_node, per_node), timeout=limit)


def use_machine(folder: Path, label: str, shape: str, program: str, **job: Any) -> None:
    """Measures the machine file for the following runs, unless it exists. The lab's links are in its
    name. Raises Refusal if there is no lab."""
    layout = state.current().layout
    name = f"machine-{label}-{shape}-{layout.rate / 1e6:g}mbit"
    if layout.switches > 1:
        name += f"-{layout.switches}x{(layout.uplink or layout.rate) / 1e6:g}mbit"
    path = folder / name
    if not path.exists():
        run_in_lab(path, [program, "machine", "--output"], **job)
    os.environ["TUTTI_MACHINE"] = str(path.resolve())
