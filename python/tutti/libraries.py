"""Where Tutti's libraries and programs are."""

from __future__ import annotations

import os
from pathlib import Path

from tutti.refusal import Refusal

FLAVOURS = {
    "mpich": "MPICH 4 and 5, Intel MPI, and other MPIs with MPICH's ABI",
    "openmpi": "Open MPI 4 and 5",
    "mpiabi": "the standard ABI of MPI 5",
}
"""The MPIs that a library can be built for, and what each of them serves."""

FRONT = "libtutti.so"


def prefixes() -> list[Path]:
    """Folders that may have lib/ and bin/: the package itself, then what it is installed in."""
    package = Path(__file__).resolve().parent
    return [package, *package.parents[:4]]


def candidates() -> list[Path]:
    """Folders in which libraries are looked for, the first one first."""
    named = os.environ.get("TUTTI_LIBRARY_DIR")
    if named:
        return [Path(named)]
    found = []
    for prefix in prefixes():
        found += [prefix / "lib", prefix / "lib64", *sorted(prefix.glob("lib/*-linux-gnu"))]
    return found


def folder() -> Path:
    """The folder of the libraries: TUTTI_LIBRARY_DIR, or lib/ beside the installed package.

    Raises:
        Refusal: there are none; says where they were looked for.
    """
    for place in candidates():
        if (place / FRONT).exists():
            return place
    named = os.environ.get("TUTTI_LIBRARY_DIR")
    where = f"TUTTI_LIBRARY_DIR={named}" if named else "lib/ beside the package"
    raise Refusal(
        f"{FRONT} is not in {where}; build Tutti with an MPI on the machine (docs/install.md), "
        "or set TUTTI_LIBRARY_DIR to the folder that has it"
    )


def front() -> Path:
    """The library that is preloaded. Raises Refusal where there is none."""
    return folder() / FRONT


def flavours() -> dict[str, Path]:
    """The MPIs that there is a library for, with its path."""
    place = folder()
    paths = {name: place / f"libtutti-{name}.so" for name in FLAVOURS}
    return {name: path for name, path in paths.items() if path.exists()}


def programs() -> Path | None:
    """The folder of tutti-bench, or None where it is not installed."""
    for prefix in prefixes():
        if (prefix / "bin" / "tutti-bench").exists():
            return prefix / "bin"
    return None
