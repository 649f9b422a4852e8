"""Tuning with a simulated tutti-bench, whose fastest algorithms are known."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tutti import _engine, tuning, tuning_run
from tutti.cli import app
from tutti.commands import tune as command
from tutti.refusal import Refusal
from tutti.statistics import median_interval
from tutti.tuning import Job, Tuner
from tutti.tuning_candidates import candidates
from tutti.tuning_cells import grid, grids
from tutti.tuning_rules import rules_of, to_text

JOB = Job(8, 1, "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4")
SIZES = (8, 4 << 20)


class Machine:
    """Times in microseconds by algorithm and bytes, with 1 % of noise; counts its calls."""

    def __init__(self, times: dict[str, Any], seconds: float = 1.0) -> None:
        self.times = times
        self.seconds = seconds
        self.now = 0.0
        self.runs: list[tuple[str, list[int], list[str], int]] = []
        self.random = random.Random(1)

    def line(self, collective: str, name: str, size: int, repetitions: int) -> dict[str, Any]:
        slow = lambda size: 4 * self.times["native"](size)  # noqa: E731
        time = self.times.get(name, slow)(size)
        samples = [time * self.random.uniform(0.99, 1.01) for _ in range(repetitions)]
        ran = "" if name == "native" else f"{name}: it was asked for"
        return {"name": name, "ran": ran, "samples_us": samples}

    def __call__(
        self,
        collective: str,
        sizes: Sequence[int],
        names: Sequence[str],
        repetitions: int,
        seconds: float,
    ) -> list[dict[str, Any]]:
        self.runs.append((collective, list(sizes), list(names), repetitions))
        self.now += self.seconds
        return [
            {
                "bytes": size,
                "algorithms": [self.line(collective, n, size, repetitions) for n in names],
            }
            for size in sizes
        ]  # fmt: skip


def tuned(machine: Machine, *collectives: str, budget: float = 0) -> Tuner:
    cells = grids(collectives, JOB.ranks, SIZES)
    tuner = Tuner(JOB, machine, cells, budget=budget, clock=lambda: machine.now)
    tuner.run()
    return tuner


def spans(tuner: Tuner) -> list[tuple[str, str]]:
    """Message sizes and what runs, after a round through the reader of rules."""
    rules = rules_of(tuner, "2026-11-22", "tutti tune")
    read = _engine.rules_from_text(to_text(rules, "2026-11-22", "tutti tune"), "x.json")
    return [(rule.bytes, rule.use) for rule in read.all]


def linear(latency: float, per_byte: float) -> Any:
    return lambda size: latency + per_byte * size


def test_a_crossover_is_located_between_powers_of_two() -> None:
    # native is 26.4 us at 16 KiB and 42.8 us at 32 KiB, circulant 34.1 us and 38.2 us.
    machine = Machine({"native": linear(10, 1e-3), "circulant": linear(30, 0.25e-3)})
    assert spans(tuned(machine, "bcast")) == [
        ("0..32767", "native"),
        ("32K..4M", "circulant"),
        ("4194305..inf", "native"),
    ]


def test_bisection_needs_few_runs() -> None:
    machine = Machine({"native": linear(10, 1e-3), "circulant": linear(30, 0.25e-3)})
    tuned(machine, "bcast")
    sizes = {size for _, some, _, _ in machine.runs for size in some}
    # 8, 128, 2K, 16K, 256K, 4M and the sizes between 16K and 256K: 64K, 32K.
    assert sizes == {8, 128, 2048, 16384, 262144, 4 << 20, 65536, 32768}


def test_slow_candidates_drop_out_after_the_first_round() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)})
    tuned(machine, "bcast")
    scans = [names for _, _, names, repetitions in machine.runs if repetitions == 5]
    later = [names for _, _, names, repetitions in machine.runs if repetitions > 5]
    assert all(len(names) > 10 for names in scans)
    assert all("native" in names for names in scans)
    assert later and all(names == ["native", "chain"] for names in later)


def test_a_gain_below_three_percent_makes_no_rule() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": lambda s: 0.98 * (10 + 1e-3 * s)})
    assert spans(tuned(machine, "bcast")) == [("0..inf", "native")]


def test_a_gain_within_the_noise_makes_no_rule() -> None:
    class Noisy(Machine):
        def line(self, collective: str, name: str, size: int, repetitions: int) -> dict[str, Any]:
            made = super().line(collective, name, size, repetitions)
            made["samples_us"] = [t * self.random.uniform(0.2, 1.8) for t in made["samples_us"]]
            return made

    machine = Noisy({"native": linear(10, 1e-3), "chain": lambda s: 0.95 * (10 + 1e-3 * s)})
    tuner = tuned(machine, "bcast")
    assert all(cell.winner == "native" for cell in tuner.cells["bcast"].values())


def test_a_rule_holds_for_the_job_and_names_its_evidence() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3)})
    rule = rules_of(tuned(machine, "bcast"), "2026-11-22", "tutti tune")[0]
    keys = {name: value for name, value in rule.items() if name not in ("evidence", "bytes")}
    assert keys == {
        "collective": "bcast", "p": 8, "nodes": 1, "ranks_per_node": 8, "mpi": "openmpi",
        "version": "4.1", "use": "chain",
    }  # fmt: skip
    assert rule["bytes"] == "0..4M"
    assert rule["evidence"]["native_us"] / rule["evidence"]["choice_us"] == pytest.approx(2, 0.05)
    assert rule["evidence"]["date"] == "2026-11-22"


def test_where_no_rank_knows_the_sizes_one_algorithm_holds_for_all() -> None:
    better = Machine({"native": linear(10, 1e-3), "linear": linear(10, 0.4e-3)})
    assert spans(tuned(better, "gatherv")) == [("0..inf", "linear")]
    # Faster for large messages and slower for small ones: no rank could tell which it is.
    mixed = Machine({"native": linear(10, 1e-3), "linear": linear(30, 0.4e-3)})
    assert spans(tuned(mixed, "gatherv")) == [("0..inf", "native")]


def test_a_barrier_has_one_size() -> None:
    machine = Machine({"native": linear(10, 0), "dissemination": linear(5, 0)})
    assert spans(tuned(machine, "barrier")) == [("0..inf", "dissemination")]


def test_candidates_come_from_the_list() -> None:
    names = candidates("bcast", 8, 8)
    assert {"chain", "circulant", "knomial:k=4", "hierarchical(native,leaders=4)"} <= set(names)
    assert "knomial:k=8" not in names  # a tree of one level: linear
    assert "earliest" not in names  # it follows arrivals, and here all ranks come together
    assert not any("hierarchical" in name for name in candidates("bcast", 8, 1))
    for collective in _engine.collectives():
        if not collective.startswith("rma_"):
            assert candidates(collective, 8, 4)


def test_a_run_that_fails_costs_one_candidate_only() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)})

    def measure(collective: str, sizes: Any, names: Any, *rest: Any) -> Any:
        if "binomial" in names:
            raise Refusal("exit status 1")
        return machine(collective, sizes, names, *rest)

    tuner = Tuner(JOB, measure, grids(["bcast"], 8, SIZES), clock=lambda: 0.0)
    tuner.run()
    assert tuner.failed == {("bcast", "binomial"): "exit status 1"}
    assert tuner.cells["bcast"][8].winner == "chain"


def test_what_ran_as_something_else_is_no_candidate() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)})

    def measure(*arguments: Any) -> Any:
        rows = machine(*arguments)
        for line in (line for row in rows for line in row["algorithms"]):
            if line["name"] == "chain":
                line["ran"] = "native: chain would exceed TUTTI_MEMORY"
        return rows

    tuner = Tuner(JOB, measure, grids(["bcast"], 8, SIZES), clock=lambda: 0.0)
    tuner.run()
    assert tuner.cells["bcast"][8].winner == "native"


def test_a_budget_ends_the_tuning_and_names_what_is_left() -> None:
    # The scan may last until 45 s: five runs of 10 s, the small sizes of all collectives first.
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)}, seconds=10)
    tuner = tuned(machine, "barrier", "bcast", "allgather", budget=100)
    assert [(run[0], *run[1]) for run in machine.runs[:5]] == [
        ("barrier", 0), ("bcast", 8), ("allgather", 8), ("bcast", 128), ("allgather", 128),
    ]  # fmt: skip
    assert machine.now <= 110
    assert set(tuner.unfinished) == {"bcast", "allgather"}


def test_a_budget_limits_the_candidates_of_large_messages() -> None:
    machine = Machine({"native": linear(10, 1), "chain": linear(5, 0.9)}, seconds=1)
    tuned(machine, "bcast", budget=60)
    counts = [len(names) for _, _, names, repetitions in machine.runs if repetitions == 5]
    # 4 MiB take 4 s a call.
    assert counts[0] > 12 > counts[-1] == 1 + 4


def test_a_short_budget_serves_all_collectives() -> None:
    """Large messages take most of the time, and gain most by what is slow for small ones."""
    times = {"native": linear(300, 0.06), "linear": linear(400, 0.05)}
    times |= {name: linear(600, 0.015) for name in ("chain:parts=16", "ring")}
    machine = Machine(times, seconds=0.5)

    def measure(collective: str, sizes: Any, names: Any, repetitions: int, seconds: float) -> Any:
        rows = machine(collective, sizes, names, repetitions, seconds)
        calls = [sum(line["samples_us"]) for row in rows for line in row["algorithms"]]
        # tutti-bench makes fewer calls than it is asked for, but 5 and the warm-up.
        most = sum(calls) * 1e-6
        machine.now += min(most, max(seconds, most * 7 / repetitions))
        return rows

    names = ["bcast", "allgather", "reduce", "allreduce", "reduce_scatter_block", "scan"]
    cells = grids(names, JOB.ranks, (8, 1 << 20), 30)
    tuner = Tuner(JOB, measure, cells, budget=60, clock=lambda: machine.now)
    tuner.run()
    assert machine.now < 75
    for name in names:
        assert set(tuner.cells[name]) >= {8, 1 << 20}
        assert tuner.cells[name][1 << 20].winner in ("chain:parts=16", "ring")


def test_a_large_gain_needs_no_race() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3)}, seconds=20)
    tuner = tuned(machine, "bcast", budget=20)
    assert all(repetitions == 5 for _, _, _, repetitions in machine.runs)
    assert tuner.cells["bcast"][8].winner == "chain"


def test_large_buffers_are_left_out() -> None:
    assert grid("bcast", 1024, 8, 4 << 20)[-1] == 4 << 20
    # 1,024 blocks of 256 KiB are 256 MiB.
    assert grid("allgather", 1024, 8, 4 << 20)[-1] == 256 << 10
    assert grid("barrier", 8, 8, 1024) == [0]


def test_a_short_budget_begins_with_fewer_sizes() -> None:
    assert list(grids(["bcast"], 8, SIZES)["bcast"]) == [8, 128, 2048, 16384, 262144, 4 << 20]
    assert list(grids(["bcast"], 8, SIZES, 5)["bcast"]) == [8, 512, 65536, 4 << 20]
    assert list(grids(["bcast"], 8, SIZES, 1)["bcast"]) == [8, 8192, 4 << 20]


def test_the_interval_of_a_median_is_that_of_order_statistics() -> None:
    # n = 10: P(B <= 1) = 11/1024, twice that is below 5 %; with P(B <= 2) = 56/1024 it is not.
    interval = median_interval([float(i) for i in range(10)])
    assert (interval.median, interval.low, interval.high) == (4.5, 1.0, 8.0)
    with pytest.raises(ValueError):
        median_interval([])


# The command, with a simulated tutti-bench that takes its arguments.


class Bench:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.settings: list[dict[str, str]] = []
        self.runs: list[list[str]] = []
        self.fail_after = -1
        self.ran = "native: rules: none for this message size"

    def __call__(self, words: list[str], settings: dict[str, str]) -> dict[str, Any]:
        self.settings.append(settings)
        if self.fail_after == 0:
            raise KeyboardInterrupt
        self.fail_after -= 1
        self.runs.append(words)
        metadata = {"ranks": "8", "nodes": "1", "library": JOB.library}
        if words[0] == "barrier":
            return {"metadata": metadata, "rows": []}
        names = [after for word, after in zip(words, words[1:], strict=False) if word == "--algorithm"]
        sizes = [4 * int(words[words.index("--block") + 1])]
        repetitions = int(words[words.index("--repetitions") + 1])
        rows = self.machine(words[0], sizes, names, repetitions, 0)
        for row in rows:
            for line in row["algorithms"]:
                if line["name"] == "auto":
                    line["ran"] = self.ran
        return {"metadata": metadata, "rows": rows}


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
    assert bench.settings[-1]["TUTTI_RULES"] == str(output)
    assert "<svg" in plot.read_text()
    assert list(tmp_path.glob("*.state")) == []


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
    checks = tuning_run.check(tuner, bench, tmp_path, lambda: left.pop(0))
    assert [(one.collective, one.bytes) for one in checks] == [("bcast", 32768)]
    assert "--budget" in bench.runs[0]
    # Without a budget all sizes are checked and come in ascending order.
    checks = tuning_run.check(tuner, bench, tmp_path)
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


def test_a_state_of_another_tuning_is_refused(bench: Bench, tmp_path: Path) -> None:
    output = tmp_path / "rules.json"
    state = tmp_path / "rules.json.state"
    state.write_text(json.dumps({"schema": "tutti-tune-state-1", "mpirun": "mpirun -n 4"}))
    done = invoke("--output", str(output), "--resume")
    assert "mpirun mpirun -n 4, this run has mpirun -n 8" in str(done.exception)
    identity = {"mpirun": "mpirun -n 8", "bytes": [8, 4 << 20], "report": ""}
    state.write_text(json.dumps({"schema": "tutti-tune-state-1", **identity}))
    assert "runs: expected an object" in str(invoke("--output", str(output), "--resume").exception)
    state.unlink()
    assert "No such file" in str(invoke("--output", str(output), "--resume").exception)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--collective", "bcst"], "--collective bcst: expected one of gather,"),
        (["--budget", "soon"], "--budget soon: expected a time such as 90s"),
        (["--bytes", "8"], "--bytes 8: expected LEAST..MOST"),
        (["--bytes", "6..8"], "--bytes 6..8: expected LEAST..MOST"),
    ],
)
def test_bad_options_are_named(bench: Bench, tmp_path: Path, words: list[str], text: str) -> None:
    done = invoke("--output", str(tmp_path / "rules.json"), *words)
    assert text in str(done.exception)


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
    assert command._seconds("2m") == 120
