"""tutti run: the command for each launcher."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tutti import launcher, mpis, programs
from tutti.commands.run import prepare
from tutti.console import Refusal

VERSIONS = {
    "mpirun": "mpirun (Open MPI) 4.1.4\n",
    "prterun": "prterun (PRRTE) 3.0.5\n",
    "mpirun.openmpi": "mpirun.openmpi (OpenRTE) 4.1.4\n",
    "mpiexec": "HYDRA build details:\n    Version: 4.0.2\n",
    "mpiexec.hydra": "Intel(R) MPI Library for Linux* OS, Version 2021.18\n",
}


def version(program):
    return VERSIONS.get(program.rsplit("/", 1)[-1], "")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["mpirun", "-n", "4", "./app"], (0, "openmpi")),
        (["/opt/ompi/bin/prterun", "./app"], (0, "openmpi")),
        (["mpirun.openmpi", "./app"], (0, "openmpi")),
        (["mpiexec", "./app"], (0, "hydra")),
        (["mpiexec.hydra", "./app"], (0, "hydra")),
        (["srun", "./app"], (0, "slurm")),
        (["timeout", "60", "mpirun", "./app"], (2, "openmpi")),
        (["env", "A=1", "mpiexec", "./app"], (2, "hydra")),
        (["jsrun", "./app"], (0, "other")),
        (["flux", "-v", "run", "-n", "2", "./app"], (2, "other")),
    ],
)
def test_finds_the_launcher(command, expected):
    found = launcher.find(command, version)
    assert (found.index, found.kind) == expected


@pytest.mark.parametrize(
    "command",
    [
        ["./app"], ["./app", "mpirun"], ["python3", "mpirun.py"],
        ["timeout", "60", "sh", "mpirun"], ["nice", "-n", "5", "sh", "-c", "mpirun"],
    ],
)  # fmt: skip
def test_a_program_is_no_launcher(command):
    assert launcher.find(command, version) is None


@pytest.mark.parametrize("words", [["--compare"], ["--report", "run.html"], ["--report", "run.HTM", "--off"]])
@pytest.mark.parametrize(("submit", "wait"), [("sbatch", "--wait"), ("bsub", "-K"), ("flux submit", "--wait"), ("flux batch", "")])
def test_what_needs_the_end_of_the_job_is_refused_if_it_is_submitted(command, installed, words, submit, wait):
    shown = command("run", *words, "--", *submit.split(), "job.sh")
    assert shown.status != 0 and f"{submit} ends before the job has run" in shown.err
    assert (f"or {submit} {wait}" in shown.err) == bool(wait) and f"tutti: {words[0]}" in shown.err


def passed(*command, **environment):
    found = launcher.find(command, version)
    return launcher.pass_on(command, found, {"LD_PRELOAD": "/t.so", "TUTTI": "on"}, environment)


def test_open_mpi_gets_the_variables_to_export():
    words = ["-x", "LD_PRELOAD", "-x", "TUTTI"]
    assert passed("mpirun", "-n", "2", "./a") == ["mpirun", *words, "-n", "2", "./a"]
    assert passed("nice", "mpirun", "./a") == ["nice", "mpirun", *words, "./a"]
    several = ["mpirun", *words, "-n", "1", "./a", ":", *words, "-n", "2", "./b"]
    assert passed("mpirun", "-n", "1", "./a", ":", "-n", "2", "./b") == several  # as each has its own


def test_open_mpis_file_of_programs_must_pass_the_variables_on(tmp_path):
    """With --app, mpirun ignores the options beside it; ranks on its own node inherit its environment."""
    file = tmp_path / "apps"
    here, there = ["mpirun", "--app", str(file)], ["mpirun", "-H", "a,b", "--app", str(file)]
    file.write_text("# two programs\n-n 1 ./a\n\n-n 2 -x  LD_PRELOAD -x TUTTI ./b\n")
    with pytest.raises(Refusal, match=f'--app {file}: .* "-x LD_PRELOAD -x TUTTI" on each line'):
        passed(*there)
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2"}
    for nodes in (job, {"PBS_NODEFILE": "/nodes"}):
        with pytest.raises(Refusal, match="on each line"):
            passed(*here, **nodes)
    for node in ({}, job | {"SLURM_JOB_NUM_NODES": "1"}):
        assert passed(*here, **node)[-2:] == here[-2:]
    assert passed("mpirun", "sh", "--app", str(file))[-1] == str(file), "an option of the program"
    file.write_text(file.read_text().replace("-n 1", "--hostfile f -x TUTTI=on -x A -x LD_PRELOAD"))
    for name in (str(file), "/none"):
        assert passed("mpirun", "-H", "a,b", "-app", name)[-2:] == ["-app", name]
    file.write_text("-n 1 -H a,b ./a\n")
    with pytest.raises(Refusal, match="on each line"):
        passed(*here)
    file.write_text("-n 1 -x TUTTI -x LD_PRELOAD=/other.so ./a\n")
    with pytest.raises(Refusal, match="LD_PRELOAD=/other.so would preload something"):
        passed(*here)


def test_ranks_of_open_mpis_file_of_programs_inherit_the_variables(tmp_path, monkeypatch):
    mpirun = shutil.which("mpirun.openmpi")
    if mpirun is None:
        pytest.skip("Open MPI is not installed")
    show = tmp_path / "show"
    show.write_text('#!/bin/sh\necho "$TUTTI_GATHER"\n')
    show.chmod(0o755)
    (tmp_path / "apps").write_text(f"-n 1 {show}\n")
    monkeypatch.setenv("TUTTI_GATHER", "ring")
    command = [mpirun, "--app", str(tmp_path / "apps")]
    made = launcher.pass_on(command, launcher.find(command), launcher.ours(os.environ), {})
    done = subprocess.run(made, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "ring\n"


@pytest.mark.parametrize("words", ["./a", "-genvnone ./a", "-genvlist A ./a", "-n 1 -envnone ./a : ./b", "-configfile f"])
def test_hydra_sets_the_variables_whatever_it_exports(words):
    ours = ["-genv", "LD_PRELOAD", "/t.so", "-genv", "TUTTI", "on"]
    assert passed("mpiexec", *words.split()) == ["mpiexec", *ours, *words.split()]


@pytest.mark.parametrize("words", ["-n 1", "-genvnone -n 1", "-n 1 -envnone", "-n 1 -envlist HOME", "-configfile"])
@pytest.mark.parametrize("inherited", ["all", "none"])
def test_hydra_passes_the_variables_on_to_other_nodes(words, inherited, tmp_path, monkeypatch):
    """Here each node has an empty environment of its own, as by ssh."""
    mpiexec = shutil.which("mpiexec.mpich")
    if mpiexec is None:
        pytest.skip("MPICH is not installed")
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done; shift\nexec env -i PATH="$PATH" sh -c "$*"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("HYDRA_ENV", inherited)
    monkeypatch.setenv("TUTTI_GATHER", "ring; \"x")
    options = ["-launcher", "ssh", "-launcher-exec", str(ssh), "-hosts", "192.0.2.1", *words.split()]
    show, programs = tmp_path / "show", tmp_path / "programs"
    show.write_text('#!/bin/sh\necho "$TUTTI_GATHER"\n')
    show.chmod(0o755)
    programs.write_text(f"-n 1 -envnone {show}\n")
    command = [mpiexec, *options, str(programs if words == "-configfile" else show)]
    made = launcher.pass_on(command, launcher.find(command), launcher.ours(os.environ), {})
    done = subprocess.run(made, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "ring; \"x\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--export=ALL", "--export=ALL"),
        ("--export=all,A=1", "--export=all,A=1"),
        ("--export=A", "--export=A,LD_PRELOAD,TUTTI"),
        ("--export=ALLOWED=1", "--export=ALLOWED=1,LD_PRELOAD,TUTTI"),
        ("--export=NONE", "--export=LD_PRELOAD,TUTTI"),
        ("--export=nil", "--export=LD_PRELOAD,TUTTI"),
        ("--export A", "--export A,LD_PRELOAD,TUTTI"),
        ("-n 4 --mpi pmix --export=A", "-n 4 --mpi pmix --export=A,LD_PRELOAD,TUTTI"),
    ],
)
def test_srun_exports_everything_unless_told_otherwise(given, expected):
    assert passed("srun", *given.split(), "./a") == ["srun", *expected.split(), "./a"]


@pytest.mark.parametrize(
    ("inherited", "added"),
    [
        ("", []),
        ("ALL", []),
        ("NONE", ["--export=LD_PRELOAD,TUTTI"]),
        ("A,B=1", ["--export=A,B=1,LD_PRELOAD,TUTTI"]),
    ],
)
@pytest.mark.parametrize(
    ("command", "variable"),
    [("srun -n 4 ./a", "SLURM_EXPORT_ENV"), ("sbatch -n 4 job.sh", "SBATCH_EXPORT")],
)
def test_slurm_inherits_what_its_environment_exports(command, variable, inherited, added):
    first, *rest = command.split()
    assert passed(first, *rest, **{variable: inherited}) == [first, *added, *rest]
    own = [first, "--export=ALL", *rest]
    assert passed(*own, **{variable: inherited}) == own, "an option precedes the environment"


def test_no_variable_changes_no_export():
    command = ["srun", "--export=NONE", "./a"]
    found = launcher.find(command, version)
    assert launcher.pass_on(command, found, {}, {"SLURM_EXPORT_ENV": "NONE"}) == command


@pytest.mark.parametrize("options", [[], ["-n", "4"], ["-n4"], ["--ntasks=4", "--mpi", "pmix"]])
def test_an_export_of_the_program_is_its_own(options):
    command = ["srun", *options, "./a", "--export=NONE"]
    assert passed(*command) == command


@pytest.mark.parametrize("flag", ["--exclusive", "--label", "-l", "-u", "-K", "-I", "--nice", "--x11", "--bcast"])
def test_an_option_without_value_takes_no_word_of_the_program(flag):
    assert passed("srun", flag, "./a", "--export=x") == ["srun", flag, "./a", "--export=x"]


@pytest.mark.parametrize("flag", ["--oversubscribe", "-report-bindings", "-q", "--map-by=node"])
def test_an_option_without_value_of_open_mpi_takes_no_word_of_the_program(flag, tmp_path):
    (tmp_path / "config").write_text("-n 1 ./a\n")
    words = [flag, "sh", "--app", str(tmp_path / "config")]
    assert passed("mpirun", *words, SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="2")[-4:] == words


@pytest.mark.parametrize(("command", "options"), [
    ("flux run -n 64 ls -in x", ["-n", "64"]),
    ("mpirun --hostfile h -n 64 ls", ["--hostfile", "h", "-n", "64"]),
    ("mpirun -n 2 --allow-run-as-root ls sh", ["-n", "2", "--allow-run-as-root"]),
    ("mpirun -n 2 --oversubscribe ls -l sh", ["-n", "2", "--oversubscribe"]),
    ("srun -N 4 -n 64 --mpi=pmix ls -l", ["-N", "4", "-n", "64", "--mpi=pmix"]),
    ("env A=1 srun -n2 none", ["-n2"]),
    ("mpirun -n 2 sh : -n 2 ls", None),
    ("mpirun -n 2 none", None),
])  # fmt: skip
def test_the_options_of_a_launcher_end_before_the_program(command, options):
    words = command.split()
    assert launcher.options_of(words, launcher.find(words, version)) == options


def test_each_part_of_a_heterogeneous_step_exports_the_variables():
    assert passed("srun", "-n1", "--export=A", "./a", ":", "./b", ":", "--export=B", "./c") == [
        "srun", "-n1", "--export=A,LD_PRELOAD,TUTTI", "./a", ":", "./b", ":", "--export=B,LD_PRELOAD,TUTTI", "./c",
    ]  # fmt: skip


def test_a_script_that_is_submitted_gets_the_variables():
    assert passed("sbatch", "job.sh") == ["sbatch", "job.sh"]
    assert passed("sbatch", "--wait", "--export=NONE", "job.sh", "--export=NONE") == [
        "sbatch", "--wait", "--export=LD_PRELOAD,TUTTI", "job.sh", "--export=NONE",
    ]  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), [
    ("sbatch job.sh", True),
    ("env A=1 /usr/bin/sbatch -n 2 job.sh", True),
    ("sbatch -W job.sh", False),
    ("sbatch --wait job.sh", False),
    ("sbatch -n 4 -W job.sh", False),
    ("sbatch job.sh -W", True),
    ("timeout 10s env A=b sbatch job.sh", True),
    ("flux batch job.sh", True),
    ("flux -v submit -n 2 ./app --wait", True),
    ("flux submit -n 2 --wait ./app", False),
    ("flux run ./app", False),
    ("flux", False),
    ("bsub -gpu num=1 -q normal sh -K", True),
    ("bsub -gpu num=1 -K sh", False),
    ("time mpirun ./app sbatch", False),
    ("srun ./sbatch", False),
])  # fmt: skip
def test_what_is_submitted_is_known_by_its_first_word(command, expected):
    assert bool(launcher.early_end(command.split())) is expected


@given(st.lists(st.text("abc-/", min_size=1), min_size=1))
def test_the_programs_own_words_are_kept(words):
    assert passed("mpirun", *words)[-len(words) :] == words


def environment(**more):
    return {"PATH": "/usr/bin:/bin", **more}


def test_ours_is_preloaded_before_what_the_user_preloads(installed):
    start = prepare(["true"], {"TUTTI_GATHERV": "traff"}, environment(LD_PRELOAD="/lib/other.so"))
    assert start.environment["LD_PRELOAD"] == f"{installed}/lib/libtutti.so:/lib/other.so"
    assert start.environment["TUTTI_GATHERV"] == "traff"
    assert start.command == ["true"]


def test_the_programs_come_last_on_the_path(installed):
    (installed / "bin/tutti-bench").touch()
    start = prepare(["true"], {}, environment())
    assert start.environment["PATH"] == f"/usr/bin:/bin:{installed}/bin"


def test_all_our_settings_are_handed_on(installed, tmp_path):
    mpirun = tmp_path / "mpirun"
    mpirun.write_text("#!/bin/sh\n")
    mpirun.chmod(0o755)
    start = prepare(
        [str(mpirun), "./app"], {"TUTTI_REPORT": "-"}, environment(TUTTI_VERBOSE="on"), version
    )
    assert start.command == [
        str(mpirun), "-x", "LD_PRELOAD", "-x", "TUTTI_REPORT", "-x", "TUTTI_VERBOSE", "./app",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"TUTTI_GATHRV": "linear"}, "did you mean TUTTI_GATHERV?"),
        ({"TUTTI_NONSENSE_AT_ALL_XYZ": "1"}, "list: tutti info"),
        ({"TUTTI_GATHERV": "knomial:k=1"}, "k=1: expected an integer of at least 2"),
    ],
)
def test_wrong_settings_are_refused(installed, variables, text):
    with pytest.raises(Refusal, match=re.escape(text)):
        prepare(["true"], {}, environment(**variables))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("mpirun -n 1 -x LD_PRELOAD=/x.so ./a", "-x LD_PRELOAD=/x.so"),
        ("mpirun -n 1 ./a : -x LD_PRELOAD=/x.so ./b", "-x LD_PRELOAD=/x.so"),
        ("mpiexec -genv LD_PRELOAD /x.so ./a", "-genv LD_PRELOAD"),
        ("mpiexec -env LD_PRELOAD=/x.so ./a", "-env LD_PRELOAD=/x.so"),
        ("srun --export=ALL,LD_PRELOAD=/x.so ./a", "--export=ALL,LD_PRELOAD=/x.so"),
        ("srun ./a : --export LD_PRELOAD=/x.so,A ./b", "--export=LD_PRELOAD=/x.so,A"),
        ("sbatch --export=LD_PRELOAD=/x.so job.sh", "--export=LD_PRELOAD=/x.so"),
        ("jsrun -E LD_PRELOAD=/x.so ./a", "-E LD_PRELOAD=/x.so"),
    ],
)
def test_an_option_that_would_replace_what_is_preloaded_is_refused(words, text):
    with pytest.raises(Refusal, match=re.escape(f"{text} would preload")):
        passed(*words.split())
    found = launcher.find(words.split(), version)
    launcher.pass_on(words.split(), found, {"TUTTI": "on"}, {})  # preloads nothing itself


@pytest.mark.parametrize(
    "words",
    [
        "mpirun -x LD_PRELOAD ./a", "mpirun -x A=1 -n 1 bash -c LD_PRELOAD=/x.so", "srun --export=LD_PRELOAD ./a",
        "srun ./a --export=LD_PRELOAD=/x.so", "mpirun -n 1 env --env LD_PRELOAD=/x.so ./a", 
        "mpiexec -genvlist LD_PRELOAD ./a", "jsrun --env LD_PRELOAD ./a", "./a -x LD_PRELOAD=/x.so",
    ],
)  # fmt: skip
def test_what_passes_on_the_environments_preload_is_kept(words):
    left = iter(passed(*words.split()))
    assert all(word in left for word in words.split() if word != "--export=LD_PRELOAD")  # in this order


@pytest.mark.parametrize("name", ["mpirun", "mpiexec", "srun", "jsrun"])
def test_a_launcher_without_words_is_kept(name):
    assert passed(name, ":")[0] == passed(name)[0] == name


def test_what_slurm_inherits_replaces_no_preload():
    assert passed("srun", "./a", SLURM_EXPORT_ENV="ALL,LD_PRELOAD=/x.so")[1] == "--export=ALL"


@pytest.mark.parametrize("of", [launcher.version_of, lambda file: programs.libraries_of(Path(file))])
def test_what_programs_print_need_not_be_utf_8(of, tmp_path, monkeypatch):
    for name in ("mpirun", "ldd"):
        (tmp_path / name).write_text("#!/bin/sh\nprintf 'Open MPI \\351\\n'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert of(str(tmp_path / "mpirun")) == "Open MPI \ufffd\n"


def test_what_a_library_says_need_not_be_utf_8(tmp_path, monkeypatch):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nprintf 'Open MPI v4.1.4 \\351\\n'\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert mpis.recognise(mpis.said_by(tmp_path / "libmpi.so")) == ("openmpi", "4.1.4")


def test_a_named_folder_is_preloaded_in_any_folder(installed, monkeypatch):
    monkeypatch.chdir(installed)
    monkeypatch.setenv("TUTTI_LIBRARY_DIR", "lib")
    start = prepare(["true"], {}, environment())
    assert start.environment["LD_PRELOAD"] == f"{installed}/lib/libtutti.so"


@pytest.mark.parametrize("name", ["a b", "a:b"])
def test_a_folder_that_cannot_be_preloaded_is_refused(tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "libtutti.so").touch()
    monkeypatch.setenv("TUTTI_LIBRARY_DIR", str(tmp_path / name))
    with pytest.raises(Refusal, match=f"{name}/libtutti.so: LD_PRELOAD takes no path with a blank or a colon"):
        prepare(["true"], {}, environment())


def test_what_is_missing_is_named(installed):
    with pytest.raises(Refusal, match="no-such-program: no such program"):
        prepare(["no-such-program"], {}, environment())
    (installed / "app").touch()
    with pytest.raises(Refusal, match="app: not executable"):
        prepare([str(installed / "app")], {}, environment())
    (installed / "lib/libtutti.so").unlink()
    with pytest.raises(Refusal, match="no libtutti.so in lib/ beside the package"):
        prepare(["true"], {}, environment())


def test_a_named_folder_counts_alone(installed, monkeypatch):
    monkeypatch.setenv("TUTTI_LIBRARY_DIR", "/nowhere")
    with pytest.raises(Refusal, match="TUTTI_LIBRARY_DIR=/nowhere"):
        prepare(["true"], {}, environment(TUTTI_LIBRARY_DIR="/nowhere"))
