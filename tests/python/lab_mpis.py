"""MPIs, and a layout, for tests of tutti lab."""

from __future__ import annotations

from pathlib import Path

from tutti import mpis
from tutti_lab.layout import Layout

GBIT = 10**9
OPENMPI4 = mpis.Mpi("openmpi", "4.1.4", "/usr/bin/mpirun")
OPENMPI5 = mpis.Mpi("openmpi", "5.0.11", "/opt/bin/mpirun")
MPICH4 = mpis.Mpi("mpich", "4.0.2", "/usr/bin/mpiexec", "ch4:ucx")
MPICH5 = mpis.Mpi("mpich", "5.0.2", "/opt/bin/mpiexec", "ch4:ucx ofi")
INTEL = mpis.Mpi("intel", "2021.18", "/opt/bin/mpiexec.hydra")
LAYOUT = Layout(3, GBIT)


def launcher(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path
