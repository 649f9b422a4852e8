"""Edges and persistent calls for programs of mpi4py: the part of tutti.h on arrivals.

    from mpi4py import MPI
    from tutti import arrival

    request = arrival.scatter_init(comm, sendbuf, recvbuf, root=0)
    with arrival.edges(comm, fraction=0.5):
        for _ in range(1000):
            request.start()              # the receive buffer is Tutti's from here on
            compute_the_first_half()
            arrival.edge(comm)
            compute_the_second_half()
            request.wait()               # the send buffer is ready: the rank arrives
    request.free()

Buffers are mpi4py's: an object with the buffer protocol, or [buffer, counts],
[buffer, (counts, displs)] or [buffer, counts, displs], with an MPI datatype as last element where
it is not the one of the buffer's own elements. What is not significant at a rank is None there. On MPICH the background
thread runs only under `tutti run`. All functions raise MPI.Exception on errors.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tutti.c_api import call as _call
from tutti.c_api import handle as _handle

__all__ = [
    "Request", "edge", "edges", "finalize", "gather_init", "gatherv_init", "init",
    "scatter_init", "scatterv_init",
]  # fmt: skip


def init(comm: Any, fraction: float) -> None:
    """From now on the program passes an edge when `fraction` of its work between calls is done.

    Collective. See TUTTI_Arrival_init.
    """
    _call("TUTTI_Arrival_init", _handle(comm), ctypes.c_double(fraction))


def edge(comm: Any) -> None:
    """An edge of this rank. Local. See TUTTI_Arrival_edge."""
    _call("TUTTI_Arrival_edge", _handle(comm))


def finalize(comm: Any) -> None:
    """Ends what init began. Collective."""
    _call("TUTTI_Arrival_finalize", _handle(comm))


@contextmanager
def edges(comm: Any, fraction: float) -> Iterator[None]:
    """init() and finalize() around a block. Collective at both ends."""
    init(comm, fraction)
    yield
    finalize(comm)


def _ints(numbers: Iterable[Any]) -> list[int]:
    """Counts or displacements, as the MPI's int holds them."""
    found = [int(number) for number in numbers]
    for number in found:
        if not -(2**31) <= number < 2**31:
            raise OverflowError(f"{number} elements: a count or displacement is below 2**31")
    return found


class _Buffer:
    """A buffer as MPI takes it, and whatever must live as long as its request."""

    def __init__(self, given: Any, ranks: int, irregular: bool):
        from mpi4py import MPI

        self.address: Any = ctypes.c_void_p(None)
        self.counts: Any = [0] * ranks
        self.displs: Any = [0] * ranks
        self.type = MPI.BYTE
        if given is None:
            return
        if isinstance(given, type(MPI.IN_PLACE)):
            self.address = ctypes.c_void_p(int(given))
            return
        parts = list(given) if isinstance(given, list | tuple) else [given]
        self.type = parts.pop() if isinstance(parts[-1], MPI.Datatype) else None
        self.memory = MPI.memory(parts[0])
        if self.type is None:
            self.type = MPI.Datatype.fromcode(memoryview(parts[0]).format)
        self.address = ctypes.c_void_p(self.memory.address)
        total = self.memory.nbytes // self.type.Get_size()
        if len(parts) > 3:
            raise ValueError(f"{len(given)} parts of a buffer: [buffer, counts, displs, datatype]")
        spec = parts[1] if len(parts) == 2 else tuple(parts[1:]) or None
        counts, displs = spec if isinstance(spec, tuple) else (spec, None)
        if counts is None:
            counts = total // ranks
        self.counts = _ints(counts) if irregular else _ints([counts]) * ranks
        if displs is None:
            displs = [sum(self.counts[:rank]) for rank in range(len(self.counts))]
        self.displs = _ints(displs)

    def own(self) -> list[Any]:
        """Address, count and datatype of one block."""
        return [self.address, ctypes.c_int(self.counts[0]), _handle(self.type)]

    def all(self, irregular: bool) -> list[Any]:
        """The root's arguments."""
        if not irregular:
            return self.own()
        ints = ctypes.c_int * len(self.counts)
        self.arrays = ints(*self.counts), ints(*self.displs)
        return [self.address, *self.arrays, _handle(self.type)]


class Request:
    """A call that is set up once and made many times; made by the functions *_init."""

    def __init__(self, name: str, arguments: list[Any], keep: tuple[Any, ...]):
        self._keep = keep
        self._content = ctypes.c_void_p(None)
        _call(name, *arguments, ctypes.byref(self._content))

    def start(self) -> None:
        """Hands the receive buffer to Tutti. Waits for no rank's program. See TUTTI_Start."""
        _call("TUTTI_Start", ctypes.byref(self._content))

    def wait(self) -> None:
        """Hands over the send buffer and completes the call."""
        _call("TUTTI_Wait", ctypes.byref(self._content))

    def free(self) -> None:
        """Frees a request that is not under way. Collective."""
        _call("TUTTI_Request_free", ctypes.byref(self._content))


def _init_function(collective: str, doc: str) -> Callable[..., Request]:
    irregular = collective.endswith("v")
    gathers = collective.startswith("Gather")

    def make(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        at_root = comm.rank == root
        mine, theirs = (sendbuf, recvbuf) if gathers else (recvbuf, sendbuf)
        own = _Buffer(mine, 1, False)
        whole = _Buffer(theirs if at_root else None, comm.size, irregular)
        pair = [own.own(), whole.all(irregular)]
        send, receive = pair if gathers else pair[::-1]
        arguments = [*send, *receive, ctypes.c_int(root), _handle(comm)]
        return Request(f"TUTTI_{collective}_init", arguments, (own, whole, pair))

    make.__doc__ = doc
    make.__name__ = f"{collective.lower()}_init"
    return make


gather_init = _init_function("Gather", "A persistent gather. Collective. See TUTTI_Gather_init.")
gatherv_init = _init_function("Gatherv", "A persistent gather of blocks of any size. Collective.")
scatter_init = _init_function("Scatter", "A persistent scatter. Collective.")
scatterv_init = _init_function("Scatterv", "A persistent scatter of blocks of any size. Collective.")
