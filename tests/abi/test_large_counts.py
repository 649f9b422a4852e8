"""Bindings that find functions with large counts call them, also where only Tutti has them."""

from __future__ import annotations

import pytest

SETTINGS = {
    "default": {},
    "off": {"TUTTI": "off"},
    "forced": {"TUTTI_GATHER": "binomial", "TUTTI_ALLREDUCE": "ring", "TUTTI_GATHERV": "ordered_tree"},
    "nodes": {"TUTTI_HIERARCHY": "hierarchical", "TUTTI_NODE": "2"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_preloaded(mpi, settings):
    program = mpi.compile("large_counts.c", "-ldl")
    outcome = mpi.run(program, np=3, settings=settings, report=False)
    assert outcome.status == 0, outcome.out + outcome.err
    assert "correct" in outcome.out.split()


def test_natively(mpi):
    outcome = mpi.run(mpi.compile("large_counts.c", "-ldl"), np=3, preload=(), report=False)
    assert outcome.status == 0, outcome.out + outcome.err
    assert {"absent", "correct"} & {*outcome.out.split()}
