"""Results that the ranks of a node share, as NumPy arrays, for programs of mpi4py.

    import tutti

    with tutti.allgather_shared(comm, mine) as result:
        everything = result.array.sum()      # result.array[rank] is what `rank` gave

Every rank of a node sees the same memory instead of having a copy. Arrays are read-only, or with
`writable=True` copied on write: a page that is written becomes the rank's own. The memory lives as
long as the result or an array of it does, also beyond its communicator. All functions are
collective and raise MPI.Exception on errors. See the part on shared results of tutti.h.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

from tutti.c_api import call as _call
from tutti.c_api import handle as _handle

__all__ = [
    "SharedResult", "allgather_shared", "allgatherv_shared", "allreduce_shared", "bcast_shared",
]  # fmt: skip


class _Memory:
    """The bytes of a result, released with the last array of them."""

    def __init__(self, address: int, nbytes: int, writable: bool):
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (nbytes,), "data": (address, not writable),
        }  # fmt: skip
        weakref.finalize(self, _call, "TUTTI_Shared_free", ctypes.c_void_p(address))


class SharedResult:
    """A result that this rank holds until release(), which the end of a `with` calls."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: Any, writable: bool):
        import numpy as np

        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        memory = _Memory(address, nbytes, writable)
        self._memory = weakref.ref(memory)
        self._array = np.asarray(memory).view(dtype).reshape(shape)

    @property
    def array(self) -> Any:
        """The result. Raises ValueError once it is released."""
        if self._array is None:
            raise ValueError("the result has been released")
        return self._array

    def release(self) -> None:
        """Gives the memory back. Local; nothing if it has been released.

        Raises:
            BufferError: an array of the result is still there, with which the memory will go.
        """
        self._array = None
        if self._memory() is not None:
            raise BufferError("an array of the result is still in use; the memory goes with it")

    def __enter__(self) -> SharedResult:
        return self

    def __exit__(self, failure: Any, *_: Any) -> None:
        self._array = None
        if failure is None:  # else the frames of the failure may have arrays of it
            self.release()


def _data(array: Any) -> Any:
    """A contiguous array of what the MPI can take as bytes."""
    import numpy as np

    data = np.ascontiguousarray(array)
    if data.dtype.hasobject:
        raise ValueError(f"arrays of {data.dtype} cannot be sent: they hold references")
    return data.reshape(np.shape(array))


def _typed(dtype: Any, items: int) -> tuple[ctypes.c_int, Any]:
    """So many items as a count and an MPI datatype that all ranks choose alike."""
    from mpi4py import MPI

    words = dtype.itemsize % 8 == 0
    count = items * dtype.itemsize // (8 if words else 1)
    if count >= 1 << 31:
        raise ValueError(f"{items} items of {dtype} are more than an MPI count holds")
    return ctypes.c_int(count), _handle(MPI.INT64_T if words else MPI.BYTE)


def _shared(name: str, arguments: list[Any], comm: Any, shape: tuple[int, ...], dtype: Any,
            writable: bool) -> SharedResult:  # fmt: skip
    result = ctypes.c_void_p()
    mode = ctypes.c_int(1 if writable else 0)
    _call(name, *arguments, _handle(comm), mode, ctypes.byref(result))
    return SharedResult(result.value or 0, shape, dtype, writable)


def allgather_shared(comm: Any, array: Any, *, writable: bool = False) -> SharedResult:
    """The arrays of all ranks, of equal shapes and types: result.array[rank]."""
    data = _data(array)
    count, datatype = _typed(data.dtype, data.size)
    arguments = [ctypes.c_void_p(data.ctypes.data), count, datatype, count, datatype]
    shape = (comm.size, *data.shape)
    return _shared("TUTTI_Allgather_shared", arguments, comm, shape, data.dtype, writable)


def allgatherv_shared(
    comm: Any, array: Any, counts: Sequence[int], *, writable: bool = False
) -> SharedResult:
    """The items of all ranks, one after the other; `counts` has the number of each rank's."""
    data = _data(array)
    own, datatype = _typed(data.dtype, data.size)
    numbers = [_typed(data.dtype, int(count))[0].value for count in counts]
    if len(numbers) != comm.size:
        raise ValueError(f"{len(numbers)} counts for {comm.size} ranks")
    arguments = [ctypes.c_void_p(data.ctypes.data), own, datatype,
                 (ctypes.c_int * len(numbers))(*numbers), datatype]  # fmt: skip
    shape = (int(sum(counts)),)
    return _shared("TUTTI_Allgatherv_shared", arguments, comm, shape, data.dtype, writable)


def bcast_shared(
    comm: Any, array: Any = None, root: int = 0, *, shape: Any = None, dtype: Any = None,
    writable: bool = False,
) -> SharedResult:  # fmt: skip
    """The root's array. The other ranks name its `shape` and `dtype` instead."""
    import numpy as np

    if comm.rank == root:
        data = _data(array)
        shape, dtype, address = data.shape, data.dtype, data.ctypes.data
    else:
        if shape is None or dtype is None:
            raise ValueError("ranks other than the root name shape and dtype")
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        dtype, address = np.dtype(dtype), None
    count, datatype = _typed(dtype, int(np.prod(shape, dtype=np.int64)))
    arguments = [ctypes.c_void_p(address), count, datatype, ctypes.c_int(root)]
    return _shared("TUTTI_Bcast_shared", arguments, comm, shape, dtype, writable)


def allreduce_shared(comm: Any, array: Any, op: Any = None, *, writable: bool = False) -> SharedResult:
    """The arrays of all ranks, of equal shapes and types, combined by an operation of mpi4py such
    as MPI.MAX; without one their sum.

    Raises:
        ValueError: the MPI has no type for the array's numbers.
    """
    from mpi4py import MPI

    data = _data(array)
    datatype = MPI._typedict.get(data.dtype.char) if data.dtype.isnative else None
    if datatype is None:
        raise ValueError(f"the MPI combines no {data.dtype}")
    if data.size >= 1 << 31:
        raise ValueError(f"{data.size} items are more than an MPI count holds")
    arguments = [ctypes.c_void_p(data.ctypes.data), ctypes.c_int(data.size), _handle(datatype),
                 _handle(MPI.SUM if op is None else op)]  # fmt: skip
    return _shared("TUTTI_Allreduce_shared", arguments, comm, data.shape, data.dtype, writable)
