"""Wrappers between a launcher and its ranks, and binding, do not change the selection."""

from __future__ import annotations

import os
import subprocess

import pytest
from conftest import SECONDS, read_report

BINDINGS = {
    "mpich": {"core": ["-bind-to", "core"], "none": ["-bind-to", "none"]},
    "openmpi": {"core": ["--bind-to", "core"], "none": ["--bind-to", "none"]},
}


def choices(mpi, command, binding, within=None):
    """Collectives of a command on two ranks, what ran for each of them, and why; the launcher may run
    on the processors `within`.
    """
    report = mpi.folder / "launched.json"
    report.unlink(missing_ok=True)
    line, environment = mpi.launch(*command, np=2, settings={"TUTTI_REPORT": str(report)})
    line[1:1] = BINDINGS[mpi.name][binding]
    done = subprocess.run(
        line, capture_output=True, text=True, timeout=SECONDS, env=environment,
        preexec_fn=lambda: os.sched_setaffinity(0, within or os.sched_getaffinity(0)),
    )
    assert done.returncode == 0, done.stderr
    calls = read_report(report)["calls"]
    assert calls
    return {(call["collective"], call["algorithm"], call["reason"]) for call in calls}


@pytest.fixture(scope="module")
def wrapper(tmp_path_factory):
    """A script that stays as the parent process of the rank."""
    script = tmp_path_factory.mktemp("launchers") / "wrap.sh"
    script.write_text('#!/bin/sh\n"$@"\nstatus=$?\nexit $status\n')
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("binding", ["core", "none"])
def test_a_script_in_between_changes_nothing(mpi, wrapper, binding):
    program = mpi.compile("movements.c")
    plain = choices(mpi, [program], binding)
    assert choices(mpi, [wrapper, program], binding) == plain


@pytest.mark.parametrize("cores", [1, 2])
def test_ranks_that_share_a_processor_begin_with_the_mpis_own(mpi, wrapper, cores):
    """Nothing is known of the MPI's own collectives in few calls, even where they busy-wait."""
    within = set(sorted(os.sched_getaffinity(0))[:cores])
    ran = choices(mpi, [wrapper, mpi.compile("movements.c")], "none", within=within)
    assert {algorithm for _, algorithm, _ in ran} == {"native"}
