"""Calls Tutti's C API for the MPI that mpi4py has loaded."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, TypeVar

from tutti import libraries
from tutti.refusal import Refusal


@cache
def library() -> tuple[ctypes.CDLL, type]:
    """The library, and the C type of the MPI's handles.

    Raises:
        Refusal: Tutti has no library for this MPI, or mpi4py is older than version 4.
    """
    import mpi4py
    from mpi4py import MPI

    if not hasattr(MPI.Comm, "handle"):
        raise Refusal(f"mpi4py {mpi4py.__version__}: expected version 4 or later")
    is_int = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int)
    is_open = "Open MPI" in MPI.Get_library_version()
    name = "mpich" if is_int else "openmpi" if is_open else "mpiabi"
    handle = ctypes.c_int if is_int else ctypes.c_void_p
    # Under `tutti run`, use the preloaded library like the program's other calls.
    program = ctypes.CDLL(None)
    if hasattr(program, "tutti_front"):
        return program, handle
    path = libraries.flavours().get(name)
    if path is None:
        raise Refusal(f"no libtutti-{name}.so in {libraries.folder()}")
    return ctypes.CDLL(str(path)), handle


def call(name: str, *arguments: Any) -> None:
    """Calls a function of tutti.h; raises MPI.Exception if it returns an error."""
    from mpi4py import MPI

    error = getattr(library()[0], name)(*arguments)
    if error != MPI.SUCCESS:
        raise MPI.Exception(error)


def handle(of: Any) -> Any:
    """The C handle of an mpi4py object, such as a communicator or datatype."""
    return library()[1](of.handle)


Holder = TypeVar("Holder")


def to_the_end(holder: Holder) -> Holder:
    """Keeps an object, and what it holds by then, to the end of the process: Python clears its
    modules before mpi4py ends the MPI, which Tutti's thread serves until then.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(holder))
    return holder
