"""Erroneous programs that end with an error natively do so with Tutti, and do not hang."""

from __future__ import annotations

import pytest

SETTINGS = {
    "default": {},
    "forced": {"TUTTI_ALLREDUCE": "recursive_doubling"},
    "nodes": {"TUTTI_HIERARCHY": "hierarchical", "TUTTI_NODE": "2"},
    "node": {"TUTTI_HIERARCHY": "hierarchical"},
    "arrivals": {"TUTTI_ALLREDUCE": "ring:order=arrival"},
}


@pytest.fixture(scope="module")
def native(mpi):
    return mpi.run(mpi.compile("mismatched.c"), np=4, preload=(), settings={}, report=False)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_ends_as_natively(mpi, native, settings):
    outcome = mpi.run(mpi.compile("mismatched.c"), np=4, settings=settings, report=False)
    assert (outcome.status != 0) == (native.status != 0), outcome.err
