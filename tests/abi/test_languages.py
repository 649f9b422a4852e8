"""Unmodified programs in C, Fortran and Python run the requested algorithms."""

from __future__ import annotations

import pytest
from conftest import FRONT, HERE, LIBRARIES, RAN, RANKS


def check(outcome):
    assert outcome.status == 0, outcome.err
    assert "correct" in outcome.out.split()
    ran = outcome.algorithms()
    assert {name: ran[name] for name in ran if name != "barrier"} == RAN
    assert outcome.report["ranks"] == RANKS  # instead of RANKS programs of one rank each


@pytest.mark.parametrize("argument", ["init", "thread"])
def test_c(mpi, argument):
    check(mpi.run(mpi.compile("gather.c"), argument))


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_fortran(mpi, binding):
    check(mpi.run(mpi.fortran("gather", binding)))


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_persistent_in_fortran(mpi, binding):
    library = (f"-L{LIBRARIES}", f"-ltutti-{mpi.name}", f"-Wl,-rpath,{LIBRARIES}")
    check(mpi.run(mpi.fortran("persistent", binding, *library)))


def test_mpi_in_a_privately_loaded_object(mpi):
    plugin = mpi.compile("gather.c", "-Dmain=run", "-shared", "-fPIC", output="plugin.so")
    loader = mpi.compile("load.c", "-ldl")
    check(mpi.run(loader, plugin))


def test_mpi4py_preloaded(mpi):
    outcome = mpi.run(mpi.python(), HERE / "programs/gather.py")
    check(outcome)


def test_mpi4py_profile(mpi):
    check(mpi.run(mpi.python(), HERE / "programs/gather.py", FRONT, preload=()))


@pytest.mark.parametrize("np", [1, 2, 5])
def test_left_alone_it_chooses_by_itself(mpi, np):
    outcome = mpi.run(mpi.compile("gather.c"), np=np, settings={})
    assert outcome.status == 0, outcome.err
    assert "correct" in outcome.out.split()
    assert set(outcome.algorithms()) == set(RAN)
