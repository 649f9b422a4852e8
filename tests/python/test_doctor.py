"""`tutti doctor` finds what is wrong, and names the fix."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from installed import PREFIX, environment, mpis
from tutti import diagnosis, launcher
from tutti.diagnosis import Finding
from tutti.mpis import Mpi

OPENMPI = Mpi("openmpi", "4.1.4", "/usr/bin/mpirun")


def states(found) -> dict[str, str]:
    return {one.what: one.state for one in found}


@pytest.fixture
def launchers(monkeypatch):
    """Makes launchers with these versions the only ones on PATH."""

    def make(texts: dict[str, str]) -> None:
        paths = {name: f"/opt/{name}" for name in texts}
        monkeypatch.setattr(diagnosis.shutil, "which", lambda name, **_: paths.get(name))
        monkeypatch.setattr(launcher, "version_of", lambda path: texts[path.rsplit("/", 1)[1]])

    return make


def test_each_mpi_is_found_once(launchers):
    open_mpi = "mpirun (Open MPI) 4.1.4"
    launchers({"mpirun.openmpi": open_mpi, "mpirun": open_mpi, "mpiexec": "HYDRA Version: 4.0.2"})
    assert [str(one) for one in diagnosis.launchers()] == ["Open MPI 4.1.4", "MPICH 4.0.2"]


def test_a_machine_without_mpi_has_a_problem_with_a_fix(command, launchers, installed):
    launchers({})
    shown = command("doctor", "--json")
    parsed = json.loads(shown.out)
    (mpi,) = [one for one in parsed["findings"] if one["what"] == "MPI"]
    assert shown.status == 1 and mpi["state"] == "problem" and "install an MPI" in mpi["fix"]
    assert parsed["verdict"].startswith("1 problem")


def test_where_srun_is_the_only_launcher_the_loader_finds_the_mpi(launchers, installed, monkeypatch):
    def trial(one, *start):
        tried.append((str(one), *start))
        return Finding("run", "good", "2 ranks ran under Tutti")

    tried = []
    monkeypatch.setattr(diagnosis, "_trial", trial)
    monkeypatch.delenv("SLURM_STEP_ID", raising=False)
    monkeypatch.setenv("SLURM_NTASKS", "2")
    libraries = {"libmpi.so.12": "MPICH Version: 4.1.2"}
    monkeypatch.setattr(diagnosis.mpis, "said_by", lambda library: libraries.get(library.name, ""))
    launchers({"srun": "slurm 22.05.8"})
    found = list(diagnosis.findings(True))
    (mpi,) = [one for one in found if one.what == "MPI"]
    assert (mpi.state, mpi.text) == ("good", "MPICH 4.1.2 (/opt/srun), backend mpich")
    assert tried == [("MPICH 4.1.2", "srun", "--overlap")], "no mpirun, and nothing outside of the job"
    assert diagnosis.verdict(found) == "Tutti runs programs of MPICH 4.1.2 here: tutti run -- srun -n 2 ./app"
    monkeypatch.setattr(diagnosis, "_trial", lambda *_: Finding("run", "problem", ""))
    (srun,) = [one for one in diagnosis.findings(True) if one.what == "srun"]
    assert srun.fix == "an MPI built for Slurm's PMI"
    libraries.clear()
    found = list(diagnosis.findings(True))
    (mpi,) = [one for one in found if one.what == "MPI"]
    assert mpi.state == "note" and "tutti run -- srun" in mpi.fix
    assert diagnosis.verdict(found) == "No problem was found; nothing was run."


def test_missing_libraries_come_from_the_source_tree(monkeypatch, tmp_path):
    monkeypatch.setenv("TUTTI_LIBRARY_DIR", str(tmp_path))
    found = diagnosis._libraries()
    assert found.state == "problem" and "pip install . " in found.fix


def test_an_mpi_without_backend_is_a_problem(launchers, installed):
    (installed / "lib/libtutti-openmpi.so").unlink()
    launchers({"mpirun": "mpirun (Open MPI) 4.1.4"})
    found = {one.what: one for one in diagnosis.findings(False)}
    assert found["MPI"].state == "problem" and "no backend" in found["MPI"].text


RULES_FIX = "mend the file; or unset TUTTI_RULES, if that names it, or set it to none"


def test_each_wrong_setting_is_one_problem(command, launchers, installed, monkeypatch, tmp_path):
    launchers({"mpirun": "mpirun (Open MPI) 4.1.4"})
    (tmp_path / "broken.json").write_text("{")
    wrong = {"TUTTI_GATHERV": "bogus", "TUTTI_GATER": "1", "TUTTI_RULES": str(tmp_path / "broken.json")}
    for name, value in {**wrong, "TUTTI_BCAST": "linear"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(diagnosis, "_library_of", lambda _: Path("libmpi.so"))
    parsed = json.loads(command("doctor", "--json").out)
    fixes = [one["fix"] for one in parsed["findings"] if one["state"] == "problem"]
    assert fixes == ["unset TUTTI_GATER", "unset TUTTI_GATHERV", RULES_FIX]
    assert parsed["verdict"].startswith("3 problems")


DISTANCES = '{"schema": "tutti-distances-1", "unit": "us", "measured": [{"matrix": [[0, 1], [1, 0]]}]}'


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (DISTANCES, []),
        ("{", ["invalid TUTTI_DISTANCES="]),
        (None, ["invalid TUTTI_GATHERV=binomial:order=distance: "]),
    ],
)
def test_an_order_by_distance_is_checked_with_its_distances(monkeypatch, tmp_path, text, wrong):
    for name in [name for name in os.environ if name.startswith("TUTTI")]:
        monkeypatch.delenv(name)
    if text is not None:
        (tmp_path / "distances.json").write_text(text)
        monkeypatch.setenv("TUTTI_DISTANCES", str(tmp_path / "distances.json"))
    for name in ("TUTTI_GATHERV", "TUTTI_SCATTERV"):
        monkeypatch.setenv(name, "binomial:order=distance" if name == "TUTTI_GATHERV" else "linear")
    found = [one.text for one in diagnosis._settings() if one.state == "problem"]
    assert len(found) == len(wrong)
    assert all(map(str.startswith, found, wrong))


@pytest.mark.parametrize(
    ("family", "version", "said", "names"),
    [
        ("openmpi", "4.1.4", "Open MPI v4.1.4, package: Debian", ("libmpi.so.40", "lib/libmpi.so.40")),
        ("intel", "2021.9", "Intel(R) MPI Library 2021.9 for Linux* OS", ("libmpi.so.12", "lib/release/libmpi.so.12")),
    ],
)
def test_the_library_of_an_mpi_is_beside_its_launcher_or_known_to_the_loader(
    monkeypatch, tmp_path, family, version, said, names
):
    monkeypatch.setattr(diagnosis.mpis, "said_by", lambda library: "" if "mpich" in library.name else said)
    one = Mpi(family, version, str(tmp_path / "bin/mpirun"))
    assert diagnosis._library_of(one) == Path(names[0])
    beside = tmp_path / names[1]
    beside.parent.mkdir(parents=True)
    beside.touch()
    assert diagnosis._library_of(one) == beside
    said = "MPICH Version: 4.0.2"
    assert diagnosis._library_of(one) is None
    assert "not tried" in diagnosis._trial(one, one.mpirun).text


@pytest.mark.parametrize(
    ("variable", "what", "fix"),
    [
        ("TUTTI_GATHERV=bogus", "settings", "unset TUTTI_GATHERV"),
        ("TUTTI_RULES=/none", "rules", RULES_FIX),
        ("TUTTI_RULES=/\udcff", "rules", RULES_FIX),
        ("LD_PRELOAD=/none/libx.so", "LD_PRELOAD", "unset LD_PRELOAD"),
    ],
)
def test_the_environment_is_checked(command, installed, monkeypatch, variable, what, fix):
    monkeypatch.setenv(*variable.split("=", 1))
    found = {one.what: one for one in diagnosis.findings(False)}
    assert (found[what].state, found[what].fix) == ("problem", fix)


@pytest.mark.parametrize(
    ("output", "text", "fix"),
    [
        ("mpirun has detected an attempt to run as root.", "as root", "OMPI_ALLOW_RUN_AS_ROOT=1"),
        ("There are not enough slots available", "fewer than 2 slots", "oversubscribe=1"),
        ("first\nboom\n", "2 ranks fail: boom", "-n 2 hostname"),
    ],
)
def test_refusals_of_the_launcher_are_known(output, text, fix):
    found = diagnosis._failed(OPENMPI, output)
    assert found.state == "problem" and text in found.text and fix in found.fix


@pytest.mark.parametrize(
    ("version", "settings", "state", "fix"),
    [
        ("4.1.4", {}, "note", "--oversubscribe -n 4 ./app, or export OMPI_MCA_rmaps_base_oversubscribe=1"),
        ("5.0.11", {}, "note", "export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"),
        ("4.1.4", {"OMPI_MCA_rmaps_base_oversubscribe": "1"}, "good", ""),
        ("5.0.11", {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}, "good", ""),
        ("4.1.4", {"SLURM_JOB_ID": "7"}, "good", ""),
    ],
)
def test_cores_limit_the_ranks_of_open_mpi(monkeypatch, version, settings, state, fix):
    for name in ("OMPI_MCA_rmaps_base_oversubscribe", "PRTE_MCA_rmaps_default_mapping_policy", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, text in settings.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(diagnosis, "_physical_cores", lambda: 2)
    found = diagnosis._cores([Mpi("openmpi", version, "/usr/bin/mpirun")])
    assert found.state == state and fix in found.fix
    assert ("refuses mpirun -n 3" in found.text) == (state == "note")
    assert diagnosis._cores([Mpi("mpich", "4.0.2", "/usr/bin/mpirun")]).state == "good"


@pytest.mark.parametrize(
    ("works", "text"),
    [("", "srun starts"), ("--mpi=pmi2", "srun --mpi=pmi2 starts"), ("none", "does not start")],
)
def test_inside_a_job_srun_is_tried(monkeypatch, works, text):
    def trial(one, *start):
        ran = works == (start[2] if len(start) > 2 else "")
        return Finding("run", "good" if ran else "problem", "2 ranks ran under Tutti" if ran else "")

    monkeypatch.setattr(diagnosis, "_trial", trial)
    monkeypatch.setenv("SLURM_NTASKS", "2")
    monkeypatch.delenv("SLURM_STEP_ID", raising=False)
    _, found = diagnosis._srun([OPENMPI], True)
    assert text in found.text and (found.state == "note") == (works == "none")
    monkeypatch.setenv("SLURM_STEP_ID", "0")
    assert len(list(diagnosis._srun([OPENMPI], True))) == 1, "a step has no tasks to spare"


@pytest.mark.parametrize("tasks", [None, "", "1"])
def test_outside_a_job_the_doctor_names_the_command_that_tries_srun(monkeypatch, tasks):
    monkeypatch.delenv("SLURM_STEP_ID", raising=False)
    monkeypatch.delenv("SLURM_NTASKS", raising=False)
    if tasks is not None:
        monkeypatch.setenv("SLURM_NTASKS", tasks)
    _, found = diagnosis._srun([OPENMPI], True)
    assert found.state == "note" and found.fix == "salloc --ntasks=2 tutti doctor"
    assert len(list(diagnosis._srun([OPENMPI], False))) == 1


def test_a_signal_to_end_leaves_no_folder(installed, monkeypatch, tmp_path):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(diagnosis, "_library_of", lambda _: Path("libmpi.so"))
    former = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with pytest.raises(KeyboardInterrupt):
            diagnosis._trial(OPENMPI, "sh", "-c", "kill -TERM $PPID; sleep 1")
    finally:
        signal.signal(signal.SIGTERM, former)
    assert not list(Path().iterdir())


@pytest.mark.parametrize(("status", "text"), [(1, "2 ranks fail: boom"), (0, "2 ranks ran, but Tutti saw 0")])
def test_reports_of_ranks_that_ended_early_hide_no_reason(installed, monkeypatch, status, text):
    def run(command, environment):
        Path(environment["TUTTI_REPORT"]).write_text('{"ranks": 1}\n{"ranks": 1}\n')
        return status, "", "boom\n"

    monkeypatch.setattr(diagnosis, "_library_of", lambda _: Path("libmpi.so"))
    monkeypatch.setattr(diagnosis, "_run", run)
    found = diagnosis._trial(OPENMPI, "sh")
    assert found.state == "problem" and text in found.text


def test_a_launcher_that_hangs_can_end_its_ranks(installed, monkeypatch, tmp_path):
    monkeypatch.setattr(diagnosis, "_library_of", lambda _: Path("libmpi.so"))
    monkeypatch.setattr(diagnosis, "_SECONDS", 3)
    script = f"trap 'echo ended > {tmp_path}/said; exit' TERM; sleep 60 & wait"
    found = diagnosis._trial(OPENMPI, "sh", "-c", script)
    assert "2 ranks did not end within 3 s" in found.text
    assert (tmp_path / "said").read_text() == "ended\n"


def test_the_thread_level_matters_for_the_background_thread():
    assert diagnosis._level(OPENMPI, "level 3\nlevel 3\n").state == "good"
    low = diagnosis._level(OPENMPI, "level 3\nlevel 1\n")
    assert low.state == "note" and "MPI_THREAD_FUNNELED" in low.text


def test_the_verdict():
    good = Finding("run", "good", "MPICH 4.0.2: 2 ranks ran")
    assert diagnosis.verdict([good]).startswith("Tutti runs programs of MPICH 4.0.2 here")
    assert diagnosis.verdict([good, Finding("MPI", "problem", "x")]).startswith("1 problem")
    assert diagnosis.verdict([]) == "No problem was found; nothing was run."


def test_it_fits_80_columns(command, monkeypatch, installed):
    monkeypatch.setenv("COLUMNS", "80")
    shown = command("doctor", "--no-run")
    # Only a path may be longer than a line.
    assert all(len(line) <= 80 or "/" in line for line in shown.out.splitlines())


@pytest.mark.parametrize("mpi", mpis() or [None], ids=str)
def test_it_runs_ranks_of_each_mpi(mpi):
    assert mpi, "no build for an MPI; run ./test, or set TUTTI_BUILD"
    done = subprocess.run([PREFIX / "bin/tutti", "doctor", "--json"], env=environment(),
                          capture_output=True, text=True, timeout=180)  # fmt: skip
    parsed = json.loads(done.stdout)
    names = {"openmpi": "Open MPI", "mpich": "MPICH"}
    (ran,) = [one for one in parsed["findings"]
              if one["what"] == "run" and one["text"].startswith(names[mpi.flavour] + " ")]  # fmt: skip
    assert ran["state"] == "good", ran
    assert "2 ranks ran under Tutti; the MPI gives MPI_THREAD_MULTIPLE" in ran["text"]
