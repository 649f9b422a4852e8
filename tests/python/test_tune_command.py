"""`tutti tune` with a simulated tutti-bench that takes its arguments."""

from __future__ import annotations

import errno
import fcntl
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from simulated_bench import JOB, Bench, Machine, linear, spans, tuned
from tutti import _engine, tuning_check, tuning_run
from tutti.bench import RunFailed
from tutti.cli import app
from tutti.commands import tune as command
from tutti.commands import tune_output
from tutti.console import console
from tutti.refusal import Refusal
from tutti.tuning import Job
from tutti.tuning_rules import settle
from typer.testing import CliRunner


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    times = {"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3), "auto": linear(5, 0.5e-3)}
    made = Bench(Machine(times))
    monkeypatch.setattr(tuning_run, "under", lambda mpirun: made)
    return made


def invoke(*words: str) -> Any:
    return CliRunner().invoke(app, ["tune", "--mpirun", "mpirun -n 8", *words])


def test_the_command_writes_rules_and_checks_them(bench: Bench, tmp_path: Path) -> None:
    bench.ran = "chain: rules: measured"
    output, plot = tmp_path / "rules.json", tmp_path / "plot.svg"
    done = invoke(
        "--output", str(output), "--collective", "bcast", "--json", "--plot", str(plot)
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert _engine.rules_from_text(output.read_text(), "").all[0].use == "chain"
    told = json.loads(done.stdout)
    assert told["check"][0]["native_over_rules"] == pytest.approx(2, 0.1)
    assert not any(check["slower_than_native"] for check in told["check"])
    # The tuning runs without any rules, the check with the new ones.
    assert bench.settings[0]["TUTTI_RULES"] == "none"
    assert bench.settings[-1]["TUTTI_RULES"] == f"{output}.unchecked"
    # No run replaces the report of the environment, or is off by it.
    assert {(one.get("TUTTI"), one.get("TUTTI_REPORT")) for one in bench.settings} == {("on", "none")}
    assert "<svg" in plot.read_text()
    assert sorted(tmp_path.iterdir()) == [plot, output]


def test_a_rule_that_the_check_does_not_confirm_becomes_native(
    bench: Bench, tmp_path: Path
) -> None:
    # The scan and the race see chain twice as fast; the check sees it slower from 32 KiB on.
    bench.machine.times["auto"] = lambda size: (5 + 5e-4 * size) * (4 if size >= 32768 else 1)
    bench.ran = "chain: rules: measured"
    output = tmp_path / "rules.json"
    assert invoke("--output", str(output), "--collective", "bcast").exit_code == 0
    read = _engine.rules_from_text(output.read_text(), "").all
    assert [(rule.bytes, rule.use) for rule in read] == [("0..16K", "chain"), ("16385..inf", "native")]


@pytest.mark.parametrize(
    ("small", "use", "refuted"),
    [(30, "native", True), (10.02, "linear", False)],  # native takes 10 us
)
def test_a_rule_for_all_sizes_needs_that_the_check_refutes_none(
    bench: Bench, tmp_path: Path, small: float, use: str, refuted: bool
) -> None:
    # From 32 KiB on linear is faster; below, where it is as fast as native, the check may differ.
    times = {"native": linear(10, 1e-3), "linear": linear(10, 0.4e-3)}
    bench.machine.times = times | {"auto": lambda size: small if size < 2000 else 5 + 0.4e-3 * size}
    bench.ran = "linear: rules: measured"
    output = tmp_path / "rules.json"
    done = invoke("--output", str(output), "--collective", "gatherv", "--bytes", "8..256K", "--json")
    assert done.exit_code == 0, done.output
    assert [one.use for one in _engine.rules_from_text(output.read_text(), "").all] == [use]
    assert {one["refuted"] for one in json.loads(done.stdout)["check"]} == {refuted}


def test_a_check_that_fails_costs_the_rules_of_its_collective_only(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(words: list[str], settings: dict[str, str]) -> dict[str, Any]:
        if words[0] == "bcast" and "auto" in words:
            raise RunFailed("received data differ")
        return bench(words, settings)

    monkeypatch.setattr(tuning_run, "under", lambda mpirun: run)
    bench.ran = "chain: rules: measured"
    output = tmp_path / "rules.json"
    words = ("--output", str(output), "--collective", "bcast,reduce", "--bytes", "8..1K")
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    shown = " ".join(done.stdout.split())
    assert "bcast failed in the check, and its rules are native: received data differ" in shown
    assert "did not suffice" not in shown
    read = _engine.rules_from_text(output.read_text(), "").all
    smallest = {rule.collective: rule.use for rule in reversed(read)}
    assert smallest == {"bcast": "native", "reduce": "chain"}


def test_a_check_in_which_only_the_best_found_fails_keeps_the_rules(tmp_path: Path) -> None:
    times = {"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3), "auto": linear(5, 0.5e-3)}
    tuner = tuned(Machine(times), "bcast")
    bench = Bench(Machine(times))

    def run(words: list[str], settings: dict[str, str]) -> dict[str, Any]:
        if "chain" in words:
            raise RunFailed("exit status 1")
        return bench(words, settings)

    sizes = len(tuner.cells["bcast"])
    assert len(tuning_check.check(tuner, run, tmp_path)) == sizes
    assert tuner.failed == {("bcast", "chain"): "exit status 1"}
    assert not any("chain" in cell.lines for cell in tuner.cells["bcast"].values())


def test_what_a_check_has_not_run_is_in_no_rules(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.machine.times["binomial"] = linear(5.1, 0.51e-3)  # not as fast as chain, but faster than native

    def run(words: list[str], settings: dict[str, str]) -> dict[str, Any]:
        if "auto" in words and "chain" in words:
            raise RunFailed("exit status 1")
        return bench(words, settings)

    monkeypatch.setattr(tuning_run, "under", lambda mpirun: run)
    bench.ran = "chain: rules: measured"
    output = tmp_path / "rules.json"
    done = invoke("--output", str(output), "--collective", "bcast", "--bytes", "8..1K", "--json")
    assert done.exit_code == 0, done.output
    assert [one.use for one in _engine.rules_from_text(output.read_text(), "").all] == ["native"]
    assert {one["refuted"] for one in json.loads(done.stdout)["check"]} == {True}


def test_a_check_in_which_the_mpis_own_fails_ends_the_tuning(tmp_path: Path) -> None:
    tuner = tuned(Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)}), "bcast")

    def run(*_: Any) -> dict[str, Any]:
        raise RunFailed("exit status 1")

    with pytest.raises(RunFailed):
        tuning_check.check(tuner, run, tmp_path)


@pytest.mark.parametrize("ran", ["native: rules: measured", "chain: rules: measured"])
def test_a_cell_in_which_the_rules_ran_native_is_no_loss(
    bench: Bench, tmp_path: Path, ran: str
) -> None:
    bench.machine.times["auto"] = linear(20, 2e-3)
    bench.ran = ran
    words = ("--output", str(tmp_path / "rules.json"), "--collective", "bcast")
    told = json.loads(invoke(*words, "--json").stdout)["check"]
    is_native = ran.startswith("native")
    assert {one["slower_than_native"] for one in told} == {not is_native}
    assert {one["native_over_rules"] == 1 for one in told} == {is_native}
    shown = " ".join(invoke(*words).stdout.split())
    assert (f"The rules ran native in {len(told)} cells" in shown) == is_native
    assert ("geometric mean" in shown) == (not is_native)


def test_a_check_ends_with_the_budget_and_begins_with_what_it_can_refute(tmp_path: Path) -> None:
    machine = Machine({"native": linear(10, 1e-3), "circulant": linear(30, 0.25e-3)})
    tuner = tuned(machine, "bcast")
    bench = Bench(machine)
    left = [3.0, 0.0]
    checks = tuning_check.check(tuner, bench, tmp_path, lambda: left.pop(0))
    assert [(one.collective, one.bytes) for one in checks] == [("bcast", 32768)]
    assert "--budget" in bench.runs[0]
    # Without a budget all sizes are checked and come in ascending order.
    checks = tuning_check.check(tuner, bench, tmp_path)
    assert [one.bytes for one in checks] == sorted(tuner.cells["bcast"])
    assert "--budget" not in bench.runs[-1]


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
        measure("bcast", [8], ["native"], 12, seconds)
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


def test_where_no_terminal_shows_a_bar_lines_show_the_progress(bench: Bench, tmp_path: Path) -> None:
    done = invoke("--output", str(tmp_path / "rules.json"), "--collective", "bcast", "--bytes", "8..1K")
    (line,) = done.stderr.splitlines()
    # 3 sizes: a scan and 2 rounds of the race each, 3 runs of a bisection, 3 checks.
    assert line.startswith("tutti: run 1 of about 15: bcast 8, "), line


def test_more_ranks_than_cores_are_named(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(words: list[str], settings: dict[str, str]) -> dict[str, Any]:
        found = bench(words, settings)
        found["metadata"]["cores of a node"] = "2"
        return found

    words = ["--output", str(tmp_path / "rules.json"), "--collective", "bcast", "--bytes", "8..1K"]
    assert "share" not in invoke(*words).stderr
    monkeypatch.setattr(tuning_run, "under", lambda mpirun: run)
    said = "8 ranks of a node share 2 cores: times depend on the scheduler"
    assert said in invoke(*words).stderr


def test_the_summary_says_what_the_rules_hold_for(bench: Bench, tmp_path: Path) -> None:
    bench.ran = "chain: rules: measured"
    words = ["--output", str(tmp_path / "rules.json"), "--collective", "bcast", "--bytes", "8..1K"]
    said = invoke(*words).stdout
    assert "They hold for 8 ranks on 1 node with openmpi 4.1." in said
    assert "Nothing is faster" not in said


def test_a_tuning_without_a_winner_says_so(bench: Bench, tmp_path: Path) -> None:
    bench.machine.times = {"native": linear(10, 1e-3), "auto": linear(10, 1e-3)}
    output = tmp_path / "rules.json"
    done = invoke("--output", str(output), "--collective", "bcast", "--bytes", "8..1K")
    assert done.exit_code == 0, done.output
    assert "Nothing is faster than the MPI's own algorithms here: " in " ".join(done.stdout.split())
    assert [one.use for one in _engine.rules_from_text(output.read_text(), "").all] == ["native"]


def test_a_budget_that_ends_at_once_leaves_rules_and_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Runs take 10 s: 20 s suffice for the barrier and the smallest bcast. Cells: 1 and 6.
    machine = Machine({"native": linear(10, 0), "dissemination": linear(5, 0)}, seconds=10)
    tuner = tuned(machine, "barrier", "bcast", budget=20)
    path = tmp_path / "rules.json"
    assert tuner.unfinished == ["bcast", "barrier"]
    assert [use for _, use in spans(tuner)] == ["dissemination", "native"]
    tune_output.show_checks(console(), [])
    tune_output.show_summary(console(), [], [tuner], path, 25)
    said = " ".join(capsys.readouterr().out.split())
    # 21 runs in the three stages and 6 bisections, of 10 s each, in 80 % of the budget.
    assert "did not suffice for: barrier, bcast. By the runs so far, --budget 6m would suffice." in said
    assert "size native" not in said


def test_a_state_of_other_settings_is_refused_by_the_variables_that_differ(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("FI_PROVIDER", "PRTE_MCA_rmaps_default_mapping_policy"):
        monkeypatch.setenv(name, "slot")
    former = tuning_run.settings()
    tuning_run.State(tmp_path / "state", {"settings": former}, False).put("a run", [], 0)
    monkeypatch.delenv("PRTE_MCA_rmaps_default_mapping_policy")
    # TUTTI_REPORT and others that a tuning sets itself do not count.
    for name in ("MPICH_OFI_NIC_POLICY", "MV2_USE_CUDA", "MVP_USE_CUDA", "TUTTI_REPORT"):
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
        ("rules.json.lock", [], "rules.json.lock: Is a directory"),
        ("rules.json.state.new", [], "rules.json.state: Is a directory"),
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


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--collective", "bcst"], "unknown collective 'bcst'; did you mean bcast?"),
        (["--budget", "soon"], "--budget soon: expected a time such as 90s"),
        (["--budget", "0"], "--budget 0: expected a time such as 90s"),
        (["--budget", "nan"], "--budget nan: expected a time such as 90s"),
        (["--bytes", "8"], "--bytes 8: expected LEAST..MOST"),
        (["--bytes", "6..8"], "--bytes 6..8: expected LEAST..MOST"),
    ],
)
def test_bad_options_are_named(bench: Bench, tmp_path: Path, words: list[str], text: str) -> None:
    done = invoke("--output", str(tmp_path / "rules.json"), *words)
    assert text in str(done.exception)


def test_times_begin_with_the_last_arrival_where_every_rank_waits_for_it() -> None:
    line = {"samples_us": [3.0], "after_last_arrival_us": [0.0]}
    assert tuning_run.samples_of("allreduce", [])(line) == [0.001]
    for name in ("bcast", "gather", "reduce", "scan", "allgatherv", "alltoallv"):
        assert tuning_run.samples_of(name, [])(line) == [3.0], name
    assert tuning_run.samples_of("gather", ["--delay", "uniform:1ms"])(line) == [0.001]


def test_the_time_left_is_at_most_that_of_the_budget() -> None:
    class Running:
        time_remaining, elapsed = 500.0, 90.0

    assert str(command._Left(120).render(Running())) == "0:00:30"  # type: ignore[arg-type]
    assert str(command._Left(0).render(Running())) == "0:08:20"  # type: ignore[arg-type]
    Running.elapsed = 130.0
    assert str(command._Left(120).render(Running())) == "0:00:00"  # type: ignore[arg-type]


def test_what_the_command_needs_is_named() -> None:
    done = CliRunner().invoke(app, ["tune"])
    assert "tune needs --mpirun COMMAND" in str(done.exception)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("500ms", 0.5)]
)
def test_a_budget_is_a_time(text: str, seconds: float) -> None:
    assert command._seconds(text) == pytest.approx(seconds)


def test_collectives_are_listed_with_commas_or_by_further_options() -> None:
    assert command._collectives(["bcast,MPI_Reduce", "scan, bcast"]) == ["bcast", "reduce", "scan"]
    assert len(command._collectives(None)) == len(set(command._collectives(None))) > 10
    with pytest.raises(Refusal, match="--collective rma_bcast: expected one of gather,"):
        command._collectives(["rma_bcast"])


def test_what_failed_and_what_the_budget_left_out_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tuner = tuned(Machine({"native": linear(10, 1e-3)}), "bcast")
    tuner.failed["bcast", "ring"] = "exit status 9"
    tuner.unfinished.append("bcast")
    settle(tuner)
    tune_output.show_summary(console(), [], [tuner], tmp_path / "rules.json")
    said = " ".join(capsys.readouterr().out.split())
    assert "bcast ring failed and was left out: exit status 9" in said
    assert "The budget did not suffice for: bcast." in said
    sizes = len(tuner.cells["bcast"])
    assert f"The budget did not suffice to check {sizes} of {sizes} sizes: " in said


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


@pytest.mark.parametrize("option", ["--report", "--mpirun"])
def test_what_rules_cite_is_utf_8(bench: Bench, tmp_path: Path, option: str) -> None:
    words = ["--output", str(tmp_path / "rules.json"), option, f"{tmp_path}/\udcff"]
    assert str(invoke(*words).exception).startswith(f"{option} {tmp_path}/\udcff: expected UTF-8")


def test_a_collective_without_room_for_its_buffers_is_skipped(
    bench: Bench, tmp_path: Path
) -> None:
    # 8 blocks of 64 MiB are 512 MiB.
    words = ["--output", str(tmp_path / "rules.json"), "--bytes", "64M..128M"]
    done = invoke(*words, "--collective", "bcast,allgather")
    assert done.exit_code == 0, done.output
    assert "Skipped, as a rank would need more than 256 MiB: allgather." in " ".join(done.stdout.split())
    assert {words[0] for words in bench.runs} == {"barrier", "bcast"}
    said = str(invoke(*words, "--collective", "allgather").exception)
    assert said == "--bytes 64M..128M: a rank would need more than 256 MiB for allgather"
