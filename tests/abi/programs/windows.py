"""One-sided collectives from Python, of every root; checks its own data."""

import gc
import weakref

import numpy as np
from mpi4py import MPI
from tutti import rma

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
SLOTS = 4  # for a broadcast, a scatter, a sum and a broadcast that is left; MPICH 4.0 needs a multiple of 16 bytes


def check(condition):
    if not condition:
        print(f"wrong on rank {rank}", flush=True)
        comm.Abort(1)


def refused(function, *arguments):
    try:
        function(*arguments)
    except ValueError as error:
        return "expected a multiple of" in str(error)
    return False


def leave(win):
    """Leaves a block by an exception; returns a weak reference to the buffer of its operation."""
    try:
        with rma.registered(win, comm) as window:
            buffer = np.full(1, -1.0)
            window.bcast(buffer, SLOTS * rank + 3)
            raise LookupError
    except LookupError:
        return weakref.ref(buffer)


win = MPI.Win.Allocate(8 * SLOTS * size, disp_unit=8, comm=comm)
memory = np.frombuffer(win.tomemory(), dtype="f8").reshape(size, SLOTS)
memory[:] = rank
with rma.opened(comm):
    with rma.registered(win, comm) as window:
        first = SLOTS * rank  # this root's slots
        # The window keeps the buffers of requests that the program drops.
        window.bcast(np.full(1, 100.0 + rank), first)
        window.scatter(np.arange(size) + 200.0 * rank, first + 1)
        check(refused(window.scatter, np.zeros(size * 8 + 1, dtype="u1")))
        check(refused(window.reduce, np.zeros(9, dtype="u1"), MPI.DOUBLE, MPI.SUM))
        everyones = np.empty(size)
        request = window.gather(everyones, first + 2)
        while not request.test():
            pass
        check((everyones == np.arange(size)).all())
        total = np.empty(1)
        window.reduce(total, MPI.DOUBLE, MPI.SUM, first + 2).flush()
        check(total[0] == sum(range(size)))
        for root in range(size):
            window.wait(root, 4)
            check(window.arrived(root) == 4)
        check(rma.progresses(comm) in (True, False))
    roots = np.arange(size)
    check((memory[:, 0] == 100.0 + roots).all())
    check((memory[:, 1] == 200.0 * roots + rank).all())
    check((memory[:, 2] == rank).all())
    left = leave(win)
    gc.collect()
    check(left() is not None)
check(left() is None)
check((memory[:, 3] == -1).all())
win.Free()
comm.Barrier()
if rank == 0:
    print("correct")
