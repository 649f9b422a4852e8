"""A plain mpi4py program with all gathers and scatters that checks its own data.

With an argument, loads that library by mpi4py.profile first.
"""

import sys

import mpi4py

if len(sys.argv) > 1:
    mpi4py.profile(sys.argv[1])

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
counts = np.arange(1, size + 1)
displs = np.cumsum(counts + 1) - counts


def block(of):
    return 1000 * of + np.arange(of + 1, dtype="i")


def check(condition):
    if not condition:
        print(f"wrong on rank {rank}", flush=True)
        comm.Abort(1)


for root in range(size):
    everything = np.full(displs[-1] + size, -1, dtype="i")
    comm.Gatherv(block(rank), [everything, counts, displs, MPI.INT], root=root)
    if rank == root:
        for r in range(size):
            check((everything[displs[r] : displs[r] + r + 1] == block(r)).all())
            check(everything[displs[r] - 1] == -1)
            everything[displs[r] : displs[r] + r + 1] = block(r) + 5
    mine = np.zeros(rank + 1, dtype="i")
    comm.Scatterv([everything, counts, displs, MPI.INT], mine, root=root)
    check((mine == block(rank) + 5).all())
    heads = np.zeros(size, dtype="i")
    comm.Gather(mine[:1], heads, root=root)
    check(rank != root or (heads == 1000 * np.arange(size) + 5).all())
    single = np.zeros(1, dtype="i")
    comm.Scatter(np.arange(size, dtype="i"), single, root=root)
    check(single[0] == rank)
    texts = comm.gather("x" * rank, root=root)
    check(rank != root or texts == ["x" * r for r in range(size)])
    check(comm.scatter([{"to": r} for r in range(size)], root=root) == {"to": rank})
comm.Barrier()
if rank == 0:
    print("correct")
