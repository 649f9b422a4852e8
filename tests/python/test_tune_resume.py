"""The file from which `tutti tune --resume` continues, with a simulated tutti-bench."""

from __future__ import annotations

import errno
import fcntl
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from simulated_bench import JOB, Bench, invoke, simulated
from tutti import _engine, tuning_run
from tutti.refusal import Refusal
from tutti.tuning import Job


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return simulated(monkeypatch)


def test_an_interrupted_tuning_is_resumed(bench: Bench, tmp_path: Path) -> None:
    output = tmp_path / "rules.json"
    words = ["--output", str(output), "--collective", "bcast"]
    bench.fail_after = 4  # the barrier and three sizes of the scan
    done = invoke(*words)
    assert done.exit_code != 0
    assert f"--resume continues from {output}.state" in " ".join(done.stderr.split())
    assert not output.exists()
    before = len(bench.machine.runs)
    bench.fail_after = -1
    assert invoke(*words, "--resume").exit_code == 0
    keys = [json.dumps(run) for run in bench.machine.runs]
    tuning_runs = [key for key in keys if '"auto"' not in key]
    assert before == 3
    assert len(tuning_runs) == len(set(tuning_runs))  # nothing was measured again
    assert output.exists()


def test_a_longer_budget_continues_a_finished_tuning(bench: Bench, tmp_path: Path) -> None:
    output, state = tmp_path / "rules.json", tmp_path / "rules.json.state"
    words = ["--output", str(output), "--collective", "bcast"]
    assert invoke(*words, "--budget", "1h").exit_code == 0
    assert state.exists() and output.exists()
    first = [run for run in bench.machine.runs if "auto" not in run[2]]
    bench.machine.runs.clear()
    assert invoke(*words, "--budget", "90m", "--resume").exit_code == 0
    assert first and not [run for run in bench.machine.runs if "auto" not in run[2]]
    # Without --resume a tuning begins anew, and one without a budget leaves nothing to continue.
    assert invoke(*words).exit_code == 0
    assert [run for run in bench.machine.runs if "auto" not in run[2]]
    assert list(tmp_path.iterdir()) == [output]


def test_a_finished_tuning_of_other_calls_is_replaced_also_with_resume(
    bench: Bench, tmp_path: Path
) -> None:
    output, state = tmp_path / "rules.json", tmp_path / "rules.json.state"
    words = ["--output", str(output), "--collective", "bcast", "--budget", "1h", "--resume", "--bytes"]
    assert invoke(*words, "8..1K").exit_code == 0
    kept = state.read_text()
    bench.fail_after = 1
    done = invoke(*words, "8..4K")
    # Nothing of the new tuning is kept so far.
    assert done.exit_code != 0 and "continues from" not in done.stderr and state.read_text() == kept
    bench.fail_after = -1
    done = invoke(*words, "8..4K")
    assert done.exit_code == 0, done.output
    assert f"{state} is of another tuning, which has finished: this one begins anew" in done.stderr
    assert json.loads(state.read_text())["bytes"] == [8, 4096]


def test_a_continued_tuning_that_is_interrupted_counts_as_such(bench: Bench, tmp_path: Path) -> None:
    output = tmp_path / "rules.json"
    words = ["--output", str(output), "--bytes", "8..1K", "--budget", "1h", "--collective"]
    assert invoke(*words, "bcast").exit_code == 0
    bench.fail_after = 3
    assert invoke(*words, "reduce", "--resume").exit_code != 0
    bench.fail_after = -1
    assert "has the runs of an interrupted tuning" in str(invoke(*words, "reduce").exception)


def test_two_tunings_do_not_write_the_same_rules(bench: Bench, tmp_path: Path) -> None:
    output = tmp_path / "rules.json"
    with tuning_run.alone(output):
        assert "another tutti tune is writing these rules" in str(invoke("--output", str(output)).exception)
    assert invoke("--output", str(output), "--collective", "bcast", "--bytes", "8..1K").exit_code == 0
    assert list(tmp_path.iterdir()) == [output]


def test_the_job_names_the_machine_of_a_state() -> None:
    metadata = {"ranks": "8", "nodes": "2", "ranks of a node": "4", "library": "MPI", "processor": "P",
                "cores of a node": "16", "network": "ethernet 1000 Mb/s"}  # fmt: skip
    job = tuning_run.job_of(lambda words, settings: {"metadata": metadata})
    network = "ethernet 1000 Mb/s"
    assert job == Job(8, 2, 4, "MPI", f"P, 16 cores, {network}", network, 16)


def test_runs_that_a_budget_cut_short_serve_no_much_longer_one(tmp_path: Path) -> None:
    runs: list[list[str]] = []

    def run(words: list[str], *_: Any) -> Any:
        runs.append(words)
        samples = [1.0] * (5 if "--budget" in words else 12)
        return {"rows": [{"algorithms": [{"name": "native", "samples_us": samples}]}]}

    measure = tuning_run.measuring(run, tuning_run.State(tmp_path / "state", {}, False))
    for seconds in (1.0, 0.9, 1.5, 60.0, 55.0, 0.0, 0.0):
        measure("bcast", [8], ["native"], 12, seconds, 300)
    assert ["--budget" in words for words in runs] == [True, True, False]


def test_a_state_of_another_tuning_is_refused(bench: Bench, tmp_path: Path) -> None:
    output = tmp_path / "rules.json"
    state = tmp_path / "rules.json.state"
    state.write_text(json.dumps({"schema": tuning_run.STATE_SCHEMA, "mpirun": "mpirun -n 4"}))
    done = invoke("--output", str(output), "--resume")
    assert "mpirun mpirun -n 4, this run has mpirun -n 8" in str(done.exception)
    identity = {"mpirun": "mpirun -n 8", "bytes": [8, 4 << 20], "report": "", **asdict(JOB),
                "version": _engine.version, "settings": tuning_run.settings()}  # fmt: skip
    moved = {**identity, "nodes": 4}
    state.write_text(json.dumps({"schema": tuning_run.STATE_SCHEMA, **moved}))
    assert "nodes 4, this run has 1" in str(invoke("--output", str(output), "--resume").exception)
    state.write_text(json.dumps({"schema": tuning_run.STATE_SCHEMA, **identity}))
    assert "runs: expected an object" in str(invoke("--output", str(output), "--resume").exception)


def test_without_an_interrupted_tuning_resume_begins_one(bench: Bench, tmp_path: Path) -> None:
    """A script of a batch system gives the same command each time."""
    output = tmp_path / "rules.json"
    words = ["--output", str(output), "--collective", "bcast", "--bytes", "8..1K", "--resume"]
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    assert f"nothing to resume, as there is no {output}.state: the tuning begins" in done.stderr
    assert output.exists()


def test_resume_without_an_interrupted_tuning_keeps_the_default_output(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.json").write_text("mine")
    said = str(invoke("--collective", "bcast", "--resume").exception)
    assert said.startswith("rules.json exists")
    assert (tmp_path / "rules.json").read_text() == "mine"


def test_a_state_of_other_settings_is_refused_by_the_variables_that_differ(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("FI_PROVIDER", "PRTE_MCA_rmaps_default_mapping_policy"):
        monkeypatch.setenv(name, "slot")
    former = tuning_run.settings()
    tuning_run.State(tmp_path / "state", {"settings": former}, False).put("a run", [], 0)
    monkeypatch.delenv("PRTE_MCA_rmaps_default_mapping_policy")
    # What a tuning sets itself does not count, nor a folder that it does not read.
    without = ("TUTTI_REPORT", "TUTTI_CACHE_DIR")
    for name in ("MPICH_OFI_NIC_POLICY", "MV2_USE_CUDA", "MVP_USE_CUDA", *without):
        monkeypatch.setenv(name, "1")
    with pytest.raises(Refusal) as refused:
        tuning_run.State(tmp_path / "state", {"settings": tuning_run.settings()}, True)
    assert str(refused.value) == (
        f"--resume: {tmp_path}/state has settings no MPICH_OFI_NIC_POLICY, no MV2_USE_CUDA, "
        "no MVP_USE_CUDA, PRTE_MCA_rmaps_default_mapping_policy=slot, this run has "
        "MPICH_OFI_NIC_POLICY=1, MV2_USE_CUDA=1, MVP_USE_CUDA=1, "
        "no PRTE_MCA_rmaps_default_mapping_policy"
    )


@pytest.mark.parametrize(
    ("name", "words", "text"),
    [
        (".rules.json.lock", [], ".rules.json.lock: Is a directory"),
        ("rules.json.state", ["--resume"], "--resume: {}/rules.json.state: Is a directory"),
    ],
)
def test_a_file_of_the_tuning_that_cannot_be_used_is_named(
    bench: Bench, tmp_path: Path, name: str, words: list[str], text: str
) -> None:
    (tmp_path / name).mkdir()
    done = invoke("--output", str(tmp_path / "rules.json"), "--collective", "bcast", *words)
    assert text.format(tmp_path) in str(done.exception)
    assert not (tmp_path / "rules.json").exists()


def test_files_of_the_user_beside_the_rules_stay(bench: Bench, tmp_path: Path) -> None:
    names = [f"rules.json.{end}" for end in ("lock", "unchecked", "state.new")]
    for name in names:
        (tmp_path / name).write_text("mine")
    assert invoke("--output", str(tmp_path / "rules.json"), "--collective", "bcast").exit_code == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(["rules.json", *names])
    assert all((tmp_path / name).read_text() == "mine" for name in names)


def test_a_state_that_is_no_json_is_not_resumed(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("{")
    with pytest.raises(Refusal, match="--resume: .*/state: invalid JSON: "):
        tuning_run.State(tmp_path / "state", {}, True)


def test_without_locks_a_tuning_runs_unprotected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    with tuning_run.alone(tmp_path / "rules.json"), tuning_run.alone(tmp_path / "rules.json"):
        pass
    assert not list(tmp_path.iterdir())


def test_without_resume_an_interrupted_tuning_is_kept(bench: Bench, tmp_path: Path) -> None:
    output, state = tmp_path / "rules.json", tmp_path / "rules.json.state"
    words = ["--output", str(output), "--collective", "bcast"]
    bench.fail_after = 3
    assert invoke(*words).exit_code != 0
    kept = state.read_text()
    bench.fail_after, bench.runs = -1, []
    said = str(invoke(*words).exception)
    assert said == (
        f"{state} has the runs of an interrupted tuning: continue it with --resume, or remove the file "
        "to tune anew"
    )
    assert not bench.runs and state.read_text() == kept
    state.unlink()
    assert invoke(*words).exit_code == 0
    assert list(tmp_path.iterdir()) == [output]
