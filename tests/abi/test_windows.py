"""Windows that are freed, and ranks that die, during one-sided collectives."""

from __future__ import annotations

import pytest
from conftest import FRONT, HERE, LIBRARIES, RANKS, ROOT
from test_faults import check_killed

SETTINGS = {"OMPI_MCA_btl_vader_single_copy_mechanism": "cma"}
"""This lets Open MPI 4.1 make windows of the program's memory, if the system allows it."""


def compiled(mpi, library):
    return mpi.compile(
        "window.c", f"-I{ROOT / 'include'}", f"-L{LIBRARIES}", f"-l{library}",
        f"-Wl,-rpath,{LIBRARIES}", output=f"window_{library}",
    )  # fmt: skip


@pytest.mark.parametrize("where", ["directly", "nested"])
@pytest.mark.parametrize("library", ["front", "flavour"])
def test_freed_without_release(mpi, library, where):
    program = compiled(mpi, "tutti" if library == "front" else f"tutti-{mpi.name}")
    outcome = mpi.run(program, where, preload=(), settings=SETTINGS)
    assert outcome.status == 0, outcome.err
    # A launcher may forward a line and its end separately, so lines of several ranks may mix.
    assert "".join(outcome.out.split()) == "correct" * RANKS
    assert "puts" in outcome.report["one_sided"]
    (call,) = outcome.report["calls"]
    assert (call["collective"], call["calls"], call["bytes"]) == ("rma_bcast", 1, 30000)


def test_all_operations_in_python(mpi):
    variables = {"TUTTI_LIBRARY_DIR": str(LIBRARIES), "PYTHONPATH": str(LIBRARIES.parent / "python")}
    outcome = mpi.run(mpi.python(), HERE / "programs/windows.py", np=RANKS, preload=(FRONT,),
                      settings=variables, report=False)  # fmt: skip
    outcome.check_correct()


def test_all_operations_in_fortran(mpi):
    library = (f"-L{LIBRARIES}", f"-ltutti-{mpi.name}", f"-Wl,-rpath,{LIBRARIES}")
    outcome = mpi.run(mpi.fortran("windows", "F08", *library), preload=(), settings=SETTINGS, report=False)
    outcome.check_correct()


def test_killed_root(mpi):
    program = compiled(mpi, f"tutti-{mpi.name}")
    outcome = mpi.run(program, "killed", preload=(), settings=SETTINGS, report=False)
    check_killed(program, outcome)
