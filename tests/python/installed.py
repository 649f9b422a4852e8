"""The Tutti that ./test has installed, and its MPIs."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TUTTI_BUILD", ROOT / "build" / "all"))
PREFIX = Path(os.environ.get("TUTTI_PREFIX", ROOT / ".venv"))

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_btl_base_warn_component_unused": "0",
}
"""Lets Open MPI start as root and with more ranks than cores; other MPIs ignore it."""


@dataclass(frozen=True)
class Mpi:
    """One MPI: its flavour, compiler wrapper and launcher."""

    flavour: str
    mpicc: Path
    mpirun: Path

    def __str__(self) -> str:
        return self.flavour

    def tool(self, name: str) -> Path:
        """Another tool of this MPI, such as mpifort; it may not exist."""
        own = self.mpicc.with_name(f"{name}.{self.flavour}")
        return own if own.exists() else self.mpicc.with_name(name)


def cached(name: str) -> str:
    """A variable of the build tree."""
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.split("=", 1)[1]
    raise LookupError(f"{name} is not in {BUILD}/CMakeCache.txt")


def mpis() -> list[Mpi]:
    """The MPIs of the build tree; none without a tree, so that tests fail."""
    if not (BUILD / "CMakeCache.txt").is_file():
        return []
    found = []
    for flavour in cached("TUTTI_MPI_FLAVOURS_BUILT").split(";"):
        mpicc = Path(cached(f"TUTTI_MPICC_{flavour}"))
        found.append(Mpi(flavour, mpicc, Mpi(flavour, mpicc, mpicc).tool("mpirun")))
    return found


def environment(**settings: str) -> dict[str, str]:
    """The environment of this process without Tutti's settings, and with the installed commands."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TUTTI")}
    path = f"{PREFIX / 'bin'}:{os.environ['PATH']}"
    return {**inherited, **ENVIRONMENT, "PATH": path, **settings}


def run(*command, cwd=None, limit=120, **settings: str) -> str:
    """The output of a command that must succeed within `limit` seconds."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment(**settings),
                          capture_output=True, text=True, timeout=limit,
                          stdin=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
