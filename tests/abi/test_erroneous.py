"""Erroneous programs that end with an error natively do so with Tutti, and do not hang."""

from __future__ import annotations

import os

import pytest

SETTINGS = {
    "default": {},
    "nodes": {"TUTTI_HIERARCHY": "hierarchical", "TUTTI_NODE": "2"},
    "arrivals": {"TUTTI_ALLREDUCE": "ring:order=arrival"},
}
# Each waits 5 s for messages of the open requests.
if "ALL_TESTS" in os.environ:
    SETTINGS |= {
        "forced": {"TUTTI_ALLREDUCE": "recursive_doubling"},
        "node": {"TUTTI_HIERARCHY": "hierarchical"},
    }


@pytest.fixture(scope="module")
def native(mpi):
    return mpi.run(mpi.compile("mismatched.c"), np=4, preload=(), settings={}, report=False)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_ends_as_natively(mpi, native, settings):
    outcome = mpi.run(mpi.compile("mismatched.c"), np=4, settings=settings, report=False)
    assert (outcome.status != 0) == (native.status != 0), outcome.err


@pytest.mark.parametrize("algorithm", ["binomial", "hierarchical(native)", "auto"])
def test_an_error_handler_frees_the_communicator(mpi, algorithm):
    # Freed memory is overwritten, so that using it is noticed.
    settings = {"TUTTI_GATHER": algorithm, "MALLOC_PERTURB_": "165"}
    outcome = mpi.run(mpi.compile("freed.c"), np=2, settings=settings)
    outcome.check_correct()


@pytest.mark.parametrize("algorithm", ["auto", "recursive_doubling"])
def test_an_error_handler_set_meanwhile_stays(mpi, algorithm):
    """Tutti has replaced the former one for as long as it waits for other ranks."""
    program = mpi.compile("handler.c", "-pthread")
    outcome = mpi.run(program, np=2, settings={"TUTTI_ALLREDUCE": algorithm}, report=False)
    outcome.check_correct()
