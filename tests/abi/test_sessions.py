"""Programs without MPI_Init: sessions, on the MPIs that have them."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)  # Open MPI 4 has no sessions
def test_session(mpi):
    outcome = mpi.run(mpi.compile("session.c"))
    assert outcome.status == 0, outcome.err
    assert "correct" in outcome.out.split()
