"""Ranks whose clocks differ: those of another time namespace, as on another node."""

from __future__ import annotations

import shutil
import subprocess

import pytest

APART = 5000  # seconds
CALLS = 1500


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
    cases = outcome.report["tuning"]["cases"]
    assert {case["collective"] for case in cases} >= {"bcast", "reduce"}
    medians = [each["median"] for case in cases for each in case["candidates"] if each["median"] is not None]
    assert len(medians) > 2, "several candidates were measured"
    assert all(0 < median < APART / 100 for median in medians)
