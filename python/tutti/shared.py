"""Results that the ranks of a node share, as NumPy arrays for mpi4py.

    import tutti

    with tutti.allgather_shared(comm, mine) as result:
        everything = result.array.sum()      # result.array[rank] is the array of `rank`

All ranks of a node use the same memory instead of copies. Arrays are read-only, or with
`writable=True` copy-on-write: a page that a rank writes becomes private to it. The memory lives as
long as the result or one of its arrays, even after its communicator is freed. All functions are
collective and raise MPI.Exception on errors. A TypeError or ValueError is raised before any message,
at the rank that finds it: the other ranks then wait for that rank. tutti.h documents shared results.
"""

from __future__ import annotations

import ctypes
import operator
import weakref
from collections.abc import Sequence
from typing import Any

from tutti.c_api import call as _call
from tutti.c_api import handle as _handle

__all__ = [
    "SharedResult", "allgather_shared", "allgatherv_shared", "allreduce_shared", "bcast_shared",
]  # fmt: skip


class _Memory:
    """The memory of a result, released with its last array."""

    def __init__(self, address: int, nbytes: int, writable: bool):
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (nbytes,), "data": (address, not writable),
        }  # fmt: skip
        release = weakref.finalize(self, _call, "TUTTI_Shared_free", ctypes.c_void_p(address))
        release.atexit = False  # arrays may still be in use at exit


class SharedResult:
    """A shared result, held until release(); the end of a `with` block calls it."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: Any, writable: bool):
        import numpy as np

        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        memory = _Memory(address, nbytes, writable)
        self._memory = weakref.ref(memory)
        self._array = np.asarray(memory).view(dtype).reshape(shape)

    @property
    def array(self) -> Any:
        """The result. Raises ValueError after release()."""
        if self._array is None:
            raise ValueError("the result has already been released")
        return self._array

    def release(self) -> None:
        """Releases the memory. Local. A second call does nothing.

        Raises:
            BufferError: an array of the result is still in use; the memory goes with it.
        """
        self._array = None
        if self._memory() is not None:
            raise BufferError("an array of the result is still in use")

    def __enter__(self) -> SharedResult:
        return self

    def __exit__(self, failure: Any, *_: Any) -> None:
        self._array = None
        if failure is None:  # otherwise frames of the traceback may hold arrays of the result
            self.release()


def _data(array: Any) -> Any:
    """The array, contiguous. Raises ValueError if its elements are references."""
    import numpy as np

    data = np.ascontiguousarray(array)
    _check_elements(data.dtype)
    return data.reshape(np.shape(array))


def _check_elements(dtype: Any) -> None:
    """Raises ValueError if such elements are references."""
    if dtype.hasobject:
        raise ValueError(f"arrays of {dtype} cannot be sent, as they hold references")


def _shape(given: Any) -> tuple[int, ...]:
    """A shape, of which one number, also NumPy's, stands for one dimension."""
    try:
        return (operator.index(given),)
    except TypeError:
        return tuple(given)


def _bytes(dtype: Any, items: int) -> tuple[ctypes.c_longlong, Any]:
    """The MPI count and datatype of so many items; equal on all ranks for an equal dtype."""
    from mpi4py import MPI

    return ctypes.c_longlong(items * dtype.itemsize), _handle(MPI.BYTE)


def _shared(name: str, arguments: list[Any], comm: Any, shape: tuple[int, ...], dtype: Any,
            writable: bool) -> SharedResult:  # fmt: skip
    result = ctypes.c_void_p()
    mode = ctypes.c_int(1 if writable else 0)
    _call(name, *arguments, _handle(comm), mode, ctypes.byref(result))
    return SharedResult(result.value or 0, shape, dtype, writable)


def allgather_shared(comm: Any, array: Any, *, writable: bool = False) -> SharedResult:
    """Gathers the arrays of all ranks, of equal shapes and types: result.array[rank]."""
    data = _data(array)
    count, datatype = _bytes(data.dtype, data.size)
    arguments = [ctypes.c_void_p(data.ctypes.data), count, datatype, count, datatype]
    shape = (comm.size, *data.shape)
    return _shared("TUTTI_Allgather_shared_c", arguments, comm, shape, data.dtype, writable)


def allgatherv_shared(
    comm: Any, array: Any, counts: Sequence[int], *, writable: bool = False
) -> SharedResult:
    """Concatenates the elements of all ranks' arrays, in one dimension.

    Args:
        counts: the elements of each rank's array: its size, not its rows.
    """
    data = _data(array)
    own, datatype = _bytes(data.dtype, data.size)
    numbers = [int(count) * data.dtype.itemsize for count in counts]
    if len(numbers) != comm.size:
        raise ValueError(f"{len(numbers)} counts for {comm.size} ranks")
    arguments = [ctypes.c_void_p(data.ctypes.data), own, datatype,
                 (ctypes.c_longlong * len(numbers))(*numbers), datatype]  # fmt: skip
    shape = (sum(int(count) for count in counts),)
    return _shared("TUTTI_Allgatherv_shared_c", arguments, comm, shape, data.dtype, writable)


def bcast_shared(
    comm: Any, array: Any = None, root: int = 0, *, shape: Any = None, dtype: Any = None,
    writable: bool = False,
) -> SharedResult:  # fmt: skip
    """Broadcasts the root's array. The other ranks pass its `shape` and `dtype` instead.

    Raises:
        ValueError: at the root, the array is not of the given `shape` or `dtype`; at another rank,
            one of them is missing.
    """
    import numpy as np

    if comm.rank == root:
        data = _data(array)
        address = data.ctypes.data
        shape = data.shape if shape is None else _shape(shape)
        dtype = data.dtype if dtype is None else np.dtype(dtype)
        if (shape, dtype) != (data.shape, data.dtype):
            raise ValueError(f"array of {data.dtype} and shape {data.shape}: expected {dtype} and {shape}")
    else:
        if shape is None or dtype is None:
            raise ValueError("ranks other than the root need shape and dtype")
        shape, dtype, address = _shape(shape), np.dtype(dtype), None
        _check_elements(dtype)
    count, datatype = _bytes(dtype, int(np.prod(shape, dtype=np.int64)))
    arguments = [ctypes.c_void_p(address), count, datatype, ctypes.c_int(root)]
    return _shared("TUTTI_Bcast_shared_c", arguments, comm, shape, dtype, writable)


def allreduce_shared(comm: Any, array: Any, op: Any = None, *, writable: bool = False) -> SharedResult:
    """Reduces the arrays of all ranks, of equal shapes and types, by an operation of mpi4py such
    as MPI.MAX; the default is MPI.SUM.

    Raises:
        ValueError: the MPI has no datatype for the array's elements.
    """
    from mpi4py import MPI

    data = _data(array)
    datatype = MPI._typedict.get(data.dtype.char) if data.dtype.isnative else None
    if datatype is None:
        raise ValueError(f"MPI cannot reduce {data.dtype}")
    arguments = [ctypes.c_void_p(data.ctypes.data), ctypes.c_longlong(data.size), _handle(datatype),
                 _handle(MPI.SUM if op is None else op)]  # fmt: skip
    return _shared("TUTTI_Allreduce_shared_c", arguments, comm, data.shape, data.dtype, writable)
