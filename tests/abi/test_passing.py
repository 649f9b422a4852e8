"""Small calls that the MPI runs pass without being looked at, between large ones that Tutti runs."""

from __future__ import annotations

import json

import pytest
from conftest import FRONT, ROOT

LARGE = "1K..inf"
USES = {"bcast": "circulant", "allgather": "ring", "gather": "binomial", "scatter": "binomial",
        "alltoall": "bruck", "allreduce": "ring", "reduce": "binomial", "scan": "chain"}  # fmt: skip


def program(mpi):
    return mpi.compile("passing.c", f"-I{ROOT}/include", FRONT)


def rules(path):
    """Every collective runs an algorithm of Tutti's with large blocks."""
    found = [
        {"collective": collective, "use": use, "bytes": LARGE,
         "evidence": {"native_us": 8, "choice_us": 4}}
        for collective, use in USES.items()
    ]  # fmt: skip
    path.write_text(json.dumps({"schema": "tutti-rules-1", "date": "2026-11-22", "rules": found}))
    return {"TUTTI_RULES": str(path)}


@pytest.mark.parametrize("np", [2, 3, 5])
def test_calls_that_pass_on_some_ranks_leave_all_in_step(mpi, tmp_path, np):
    """Tags, texts and results stay right where ranks write the same call in different ways."""
    outcome = mpi.run(
        program(mpi), "1000", "native: rules: none", np=np, settings=rules(tmp_path / "site.json"),
        report=False,
    )  # fmt: skip
    assert outcome.status == 0, outcome.out + outcome.err
    assert "correct" in outcome.out.split(), outcome.out


@pytest.mark.parametrize("nodes", ["none", "2"])
@pytest.mark.parametrize("explore", ["0.05", "1"])
def test_exploring_calls_stay_in_step(mpi, nodes, explore):
    settings = {"TUTTI_EXPLORE": explore, "TUTTI_NODE": nodes}
    outcome = mpi.run(program(mpi), "3000", "-", settings=settings, report=False)
    assert outcome.status == 0, outcome.out + outcome.err
    assert "correct" in outcome.out.split(), outcome.out
