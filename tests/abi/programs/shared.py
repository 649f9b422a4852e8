"""Shared results from Python; checks its own data, and the errors for misuse."""

import atexit
import gc
import sys

import numpy as np
import tutti
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, p = world.rank, world.size

# Handlers of earlier registrations run after those of later ones, such as the results'.
in_use = []
atexit.register(lambda: [array.tobytes() for array in in_use])


def check(condition):
    if not condition:
        print(f"wrong on rank {rank}", flush=True)
        world.Abort(1)


def refused(error, call):
    try:
        call()
    except error:
        return True
    return False


def segments():
    with open("/proc/self/maps") as maps:
        return sum("memfd:tutti" in line for line in maps)


def block(of):
    return np.arange(600, dtype="f8").reshape(20, 30) + 1000 * of


with tutti.allgather_shared(world, block(rank)) as result:
    check(result.array.shape == (p, 20, 30) and result.array.dtype == np.dtype("f8"))
    check(all((result.array[r] == block(r)).all() for r in range(p)))
    check(not result.array.flags.writeable)
check(refused(ValueError, lambda: result.array))
result.release()

# The writes of a rank are private.
private = tutti.allgather_shared(world, np.array([rank], "i2"), writable=True)
private.array[0] = 77 + rank
world.Barrier()
check(private.array[0] == 77 + rank and list(private.array[1:, 0]) == list(range(1, p)))

# The memory lives as long as its last array, even after its communicator is freed.
other = world.Dup()
kept = tutti.allgatherv_shared(other, np.full(rank, rank, "c16"), range(p))
other.Free()
part = kept.array[-1:]
check(refused(BufferError, kept.release))
check(part[0] == p - 1 if p > 1 else len(part) == 0)

root = p - 1
sent = np.array([(1, b"ab"), (2, b"c")], dtype="i4, S3") if rank == root else None
with tutti.bcast_shared(world, sent, root, shape=2, dtype="i4, S3") as result:
    check(result.array["f1"].tolist() == [b"ab", b"c"])

# With TUTTI_REPRODUCIBLE under the library, the bits equal those of the plain call.
parts = np.array([[0.1, 1e17, -1e17, 3e-9], [rank, 0.3, 0.7, 1e9]]) * (rank + 0.1)
total = np.empty_like(parts)
world.Allreduce(parts, total)
with tutti.allreduce_shared(world, parts) as result:
    same = (result.array == total).all() if len(sys.argv) > 1 else np.allclose(result.array, total)
    check(result.array.shape == (2, 4) and same)
with tutti.allreduce_shared(world, np.arange(5, dtype="i2") * rank, MPI.MAX, writable=True) as result:
    check(result.array.tolist() == [i * (p - 1) for i in range(5)])
check(refused(ValueError, lambda: tutti.allreduce_shared(world, np.zeros(2, dtype="i4, f8"))))

# Every rank is the root of a call of its own, which raises before any message.
for other in ({"dtype": "f4"}, {"shape": 3}, {"shape": (2, 2)}, {"shape": 4, "dtype": "f4"}):
    check(refused(ValueError, lambda: tutti.bcast_shared(world, np.zeros(4), rank, **other)))  # noqa: B023
with tutti.bcast_shared(world, parts if rank == root else None, root, shape=[2, 4], dtype="f8") as result:
    check(rank != root or (result.array == parts).all())
check(refused(ValueError, lambda: tutti.bcast_shared(world, np.array([None]), root, shape=1, dtype="O")))

check(refused(ValueError, lambda: tutti.allgather_shared(world, np.array([None]))))
check(refused(ValueError, lambda: tutti.allgatherv_shared(world, sent, [1] * (p + 1)) if sent is
              not None else tutti.bcast_shared(world, root=root)))  # fmt: skip

held = segments()
private.release()
del part
gc.collect()
check(segments() < held)
in_use.append(tutti.allgather_shared(world, block(rank)).array)
if rank == 0:
    print("correct", flush=True)
