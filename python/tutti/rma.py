"""One-sided collectives for mpi4py: only the root calls, and data moves between windows.

    from mpi4py import MPI
    from tutti import rma

    win = MPI.Win.Allocate(bytes, comm=comm)
    with rma.opened(comm), rma.registered(win, comm) as window:
        if comm.rank == root:
            request = window.bcast(news, displacement)   # no other rank calls
            ...
            request.flush()                              # all ranks have the data
        window.wait(root, number)                        # operation `number` of this root is here

The other ranks poll with `arrived`, or wait; the data is then in the memory of their windows. All
functions raise MPI.Exception on errors. They require MPI_THREAD_MULTIPLE, which is mpi4py's
default, and on MPICH a program under `tutti run`. tutti.h documents the functions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tutti.c_api import call as _call
from tutti.c_api import handle as _handle
from tutti.c_api import to_the_end

__all__ = ["Request", "Window", "finalize", "init", "opened", "progresses", "register", "registered"]

_windows: dict[int, Window] = to_the_end({})
"""The registered windows by number. They hold all memory that Tutti's thread may use, also if the
program drops a window, for example because an exception has left its block."""


def init(comm: Any) -> None:
    """Starts one-sided collectives on a communicator. Collective."""
    _call("TUTTI_Rma_init", _handle(comm))


def finalize(comm: Any) -> None:
    """Completes all operations and ends one-sided collectives on a communicator. Collective."""
    _call("TUTTI_Rma_finalize", _handle(comm))
    for number in [number for number, window in _windows.items() if window._comm == comm.handle]:
        _windows.pop(number)._pending.clear()


@contextmanager
def opened(comm: Any) -> Iterator[None]:
    """Calls init(), runs a block, and calls finalize(). Collective at both ends.

    A block that raises skips finalize(), in which the rank would wait for all others.
    """
    init(comm)
    yield
    finalize(comm)


def progresses(comm: Any) -> bool:
    """Whether the MPI completes puts to a computing rank. Otherwise Tutti's thread does."""
    flag = ctypes.c_int()
    _call("TUTTI_Rma_progress", _handle(comm), ctypes.byref(flag))
    return bool(flag.value)


class Request:
    """An operation of this root. Its buffer lives until it is complete, or its window released."""

    def __init__(self, number: ctypes.c_int, buffer: Any, pending: set[Request]):
        self._number = number
        self._buffer = buffer
        self._pending = pending
        pending.add(self)

    def flush(self) -> None:
        """Waits for completion: all ranks have the root's data, or the root has theirs."""
        _call("TUTTI_Rma_flush", ctypes.byref(self._number))
        self._complete()

    def test(self) -> bool:
        """Whether the operation is complete, as for flush()."""
        flag = ctypes.c_int()
        _call("TUTTI_Rma_test", ctypes.byref(self._number), ctypes.byref(flag))
        if flag.value:
            self._complete()
        return bool(flag.value)

    def _complete(self) -> None:
        self._pending.discard(self)
        self._buffer = None


def _count(nbytes: int, unit: int) -> ctypes.c_int:
    """The number of units of so many bytes. Raises ValueError if it is not whole, or no C int."""
    if unit < 1 or nbytes % unit or nbytes // unit >= 2**31:
        raise ValueError(f"buffer of {nbytes} bytes: expected a multiple of {unit}, below 2**31 times")
    return ctypes.c_int(nbytes // unit)


class Window:
    """A registered window."""

    def __init__(self, number: ctypes.c_int, win: Any, comm: Any):
        self._number = number
        self._win = win  # whose memory other ranks write
        self._comm = comm.handle
        self._ranks = comm.size
        self._pending: set[Request] = set()
        _windows[number.value] = self

    @property
    def number(self) -> int:
        """The number of the window, equal on all ranks."""
        return self._number.value

    def bcast(self, buffer: Any, displacement: int = 0) -> Request:
        """Starts to write the bytes of a contiguous buffer at `displacement` of every window, in
        the displacement units of each rank. Only this rank calls.
        """
        return self._begin("TUTTI_Rma_bcast", buffer, 1, displacement)

    def scatter(self, buffer: Any, displacement: int = 0) -> Request:
        """Starts to write part r of the buffer, in as many equal parts as ranks, at `displacement`
        of the window of rank r. Only this rank calls.
        """
        return self._begin("TUTTI_Rma_scatter", buffer, self._ranks, displacement)

    def gather(self, buffer: Any, displacement: int = 0) -> Request:
        """Starts to read from `displacement` of the window of rank r into part r of the buffer, in
        as many equal parts as ranks. Only this rank calls.
        """
        return self._begin("TUTTI_Rma_gather", buffer, self._ranks, displacement)

    def reduce(self, buffer: Any, datatype: Any, op: Any, displacement: int = 0) -> Request:
        """Starts to reduce the elements at `displacement` of all windows into the buffer.

        `datatype` is a predefined type such as MPI.DOUBLE, `op` a predefined commutative operation
        such as MPI.SUM. Only this rank calls.
        """
        from mpi4py import MPI

        view = MPI.memory.frombuffer(buffer)
        request = ctypes.c_int()
        _call(
            "TUTTI_Rma_reduce", ctypes.c_void_p(view.address),
            _count(view.nbytes, datatype.Get_size()), _handle(datatype), _handle(op),
            ctypes.c_ssize_t(displacement), self._number, ctypes.byref(request),
        )  # fmt: skip
        return Request(request, (buffer, view), self._pending)

    def _begin(self, function: str, buffer: Any, parts: int, displacement: int) -> Request:
        from mpi4py import MPI

        view = MPI.memory.frombuffer(buffer, readonly=function != "TUTTI_Rma_gather")
        _count(view.nbytes, parts)
        request = ctypes.c_int()
        _call(
            function, ctypes.c_void_p(view.address), _count(view.nbytes // parts, 1),
            _handle(MPI.BYTE), ctypes.c_ssize_t(displacement), self._number,
            ctypes.byref(request),
        )  # fmt: skip
        return Request(request, (buffer, view), self._pending)

    def arrived(self, root: int) -> int:
        """The number of operations of `root` that have arrived here without a gap."""
        number = ctypes.c_longlong()
        _call("TUTTI_Rma_arrived", self._number, ctypes.c_int(root), ctypes.byref(number))
        return number.value

    def wait(self, root: int, number: int) -> None:
        """Waits for operation `number` of `root`, counted from 1."""
        _call("TUTTI_Rma_wait", self._number, ctypes.c_int(root), ctypes.c_longlong(number))

    def release(self) -> None:
        """Completes all operations, and returns the window to the program. Collective."""
        number = self.number
        _call("TUTTI_Rma_window_release", ctypes.byref(self._number))
        _windows.pop(number)._pending.clear()


def register(win: Any, comm: Any) -> Window:
    """Registers a window whose ranks are those of `comm`. Collective.

    The program must not open an RMA epoch on it before its release.
    """
    number = ctypes.c_int()
    _call("TUTTI_Rma_window_register", _handle(win), _handle(comm), ctypes.byref(number))
    return Window(number, win, comm)


@contextmanager
def registered(win: Any, comm: Any) -> Iterator[Window]:
    """Calls register(), runs a block, and calls release(). Collective at both ends.

    A block that raises skips release(): the window and the buffers of its operations stay in use
    until finalize().
    """
    window = register(win, comm)
    yield window
    window.release()
