"""Processes in which the library does nothing: with a stub instead of an MPI, and with TUTTI=off."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from conftest import ALGORITHMS, FRONT, HERE, ROOT
from test_tools import CALLS, tool


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    """A program that links to a stub instead of an MPI."""
    folder = tmp_path_factory.mktemp("stub")
    for line in (
        ["-shared", "-fPIC", "-o", "libmpi_stub.so", HERE / "programs/stub_library.c"],
        ["-o", "stub", HERE / "programs/stub.c", "-L.", "-lmpi_stub", "-ldl", f"-Wl,-rpath,{folder}"],
    ):
        subprocess.run(["cc", *line], cwd=folder, check=True)
    return folder / "stub"


def run(*command, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TUTTI")}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60,
        env=environment | {"LD_PRELOAD": str(FRONT)} | settings,
    )


def test_a_stub_is_called_as_if_the_library_were_not_there(stub):
    done = run(stub, TUTTI_GATHER="binomial")
    assert (done.returncode, done.stdout) == (0, "correct\n"), done.stderr
    (line,) = done.stderr.splitlines()
    assert "need MPICH, Intel MPI, Open MPI" in line


@pytest.mark.parametrize("off", ["off", "0", "FALSE", "No"])
def test_a_stub_is_called_without_a_word_where_tutti_is_off(stub, off):
    done = run(stub, TUTTI=off)
    assert (done.returncode, done.stdout, done.stderr) == (0, "correct\n", "")


def test_what_a_stub_lacks_is_named(stub):
    done = run(stub, "bcast", TUTTI="off")
    assert done.returncode != 0
    assert done.stderr == "tutti: no loaded MPI library has MPI_Bcast\n"


def test_the_c_api_has_nothing_to_call_over_a_stub(stub):
    done = run(stub, "c_api")
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("tutti: TUTTI_Barrier: no supported MPI library")


def incomplete(folder, library):
    """The program with the stub as an MPI of this soname, which lacks most functions of one."""
    for line in (
        ["-shared", "-fPIC", f"-Wl,-soname,{library}", "-o", library,
         HERE / "programs/stub_library.c"],
        ["-o", "stub", HERE / "programs/stub.c", f"./{library}", "-ldl",
         f"-Wl,--disable-new-dtags,-rpath,{folder}"],
    ):  # fmt: skip
        subprocess.run(["cc", *line], cwd=folder, check=True)
    return folder / "stub"


@pytest.mark.parametrize("library", ["libmpich.so.12", "libmpi_cray.so.12", "libmpi_gnu_123.so.12", "libmpi_cray_17.so.12"])
def test_an_mpi_that_lacks_a_function_is_called_as_if_the_library_were_not_there(tmp_path, library):
    program = incomplete(tmp_path, library)
    done = run(program, TUTTI_GATHER="binomial")
    assert (done.returncode, done.stdout) == (0, "correct\n"), done.stderr
    lacks = r"tutti: the loaded MPI lacks PMPI_\w+; all calls go to the MPI unchanged\n"
    assert re.fullmatch(lacks, done.stderr), done.stderr
    done = run(program, "c_api")
    assert done.returncode != 0
    assert done.stderr.startswith("tutti: TUTTI_Barrier: the loaded MPI lacks PMPI_")


@pytest.mark.parametrize("library", ["libmpi_other.so.12", "libmpi.so.121", "libmpifort_gnu.so.12"])
def test_a_library_with_another_soname_is_no_known_mpi(tmp_path, library):
    done = run(incomplete(tmp_path, library), TUTTI_GATHER="binomial")
    assert (done.returncode, done.stdout) == (0, "correct\n"), done.stderr
    assert "need MPICH, Intel MPI, Open MPI" in done.stderr


@pytest.fixture(scope="module")
def front_alone(tmp_path_factory):
    """The preloaded library without a backend beside it."""
    return shutil.copy(FRONT, tmp_path_factory.mktemp("alone"))


OFF = ALGORITHMS | {"TUTTI": "off"}


def test_off_loads_no_backend(mpi, front_alone):
    outcome = mpi.run(mpi.compile("gather.c"), preload=[front_alone], settings=OFF,
                      report=False)  # fmt: skip
    assert (outcome.status, outcome.err) == (0, "")
    assert "correct" in outcome.out.split()


@pytest.mark.parametrize("binding", ["F77", "MODULE", "F08"])
def test_off_loads_no_backend_in_fortran(mpi, front_alone, binding):
    outcome = mpi.run(mpi.fortran("gather", binding), preload=[front_alone], settings=OFF,
                      report=False)  # fmt: skip
    assert (outcome.status, outcome.err) == (0, "")
    assert "correct" in outcome.out.split()


def test_off_loads_no_backend_in_python(mpi, front_alone):
    program = HERE / "programs/gather.py"
    outcome = mpi.run(mpi.python(), program, preload=[front_alone], settings=OFF,
                      report=False)  # fmt: skip
    assert (outcome.status, outcome.err) == (0, "")
    assert "correct" in outcome.out.split()


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)  # with MPICH 4 it frees a communicator
def test_calls_that_are_only_counted_load_no_backend(mpi, front_alone):
    outcome = mpi.run(mpi.compile("others.c", "-ldl"), preload=[front_alone], settings={},
                      report=False)  # fmt: skip
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")


@pytest.mark.parametrize("is_in_front", [True, False])
def test_off_hands_on_to_tools_once(mpi, front_alone, is_in_front):
    libraries = [front_alone, tool(mpi)]
    outcome = mpi.run(
        mpi.compile("gather.c"), settings=OFF,
        preload=libraries[::-1] if is_in_front else libraries, report=False,
    )
    assert outcome.status == 0, outcome.err
    assert f"tool saw {CALLS} calls" in outcome.out
    assert "correct" in outcome.out.split()


def test_off_still_has_the_c_api(mpi):
    program = mpi.compile("persistent.c", f"-I{ROOT}/include")
    outcome = mpi.run(program, settings={"TUTTI": "off"}, report=False)
    outcome.check_correct()
