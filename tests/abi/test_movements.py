"""Unmodified programs run requested algorithms of broadcasts, allgathers, alltoalls and barriers."""

from __future__ import annotations

import pytest
from conftest import ALGORITHMS as OF_GATHERS

ALGORITHMS = {
    "TUTTI_BCAST": "scatter_allgather",
    "TUTTI_ALLGATHER": "bruck",
    "TUTTI_ALLGATHERV": "circulant",
    "TUTTI_ALLTOALL": "bruck",
    "TUTTI_ALLTOALLV": "pairwise",
    "TUTTI_BARRIER": "dissemination",
}
RAN = {name.removeprefix("TUTTI_").lower(): algorithm for name, algorithm in ALGORITHMS.items()}


def check(outcome):
    outcome.check_correct()
    # The report has reductions too.
    assert {name: ran for name, ran in outcome.algorithms().items() if name in RAN} == RAN
    moved = {name: [call["bytes"] for call in outcome.report["calls"] if call["collective"] == name]
             for name in RAN}  # fmt: skip
    assert all(all(each) for name, each in moved.items() if name != "barrier"), moved
    assert set(moved["barrier"]) == {0}


def test_c(mpi):
    check(mpi.run(mpi.compile("movements.c"), settings=ALGORITHMS))


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_fortran(mpi, binding):
    check(mpi.run(mpi.fortran("movements", binding), settings=ALGORITHMS))


def test_left_alone_it_is_correct(mpi):
    outcome = mpi.run(mpi.compile("movements.c"), settings={})
    outcome.check_correct()


@pytest.mark.parametrize(
    "settings",
    [{}, ALGORITHMS | OF_GATHERS]
    + [{"TUTTI_HIERARCHY": "hierarchical", "TUTTI_NODE": nodes} for nodes in ("1", "2", "1,2")],
    ids=str,
)
def test_absolute_addresses(mpi, settings):
    """MPI_BOTTOM in all buffers: by the MPI's own, by requested algorithms, and hierarchical."""
    outcome = mpi.run(mpi.compile("bottom.c"), settings=settings, report=False)
    outcome.check_correct()
