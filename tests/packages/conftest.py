"""The wheel that the tests of packages install, and what several of them need."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parents[1] / "tools")]

from installed import BUILD, ROOT, cached, mpis, run  # noqa: E402

ALL = "ALL_TESTS" in os.environ
"""Tests that take minutes run too."""

minutes = pytest.mark.skipif(not ALL, reason="builds all anew: ./test --all")

VERSION = re.search(r"project\(tutti VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

SAME = ("CMAKE_CXX_FLAGS_RELWITHDEBINFO", "TUTTI_UNITY", "TUTTI_WERROR")
"""Options of the build tree: with the same ones ccache has the objects."""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    """The wheel that `pip wheel .` makes, with optimisations as in the build tree."""
    assert mpis(), f"no build for an MPI in {BUILD}; run ./test, or set TUTTI_BUILD"
    place = tmp_path_factory.mktemp("wheel")
    flavours = {mpi.flavour: str(mpi.mpicc) for mpi in mpis()}
    values = {name: cached(name) for name in SAME}
    values |= {f"TUTTI_MPICC_{name}": path for name, path in flavours.items()}
    if not ALL:
        values["TUTTI_MPI"] = ";".join(flavours)
    options = [f"--config-settings=cmake.define.{name}={value}" for name, value in values.items()]
    shared = {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    settings = {name: os.environ.get(name, value) for name, value in shared.items()}
    settings |= {"CC": cached("CMAKE_C_COMPILER"), "CXX": cached("CMAKE_CXX_COMPILER")}
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", ROOT,
        "-w", place, "--config-settings=build-dir=" + str(ROOT / "build" / "test-wheel"),
        "--config-settings=cmake.build-type=RelWithDebInfo", *options, limit=1200, **settings)  # fmt: skip
    (built,) = place.glob("tutti-*.whl")
    return built
