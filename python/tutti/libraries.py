"""Finds Tutti's libraries and programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tutti.refusal import Refusal

FLAVOURS = {
    "mpich": "MPICH 4 and 5, Intel MPI, and other MPIs with MPICH's ABI",
    "openmpi": "Open MPI 4 and 5",
    "mpiabi": "the standard ABI of MPI 5",
}
"""The ABIs that a library can be built for, and the MPIs that each library serves."""

FRONT = "libtutti.so"

INSTALL = "run pip install . in Tutti's source tree (docs/install.md), or ask the site's administrator"
"""What provides libraries and programs that are missing."""

NO_BENCH = f"tutti-bench is not installed, whose build needs {{fmt}}: {INSTALL}"


def prefixes() -> list[Path]:
    """Folders that may contain lib/ and bin/: the package, then the folders it is installed in."""
    package = Path(__file__).resolve().parent
    return [package, *package.parents[:4]]


def candidates() -> list[Path]:
    """Folders to search for libraries, in order; absolute, as ranks may run in another folder."""
    named = os.environ.get("TUTTI_LIBRARY_DIR")
    if named:
        return [Path(named).absolute()]
    found = []
    for prefix in prefixes():
        found += [prefix / "lib", prefix / "lib64", *sorted(prefix.glob("lib/*-linux-gnu"))]
    return found


def folder() -> Path:
    """The folder of the libraries: TUTTI_LIBRARY_DIR, or lib/ beside the installed package.

    Raises:
        Refusal: there are none; the text names the folders searched.
    """
    for candidate in candidates():
        if (candidate / FRONT).exists():
            return candidate
    named = os.environ.get("TUTTI_LIBRARY_DIR")
    where = f"TUTTI_LIBRARY_DIR={named}" if named else "lib/ beside the package"
    raise Refusal(
        f"no {FRONT} in {where}; set TUTTI_LIBRARY_DIR to the folder that has it, or {INSTALL}"
    )


def preloadable(path: Path) -> Path:
    """The path, for LD_PRELOAD.

    Raises:
        Refusal: it has a blank or a colon, at which LD_PRELOAD is split.
    """
    if any(sign in " :\t\n" for sign in str(path)):
        raise Refusal(f"{path}: LD_PRELOAD takes no path with a blank or a colon; install Tutti "
                      "into another folder")  # fmt: skip
    return path


def front() -> Path:
    """The library to preload. Raises Refusal if it is missing or cannot be preloaded."""
    return preloadable(folder() / FRONT)


def flavours() -> dict[str, Path]:
    """The installed libraries by ABI, with their paths."""
    found = folder()
    paths = {name: found / f"libtutti-{name}.so" for name in FLAVOURS}
    return {name: path for name, path in paths.items() if path.exists()}


def programs() -> Path | None:
    """The folder of tutti-bench and its program for each MPI, or None if it is not installed.

    A wheel's script of the same name, which calls run_bench(), has no programs beside it.
    """
    for prefix in prefixes():
        folder = prefix / "bin"
        if (folder / "tutti-bench").exists() and any(folder.glob("tutti-bench-*")):
            return folder
    return None


def run_bench() -> None:
    """Becomes tutti-bench, with the arguments of this process: the program of a wheel."""
    folder = programs()
    if folder is None:
        sys.exit(NO_BENCH)
    os.execv(folder / "tutti-bench", ["tutti-bench", *sys.argv[1:]])
