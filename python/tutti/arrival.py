"""Progress hints (Proficz's edges) and persistent calls for mpi4py; tutti.h documents them.

    from mpi4py import MPI
    from tutti import arrival

    request = arrival.scatter_init(comm, sendbuf, recvbuf, root=0)
    with arrival.edges(comm, fraction=0.5):
        for _ in range(1000):
            request.start()              # Tutti may write to the receive buffer from here on
            compute_the_first_half()
            arrival.edge(comm)
            compute_the_second_half()
            request.wait()               # the rank arrives, with its send buffer ready
    request.free()

Buffers are as in mpi4py: an object with the buffer protocol, or [buffer, counts],
[buffer, (counts, displs)] or [buffer, counts, displs]. An MPI datatype as last element replaces
that of the buffer's elements. A buffer that is not significant at a rank is None. On MPICH the
background thread runs only under `tutti run`. All functions raise MPI.Exception on errors of the
library; what a buffer does not hold is a TypeError, ValueError or OverflowError before any message, at
the rank that finds it: in a collective function the other ranks then wait for that rank.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from numbers import Integral
from typing import Any

from tutti.c_api import call as _call
from tutti.c_api import handle as _handle
from tutti.c_api import to_the_end

__all__ = [
    "Request", "edge", "edges", "finalize", "gather_init", "gatherv_init", "init",
    "scatter_init", "scatterv_init",
]  # fmt: skip


def init(comm: Any, fraction: float) -> None:
    """Announces progress hints after `fraction` of the computation between calls.

    Collective. See TUTTI_Arrival_init.
    """
    _call("TUTTI_Arrival_init", _handle(comm), ctypes.c_double(fraction))


def edge(comm: Any) -> None:
    """Gives a progress hint of this rank. Local. See TUTTI_Arrival_edge."""
    _call("TUTTI_Arrival_edge", _handle(comm))


def finalize(comm: Any) -> None:
    """Ends the progress hints of init(). Collective. See TUTTI_Arrival_finalize."""
    _call("TUTTI_Arrival_finalize", _handle(comm))


@contextmanager
def edges(comm: Any, fraction: float) -> Iterator[None]:
    """Calls init(), runs a block, and calls finalize(). Collective at both ends.

    A block that raises skips finalize(): MPI_Comm_free then waits for all ranks.
    """
    init(comm, fraction)
    yield
    finalize(comm)


def _ints(numbers: Iterable[Any]) -> list[int]:
    """Counts or displacements as integers that fit a C int."""
    found = [int(number) for number in numbers]
    for number in found:
        if not -(2**31) <= number < 2**31:
            raise OverflowError(f"{number} elements: expected a count or displacement below 2**31")
    return found


def _one_each(numbers: Any, ranks: int, what: str) -> list[int]:
    """The counts or displacements of all ranks. Raises TypeError or ValueError for other lists."""
    if not isinstance(numbers, Iterable):
        raise TypeError(f"{what} {numbers}: expected one for each of {ranks} ranks")
    found = _ints(numbers)
    if len(found) != ranks:
        raise ValueError(f"{len(found)} {what}: expected one for each of {ranks} ranks")
    return found


def _memory_of(buffer: Any, is_sent: bool) -> Any:
    """The memory of a buffer. Raises TypeError unless it is contiguous, and writable if received."""
    from mpi4py import MPI

    try:
        return MPI.memory.frombuffer(buffer, readonly=is_sent)
    except (BufferError, TypeError, ValueError) as error:
        accepted = "contiguous" if is_sent else "contiguous, writable"
        name = type(buffer).__name__
        raise TypeError(f"buffer of type {name}: expected a {accepted} one ({error})") from None


def _type_of(buffer: Any) -> Any:
    """The MPI datatype of a buffer's elements; ctypes writes a byte order before their code."""
    from mpi4py import MPI

    native = "<" if sys.byteorder == "little" else ">"
    return MPI.Datatype.fromcode(memoryview(buffer).format.removeprefix(native))


class _Buffer:
    """The MPI arguments of a buffer, and the memory that must live as long as its request."""

    def __init__(self, given: Any, ranks: int, irregular: bool, is_sent: bool):
        from mpi4py import MPI

        self.address: Any = ctypes.c_void_p(None)
        self.counts = [0] * ranks
        self.displs = [0] * ranks
        self.type = MPI.BYTE
        if given is None:
            return
        if isinstance(given, type(MPI.IN_PLACE)):
            self.address = ctypes.c_void_p(int(given))
            return
        parts = list(given) if isinstance(given, list | tuple) else [given]
        named = parts.pop() if parts and isinstance(parts[-1], MPI.Datatype) else None
        if not 1 <= len(parts) <= 3:
            raise ValueError(f"{len(given)} parts of a buffer: expected [buffer, counts, displs, datatype]")
        self.memory = _memory_of(parts[0], is_sent)
        self.type = _type_of(parts[0]) if named is None else named
        self.address = ctypes.c_void_p(self.memory.address)
        spec = parts[1] if len(parts) == 2 else tuple(parts[1:]) or None
        counts, displs = spec if isinstance(spec, tuple) else (spec, None)
        self._place(self._share(ranks) if counts is None else counts, displs, irregular)
        if parts[0] is not MPI.BOTTOM:
            self._check_blocks()

    def _share(self, ranks: int) -> int:
        """The elements of each rank in a buffer without counts."""
        extent = self.type.Get_extent()[1]
        if extent <= 0 or self.memory.nbytes % (extent * ranks):
            raise ValueError(
                f"buffer of {self.memory.nbytes} bytes: expected a multiple of {ranks} elements of "
                f"{extent} bytes, or counts"
            )
        return int(self.memory.nbytes // (extent * ranks))

    def _place(self, counts: Any, displs: Any, irregular: bool) -> None:
        """Takes the counts, of which one number holds for all ranks, and the displacements."""
        ranks = len(self.counts)
        if irregular and not isinstance(counts, Integral):
            self.counts = _one_each(counts, ranks, "counts")
        else:
            self.counts = _ints([counts]) * ranks
        if displs is None:
            self.displs = [0, *accumulate(self.counts[:-1])]
        elif irregular:
            self.displs = _one_each(displs, ranks, "displacements")
        else:
            raise ValueError(f"displacements {displs}: expected none, as all blocks have one size")

    def _check_blocks(self) -> None:
        """Raises ValueError if a block is not within the memory."""
        extent = self.type.Get_extent()[1]
        first, length = self.type.Get_true_extent()
        for count, displacement in zip(self.counts, self.displs, strict=True):
            begin = displacement * extent + first
            end = begin + (count - 1) * extent + length
            if count > 0 and (begin < 0 or end > self.memory.nbytes):
                raise ValueError(
                    f"{count} elements at displacement {displacement}: expected a block within the "
                    f"buffer of {self.memory.nbytes} bytes"
                )

    def block(self) -> list[Any]:
        """The arguments of the side that has one block: address, count and datatype."""
        return [self.address, ctypes.c_int(self.counts[0]), _handle(self.type)]

    def at_root(self, irregular: bool) -> list[Any]:
        """The arguments of the side that is significant at the root only."""
        if not irregular:
            return self.block()
        ints = ctypes.c_int * len(self.counts)
        self.arrays = ints(*self.counts), ints(*_ints(self.displs))
        return [self.address, *self.arrays, _handle(self.type)]


_started: set[Request] = to_the_end(set())
"""The requests between start() and wait(). They hold the buffers that Tutti's thread may use, also
if the program drops a request."""


class Request:
    """A persistent call, made by a function *_init and started any number of times."""

    def __init__(self, name: str, arguments: list[Any], keep: tuple[Any, ...]):
        self._keep = keep
        self._content = ctypes.c_void_p(None)
        _call(name, *arguments, ctypes.byref(self._content))

    def start(self) -> None:
        """Hands the receive buffer to Tutti, and waits for no rank. See TUTTI_Start."""
        _call("TUTTI_Start", ctypes.byref(self._content))
        _started.add(self)

    def wait(self) -> None:
        """Hands the send buffer to Tutti, and completes the call. See TUTTI_Wait."""
        _call("TUTTI_Wait", ctypes.byref(self._content))
        _started.discard(self)

    def free(self) -> None:
        """Frees an inactive request. Collective. See TUTTI_Request_free."""
        _call("TUTTI_Request_free", ctypes.byref(self._content))
        _started.discard(self)  # after a wait that raised


def _init_function(collective: str, doc: str) -> Callable[..., Request]:
    irregular = collective.endswith("v")
    gathers = collective.startswith("Gather")

    def make(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        at_root = comm.rank == root
        for_block, for_root = (sendbuf, recvbuf) if gathers else (recvbuf, sendbuf)
        root_data = for_root if at_root else None
        if for_block is None or (at_root and root_data is None):
            raise TypeError("buffer None: expected a buffer, as it is significant at this rank")
        block_buffer = _Buffer(for_block, 1, False, is_sent=gathers)
        root_buffer = _Buffer(root_data, comm.size, irregular, is_sent=not gathers)
        pair = [block_buffer.block(), root_buffer.at_root(irregular)]
        send, receive = pair if gathers else pair[::-1]
        arguments = [*send, *receive, ctypes.c_int(root), _handle(comm)]
        return Request(f"TUTTI_{collective}_init", arguments, (block_buffer, root_buffer, pair))

    make.__doc__ = doc
    make.__name__ = f"{collective.lower()}_init"
    return make


gather_init = _init_function("Gather", "A persistent gather. Collective. See TUTTI_Gather_init.")
gatherv_init = _init_function("Gatherv", "A persistent gather of blocks of any size. Collective.")
scatter_init = _init_function("Scatter", "A persistent scatter. Collective.")
scatterv_init = _init_function("Scatterv", "A persistent scatter of blocks of any size. Collective.")
