"""Measured distances, and a communicator ordered by them, from Python; checks its own data."""

import json
import sys

import numpy as np
from mpi4py import MPI
from tutti import distances

world = MPI.COMM_WORLD


def check(condition):
    if not condition:
        print(f"wrong on rank {world.rank}", flush=True)
        world.Abort(1)


distances.measure(world, sys.argv[1])
if world.rank == 0:
    with open(sys.argv[1]) as file:
        parsed = json.load(file)
    check(len(parsed["names"]) == world.size and len(parsed["measured"]) == 2)
for collective in (None, "allgather"):
    comm = distances.reorder(world, collective)
    check(comm.size == world.size and (comm.rank == 0) == (world.rank == 0))
    everything = np.empty(comm.size, dtype="i4")
    comm.Allgather(np.array([comm.rank], dtype="i4"), everything)
    check(list(everything) == list(range(comm.size)))
    comm.Free()
try:
    world.Set_errhandler(MPI.ERRORS_RETURN)
    distances.reorder(world, "dance")
    check(False)
except MPI.Exception as error:
    check(error.Get_error_class() == MPI.ERR_ARG)
if world.rank == 0:
    print("correct", flush=True)
