"""Ranks whose clocks differ: those of another time namespace, as on another node."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from conftest import FRONT, ROOT

pytestmark = pytest.mark.alone

APART = 5000  # seconds
CALLS = 60
LATE_BY = 0.1  # seconds: ranks with rank 0's clock after the others


@pytest.fixture
def elsewhere(tmp_path):
    """A command that starts a program, at the ranks 1, 3, .. with another clock."""
    ahead = ["unshare", "--time", "--monotonic", str(APART), "--fork", "--kill-child"]
    if shutil.which("unshare") is None or subprocess.run([*ahead, "true"], capture_output=True).returncode != 0:
        pytest.skip("needs unshare --time, and the right to make time namespaces")
    script = tmp_path / "elsewhere"
    script.write_text(
        "#!/bin/sh\n"
        'case "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" in *[13579]) exec ' + " ".join(ahead) + ' "$@" ;; esac\n'
        'exec "$@"\n'
    )
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("settings", [{}, {"TUTTI_BACKGROUND": "on"}], ids=["plain", "background"])
def test_calls_are_compared_on_a_common_clock(mpi, elsewhere, settings):
    outcome = mpi.run(
        elsewhere, mpi.compile("clocks.c"), str(CALLS), np=5, settings={"TUTTI_EXPLORE": "0.5", **settings}
    )
    outcome.check_correct()
    assert "ping-pong" in outcome.report["clock"], "the ranks have several clocks"
    (case,) = outcome.report["tuning"]["cases"]
    native = case["candidates"][0]
    assert native["calls"] > 2
    assert 0 < native["median"] < LATE_BY / 2, "by elapsed times, or by odd ranks alone, it would be longer"


def test_an_exchange_of_arrivals_may_end_while_its_clocks_are_to_be_compared(mpi, elsewhere):
    program = mpi.compile("clock_ends.c", f"-I{ROOT}/include", FRONT)
    mpi.run(elsewhere, program, settings={"TUTTI_EXPLORE": "0.5"}, report=False).check_correct()
