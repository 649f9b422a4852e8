"""Another profiling tool, before or behind the library."""

from __future__ import annotations

import pytest
from conftest import ALGORITHMS, FRONT, HERE, RAN, RANKS, ROOT

CALLS = 3  # of MPI_Gatherv, one for each root


def tool(mpi):
    return mpi.compile("tool.c", "-shared", "-fPIC", output="tool.so")


def check_seen(mpi, program, **launched):
    """A tool behind the library sees the calls of a program that are left to the MPI, each once."""
    outcome = mpi.run(program, preload=(FRONT, tool(mpi)), report=False, **launched)
    outcome.check_correct()
    assert f"tool saw {CALLS} calls" in outcome.out


def test_tool_in_front(mpi):
    outcome = mpi.run(mpi.compile("gather.c"), preload=(tool(mpi), FRONT))
    outcome.check_correct()
    assert f"tool saw {CALLS} calls" in outcome.out
    assert outcome.algorithms() == RAN


def test_tool_in_the_program_precedes_the_library(mpi):
    program = mpi.compile("gather.c", HERE / "programs/tool.c", output="gather_with_tool")
    outcome = mpi.run(program)
    outcome.check_correct()
    assert f"tool saw {CALLS} calls" in outcome.out
    assert outcome.algorithms() == RAN


def test_tool_behind_does_not_make_calls_count_twice(mpi):
    """It passes MPI_Ibcast on to PMPI_Ibcast, which is the library's too."""
    outcome = mpi.run(mpi.compile("others.c", "-ldl"), "bcast", preload=(FRONT, tool(mpi)))
    assert outcome.status == 0, outcome.err
    counted = {one["function"]: one["calls"] for one in outcome.report["not_handled"]}
    assert counted == {"MPI_Ibcast": 3 * RANKS, "MPI_Iscan": RANKS}


def test_tool_behind_sees_what_is_left_to_the_mpi(mpi):
    outcome = mpi.run(
        mpi.compile("gather.c"),
        preload=(FRONT, tool(mpi)),
        settings=ALGORITHMS | {"TUTTI_GATHERV": "native"},
    )
    outcome.check_correct()
    assert f"tool saw {CALLS} calls" in outcome.out
    assert outcome.algorithms() == RAN | {"gatherv": "native"}


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)  # Open MPI 4 has no large counts
def test_tool_behind_sees_large_counts(mpi):
    outcome = mpi.run(
        mpi.compile("large_counts.c", "-ldl"),
        preload=(FRONT, tool(mpi)),
        settings={"TUTTI_GATHERV": "native"},
        report=False,
    )
    assert outcome.status == 0, outcome.err
    assert "tool saw 0 calls, 0 large" not in outcome.out
    assert "tool saw 0 calls, " in outcome.out


def test_tool_behind_sees_what_is_handed_on(mpi):
    """From the second call on the library looks at none, as no report asks for it."""
    check_seen(mpi, mpi.compile("gather.c"), settings={"TUTTI_GATHERV": "native"})


def test_tool_behind_sees_persistent_calls_once(mpi):
    """A call that the tool forwards returns to the library, which passes it to the MPI."""
    program = mpi.compile("persistent.c", f"-I{ROOT}/include")
    check_seen(mpi, program, settings={"TUTTI_GATHERV": "native"})


@pytest.mark.parametrize("settings", [ALGORITHMS, {"TUTTI_GATHERV": "native"}], ids=["runs", "leaves"])
def test_tool_behind_sees_of_fortran_what_it_sees_without_the_library(mpi, settings):
    """Open MPI's bindings call PMPI functions, which pass by a tool that wraps those of C only."""
    program = mpi.fortran("gather", "MODULE")
    seen = []
    for libraries in ((tool(mpi),), (FRONT, tool(mpi))):
        outcome = mpi.run(program, preload=libraries, settings=settings, report=False)
        outcome.check_correct()
        seen.append(sorted(line for line in outcome.out.splitlines() if line.startswith("tool ")))
    without, behind = seen
    assert len(without) == (0 if mpi.name == "openmpi" else 1 + RANKS)
    is_left = settings is not ALGORITHMS
    assert behind == (without if is_left or not without else ["tool saw 0 calls, 0 large"])


def test_tool_behind_does_not_see_what_tutti_runs(mpi):
    outcome = mpi.run(mpi.compile("gather.c"), preload=(FRONT, tool(mpi)))
    outcome.check_correct()
    assert "tool saw 0 calls" in outcome.out
    assert outcome.algorithms() == RAN
