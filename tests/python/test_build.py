"""How Tutti is configured for MPIs, and how other projects find it."""

import os
import shutil
import subprocess

import pytest
from installed import BUILD, PREFIX, ROOT, cached, environment, mpis, run

FOUND = 'find_package(tutti REQUIRED)\nmessage(STATUS "flavour: ${tutti_MPI_FLAVOUR}, libraries: ${CMAKE_REQUIRED_LIBRARIES}")\n'


@pytest.fixture(params=mpis() or [None], ids=str)
def mpi(request):
    assert request.param, f"no build for an MPI in {BUILD}; run ./test, or set TUTTI_BUILD"
    return request.param


def cmake(source, build, *options) -> str:
    """What it says, also where it fails."""
    done = subprocess.run(["cmake", "-S", str(source), "-B", str(build), *options], env=environment(),
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    return " ".join((done.stdout + done.stderr).split())


def project(folder, languages: str, lines: str):
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.22)\nproject(user {languages})\n{lines}"
    )
    return folder


def test_a_project_finds_the_backend_of_the_mpi_that_it_has_now(tmp_path):
    user = project(tmp_path / "user", "C", f"set(CMAKE_REQUIRED_LIBRARIES m)\n{FOUND}")
    for mpi in mpis():
        said = cmake(user, tmp_path / "b", f"-DCMAKE_PREFIX_PATH={PREFIX}", "-UMPI_*",
                     f"-DMPI_C_COMPILER={mpi.mpicc}")  # fmt: skip
        assert f"flavour: {mpi}, libraries: m" in said


def test_a_project_without_c_is_told(tmp_path):
    user = project(tmp_path / "user", "CXX", FOUND)
    assert "Tutti needs the language C" in cmake(user, tmp_path / "b", f"-DCMAKE_PREFIX_PATH={PREFIX}")


def test_unknown_components_are_refused(mpi, tmp_path):
    user = project(tmp_path / "user", "C", "find_package(tutti REQUIRED COMPONENTS nonsense)\n")
    said = cmake(user, tmp_path / "b", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DMPI_C_COMPILER={mpi.mpicc}")
    assert "Tutti has no component nonsense" in said and "Configuring incomplete" in said


@pytest.fixture
def configure(tmp_path):
    """Configures Tutti itself for a flavour with a wrapper."""

    def configured(flavour: str, wrapper) -> str:
        return cmake(ROOT, tmp_path / "b", "-G", "Ninja", f"-DTUTTI_MPI={flavour}", f"-DTUTTI_MPICC_{flavour}={wrapper}",
                     "-DTUTTI_PYTHON=OFF", "-DTUTTI_SIMGRID=off", "-DTUTTI_TESTS=OFF")  # fmt: skip

    return configured


def test_all_folders_of_a_wrapper_reach_the_linker(mpi, tmp_path, configure):
    wrapper = tmp_path / "mpicc"
    folders = "-Wl,-rpath -Wl,/first -Wl,-rpath -Wl,/second"
    wrapper.write_text(f'#!/bin/sh\n[ "$1" != -show ] || exec echo $({mpi.mpicc} -show) {folders}\n'
                       f'exec {mpi.mpicc} "$@"\n')  # fmt: skip
    wrapper.chmod(0o755)
    assert "Generating done" in configure(mpi.flavour, wrapper)
    assert folders in (tmp_path / "b" / "build.ninja").read_text()


def test_the_launcher_is_that_of_the_wrapper_of_today(mpi, tmp_path, configure):
    for name in ("former", "other"):
        wrapper = tmp_path / name / "mpicc"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec {mpi.mpicc} "$@"\n')
        wrapper.with_name("mpirun").touch()
        for program in wrapper.parent.iterdir():
            program.chmod(0o755)
        assert "Generating done" in configure(mpi.flavour, wrapper)
        cache = (tmp_path / "b" / "CMakeCache.txt").read_text()
        assert f"TUTTI_MPIRUN_{mpi.flavour}:FILEPATH={wrapper.with_name('mpirun')}\n" in cache


def test_a_wrapper_of_another_mpi_is_refused(mpi, configure):
    other = "mpich" if mpi.flavour == "openmpi" else "openmpi"
    assert f"expected a compiler wrapper of {other}; its mpi.h is that of {mpi}" in configure(other, mpi.mpicc)


def test_a_wrapper_that_does_not_show_its_command_is_refused(mpi, tmp_path, configure):
    wrapper = tmp_path / "cc"
    wrapper.write_text(f'#!/bin/sh\n[ "$1" != -show ] || exit 1\nexec {mpi.mpicc} "$@"\n')
    wrapper.chmod(0o755)
    said = configure(mpi.flavour, wrapper)
    assert f'"{wrapper} -show" prints no command of a compiler' in said and "Configuring incomplete" in said


def test_an_absolute_folder_is_refused(tmp_path):
    said = cmake(ROOT, tmp_path / "b", "-DTUTTI_MPI=none", "-DCMAKE_INSTALL_MANDIR=/x/man")
    assert "CMAKE_INSTALL_MANDIR=/x/man: expected a folder relative to the prefix" in said


def test_an_installation_removes_the_libraries_of_a_wheel(tmp_path):
    """The command would take those, older than its engine."""
    package = tmp_path / cached("TUTTI_PYTHON_SITE") / "tutti"
    files = [package / name for name in ("lib/libtutti.so", "bin/tutti-bench", "include/tutti/tutti.h")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.touch()
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={tmp_path}", "-P", BUILD / "python/cmake_install.cmake")
    assert (package / "libraries.py").is_file() and (tmp_path / "bin/tutti").is_file()
    assert not [file for file in files if file.exists()]


def test_a_link_to_the_modulefile_sets_the_paths_of_the_installation(tmp_path):
    tclsh = shutil.which("tclsh")
    if tclsh is None:
        pytest.skip("no tclsh")
    link = tmp_path / "0.1.0"
    os.symlink(next((PREFIX / "share/modulefiles/tutti").iterdir()), link)
    script = tmp_path / "module.tcl"
    script.write_text(
        "foreach word {module-whatis conflict} { proc $word args {} }\n"
        'proc prepend-path {name value} { if {$name eq "MANPATH"} { puts $value } }\n'
        f"proc setenv {{name value}} {{ puts $value }}\nset ModulesCurrentModulefile {link}\nsource {link}\n"
    )

    def said(**variables: str) -> list[str]:
        done = subprocess.run([tclsh, str(script)], env=variables, capture_output=True, text=True,
                              check=True, timeout=60)  # fmt: skip
        return done.stdout.split()

    library = str(next(PREFIX.resolve().glob("lib*/libtutti.so")))
    assert said() == [library]
    assert said(MANPATH="/x") == [library, str(PREFIX.resolve() / "share/man")]
