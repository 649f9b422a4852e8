"""Functions that delete attributes call collectives, also on the communicator that is freed."""

from __future__ import annotations

import pytest
from conftest import LIBRARIES, ROOT

SETTINGS = {
    "default": {},
    "nodes": {"TUTTI_HIERARCHY": "hierarchical", "TUTTI_NODE": "2"},
    "forced": {
        "TUTTI_ALLREDUCE": "ring",
        "TUTTI_BARRIER": "dissemination",
        "TUTTI_BCAST": "chain",
        "TUTTI_GATHER": "binomial",
    },
}


def check(outcome):
    outcome.check_correct()


@pytest.mark.parametrize("further", [[], ["world"]], ids=["", "world"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_preloaded(mpi, settings, further):
    check(mpi.run(mpi.compile("deleted.c"), *further, np=2, settings=settings, report=False))


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_linked(mpi, settings):
    options = [f"-I{ROOT / 'include'}", f"-L{LIBRARIES}", f"-ltutti-{mpi.name}",
               f"-Wl,-rpath,{LIBRARIES}", "-DLINKED"]  # fmt: skip
    program = mpi.compile("deleted.c", *options, output="deleted_linked")
    check(mpi.run(program, "world", np=2, preload=(), settings=settings, report=False))
