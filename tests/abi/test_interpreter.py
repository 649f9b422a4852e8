"""The interpreter with mpi4py, which tests/abi/mpi4py_suite.sh makes by this test."""

from __future__ import annotations

import subprocess

from conftest import MPI4PY


def test_mpi4py_is_there(mpi):
    words = [mpi.python(), "-c", "import mpi4py; print(mpi4py.__version__)"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == MPI4PY
