"""Finds the MPI that a program uses, and its launcher."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutti import _engine
from tutti.console import Refusal
from tutti.launcher import version_of
from tutti.programs import libraries_of

LAUNCHERS = {
    "openmpi": ("mpirun.openmpi", "mpirun", "mpiexec"),
    "mpich": ("mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"),
    "intel": ("mpiexec.hydra", "mpiexec", "mpirun"),
}
"""The names of launchers of each MPI, the most specific first."""

NAMES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}

_TEXTS = {
    # Intel MPI first: it derives from MPICH, and its launcher from Hydra.
    "intel": r"Intel\(R\) MPI Library[^\n]*?(\d{4}(?:\.\d+)*)",
    "openmpi": r"(?:Open ?MPI|OpenRTE|PRRTE)\)?,? v?(\d+(?:\.\d+)+)",
    "mpich": r"(?:MPICH Version|Version):\s*v?(\d+(?:\.\d+)+)",
}

_ASK = """
import ctypes, sys
text, length = ctypes.create_string_buffer(65536), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
"""


@dataclass(frozen=True)
class Mpi:
    """An MPI and its launcher."""

    family: str
    """openmpi, mpich or intel."""
    version: str
    mpirun: str
    devices: str = ""
    """MPICH's devices, such as "ch4:ofi"; empty if unknown."""

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def __str__(self) -> str:
        return f"{NAMES[self.family]} {self.version}"

    def mpicc(self) -> str | None:
        """The compiler wrapper beside the launcher, or None."""
        folder = Path(self.mpirun).parent
        for name in (f"mpicc.{self.family}", "mpicc"):
            if (folder / name).exists():
                return str(folder / name)
        return None


def recognise(text: str) -> tuple[str, str] | None:
    """Family and version from the text of a launcher or of MPI_Get_library_version."""
    for family, pattern in _TEXTS.items():
        match = re.search(pattern, text)
        if match:
            return family, match[1]
    return None


def library_of(program: str) -> Path | None:
    """The MPI library that a program loads, or None if it links to none."""
    libraries = libraries_of(Path(program))
    for name, path in re.findall(r"(libmp(?:i|ich|i_abi)\.so\S*) => (/\S+|not)", libraries):
        if path == "not":
            raise Refusal(f"{program}: the loader cannot find {name}; set LD_LIBRARY_PATH")
        return Path(path)
    return None


def said_by(library: Path) -> str:
    """The text of a library's MPI_Get_library_version; empty on failure."""
    command = [sys.executable, "-c", _ASK, str(library)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


def _launcher(folders: Sequence[Path], family: str, release: str = "") -> Mpi | None:
    """The first launcher of an MPI in the folders, then on PATH. `release`: the first numbers of its version, with
    a point behind each."""
    path_folders = [Path(word) for word in os.environ.get("PATH", "").split(os.pathsep) if word]
    for folder in [*folders, *path_folders]:
        for name in LAUNCHERS[family]:
            path = shutil.which(str(folder / name))
            seen = recognise(version_of(path)) if path else None
            if path and seen and seen[0] == family and f"{seen[1]}.".startswith(release):
                return Mpi(family, seen[1], path)
    return None


def find(
    program: str,
    chosen: str | None,
    library: Callable[[str], Path | None] = library_of,
    said: Callable[[Path], str] = said_by,
) -> Mpi:
    """The MPI that starts a program.

    Args:
        program: path of the program; its library determines the MPI if `chosen` is None.
        chosen: the user's choice: openmpi, mpich, intel, the path of a launcher, or None.

    Raises:
        Refusal: no launcher was found; the text says which one is missing.
    """
    if chosen and "/" in chosen:
        seen = recognise(version_of(chosen))
        if seen is None:
            raise Refusal(f"--mpi {chosen}: expected a launcher of Open MPI, MPICH or Intel MPI")
        return Mpi(*seen, mpirun=str(Path(chosen).absolute()))
    if chosen:
        if chosen not in LAUNCHERS:
            raise Refusal(
                f"--mpi {chosen}: expected openmpi, mpich, intel or the path of a launcher"
                + _engine.did_you_mean(chosen, list(LAUNCHERS))
            )
        found = _launcher([], chosen)
        if found is None:
            raise Refusal(f"--mpi {chosen}: no launcher of {NAMES[chosen]} on PATH")
        return found
    linked = library(program)
    if linked is None:
        raise Refusal(f"{program} is not linked to an MPI; choose one by --mpi openmpi, mpich or a launcher")
    text = said(linked)
    seen = recognise(text)
    if seen is None:
        raise Refusal(f"{linked} is an unknown MPI; choose one by --mpi")
    family, version = seen
    release = "".join(f"{number}." for number in version.split(".")[:2])
    folders = [parent / "bin" for parent in linked.resolve().parents]
    found = _launcher(folders, family, release)
    if found is None:
        raise Refusal(f"{linked} is {NAMES[family]} {version}, but its launcher was not found")
    devices = re.search(r"MPICH Device:\s*([^\n]*)", text)
    return Mpi(family, found.version, found.mpirun, devices[1].strip() if devices else "")
