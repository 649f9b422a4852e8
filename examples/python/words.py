"""Gathers arrays of different lengths with mpi4py; it contains no Tutti code.

    mpirun -n 5 python words.py
    tutti run -- mpirun -n 5 python words.py
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, p = comm.Get_rank(), comm.Get_size()

mine = np.full(3 * (rank % 4), rank, dtype="i8")  # every fourth rank has nothing
counts = comm.gather(mine.size, root=0)

if rank == 0:
    everything = np.empty(sum(counts), dtype="i8")
    comm.Gatherv(mine, (everything, counts), root=0)
    print(*everything)
else:
    comm.Gatherv(mine, None, root=0)
