"""Bindings that find functions with large counts call them, also where only Tutti has them."""

from __future__ import annotations

import os
from pathlib import Path

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
    outcome.check_correct()


def available_bytes() -> int:
    (line,) = [line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable:")]
    return int(line.split()[1]) << 10


@pytest.mark.skipif("ALL_TESTS" not in os.environ, reason="./test --all")
@pytest.mark.skipif(available_bytes() < 12 << 30, reason="takes 12 GiB of memory")
def test_an_element_of_more_bytes_than_an_int_counts(mpi):
    outcome = mpi.run(mpi.compile("large_element.c"), np=2, settings={"TUTTI_BCAST": "binomial"})
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("correct") == 2
    assert outcome.algorithms()["bcast"] == "binomial"


def test_natively(mpi):
    outcome = mpi.run(mpi.compile("large_counts.c", "-ldl"), np=3, preload=(), report=False)
    assert outcome.status == 0, outcome.out + outcome.err
    assert {"absent", "correct"} & {*outcome.out.split()}
