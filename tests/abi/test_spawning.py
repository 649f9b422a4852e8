"""Communicators with spawned processes, which run without Tutti."""

from __future__ import annotations

import pytest

SETTINGS = {
    "default": {},
    "forced": {"TUTTI_GATHER": "binomial", "TUTTI_ALLREDUCE": "ring"},
}


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)  # MPICH 4.0 spawns nothing under its mpirun
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_merged_communicator_stays_native(mpi, settings):
    outcome = mpi.run(mpi.compile("spawned.c", "-ldl"), np=2, settings=settings, report=False)
    outcome.check_correct()
