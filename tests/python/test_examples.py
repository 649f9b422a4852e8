"""The examples give the same results as with the MPI alone, with every algorithm that they can run."""

import json
import re
import shutil

import pytest
from installed import BUILD, PREFIX, ROOT, mpis, run

RANKS = 5  # not a power of two


@pytest.fixture(params=mpis() or [None], ids=str)
def mpi(request):
    assert request.param, f"no build for an MPI in {BUILD}; run ./test, or set TUTTI_BUILD"
    return request.param


def launch(mpi, *command, ranks=RANKS, **settings):
    """Runs a command on some ranks under Tutti."""
    return run(PREFIX / "bin" / "tutti", "run", "--", mpi.mpirun, "-n", ranks, *command, **settings)


def snapshots(folder, name, launcher, size):
    """The file that the particles example writes."""
    file = folder / f"{name}.bin"
    run(*launcher, *size, "-o", file, **SETTINGS.get(name, {}))
    return file.read_bytes()


SETTINGS = {
    "auto": {},
    "linear": {"TUTTI_GATHERV": "linear", "TUTTI_SCATTERV": "linear"},
    "sync": {"TUTTI_GATHERV": "linear_sync:segment=100", "TUTTI_GATHER": "linear_sync"},
    "binomial": {"TUTTI_GATHERV": "binomial", "TUTTI_SCATTERV": "binomial:order=by_size"},
    "tree": {"TUTTI_GATHERV": "ordered_tree", "TUTTI_SCATTERV": "ordered_tree"},
    "paper": {"TUTTI_GATHERV": "TUW", "TUTTI_SCATTERV": "TUW_Scatterv"},
    "detached": {"TUTTI_GATHERV": "ordered_tree:threshold=10K", "TUTTI_GATHER": "binomial"},
}


@pytest.mark.parametrize("size", [(500, 40), (12000, 6)], ids=["clustered", "large"])
def test_particles_write_the_same_bytes(mpi, tmp_path, size):
    arguments = ["-n", size[0], "-s", size[1], "-e", size[1] // 2]
    program = [mpi.mpirun, "-n", RANKS, BUILD / "bin" / f"particles-{mpi}"]
    native = snapshots(tmp_path, "native", program, arguments)
    assert len(native) > 2 * 32 * size[0]
    for name in SETTINGS:
        under_tutti = [PREFIX / "bin" / "tutti", "run", "--", *program]
        assert snapshots(tmp_path, name, under_tutti, arguments) == native, name


def test_tracers_write_the_same_bytes_on_any_number_of_ranks(mpi, tmp_path):
    program = [BUILD / "bin" / f"tracers-{mpi}", "-n", 1000, "-s", 20, "-e", 5, "-o"]
    run(mpi.mpirun, "-n", 1, *program, tmp_path / "alone.bin")
    launch(mpi, *program, tmp_path / "chain.bin", TUTTI_BCAST="chain:parts=64", TUTTI_REDUCE="bine")
    alone = (tmp_path / "alone.bin").read_bytes()
    assert len(alone) == 4 * 64 * 64 * 4 and alone == (tmp_path / "chain.bin").read_bytes()


def test_the_forced_algorithm_is_the_one_that_runs(mpi, tmp_path):
    report = tmp_path / "report.json"
    launch(mpi, BUILD / "bin" / f"particles-{mpi}", "-n", 100, "-s", 4, "-o", tmp_path / "a.bin",
           TUTTI_REPORT=str(report), TUTTI_GATHERV="ordered_tree", TUTTI_GATHER="native")  # fmt: skip
    text = report.read_text()
    json.loads(text)
    lines = {entry["collective"]: entry["algorithm"] for entry in find_calls(json.loads(text))}
    assert lines["gatherv"] == "ordered_tree"
    assert lines["gather"] == "native"


def test_a_report_on_standard_error_names_source_lines(mpi, tmp_path):
    program = [BUILD / "bin" / f"tracers-{mpi}", "-n", "10", "-s", "2", "-o", "maps.bin"]
    command = [PREFIX / "bin" / "tutti", "run", "--report", "-", "--", mpi.mpirun, "-n", "2", *program]
    shown = run(*command, cwd=tmp_path)
    source = (ROOT / "examples/tracers/tracers.c").read_text().splitlines()
    (line,) = [number for number, text in enumerate(source, 1) if "MPI_Bcast(" in text]
    assert f"at tracers.c:{line} (tracers-{mpi}: main+" in shown
    assert [file.name for file in tmp_path.iterdir()] == ["maps.bin"]


def find_calls(content):
    """The entries of a report that describe calls, at any depth."""
    if isinstance(content, dict):
        if "collective" in content:
            yield content
        content = list(content.values())
    if isinstance(content, list):
        for part in content:
            yield from find_calls(part)


def test_the_c_api_runs_the_requested_algorithm(mpi):
    program = BUILD / "bin" / f"lines-{mpi}"
    output = run(mpi.mpirun, "-n", 4, program, "ordered_tree")
    assert output.splitlines()[:5] == ["", "b", "cc", "ddd", "ordered_tree: requested"]


def test_fortran_columns_come_out_alike(mpi, tmp_path):
    program = BUILD / "bin" / f"columns-{mpi}"
    assert program.exists(), f"no Fortran compiler was found for {mpi}"
    native = run(mpi.mpirun, "-n", RANKS, program)
    report = tmp_path / "report.txt"
    output = launch(mpi, program, TUTTI_GATHERV="ordered_tree", TUTTI_REPORT=str(report))
    assert output == native
    assert "ordered_tree" in report.read_text()


def test_a_fortran_program_broadcasts_alone(mpi):
    assert run(mpi.mpirun, "-n", 3, BUILD / "bin" / f"table-{mpi}").split() == ["correct"]


def test_the_commands_of_the_guide_to_fortran(mpi, tmp_path):
    for source in (ROOT / "examples/fortran").glob("*.f90"):
        shutil.copy(source, tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("mpifort", "mpirun"):
        (tools / name).write_text(f'#!/bin/sh\nexec {mpi.tool(name)} "$@"\n')
        (tools / name).chmod(0o755)
    guide = (ROOT / "docs/howto/from-fortran.md").read_text()
    script = "\n".join(re.findall(r"```sh\n(.*?)```", guide, re.DOTALL))
    script = script.replace("/opt/tutti", str(PREFIX)).replace("openmpi", str(mpi))
    (program,) = re.findall(r"```fortran\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "both.f90").write_text(program)
    output = run("bash", "-ec", f"export PATH={tools}:$PATH\n{script}", cwd=tmp_path)
    assert "correct" in output and re.search(r"\b0\.50* +7\n", output), output
    assert "columns.f90:" in (tmp_path / "run.html").read_text()


def test_an_installation_is_found_by_cmake(mpi, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(user C)\nfind_package(tutti 0.1 REQUIRED)\n"
        "add_executable(lines lines.c)\ntarget_link_libraries(lines tutti::tutti)\n"
    )
    shutil.copy(ROOT / "examples/c_api/lines.c", tmp_path)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={PREFIX}",
        f"-DMPI_C_COMPILER={mpi.mpicc}")  # fmt: skip
    run("cmake", "--build", tmp_path / "b")
    assert "ddd" in run(mpi.mpirun, "-n", 4, tmp_path / "b" / "lines")


def test_an_installation_is_found_by_pkg_config(mpi, tmp_path):
    folder = PREFIX / "lib" / "pkgconfig"
    flags = run("pkg-config", "--cflags", "--libs", f"tutti-{mpi}", PKG_CONFIG_PATH=str(folder))
    program = tmp_path / "lines"
    run(mpi.mpicc, "-o", program, ROOT / "examples/c_api/lines.c", *flags.split(),
        f"-Wl,-rpath,{PREFIX / 'lib'}")  # fmt: skip
    assert "ddd" in run(mpi.mpirun, "-n", 4, program)


def test_the_picture_of_the_grown_tree_is_what_the_command_draws(tmp_path):
    drawn = tmp_path / "gatherv.svg"
    run(PREFIX / "bin" / "tutti", "explain", "gatherv", "--ranks", 11, "--root", 9, "--sizes",
        "1,0,2,3,4,2,0,0,1,7,5", "--algorithm", "ordered_tree", "--svg", drawn)  # fmt: skip
    assert drawn.read_text() == (ROOT / "docs/images/gatherv.svg").read_text()
