"""Collectives on windows that only their root calls, for programs of mpi4py.

    from mpi4py import MPI
    from tutti import rma

    win = MPI.Win.Allocate(bytes, comm=comm)
    with rma.opened(comm), rma.registered(win, comm) as window:
        if comm.rank == root:
            request = window.bcast(news, displacement)   # nobody else calls
            ...
            request.flush()                              # all ranks have it
        window.wait(root, number)                        # here: the number-th of this root

A rank learns of nothing by itself: it looks with `arrived`, or waits. What has come is in the memory
of its window. All functions raise MPI.Exception on errors. See the part on one-sided collectives of
tutti.h; needs MPI_THREAD_MULTIPLE, mpi4py's default, and on MPICH a program under `tutti run`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tutti.arrival import _call, _handle

__all__ = ["Request", "Window", "finalize", "init", "opened", "progresses", "register", "registered"]


def init(comm: Any) -> None:
    """Starts one-sided collectives on a communicator. Collective."""
    _call("TUTTI_Rma_init", _handle(comm))


def finalize(comm: Any) -> None:
    """Completes everything on the communicator and ends it. Collective."""
    _call("TUTTI_Rma_finalize", _handle(comm))


@contextmanager
def opened(comm: Any) -> Iterator[None]:
    """init() and finalize() around a block. Collective at both ends."""
    init(comm)
    yield
    finalize(comm)


def progresses(comm: Any) -> bool:
    """Does the MPI itself bring puts to a rank that computes? Else Tutti's thread does."""
    flag = ctypes.c_int()
    _call("TUTTI_Rma_progress", _handle(comm), ctypes.byref(flag))
    return bool(flag.value)


class Request:
    """An operation that its root has begun. The buffer is in use until it is complete."""

    def __init__(self, number: ctypes.c_int, buffer: Any):
        self._number = number
        self._buffer = buffer

    def flush(self) -> None:
        """Waits until all ranks have the data, or the root theirs."""
        _call("TUTTI_Rma_flush", ctypes.byref(self._number))
        self._buffer = None

    def test(self) -> bool:
        """Do all ranks have the data, or the root theirs?"""
        flag = ctypes.c_int()
        _call("TUTTI_Rma_test", ctypes.byref(self._number), ctypes.byref(flag))
        if flag.value:
            self._buffer = None
        return bool(flag.value)


class Window:
    """A registered window."""

    def __init__(self, number: ctypes.c_int):
        self._number = number

    @property
    def number(self) -> int:
        """The same on all ranks."""
        return self._number.value

    def bcast(self, buffer: Any, displacement: int = 0) -> Request:
        """Begins to bring the bytes of a contiguous buffer to `displacement`, in the units of each
        rank, of every rank's window. Only this rank calls.
        """
        return self._begin("TUTTI_Rma_bcast", buffer, 1, displacement)

    def scatter(self, buffer: Any, ranks: int, displacement: int = 0) -> Request:
        """Begins to bring the r-th of as many equal parts of the buffer as there are ranks to
        `displacement` of the r-th rank's window. Only this rank calls.
        """
        return self._begin("TUTTI_Rma_scatter", buffer, ranks, displacement)

    def gather(self, buffer: Any, ranks: int, displacement: int = 0) -> Request:
        """Begins to collect what is at `displacement` of the r-th rank's window as the r-th of as
        many equal parts of the buffer as there are ranks. Only this rank calls.
        """
        return self._begin("TUTTI_Rma_gather", buffer, ranks, displacement)

    def reduce(self, buffer: Any, datatype: Any, op: Any, displacement: int = 0) -> Request:
        """Begins to combine what is at `displacement` of all windows in the buffer, whose elements
        are of one of MPI's own types, such as MPI.DOUBLE, by one of its operations that commute,
        such as MPI.SUM. Only this rank calls.
        """
        from mpi4py import MPI

        view = MPI.memory.frombuffer(buffer)
        request = ctypes.c_int()
        _call(
            "TUTTI_Rma_reduce", ctypes.c_void_p(view.address),
            ctypes.c_int(view.nbytes // datatype.Get_size()), _handle(datatype), _handle(op),
            ctypes.c_ssize_t(displacement), self._number, ctypes.byref(request),
        )  # fmt: skip
        return Request(request, (buffer, view))

    def _begin(self, function: str, buffer: Any, parts: int, displacement: int) -> Request:
        from mpi4py import MPI

        view = MPI.memory.frombuffer(buffer, readonly=function != "TUTTI_Rma_gather")
        request = ctypes.c_int()
        _call(
            function, ctypes.c_void_p(view.address), ctypes.c_int(view.nbytes // parts),
            _handle(MPI.BYTE), ctypes.c_ssize_t(displacement), self._number,
            ctypes.byref(request),
        )  # fmt: skip
        return Request(request, (buffer, view))

    def arrived(self, root: int) -> int:
        """How many operations of `root` have come here, with all before them."""
        number = ctypes.c_longlong()
        _call("TUTTI_Rma_arrived", self._number, ctypes.c_int(root), ctypes.byref(number))
        return number.value

    def wait(self, root: int, number: int) -> None:
        """Waits for the operation of this number of `root`; they count from 1 on."""
        _call("TUTTI_Rma_wait", self._number, ctypes.c_int(root), ctypes.c_longlong(number))

    def release(self) -> None:
        """Completes all operations and gives the window back. Collective."""
        _call("TUTTI_Rma_window_release", ctypes.byref(self._number))


def register(win: Any, comm: Any) -> Window:
    """Takes a window whose ranks are those of `comm`; until its release the program opens no epoch
    on it. Collective.
    """
    number = ctypes.c_int()
    _call("TUTTI_Rma_window_register", _handle(win), _handle(comm), ctypes.byref(number))
    return Window(number)


@contextmanager
def registered(win: Any, comm: Any) -> Iterator[Window]:
    """register() and release() around a block. Collective at both ends."""
    window = register(win, comm)
    yield window
    window.release()
