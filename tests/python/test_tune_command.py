"""`tutti tune` with a simulated tutti-bench that takes its arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from simulated_bench import Bench, Machine, invoke, linear, simulated, spans, tuned
from tutti import _engine, tuning_check, tuning_run
from tutti.bench import RunFailed
from tutti.cli import app
from tutti.commands import tune as command
from tutti.commands import tune_output, tune_progress
from tutti.console import console
from tutti.refusal import Refusal
from tutti.tuning_rules import settle
from typer.testing import CliRunner


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return simulated(monkeypatch)


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
    assert bench.settings[-1]["TUTTI_RULES"] == str(tmp_path / ".rules.json.unchecked")
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


def test_every_run_ends_if_a_call_hangs(bench: Bench, tmp_path: Path) -> None:
    words = ("--output", str(tmp_path / "rules.json"), "--collective", "bcast,gatherv", "--bytes", "8..1K")
    for budget, first in ([], 300), (["--budget", "10m"], 24):
        bench.runs.clear()
        assert invoke(*words, *budget).exit_code == 0
        runs = [run for run in bench.runs if run[0] != "barrier"]
        limits = [int(run[run.index("--timeout") + 1]) for run in runs]
        # 24 s are 5 % of what the tuning has of 10 minutes. The first run does not know what the
        # MPI's own takes.
        assert limits[0] == first and set(limits[2:]) == {10}
        assert any("auto" in run for run in runs)


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
    assert "did not suffice for: barrier, bcast. By the runs so far, --budget 6m would suffice; with --resume" in said
    assert "size native" not in said


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

    assert str(tune_progress.Left(120).render(Running())) == "0:00:30"  # type: ignore[arg-type]
    assert str(tune_progress.Left(0).render(Running())) == "0:08:20"  # type: ignore[arg-type]
    Running.elapsed = 130.0
    assert str(tune_progress.Left(120).render(Running())) == "0:00:00"  # type: ignore[arg-type]


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
