"""Small calls that the MPI runs pass without being looked at, between large ones that Tutti runs."""

from __future__ import annotations

import json

import pytest
from conftest import FRONT, ROOT

LARGE = "1K..inf"
USES = {"bcast": "circulant", "allgather": "ring", "gather": "binomial", "scatter": "binomial",
        "alltoall": "bruck", "allreduce": "ring", "reduce": "binomial", "scan": "chain"}  # fmt: skip
THROUGH_NODES = dict.fromkeys(USES, "hierarchical(native,leaders=2)") | {"scan": "chain"}
"""Once node memory is open, calls that pass count there, so that the ranks of a node stay in step."""


def program(mpi):
    return mpi.compile("passing.c", f"-I{ROOT}/include", FRONT)


def rules(path, uses=USES):
    """Every collective runs an algorithm of Tutti's with large blocks."""
    found = [
        {"collective": collective, "use": use, "bytes": LARGE,
         "evidence": {"native_us": 8, "choice_us": 4}}
        for collective, use in uses.items()
    ]  # fmt: skip
    path.write_text(json.dumps({"schema": "tutti-rules-1", "date": "2026-11-22", "rules": found}))
    return {"TUTTI_RULES": str(path), "TUTTI_NODE": "2" if uses is THROUGH_NODES else "none"}


by_nodes = pytest.mark.parametrize("uses", [USES, THROUGH_NODES], ids=["flat", "nodes"])


@by_nodes
@pytest.mark.parametrize("np", [2, 3, 5])
def test_calls_that_pass_on_some_ranks_leave_all_in_step(mpi, tmp_path, np, uses):
    """Tags, texts and results stay right where ranks write the same call in different ways."""
    # A hierarchical call of one node is native within it, and says so.
    told = "-" if uses is THROUGH_NODES else "native: rules: none"
    outcome = mpi.run(
        program(mpi), "1000", told, np=np, settings=rules(tmp_path / "site.json", uses),
        report=False,
    )  # fmt: skip
    outcome.check_correct()


@pytest.mark.parametrize("nodes", ["none", "2"])
@pytest.mark.parametrize("explore", ["0.05", "1"])
def test_exploring_calls_stay_in_step(mpi, nodes, explore):
    settings = {"TUTTI_EXPLORE": explore, "TUTTI_NODE": nodes}
    outcome = mpi.run(program(mpi), "3000", "-", settings=settings, report=False)
    outcome.check_correct()


@by_nodes
def test_small_calls_are_not_looked_at(mpi, tmp_path, uses):
    """Tutti asks for the size of a type where it looks at a call."""
    audit = mpi.compile("count_queries.c", "-shared", "-fPIC", output="count_queries.so")
    queries = tmp_path / "queries"
    settings = rules(tmp_path / "site.json", uses)
    settings |= {"LD_AUDIT": str(audit), "COUNTED_QUERIES": str(queries)}
    outcome = mpi.run(program(mpi), "2000", "-", "alike", settings=settings, report=False)
    outcome.check_correct()
    assert 0 < queries.stat().st_size < 1000, "of 6000 calls of 3 ranks"


@pytest.mark.parametrize("calls", [1, 20], ids=["one call", "calls ahead"])
def test_invalid_arguments_where_other_ranks_pass(mpi, tmp_path, calls):
    settings = rules(tmp_path / "site.json", THROUGH_NODES)
    binary = mpi.compile("one_invalid.c", f"-I{ROOT}/include", FRONT)
    outcome = mpi.run(binary, str(calls), np=4, settings=settings, report=False)
    outcome.check_correct()


def test_no_call_passes_once_mpi_has_begun_to_end(mpi, tmp_path):
    settings = rules(tmp_path / "site.json", THROUGH_NODES)
    program = mpi.compile("deleted.c")
    outcome = mpi.run(program, "world", np=2, settings=settings, report=False)
    outcome.check_correct()


SWITCHED = [("auto", "native"), ("native:hierarchy=auto", "auto")]


@pytest.mark.parametrize("first,then", SWITCHED)
def test_calls_under_another_setting_have_no_number(mpi, tmp_path, first, then):
    """How many of them pass differs between ranks, and the calls that explore stay in step."""
    binary = mpi.compile("settings_change.c", f"-I{ROOT}/include", FRONT)
    settings = {"TUTTI_EXPLORE": "0.5"}
    if first != "auto":
        settings |= rules(tmp_path / "site.json")
    outcome = mpi.run(binary, first, then, settings=settings, report=False)
    outcome.check_correct()


def test_the_front_hands_calls_on_itself(mpi):
    """Later reductions do not run through the backend; the first one shows that the stack is seen."""
    settings = {"TUTTI_REDUCE": "native"}
    outcome = mpi.run(mpi.compile("handed_on.c", "-rdynamic"), settings=settings, report=False)
    assert outcome.status == 0, outcome.out + outcome.err
    assert "correct, combined, the backend first" in outcome.out, outcome.out


def test_handles_that_are_used_again_bring_nothing_along(mpi):
    outcome = mpi.run(mpi.compile("reused.c", f"-I{ROOT}/include", FRONT), report=False)
    outcome.check_correct()


@pytest.mark.parametrize("arguments", [[], ["forgives"], ["changes"]])
def test_calls_of_an_error_handler_stay_in_step(mpi, arguments):
    settings = {"TUTTI_EXPLORE": "1", "TUTTI_GATHER": "native"}
    program = mpi.compile("handler_calls.c", f"-I{ROOT}/include")
    outcome = mpi.run(program, *arguments, settings=settings, report=False)
    outcome.check_correct()
