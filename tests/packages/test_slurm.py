"""Jobs of Slurm do what docs/deploy.md and docs/howto/with-slurm.md say.

Slurm's packages are unpacked into a temporary folder, and a cluster of 2 nodes, both this machine, runs there until the
tests end. A Slurm that is installed is neither used nor touched. With ALL_TESTS in the environment.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ALL
from installed import BUILD, PREFIX, ROOT, environment, mpis, run

pytestmark = pytest.mark.skipif(not ALL, reason="downloads Slurm: ./test --all")

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins")
PMI = {"openmpi": "--mpi=pmix", "mpich": "--mpi=pmi2"}
"""How Debian's Slurm starts the ranks of Debian's MPIs."""
MPIS = [mpi for mpi in mpis() if mpi.flavour in PMI]
NODES = ("n1", "n2")

CONFIGURATION = """
ClusterName=tutti
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
PluginDir={plugins}
StateSaveLocation={folder}
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/tmp-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
MailProg=/bin/true
TaskProlog={folder}/prolog.sh
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4
PartitionName=other Nodes=n1,n2 Default=YES State=UP
PartitionName=tutti Nodes=n1,n2 State=UP
"""


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def unpacked(folder: Path) -> Path:
    """Slurm's files in a folder, as its packages would install them."""
    (folder / "packages/partial").mkdir(parents=True)
    run("apt-get", "-q", "-y", "-o", f"Dir::Cache::archives={folder}/packages", "-o", "Debug::NoLocking=1",
        "install", "--download-only", "--reinstall", "--no-install-recommends", *PACKAGES)  # fmt: skip
    for package in (folder / "packages").glob("*.deb"):
        run("dpkg", "-x", package, folder / "root")
    return folder / "root/usr"


class Cluster:
    """A Slurm of this user in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = unpacked(folder)
        (plugins,) = self.files.glob("lib/*/slurm-wlm")
        self.settings = {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "LD_LIBRARY_PATH": f"{plugins}:{plugins.parent}",
            "PATH": f"{self.files}/bin:{PREFIX}/bin:{os.environ['PATH']}",
        }
        self.plugins = plugins
        self.write_prolog()
        self.daemons: list[subprocess.Popen] = []

    def write_prolog(self) -> None:
        """The prolog of docs/deploy.md, for the library here."""
        page = (ROOT / "docs/deploy.md").read_text()
        (script,) = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", page, re.DOTALL)
        prolog = self.folder / "prolog.sh"
        prolog.write_text(script.replace("/opt/tutti/lib", str(PREFIX / "lib")))
        prolog.chmod(0o755)

    def start(self) -> None:
        """Tries twice, since another process may take a port that was free."""
        if not self._starts():
            self.stop()
            assert self._starts(), self.logs()

    def _starts(self) -> bool:
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, plugins=self.plugins, host=host, ports=free_ports(3),
            user=os.getuid()))  # fmt: skip
        self._daemon("slurmctld", "-c")
        for node in NODES:
            (self.folder / f"spool-{node}").mkdir(exist_ok=True)
            (self.folder / f"tmp-{node}").mkdir(exist_ok=True)
            self._daemon("slurmd", "-N", node, "-d", f"{self.files}/sbin/slurmstepd-wlm")
        end = time.monotonic() + 60
        while "2 idle" not in self.say("sinfo", "-h", "-p", "other", "-o", "%D %t"):
            if time.monotonic() > end:
                return False
            time.sleep(0.2)
        return True

    def _daemon(self, name: str, *words: str) -> None:
        command = [f"{self.files}/sbin/{name}-wlm", "-D", *words]
        self.daemons.append(subprocess.Popen(
            command, env=environment(**self.settings), start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))  # fmt: skip

    def stop(self) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self.say("scancel", "--partition=other,tutti")
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(daemon.pid, signal.SIGKILL)
                daemon.wait()
        self.daemons.clear()

    def say(self, *command: str) -> str:
        """What a command prints, which may fail."""
        done = subprocess.run(command, env=environment(**self.settings), capture_output=True, text=True,
                              timeout=60)  # fmt: skip
        return done.stdout + done.stderr

    def logs(self) -> str:
        return "\n".join(file.read_text() for file in self.folder.glob("*.log"))

    def run(self, *command, cwd: Path, **settings: str) -> str:
        return run(*command, cwd=cwd, **{**self.settings, **settings})

    def batch(self, script: str, *options: str, cwd: Path, before=(), **settings: str) -> tuple[str, str]:
        """Runs a batch script by sbatch, after the words `before`; returns the job's number and output."""
        exports = "\n".join(f"export {name}='{value}'" for name, value in self.settings.items())
        (cwd / "job.sh").write_text(f"#!/bin/bash\n{exports}\n{script}\n")
        told = self.run(*before, "sbatch", "--ntasks=2", *options, "job.sh", cwd=cwd, **settings)
        job = re.search(r"batch job (\d+)", told)[1]
        end = time.monotonic() + 120
        # sbatch --wait asks every 10 s only.
        while "JobState=COMPLETED" not in (state := self.say("scontrol", "show", "job", job)):
            assert re.search("JobState=(PENDING|RUNNING|COMPLETING)", state) and time.monotonic() < end, (
                state + "".join(file.read_text() for file in cwd.glob("slurm-*.out")))  # fmt: skip
            time.sleep(0.1)
        return job, (cwd / f"slurm-{job}.out").read_text()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    if not shutil.which("apt-get"):
        pytest.skip("no apt-get to download Slurm with")
    if "SLURM_JOB_ID" in os.environ:
        pytest.skip("this is a job of another Slurm")
    cluster = Cluster(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def particles(mpi) -> str:
    return f"{BUILD}/bin/particles-{mpi} -n 100 -s 4"


def seen(report: Path) -> tuple[int, int, str]:
    """Ranks and nodes of a report, and the algorithm of its gatherv."""
    content = json.loads(report.read_text())
    assert not content["notes"], content["notes"]
    (algorithm,) = {call["algorithm"] for call in content["calls"] if call["collective"] == "gatherv"}
    return content["ranks"], content["nodes"], algorithm


EXPORTS = ["ALL", "NONE", "NIL", "HOME", "HOME,LD_LIBRARY_PATH"]


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("mpi", MPIS, ids=str)
def test_a_batch_job_runs_under_tutti_whatever_it_exports(slurm, mpi, export, tmp_path):
    job, _ = slurm.batch(
        f'TUTTI_GATHERV=ordered_tree tutti run --report "run-%j.json" -- srun {PMI[mpi.flavour]} {particles(mpi)}',
        f"--export={export}", cwd=tmp_path)  # fmt: skip
    assert seen(tmp_path / f"run-{job}.json") == (2, 1, "ordered_tree")


@pytest.mark.parametrize("export", EXPORTS)
def test_a_step_runs_under_tutti_whatever_it_exports(slurm, export, tmp_path):
    mpi = MPIS[0]
    slurm.run("tutti", "run", "--gatherv", "ordered_tree", "--report", "run.json", "--", "srun", "-n", 2,
              f"--export={export}", PMI[mpi.flavour], *particles(mpi).split(), cwd=tmp_path)  # fmt: skip
    assert seen(tmp_path / "run.json") == (2, 1, "ordered_tree")


def test_a_job_that_is_submitted_under_tutti_writes_its_report_itself(slurm, tmp_path):
    mpi = MPIS[0]
    for target in ("run.json", "-"):
        _, told = slurm.batch(f"srun {PMI[mpi.flavour]} {particles(mpi)}", cwd=tmp_path,
                              before=("tutti", "run", "--report", target, "--"))  # fmt: skip
        assert ("time in collectives" in told) == (target == "-"), told
    assert seen(tmp_path / "run.json")[0] == 2


def test_without_the_command_the_options_of_the_documentation_serve(slurm, tmp_path):
    mpi, page = MPIS[0], (ROOT / "docs/deploy.md").read_text()
    commands = re.findall(r"\| `([^`]*srun [^`]*)`", page)
    commands = [command for command in commands if "LD_PRELOAD=$TUTTI_LIBRARY" in command]
    assert len(commands) == 2
    for export, command in [("ALL", commands[0]), ("ALL", commands[1]), ("NONE", commands[1])]:
        name = f"run-{export}-{commands.index(command)}.json"
        shown = command.replace("srun ", f"srun {PMI[mpi.flavour]} ").replace("./app", particles(mpi))
        slurm.batch(f"export TUTTI_REPORT={name} TUTTI_LIBRARY={PREFIX}/lib/libtutti.so\n{shown}",
                    f"--export={export}", cwd=tmp_path)  # fmt: skip
        assert seen(tmp_path / name)[0] == 2, shown


@pytest.mark.parametrize("mpi", MPIS, ids=str)
def test_each_mpi_runs_on_2_nodes(slurm, mpi, tmp_path):
    # Nodes that are one machine have one /dev/shm, which Open MPI does not expect.
    slurm.run("tutti", "run", "--gatherv", "ordered_tree", "--report", "run.json", "--", "srun", "-N", 2,
              "-n", 3, PMI[mpi.flavour], *particles(mpi).split(), cwd=tmp_path,
              OMPI_MCA_btl="self,tcp")  # fmt: skip
    assert seen(tmp_path / "run.json") == (3, 2, "ordered_tree")


def test_ranks_that_another_pmi_starts_run_alone_and_the_report_says_so(slurm, tmp_path):
    (mpich,) = [mpi for mpi in MPIS if mpi.flavour == "mpich"]
    slurm.run("tutti", "run", "--report", "run.json", "--", "srun", "-n", 2, *particles(mpich).split(),
              cwd=tmp_path)  # fmt: skip
    for name in ("run.json", "run.json.1"):
        content = json.loads((tmp_path / name).read_text())
        assert content["ranks"] == 1
        assert "1 rank of its own, though the launcher started 2" in content["notes"][0]


@pytest.mark.parametrize("mpi", MPIS, ids=str)
def test_inside_an_allocation_the_commands_take_srun_and_mpirun(slurm, mpi, tmp_path):
    srun = f"srun {PMI[mpi.flavour]}"
    _, told = slurm.batch(f"""set -e
        tutti tune --mpirun "{srun}" --collective bcast --bytes 8..64 --budget 2s --output rules.json
        tutti rules check rules.json
        tutti check --mpirun "{srun}" --distribution same --block 1 --repetitions 5 || test $? = 1
        tutti run --compare --rounds 1 -- {srun} {particles(mpi)}
        tutti run --gatherv ordered_tree --report run.json -- {mpi.mpirun} -n 2 {particles(mpi)}""",
        cwd=tmp_path)  # fmt: skip
    assert "in collectives: " in told and "violated" in told
    assert seen(tmp_path / "run.json")[2] == "ordered_tree"


def test_the_doctor_names_the_pmi_of_each_mpi(slurm, tmp_path):
    (command,) = re.findall(r"^salloc .*tutti doctor$", (ROOT / "docs/howto/with-slurm.md").read_text(), re.MULTILINE)
    told = " ".join(slurm.run(*command.split(), cwd=tmp_path).split())
    for mpi, name in (("openmpi", "Open MPI"), ("mpich", "MPICH")):
        if mpi in map(str, MPIS):
            assert re.search(rf"{name} [0-9.]+: srun {PMI[mpi]} starts its ranks", told), told
    assert "salloc --ntasks=2 tutti doctor" in slurm.run("tutti", "doctor", cwd=tmp_path)


def test_the_doctor_needs_no_mpirun(slurm, tmp_path):
    words = ("salloc", "--ntasks=2", PREFIX / "bin/tutti", "doctor")
    told = " ".join(slurm.run(*words, cwd=tmp_path, PATH=f"{slurm.files}/bin").split())
    assert re.search(r"[0-9.]+: srun --mpi=\w+ starts its ranks", told), told
    assert "here: tutti run -- srun -n 2 ./app" in told


@pytest.mark.parametrize(
    ("partition", "settings", "options", "is_under_tutti"),
    [
        ("tutti", {}, [], True),
        ("other", {}, [], False),
        ("tutti", {"TUTTI": "off"}, [], False),
        ("tutti", {}, ["--export=ALL,TUTTI=off"], False),
    ],
)
def test_the_prolog_switches_a_partition_on_unless_the_job_switches_it_off(
    slurm, partition, settings, options, is_under_tutti, tmp_path
):
    mpi = MPIS[0]
    job, _ = slurm.batch(f"srun {PMI[mpi.flavour]} {particles(mpi)}", f"--partition={partition}", *options,
                         cwd=tmp_path, TUTTI_REPORT="run-%j.json", **settings)  # fmt: skip
    assert (tmp_path / f"run-{job}.json").exists() == is_under_tutti
