"""Says what a run under Tutti will not show, which backend it lacks, and why it left no report."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from tutti import launcher
from tutti.programs import is_elf, libraries_of, programs_in

SONAMES = {
    "openmpi": ("libmpi.so.40", "libmpi.so.80"),
    "hydra": ("libmpich.so.12", "libmpi.so.12"),
}
"""The libraries of the MPI to which a kind of launcher belongs."""
_CRAY = re.compile(r"libmpi_(cray|gnu|amd|aocc|intel|nvidia)(_?\d+)*\.so\.12")
"""Those of Cray's MPICH, one for each compiler."""

_NAMES = {"openmpi": "Open MPI", "hydra": "MPICH or Intel MPI"}
_BACKENDS = {"openmpi": {"openmpi", "mpiabi"}, "hydra": {"mpich", "mpiabi"}}
"""Those that programs under such a launcher may need: that of the standard ABI serves any MPI."""


def is_static(program: Path) -> bool:
    """Is the program linked statically, so that nothing can be preloaded into it?"""
    return is_elf(program) and not libraries_of(program)


def static_program(command: Sequence[str]) -> Path | None:
    """The statically linked program that a command starts; None if it starts another one."""
    return next((one for one in _started(command) if is_static(one)), None)


def notes(command: Sequence[str], version: launcher.Version = launcher.version_of) -> list[str]:
    """What the user should know before a command starts, as sentences without a full stop.

    Args:
        command: as the user typed it.
        version: returns the version text of a launcher.
    """
    found = []
    if static := static_program(command):
        found.append(
            f"{static} is linked statically: nothing can be preloaded into it, and it runs as "
            "without Tutti"
        )
    first = launcher.find(command, version)
    for program in _started(command) if first and first.kind in SONAMES else ():
        kinds = _kinds_of(program)
        if first and kinds and first.kind not in kinds:
            found.append(
                f"{program} is linked to {_NAMES[kinds[0]]}, but {command[first.index]} starts "
                f"programs of {_NAMES[first.kind]}: each process may be a single rank of its own"
            )
    return found


def without_backend(
    command: Sequence[str],
    backends: Collection[str],
    version: launcher.Version = launcher.version_of,
) -> str:
    """The MPI of a command that none of the backends serves; empty if one does, or if the MPI is not
    sure. It is that of the programs; of Python, which may load any, the launcher's."""
    kinds = {kind for program in _started(command) for kind in _kinds_of(program)}
    is_open = not kinds and any(one.name.startswith("python") for one in _started(command))
    first = launcher.find(command, version) if is_open else None
    if first and first.kind in _NAMES:
        kinds = {first.kind}
    missing = [kind for kind in kinds if _BACKENDS[kind].isdisjoint(backends)]
    return _NAMES[missing[0]] if missing and len(kinds) == 1 else ""


def why(command: Sequence[str]) -> str:
    """Why the program of a command wrote no report, as a sentence without a full stop."""
    program = static_program(command)
    if program is not None:
        return f"{program} is linked statically, so nothing can be preloaded into it"
    programs = [one for one in _started(command) if is_elf(one)]
    if programs and not any("libmpi" in libraries_of(one) for one in programs):
        if programs[0].name.startswith("python"):
            return (
                f"{programs[0]} loads an MPI only with a module such as mpi4py: this run made no "
                "collective call that Tutti handles, or rank 0 could not write the report"
            )
        return f"{programs[0]} is not linked to an MPI"
    return (
        "no rank reached MPI_Finalize with Tutti: it ended before, or the launcher did not pass "
        "LD_PRELOAD on (tutti doctor); or rank 0 could not write the report"
    )


def _kinds_of(program: Path) -> list[str]:
    """The kinds of launcher that belong to the MPI which a program is linked to."""
    text = libraries_of(program) if is_elf(program) else ""
    text = _CRAY.sub("libmpi.so.12", text)
    return [kind for kind, names in SONAMES.items() if any(name in text for name in names)]


def _started(command: Sequence[str]) -> list[Path]:
    """The files that a command names, but for its launcher."""
    found = launcher.find(command, lambda _: "")
    return programs_in(command[found.index + 1 :] if found else command)
