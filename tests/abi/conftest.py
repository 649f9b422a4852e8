"""Compiles the programs for each MPI and runs them under the preloaded library."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

# Programs that end by abort() are to leave no files.
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
LIBRARIES = Path(os.environ.get("TUTTI_LIBRARY_DIR", ROOT / "build/all/lib"))
FRONT = LIBRARIES / "libtutti.so"
INTERFACES = ROOT / "include/tutti/tutti.f90"
YIELDING = LIBRARIES / "libtutti-test-yielding.so"
"""Without it MPICH's ranks do not give way to each other."""
CACHE = Path(os.environ.get("TUTTI_ABI_CACHE", ROOT / "build/abi"))
MPI4PY = "4.1.2"
SECONDS = 120
RANKS = 3

ALGORITHMS = {
    "TUTTI_GATHER": "binomial",
    "TUTTI_GATHERV": "ordered_tree",
    "TUTTI_SCATTER": "knomial:k=3",
    "TUTTI_SCATTERV": "ordered_tree",
}
"""The algorithms that most tests request, one of each kind."""

RAN = {"gather": "binomial", "gatherv": "ordered_tree", "scatter": "knomial:k=3",
       "scatterv": "ordered_tree"}
"""The algorithms that the report must then have."""


@dataclass
class Outcome:
    """The exit status and output of a program."""

    status: int
    out: str
    err: str
    report: dict | None = None

    def check_correct(self) -> None:
        """Fails unless the program has succeeded and found its own data right at all ranks."""
        assert self.status == 0, self.out + self.err
        assert "correct" in self.out.split() and "wrong" not in self.out, self.out + self.err

    def algorithms(self) -> dict[str, str]:
        """The algorithm that each collective ran, by the report; several are joined by '+'.

        Without the reductions that went to the MPI, by which programs add up their faults.
        """
        ran: dict[str, set[str]] = {}
        for line in (self.report or {}).get("calls", []):
            ran.setdefault(line["collective"], set()).add(line["algorithm"])
        sums = ("reduce", "allreduce")
        return {collective: "+".join(sorted(names)) for collective, names in ran.items()
                if not (collective in sums and names == {"native"})}


def read_report(file: Path) -> dict | None:
    """The report in a file; where the library could only write parts, one a line, all their calls."""
    if not file.exists():
        return None
    parts = [json.loads(line) for line in file.read_text().splitlines()] or [{}]
    return {**parts[0], "calls": [call for part in parts for call in part.get("calls", [])]}


def of_all_processes(read) -> dict[int, object]:
    """What `read` finds under /proc/PID, of those processes that exist and may be looked at."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit():
                found[int(entry)] = read(Path("/proc") / entry)
        except OSError:
            pass  # it has ended, or is another user's
    return found


def with_descendants(pid: int) -> list[int]:
    """A process and all that it and its children have started, as far as their parents live."""
    parents = of_all_processes(lambda folder: int((folder / "stat").read_text().rpartition(")")[2].split()[1]))
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def waiting_ranks(processes: list[int]) -> str:
    """Of each rank its process and where this waits: in the kernel, and its stacks if there is eu-stack."""
    lines = []
    for pid in processes:
        try:
            environment = (Path("/proc") / str(pid) / "environ").read_text(errors="replace")
            place = (Path("/proc") / str(pid) / "wchan").read_text()
        except OSError:
            continue
        number = re.search(r"(?:^|\0)(?:PMI_RANK|OMPI_COMM_WORLD_RANK)=(\d+)", environment)
        if number is None:
            continue
        lines.append(f"rank {number[1]}: process {pid} in {place}")
        if shutil.which("eu-stack"):
            done = subprocess.run(["eu-stack", "-p", str(pid)], capture_output=True, text=True, timeout=60)
            lines.append(done.stdout)
    return "\n".join(lines)


@dataclass
class Mpi:
    """One MPI with its compiler wrappers; `folder` holds what is compiled for it."""

    name: str
    folder: Path
    built: dict = field(default_factory=dict)

    def wrapper(self, kind: str) -> str:
        """mpicc, mpifort or mpirun of this MPI."""
        found = shutil.which(f"{kind}.{self.name}")
        assert found, f"{kind}.{self.name} is not installed"
        return found

    def compile(self, source: str | Path, *options: str, output: str | None = None) -> Path:
        """Compiles programs/`source`, or a file by its whole path, once, as the file `output`."""
        target = self.folder / (output or source.replace(".", "_"))
        if target not in self.built:
            is_fortran = str(source).endswith(".f90")
            wrapper = self.wrapper("mpifort" if is_fortran else "mpicc")
            modules = ["-J", self.folder, INTERFACES] if is_fortran else []
            command = [wrapper, "-O1", "-o", target, *modules, HERE / "programs" / source, *options]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            assert done.returncode == 0, done.stderr
            self.built[target] = True
        return target

    def fortran(self, name: str, binding: str, *further: str) -> Path:
        """Compiles programs/`name`.f90 for the binding F77, MODULE or F08."""
        # mpif.h declares no interfaces, so that one routine takes buffers of several kinds.
        mismatched = ["-fallow-argument-mismatch"] if binding == "F77" else []
        options = ("-cpp", f"-D{binding}", *mismatched, *further)
        return self.compile(f"{name}.f90", *options, output=f"{name}_{binding}")

    def launch(self, *command, np=RANKS, preload=(FRONT,), settings=ALGORITHMS):
        """What starts a command on np ranks, and its environment; `preload` and `settings` reach only
        the ranks.
        """
        variables = dict(settings)
        if self.name == "mpich" and YIELDING.exists():
            preload = (*preload, YIELDING)
        if preload:
            variables["LD_PRELOAD"] = ":".join(map(str, preload))
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TUTTI")}
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        launcher = [self.wrapper("mpirun"), "-n", str(np)]
        if self.name == "openmpi":
            launcher.insert(1, "--oversubscribe")
        assignments = [f"{name}={value}" for name, value in variables.items()]
        return [*launcher, "env", *assignments, *map(str, command)], environment

    def run(self, *command, np=RANKS, preload=(FRONT,), settings=ALGORITHMS, report=True, limit=SECONDS) -> Outcome:
        """Runs a command as `launch` starts it, to its end. Fails after `limit` seconds with what has been
        printed, and where the ranks wait.
        """
        report_file = self.folder / "report.json"
        report_file.unlink(missing_ok=True)
        errors = self.folder / "errors"
        errors.write_text("")
        if self.name == "mpich":  # its launcher may lose what aborted ranks have said
            command = ("sh", "-c", f'exec "$@" 2>>{errors}', "sh", *command)
        reporting = {"TUTTI_REPORT": str(report_file)} if report else {}
        line, environment = self.launch(
            *command, np=np, preload=preload, settings={**settings, **reporting}
        )
        job = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        try:
            out, err = job.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            processes = with_descendants(job.pid)
            ranks = waiting_ranks(processes)
            for pid in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            out, err = job.communicate()
            pytest.fail(f"not done after {limit} s\n{ranks}\n{out}{errors.read_text()}{err}")
        return Outcome(job.returncode, out, errors.read_text() + err, read_report(report_file))

    def python(self) -> Path:
        """The interpreter of these tests with mpi4py for this MPI. Its wheel serves an MPI with all
        functions of MPI 4; otherwise, and with ALL_TESTS in the environment, it is built from source.
        """
        folder = CACHE / f"mpi4py-{self.name}"
        python = folder / "bin/python"
        needed = subprocess.run(
            ["ldd", self.compile("gather.c")], capture_output=True, text=True, check=True
        ).stdout
        (library,) = re.findall(r"=> (\S*/libmpi(?:ch)?\.so\.\d+) ", needed)
        is_complete = b"MPI_Gatherv_c\0" in Path(library).read_bytes()
        kind = "wheel" if is_complete and "ALL_TESTS" not in os.environ else "source"
        finished = folder / f"finished-{kind}"
        CACHE.mkdir(parents=True, exist_ok=True)
        # Other processes that run tests need it too.
        with (CACHE / f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not finished.exists():
                shutil.rmtree(folder, ignore_errors=True)
                python.parent.mkdir(parents=True)
                if kind == "source":
                    self._build_mpi4py(folder)
                    settings = f'PYTHONPATH="{folder}${{PYTHONPATH:+:$PYTHONPATH}}"'
                else:
                    # The name that MPICH's own installation gives its library.
                    (folder / "libmpi.so.12").symlink_to(library)
                    settings = f'MPI4PY_MPIABI={self.name} LD_LIBRARY_PATH="{folder}"'
                python.write_text(f'#!/bin/sh\nexec env {settings} {sys.executable} "$@"\n')
                python.chmod(0o755)
                finished.touch()
        return python

    def _build_mpi4py(self, folder: Path) -> None:
        subprocess.run(
            # A cached wheel may be for another MPI.
            [sys.executable, "-m", "pip", "install", "-q", "--no-cache-dir", "--no-deps", "--no-compile",
             "--no-binary", "mpi4py", "--target", folder, f"mpi4py=={MPI4PY}"],
            # One large file, whose speed matters to nobody here.
            env=os.environ | {"MPICC": self.wrapper("mpicc"), "CFLAGS": "-O0 -g0"}, check=True,
        )


@pytest.fixture(scope="session", params=["mpich", "openmpi"])
def mpi(request, tmp_path_factory) -> Mpi:
    """Each MPI in turn."""
    assert FRONT.exists(), f"{FRONT} is not built; set TUTTI_LIBRARY_DIR to its folder"
    return Mpi(request.param, tmp_path_factory.mktemp(request.param))
