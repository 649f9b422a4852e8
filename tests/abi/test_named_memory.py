"""Node memory on systems where descriptors of other processes are inaccessible: it needs a name."""

from __future__ import annotations

import re

import pytest
from conftest import FRONT

COMMUNICATORS = 20


@pytest.fixture(params=["one node", "two nodes"])
def run(request, mpi):
    """Runs named.c with further settings."""
    shim = mpi.compile("no_proc.c", "-shared", "-fPIC", "-ldl", output="no_proc.so")
    nodes = {} if request.param == "one node" else {"TUTTI_NODE": "2"}
    settings = nodes | {"TUTTI_HIERARCHY": "hierarchical", "TUTTI_NODE_MEMORY": "8M"}

    def run_with(**further):
        return mpi.run(
            mpi.compile("named.c", "-ldl"), np=2 + len(nodes), preload=[FRONT, shim],
            settings=settings | further,
        )

    return run_with


def test_is_small_and_loses_its_name(run):
    outcome = run()
    outcome.check_correct()
    parsed = re.search(r"mappings (\d+) kept (\d+) pages (\d+)", outcome.out)
    mappings, kept, pages = map(int, parsed.groups())
    assert (mappings, kept) == (COMMUNICATORS, 0)
    # Signals and numbers of the ranks, and 256 KiB for data.
    assert 0 < pages <= 66 * COMMUNICATORS
    ran = {call["algorithm"] for call in outcome.report["calls"]}
    assert ran == {"hierarchical(native,leaders=1)"}


def test_calls_go_in_chunks_where_the_system_has_no_more(run):
    outcome = run(NO_PROC_BYTES=str(1 << 17))
    outcome.check_correct()
    assert f"mappings {COMMUNICATORS} kept 0" in outcome.out, "there is memory, but less"


def test_ranks_are_alone_where_the_system_has_nothing(run):
    outcome = run(NO_PROC_BYTES="4096")
    assert outcome.status == 0, outcome.err
    assert "mappings 0" in outcome.out
    assert "correct" in outcome.out.split()
