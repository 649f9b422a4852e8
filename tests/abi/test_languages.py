"""Unmodified programs in C, Fortran and Python run the requested algorithms."""

from __future__ import annotations

import pytest
from conftest import FRONT, HERE, LIBRARIES, RAN, RANKS


def check(outcome):
    outcome.check_correct()
    ran = outcome.algorithms()
    assert {name: ran[name] for name in ran if name != "barrier"} == RAN
    assert outcome.report["ranks"] == RANKS  # instead of RANKS programs of one rank each


@pytest.mark.parametrize("argument", ["init", "thread"])
def test_c(mpi, argument):
    check(mpi.run(mpi.compile("gather.c"), argument))


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_fortran(mpi, binding):
    check(mpi.run(mpi.fortran("gather", binding)))


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_persistent_in_fortran(mpi, binding):
    library = (f"-L{LIBRARIES}", f"-ltutti-{mpi.name}", f"-Wl,-rpath,{LIBRARIES}")
    check(mpi.run(mpi.fortran("persistent", binding, *library)))


def test_mpi_in_a_privately_loaded_object(mpi):
    plugin = mpi.compile("gather.c", "-Dmain=run", "-shared", "-fPIC", output="plugin.so")
    loader = mpi.compile("load.c", "-ldl")
    check(mpi.run(loader, plugin))


def test_mpi4py_preloaded(mpi):
    outcome = mpi.run(mpi.python(), HERE / "programs/gather.py")
    check(outcome)


def test_mpi4py_profile(mpi):
    check(mpi.run(mpi.python(), HERE / "programs/gather.py", FRONT, preload=()))


def test_a_plugin_closes_the_c_api(mpi):
    program = mpi.compile("closed.c", "-ldl")
    library = LIBRARIES / f"libtutti-{mpi.name}.so"
    for path, preload in ((library, ()), (FRONT, ()), (library, (FRONT,))):
        outcome = mpi.run(program, path, preload=preload, report=False)
        assert outcome.status == 0, outcome.err
        assert "".join(outcome.out.split()) == "correct" * RANKS


def test_mpi_ends_with_the_process(mpi):
    """MPI_Finalize comes after the handlers that the library could register: one whole report."""
    outcome = mpi.run(mpi.compile("late_end.c"))
    outcome.check_correct()
    assert outcome.report["ranks"] == RANKS
    (call,) = outcome.report["calls"]
    assert (call["collective"], call["calls"]) == ("allreduce", 1)


@pytest.mark.parametrize("np", [1, 2, 5])
def test_left_alone_it_chooses_by_itself(mpi, np):
    outcome = mpi.run(mpi.compile("gather.c"), np=np, settings={})
    outcome.check_correct()
    assert set(outcome.algorithms()) == set(RAN)


def sites(outcome) -> set[tuple[str, str]]:
    """The collectives with their call sites."""
    return {(line["collective"], line["site"]) for line in outcome.report["calls"]}


@pytest.mark.parametrize("binding", ["F77", "MODULE"])
def test_reports_name_the_program_in_fortran(mpi, binding):
    found = sites(mpi.run(mpi.fortran("gather", binding)))
    assert found and all(site.startswith(f"gather_{binding}+0x") for _, site in found), found


def test_reports_name_the_line_in_python(mpi):
    program = HERE / "programs/gather.py"
    lines = program.read_text().splitlines()
    found = sites(mpi.run(mpi.python(), program))
    (number,) = [at for at, line in enumerate(lines, 1) if "comm.Scatterv(" in line]
    assert ("scatterv", f"gather.py:{number} (<module>)") in found, found
    assert all(site.startswith("gather.py:") for _, site in found), found


def check_counted(outcome, ranks):
    assert outcome.status == 0 and outcome.out == "", outcome.out + outcome.err
    counted = {one["function"]: one["calls"] for one in outcome.report["not_handled"]}
    assert counted == {"MPI_Ibcast": 3 * ranks, "MPI_Iscan": ranks}


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)  # handles of Open MPI differ in C
def test_fortran_after_c_has_initialised_the_mpi(mpi):
    library = (f"-L{LIBRARIES}", f"-ltutti-{mpi.name}", f"-Wl,-rpath,{LIBRARIES}")
    program = mpi.compile("begun_in_c.f90", *library)
    outcome = mpi.run(program, np=3, settings={"TUTTI_GATHER": "linear"}, report=False)
    assert (outcome.status, outcome.out.split()) == (0, ["correct"]), outcome.out + outcome.err


def test_interfaces_in_fortran(mpi):
    """They take buffers of all types and ranks, and all arguments; MPICH's wrapper would allow mismatches."""
    options = ("-cpp", "-fno-allow-argument-mismatch", f"-L{LIBRARIES}", f"-ltutti-{mpi.name}",
               f"-Wl,-rpath,{LIBRARIES}")  # fmt: skip
    outcome = mpi.run(mpi.compile("interfaces.f90", *options), preload=(), report=False)
    assert (outcome.status, outcome.out.split()) == (0, ["correct"]), outcome.out + outcome.err
    with pytest.raises(AssertionError, match="Missing actual argument for argument .ierror"):
        mpi.compile("interfaces.f90", "-DINCOMPLETE", *options, output="incomplete")


def test_other_calls_are_counted(mpi):
    outcome = mpi.run(mpi.compile("others.c", "-ldl"), "bcast")
    check_counted(outcome, RANKS)
    assert outcome.report["wall"] > outcome.report["seconds"]["mean"] > 0
    assert outcome.report["notes"] == []


def test_other_calls_run_with_tutti_off(mpi):
    outcome = mpi.run(mpi.compile("others.c", "-ldl"), "bcast", settings={"TUTTI": "off"}, report=False)
    assert outcome.status == 0 and outcome.out == "", outcome.out + outcome.err


def test_a_report_says_that_nothing_was_handled(mpi):
    outcome = mpi.run(mpi.compile("others.c", "-ldl"))
    assert outcome.report["calls"] == []
    assert outcome.report["notes"] == ["rank 0 recorded no collective call that Tutti handles"]
    check_counted(outcome, 1)


def test_ranks_without_their_launcher_are_noted(mpi):
    other = "PMI_SIZE" if mpi.name == "openmpi" else "OMPI_COMM_WORLD_SIZE"
    outcome = mpi.run(mpi.compile("others.c", "-ldl"), "bcast", np=1, settings={other: "4"})
    assert outcome.status == 0, outcome.err
    (note,) = outcome.report["notes"]
    assert "1 rank of its own, though the launcher started" in note
