"""Unmodified programs run with the background thread, and end."""

from __future__ import annotations

import pytest
from conftest import FRONT, HERE, LIBRARIES, ROOT

SETTINGS = {
    "TUTTI_BACKGROUND": "on",
    "TUTTI_GATHER": "SBN",
    "TUTTI_GATHERV": "BSBN",
    "TUTTI_SCATTER": "BSLN",
    "TUTTI_SCATTERV": "SLS",
}
RAN = {
    "gather": "binomial:order=arrival",
    "gatherv": "binomial:order=arrival,runner=background",
    "scatter": "linear_sequence:order=arrival,runner=background",
    "scatterv": "linear_sync:order=arrival",
}
RANKS = 2  # MPICH never yields: more ranks than cores take seconds for each call
ROUNDS = 3  # MPI_Finalize and the thread must not meet in any of them
NO_THREAD = "arrivals are exchanged without a background thread"


def check(mpi, *command, **options):
    for _ in range(ROUNDS):
        outcome = mpi.run(*command, np=RANKS, settings=SETTINGS, **options)
        outcome.check_correct()
        ran = outcome.algorithms()
        assert {name: ran[name] for name in ran if name != "barrier"} == RAN
        assert NO_THREAD not in outcome.err


@pytest.mark.parametrize("argument", ["init", "thread"])
def test_c(mpi, argument):
    check(mpi, mpi.compile("gather.c"), argument)


def test_a_thread_level_that_the_user_has_set_stays(mpi):
    """The requested algorithms then run without a thread, and rank 0 says so once."""
    level = {"OMPI_MPI_THREAD_LEVEL": "0", "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_SINGLE"}
    outcome = mpi.run(mpi.compile("gather.c"), "init", np=RANKS, settings=SETTINGS | level)
    outcome.check_correct()
    assert outcome.algorithms() == RAN
    assert outcome.err.count(NO_THREAD) == 1


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_fortran(mpi, binding):
    check(mpi, mpi.fortran("gather", binding))


@pytest.mark.parametrize("before", [(), ("before",)], ids=["then", "always"])
@pytest.mark.parametrize("algorithm", ["auto", "BSLS"])
def test_calls_as_mpi_ends(mpi, algorithm, before):
    settings = {"TUTTI_BACKGROUND": "on", "TUTTI_GATHER": algorithm}
    outcome = mpi.run(mpi.compile("cleanup.c"), *before, np=RANKS, settings=settings, report=False)
    outcome.check_correct()


@pytest.mark.alone
@pytest.mark.parametrize("background", ["on", "off"])
def test_arrivals_and_threads_are_explored_on_request(mpi, background):
    settings = {"TUTTI_BACKGROUND": background, "TUTTI_EXPLORE": "1"}
    outcome = mpi.run(mpi.compile("again.c"), np=RANKS, settings=settings)
    outcome.check_correct()
    cases = outcome.report["tuning"]["cases"]
    known = {one["name"]: one["state"] for case in cases for one in case["candidates"]}
    by_thread = {name: state for name, state in known.items() if "background" in name}
    by_arrival = {name: state for name, state in known.items() if "order=arrival" in name}
    assert len(known) > 5, "candidates were listed"
    assert bool(by_thread) == bool(by_arrival) == (background == "on")
    if background == "on":
        assert set(by_thread.values()) != {"not explored"}


@pytest.mark.parametrize("gather", ["SBN", "linear_sync:runner=background"])
def test_a_communicator_is_freed_while_a_request_is_pending(mpi, gather):
    settings = SETTINGS | {"TUTTI_GATHER": gather}
    outcome = mpi.run(mpi.compile("pending.c"), np=RANKS, settings=settings, report=False)
    outcome.check_correct()


def test_mpi4py_preloaded(mpi):
    check(mpi, mpi.python(), HERE / "programs/gather.py")


def test_mpi4py_profile(mpi):
    check(mpi, mpi.python(), HERE / "programs/gather.py", FRONT, preload=())


def test_mpi_in_a_privately_loaded_object(mpi):
    plugin = mpi.compile("gather.c", "-Dmain=run", "-shared", "-fPIC", output="plugin.so")
    check(mpi, mpi.compile("load.c", "-ldl"), plugin)


def test_tools_on_both_sides(mpi):
    tool = mpi.compile("tool.c", "-shared", "-fPIC", output="tool.so")
    check(mpi, mpi.compile("gather.c"), "thread", preload=(tool, FRONT))
    check(mpi, mpi.compile("gather.c"), "thread", preload=(FRONT, tool))


def test_no_thread_where_the_end_is_not_seen(mpi):
    library = LIBRARIES / f"libtutti-{mpi.name}.so"
    outcome = mpi.run(mpi.compile("private.c", "-ldl"), library, np=RANKS, preload=(), report=False)
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("correct") == RANKS
    assert (NO_THREAD in outcome.err) == (mpi.name == "mpich")


@pytest.mark.parametrize("preload", [(FRONT,), ()], ids=["preloaded", "alone"])
def test_edges_and_persistent_calls_in_python(mpi, preload):
    variables = {"TUTTI_LIBRARY_DIR": str(LIBRARIES), "PYTHONPATH": str(LIBRARIES.parent / "python"),
                 "TUTTI_SCATTER": "BSBN", "TUTTI_GATHER": "BSLS", "TUTTI_SCATTERV": "BSBN"}  # fmt: skip
    outcome = mpi.run(mpi.python(), HERE / "programs/arrivals.py", np=RANKS, preload=preload,
                      settings=variables, report=False)  # fmt: skip
    outcome.check_correct()
    assert (NO_THREAD in outcome.err) == (mpi.name == "mpich" and not preload)


@pytest.mark.parametrize("preload", [(FRONT,), ()], ids=["preloaded", "alone"])
def test_edges_in_fortran(mpi, preload):
    example = ROOT / "examples/fortran/edges.f90"
    program = mpi.compile(example, f"-L{LIBRARIES}", f"-ltutti-{mpi.name}", f"-Wl,-rpath,{LIBRARIES}",
                          output="edges")  # fmt: skip
    outcome = mpi.run(program, np=RANKS, preload=preload, settings={"TUTTI_SCATTER": "BSBN"},
                      report=bool(preload))  # fmt: skip
    outcome.check_correct()
    if preload:
        assert outcome.algorithms() == {"scatter": "binomial:order=arrival,runner=background"}
    assert NO_THREAD not in outcome.err
