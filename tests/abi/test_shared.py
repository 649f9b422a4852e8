"""Results that ranks share, from Python and Fortran."""

from __future__ import annotations

import pytest
from conftest import FRONT, HERE, LIBRARIES


@pytest.mark.parametrize("preload", [(FRONT,), ()], ids=["preloaded", "alone"])
def test_shared_results_from_python(mpi, preload):
    variables = {"TUTTI_LIBRARY_DIR": str(LIBRARIES), "PYTHONPATH": str(LIBRARIES.parent / "python"),
                 "TUTTI_NODE": "1,2", "TUTTI_REPRODUCIBLE": "on" if preload else "off"}  # fmt: skip
    exact = ["exact"] if preload else []
    outcome = mpi.run(mpi.python(), HERE / "programs/shared.py", *exact, preload=preload,
                      settings=variables, report=False)  # fmt: skip
    outcome.check_correct()


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_shared_results_from_fortran(mpi, binding):
    library = (f"-L{LIBRARIES}", f"-ltutti-{mpi.name}", f"-Wl,-rpath,{LIBRARIES}")
    outcome = mpi.run(mpi.fortran("shared", binding, *library), preload=(),
                      settings={"TUTTI_NODE": "1,2"}, report=False)  # fmt: skip
    outcome.check_correct()
