"""Distances between ranks for mpi4py; tutti.h documents the functions.

    from mpi4py import MPI
    from tutti import distances

    distances.measure(MPI.COMM_WORLD, "distances.json")     # or TUTTI_DISTANCES=distances.json
    comm = distances.reorder(MPI.COMM_WORLD, "allgather")

All functions are collective and raise MPI.Exception on errors.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from tutti import c_api

__all__ = ["measure", "reorder"]


def measure(comm: Any, file: str | os.PathLike[str] | None = None, nodes_per_switch: int = 0) -> None:
    """Measures the times of messages between the ranks; later calls use them.

    Rank 0 writes the distances to `file`. See TUTTI_Distances_measure.
    """
    path = None if file is None else ctypes.c_char_p(os.fsencode(file))
    c_api.call("TUTTI_Distances_measure", c_api.handle(comm), path, ctypes.c_int(nodes_per_switch))


def reorder(comm: Any, collective: str | None = None) -> Any:
    """A new communicator whose ranks are numbered by distance.

    The caller frees it. See TUTTI_Comm_reorder.
    """
    from mpi4py import MPI

    made = MPI.Intracomm()
    name = None if collective is None else ctypes.c_char_p(collective.encode())
    c_api.call(
        "TUTTI_Comm_reorder", c_api.handle(comm), name, ctypes.c_void_p(MPI._addressof(made))
    )
    return made
