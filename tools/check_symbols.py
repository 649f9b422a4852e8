#!/usr/bin/env python3
"""Fails if a library for preloading exports or needs too much.

Symbols that a preloaded library exports can hide those of the program, and libraries that it needs
are loaded into all processes, even without MPI. So every exported symbol must be an MPI, PMPI or
TUTTI function (Fortran spellings included) or a tutti_ entry, and the library must need neither
libstdc++ nor a libmpi. Undefined data symbols of an MPI are forbidden too: the loader would end
every process that lacks this MPI.

    tools/check_symbols.py LIBRARY...   exit status 1 and one line for each violation
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

EXPORTED = re.compile(r"P?MPI(?:X|_T)?_\w+|p?mpi_[a-z0-9_]+|P?MPI_[A-Z0-9_]+|TUTTI_\w+|tutti_\w+")
"""C names, Fortran names in any mangling, and Tutti's own."""

FORBIDDEN_NEED = re.compile(r"lib(?:stdc\+\+|c\+\+|p?mpi\w*|open-(?:rte|pal)|mpifort)[.-].*")

FORBIDDEN_UNDEFINED = re.compile(r"ompi_(?!\w*_f2c)\w+|P?MPIR?_\w+|mca_\w+")
"""Symbols of an MPI, which the library must look up at run time instead of load time."""


def output_of(*command: str) -> list[str]:
    """The output lines of a command, which must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(library: Path, *options: str) -> list[str]:
    """Names of dynamic symbols without their versions, as nm selects them."""
    lines = output_of("nm", "--dynamic", "--format=posix", *options, str(library))
    return [line.split()[0].split("@")[0] for line in lines if line.strip()]


def strong_undefined(library: Path) -> list[str]:
    """Undefined symbols that loading requires; weak ones may be missing."""
    lines = output_of("nm", "--dynamic", "--format=posix", "--undefined-only", str(library))
    fields = [line.split() for line in lines if line.strip()]
    return [name.split("@")[0] for name, kind, *_ in fields if kind == "U"]


def needed(library: Path) -> list[str]:
    """The libraries that the loader loads with this one."""
    found = (re.search(r"\(NEEDED\).*\[(.+)\]", line) for line in output_of(
        "readelf", "--dynamic", "--wide", str(library)))  # fmt: skip
    return [match.group(1) for match in found if match]


def violations(library: Path) -> list[str]:
    """The violations by one library, a sentence each."""
    exported = symbols(library, "--defined-only")
    found = [
        f"{library}: exports {name}, which is neither MPI's nor Tutti's"
        for name in exported
        if not EXPORTED.fullmatch(name)
    ]
    if not any(EXPORTED.fullmatch(name) for name in exported):
        found.append(f"{library}: exports nothing")
    found += [
        f"{library}: needs {name}, which a foreign process need not have"
        for name in needed(library)
        if FORBIDDEN_NEED.fullmatch(name)
    ]
    found += [
        f"{library}: leaves {name} undefined, so it loads only where an MPI is"
        for name in strong_undefined(library)
        if FORBIDDEN_UNDEFINED.fullmatch(name)
    ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="+", type=Path, metavar="LIBRARY")
    libraries = parser.parse_args().libraries
    found = [text for library in libraries for text in violations(library)]
    for text in found:
        print(text, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
