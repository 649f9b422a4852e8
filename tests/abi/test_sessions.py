"""Programs without MPI_Init: sessions, on the MPIs that have them. Reports in parts."""

from __future__ import annotations

import json
import subprocess

import pytest
from conftest import RAN, RANKS, SECONDS


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)  # Open MPI 4 has no sessions
def test_session(mpi):
    program = mpi.compile("session.c")
    # MPICH 4.0 cannot begin again after its last session, even without Tutti.
    again = mpi.run(program, "3", preload=(), report=False).status == 0
    outcome = mpi.run(program, "3" if again else "1")
    outcome.check_correct()
    assert outcome.algorithms() == {"gatherv": RAN["gatherv"]}


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_session_of_one_rank_before_the_world(mpi):
    """The rank watches the end of the world too, and takes part in the joint report."""
    outcome = mpi.run(mpi.compile("session_first.c"))
    outcome.check_correct()
    assert outcome.report["ranks"] == RANKS
    assert {one["collective"] for one in outcome.report["calls"]} == {"allreduce", "barrier"}


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_parts_of_a_report_do_not_join_those_of_an_earlier_run(mpi, tmp_path):
    program, file = mpi.compile("session.c"), tmp_path / "report.json"
    for _ in range(2):
        line, environment = mpi.launch(program, "1", settings={"TUTTI_REPORT": str(file)})
        subprocess.run(line, env=environment, check=True, timeout=SECONDS, capture_output=True)
    former = tmp_path / "report.json.1"
    assert len(former.read_text().splitlines()) == len(file.read_text().splitlines()) > 0
    assert sorted(tmp_path.iterdir()) == [file, former]


def test_the_parts_of_workers_are_no_former_report(mpi, tmp_path):
    file = tmp_path / "report.json"
    line, environment = mpi.launch(mpi.compile("workers.c"), settings={"TUTTI_REPORT": str(file)})
    subprocess.run(line, env=environment, check=True, timeout=SECONDS, capture_output=True)
    parts = [json.loads(line) for line in file.read_text().splitlines()]
    assert sorted(len(part["calls"]) for part in parts) == [0, 1]
    assert list(tmp_path.iterdir()) == [file]
