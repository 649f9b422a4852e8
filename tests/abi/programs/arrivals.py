"""Progress hints and persistent calls from Python; checks its own data."""

import ctypes
import gc
import weakref

import numpy as np
from mpi4py import MPI
from tutti import arrival

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
counts = [r + 1 for r in range(size)]
displs = [sum(counts[r + 1 :]) for r in range(size)]  # the last rank's block comes first


def check(condition):
    if not condition:
        print(f"wrong on rank {rank}", flush=True)
        comm.Abort(1)


for root in range(size):
    at_root = rank == root
    everything = np.empty((size, 100))
    mine = np.empty(100)
    column = np.empty(rank + 1, dtype="i4")
    columns = np.empty(sum(counts), dtype="i4")
    requests = [
        arrival.scatter_init(comm, everything if at_root else None, mine, root),
        arrival.gather_init(comm, mine, everything if at_root else None, root),
        arrival.gatherv_init(comm, column, [columns, counts, displs] if at_root else None, root),
        arrival.scatterv_init(comm, [columns, (counts, displs), MPI.INT32_T], [column, MPI.INT32_T], root),
    ]  # fmt: skip
    with arrival.edges(comm, 0.5):
        for call in range(5):
            arrival.edge(comm)
            mine[:] = -1
            requests[0].start()
            everything[:] = np.arange(size)[:, None] + call
            requests[0].wait()
            check((mine == rank + call).all())
            mine *= 2
            everything[:] = -1
            requests[1].start()
            requests[1].wait()
            check(not at_root or (everything == 2 * (np.arange(size)[:, None] + call)).all())
            requests[2].start()
            column[:] = rank + call
            requests[2].wait()
            check(not at_root or (columns == np.repeat(np.arange(size) + call, counts)[::-1]).all())
            column[:] = -1
            requests[3].start()
            requests[3].wait()
            check((column == rank + call).all())
    for request in requests:
        request.free()
try:
    arrival.edge(comm)
    check(False)
except MPI.Exception as error:
    check(error.Get_error_class() == MPI.ERR_COMM)

# A plain buffer at the root is divided among the ranks.
everything = np.empty((size, 3))
mine = (ctypes.c_double * 3)(*[rank] * 3)
request = arrival.gatherv_init(comm, mine, everything if rank == 0 else None)
request.start()
request.wait()
request.free()
check(rank != 0 or (everything == np.arange(size)[:, None]).all())

# A started request lives until its wait, with its buffers.
request = arrival.scatter_init(comm, np.arange(size) if rank == 0 else None, np.empty(1, dtype="i8"))
kept = weakref.ref(request)
request.start()
del request
gc.collect()
check(kept() is not None)
kept().wait()
check(kept() is None)


def refused(error, init, *buffers):
    """Whether an init ends with this error before it calls other ranks."""
    try:
        init(comm, *buffers, rank)
    except error:
        return True
    return False


for parts, error in (
    ([2**31], OverflowError),
    ([len(columns)], ValueError),
    ([counts, displs, 0], ValueError),
):
    check(refused(error, arrival.scatter_init, [columns, *parts, MPI.INT32_T], column))
for parts, error in (
    ([counts[1:]], ValueError),
    ([counts, displs[1:]], ValueError),
    ([counts, [len(columns), *displs[1:]]], ValueError),
    ([counts, 3], TypeError),
):
    check(refused(error, arrival.scatterv_init, [columns, *parts], column))
check(refused(ValueError, arrival.gatherv_init, column, np.empty(size + 1)))
check(refused(TypeError, arrival.scatter_init, everything, bytes(24)))
for init in (arrival.scatter_init, arrival.gatherv_init):
    check(refused(TypeError, init, None, column))
    check(refused(TypeError, init, column, None))
if rank == 0:
    print("correct")
