"""The module's functions for mpi4py, without an MPI."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import pytest
import tutti
from tutti import c_api
from tutti.console import Refusal


@pytest.fixture
def shared_calls(monkeypatch):
    """The calls of shared results, which reach no library: function, counts in bytes or items, shape."""
    calls = []
    mpi = SimpleNamespace(BYTE=None, SUM=None, _typedict={"b": "BYTE"})
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=mpi))
    monkeypatch.setattr(tutti.shared, "_handle", lambda of: None)
    monkeypatch.setattr(tutti.shared, "_data", lambda array: array)
    monkeypatch.setattr(tutti.shared, "SharedResult", lambda address, shape, *_: calls[-1].append(shape))
    large = ctypes.c_longlong

    def call(name, *arguments):
        counts = [one.value for one in arguments if isinstance(one, large)]
        lists = [list(one) for one in arguments if isinstance(one, ctypes.Array) and one._type_ is large]
        calls.append([name, *counts, *lists])

    monkeypatch.setattr(tutti.shared, "_call", call)
    return calls


def test_a_shared_broadcast_takes_any_integer_as_its_shape(shared_calls):
    numpy = pytest.importorskip("numpy")
    comm = SimpleNamespace(rank=1)
    for shape in (3, numpy.int64(3), numpy.array(3), (3,), numpy.array([3])):
        tutti.bcast_shared(comm, shape=shape, dtype="f8")
    assert shared_calls == [["TUTTI_Bcast_shared_c", 24, (3,)]] * 5


def test_the_root_of_a_shared_broadcast_checks_its_array(shared_calls):
    numpy = pytest.importorskip("numpy")
    comm = SimpleNamespace(rank=0)
    array = numpy.zeros((2, 2))
    for given in ({}, {"shape": [2, 2]}, {"dtype": "f8"}, {"shape": (2, 2), "dtype": float}):
        tutti.bcast_shared(comm, array, **given)
    assert shared_calls == [["TUTTI_Bcast_shared_c", 32, (2, 2)]] * 4
    for given in ({"shape": 4}, {"dtype": "f4"}, {"shape": (2, 2), "dtype": "i8"}):
        with pytest.raises(ValueError, match=r"array of float64 and shape \(2, 2\): expected"):
            tutti.bcast_shared(comm, array, **given)
    with pytest.raises(ValueError, match="references"):
        tutti.bcast_shared(SimpleNamespace(rank=1), shape=3, dtype="O")


def test_an_mpi4py_without_handles_is_refused(monkeypatch):
    old = SimpleNamespace(MPI=SimpleNamespace(Comm=object), __version__="3.1.6")
    monkeypatch.setitem(sys.modules, "mpi4py", old)
    with pytest.raises(Refusal, match="mpi4py 3.1.6: expected version 4 or later"):
        c_api.library.__wrapped__()


def test_shared_results_take_large_counts(shared_calls):
    numpy = pytest.importorskip("numpy")
    comm = SimpleNamespace(rank=1, size=2)
    items = 3 << 30

    def array(size):
        """Stands for so many bytes, without memory."""
        place = SimpleNamespace(data=0)
        return SimpleNamespace(size=size, shape=(size,), dtype=numpy.dtype("b"), ctypes=place)

    tutti.allgather_shared(comm, array(items))
    tutti.allgatherv_shared(comm, array(5), [items, 5])
    tutti.allgatherv_shared(comm, array(5), numpy.array([2**31 - 1, 5], dtype="i4"))
    tutti.bcast_shared(comm, shape=items, dtype="f4")
    tutti.allreduce_shared(comm, array(items))
    assert shared_calls == [
        ["TUTTI_Allgather_shared_c", items, items, (2, items)],
        ["TUTTI_Allgatherv_shared_c", 5, [items, 5], (items + 5,)],
        ["TUTTI_Allgatherv_shared_c", 5, [2**31 - 1, 5], (2**31 + 4,)],
        ["TUTTI_Bcast_shared_c", 4 * items, (items,)],
        ["TUTTI_Allreduce_shared_c", items, (items,)],
    ]
