"""pip installs the package into an empty environment, where every command runs.

The build uses the options of the build tree, so that ccache has the objects.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from installed import BUILD, ROOT, cached, environment, mpis, run

SAME = ("CMAKE_CXX_FLAGS_RELWITHDEBINFO", "TUTTI_UNITY", "TUTTI_WERROR")


@pytest.fixture(scope="module")
def mpi():
    """One MPI: the layout is the same for all."""
    assert mpis(), f"no build for an MPI in {BUILD}; run ./test, or set TUTTI_BUILD"
    return mpis()[0]


@pytest.fixture(scope="module")
def folder(mpi, tmp_path_factory) -> Path:
    """The bin/ of an environment that has the package and what it requires, and nothing else."""
    place = tmp_path_factory.mktemp("pip")
    values = {name: cached(name) for name in SAME}
    values |= {"TUTTI_MPI": mpi.flavour, f"TUTTI_MPICC_{mpi.flavour}": str(mpi.mpicc)}
    options = [f"-Ccmake.define.{name}={value}" for name, value in values.items()]
    shared = {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    settings = {name: os.environ.get(name, value) for name, value in shared.items()}
    settings |= {"CC": cached("CMAKE_C_COMPILER"), "CXX": cached("CMAKE_CXX_COMPILER")}
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", ROOT,
        "-w", place, "-Cbuild-dir=" + str(ROOT / "build" / "test-pip"),
        "-Ccmake.build-type=RelWithDebInfo", *options, limit=800, **settings)  # fmt: skip
    (wheel,) = place.glob("tutti-*.whl")
    run(sys.executable, "-m", "venv", place / "empty")
    run(place / "empty/bin/python", "-m", "pip", "install", "--quiet", wheel, limit=300)
    return place / "empty/bin"


def tutti(folder, *words, status=(0,)) -> str:
    """The output of the installed command."""
    done = subprocess.run([folder / "tutti", *map(str, words)], env=environment(), timeout=120,
                          capture_output=True, text=True, cwd="/")  # fmt: skip
    assert done.returncode in status, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_libraries_and_programs_lie_inside_the_package(folder, mpi):
    parsed = json.loads(tutti(folder, "info", "--json"))
    package = Path(parsed["libraries"][mpi.flavour]).parents[1]
    assert package.name == "tutti" and folder.parent in package.parents
    assert Path(parsed["programs"]) == package / "bin"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["list"], "ordered_tree"),
        (["explain", "gatherv", "--ranks", "4"], "times the bound"),
        (["simulate", "gatherv", "--ranks", "8"], "SIMULATED"),
        (["verify", "--max-ranks", "4", "--sampled", "0"], "all right"),
        (["lab", "--help"], "tutti lab"),
    ],
)
def test_what_needs_no_mpi(folder, words, text):
    assert text in tutti(folder, *words)


def test_run_and_report(folder, mpi, tmp_path):
    report = tmp_path / "report.json"
    tutti(folder, "run", "--report", report, "--", mpi.mpirun, "-n", 2,
          BUILD / "bin" / f"particles-{mpi}", "-n", 100, "-s", 4, "-o", tmp_path / "a.bin")  # fmt: skip
    assert "gatherv" in tutti(folder, "report", report)


def test_bench(folder, mpi):
    launcher = f"{mpi.mpirun} -n 2"
    words = ("gather", "--block", "1", "--repetitions", "2")
    assert "# gather, same" in tutti(folder, "bench", "--mpirun", launcher, *words)
    # Refused, with the reason, where this machine is too busy.
    parsed = tutti(folder, "bench", "--mpirun", launcher, "machine", status=(0, 1))
    assert "\nlatency " in parsed or "the machine cannot be measured now" in parsed


def test_check(folder, mpi):
    words = ("--distribution", "same", "--block", "1", "--repetitions", "3")
    parsed = tutti(folder, "check", "--mpirun", f"{mpi.mpirun} -n 2", *words, status=(0, 1))
    assert "Guideline (2)" in parsed


def test_place(folder, mpi):
    assert "median" in tutti(folder, "map", "--mpirun", f"{mpi.mpirun} -n 2")
