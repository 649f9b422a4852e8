"""Results that ranks share, from Python."""

from __future__ import annotations

import pytest
from conftest import FRONT, HERE, LIBRARIES


@pytest.mark.parametrize("preload", [(FRONT,), ()], ids=["preloaded", "alone"])
def test_shared_results_from_python(mpi, preload):
    variables = {"TUTTI_LIBRARY_DIR": str(LIBRARIES), "PYTHONPATH": str(LIBRARIES.parent / "python"),
                 "TUTTI_NODE": "1,2"}  # fmt: skip
    outcome = mpi.run(mpi.python(), HERE / "programs/shared.py", preload=preload,
                      settings=variables, report=False)  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert "correct" in outcome.out.split()
