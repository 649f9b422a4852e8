"""Unmodified programs run requested algorithms of reductions, and by default the MPI's own."""

from __future__ import annotations

import pytest

ALGORITHMS = {
    "TUTTI_REDUCE": "chain",
    "TUTTI_ALLREDUCE": "recursive_doubling",
    "TUTTI_REDUCE_SCATTER": "circulant",
    "TUTTI_REDUCE_SCATTER_BLOCK": "ring",
    "TUTTI_SCAN": "up_down",
    "TUTTI_EXSCAN": "doubling_123",
}
RAN = {name.removeprefix("TUTTI_").lower(): algorithm for name, algorithm in ALGORITHMS.items()}
IN_PARTS = {"TUTTI_SPLIT_USER_OPS": "on"}
"""The program's own operations may get parts of vectors, which most algorithms need."""


def check(outcome, expected):
    outcome.check_correct()
    ran = {name: algorithm for name, algorithm in outcome.algorithms().items() if name in RAN}
    assert ran == expected


def test_c(mpi):
    check(mpi.run(mpi.compile("reductions.c"), settings=ALGORITHMS | IN_PARTS), RAN)


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_fortran(mpi, binding):
    check(mpi.run(mpi.fortran("reductions", binding), settings=ALGORITHMS | IN_PARTS), RAN)


def test_own_operations_get_whole_vectors(mpi):
    """By default; the report has the reason."""
    outcome = mpi.run(mpi.compile("reductions.c"), settings=ALGORITHMS)
    check(outcome, RAN | {"reduce": "chain+native"})
    reasons = {call["reason"] for call in outcome.report["calls"]
               if call["collective"] == "reduce" and call["algorithm"] == "native"}
    assert any("requested" in reason and "user-defined operation" in reason
               for reason in reasons), reasons


def test_what_does_not_commute_is_left_to_the_mpi(mpi):
    settings = ALGORITHMS | {"TUTTI_REDUCE": "binomial", "TUTTI_ALLREDUCE": "ring"}
    expected = RAN | {"reduce": "binomial+native", "allreduce": "native+ring"}
    check(mpi.run(mpi.compile("reductions.c"), settings=settings), expected)


def test_the_report_tells_of_what_nodes_refuse(mpi):
    """Ranks 0 and 2 share a node: operations that do not commute stay flat."""
    through = "hierarchical(recursive_doubling,leaders=1)"
    settings = {"TUTTI_ALLREDUCE": through, "TUTTI_NODE": "round_robin:2"} | IN_PARTS
    outcome = mpi.run(mpi.compile("reductions.c"), settings=settings)
    assert outcome.status == 0, outcome.err
    assert outcome.algorithms()["allreduce"] == f"{through}+recursive_doubling"
    reasons = {call["algorithm"]: call["reason"] for call in outcome.report["calls"]
               if call["collective"] == "allreduce"}
    assert reasons[through] == "requested"
    assert reasons["recursive_doubling"].startswith("runs flat because the operation")


def test_unasked_results_stay_as_they_were(mpi):
    expected = {name: "native" for name in RAN if name not in ("reduce", "allreduce")}
    check(mpi.run(mpi.compile("reductions.c"), settings={}), expected)


@pytest.mark.parametrize("level", [{}, {"TUTTI_HIERARCHY": "hierarchical", "TUTTI_NODE": "2"}])
def test_reproducible_results_follow_from_the_ranks_alone(mpi, level):
    expected = {
        "reduce": "knomial_ordered",
        "allreduce": "reduce_bcast",
        "reduce_scatter": "linear",
        "reduce_scatter_block": "linear",
        "scan": "linear",
        "exscan": "linear",
    }
    settings = {"TUTTI_REPRODUCIBLE": "on", **level}
    check(mpi.run(mpi.compile("reductions.c"), settings=settings), expected)


def test_the_report_says_why_reproducible_reductions_stay_flat(mpi):
    settings = {"TUTTI_REPRODUCIBLE": "on", "TUTTI_REDUCE_SCATTER": "hierarchical(native)"}
    outcome = mpi.run(mpi.compile("reductions.c"), settings=settings)
    assert outcome.status == 0, outcome.err
    lines = [line for line in outcome.report["calls"] if line["collective"] == "reduce_scatter"]
    assert lines
    for line in lines:
        assert line["algorithm"] == "native"
        assert "requested, but its results depend on" in line["reason"]
