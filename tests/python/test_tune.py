"""Tuning with a simulated tutti-bench, whose fastest algorithms are known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from simulated_bench import JOB, SIZES, Machine, linear, spans, tuned
from tutti import _engine
from tutti.bench import RunFailed
from tutti.refusal import Refusal
from tutti.statistics import median_interval
from tutti.tuning import Tuner
from tutti.tuning_cells import SCAN, Cell, Measured, grid, grids
from tutti.tuning_rules import rules_of, to_text


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


def test_times_of_a_run_are_compared_with_those_of_the_mpis_own_in_it() -> None:
    """The last run found a busier machine; one candidate was not in it."""
    cell = Cell(64)
    calm, busy = (100.0,) * 30, (120.0,) * 30
    cell.lines = {
        "native": Measured("native", busy, busy),
        "chain": Measured("chain", (108.0,) * 30, busy),
        "linear": Measured("linear", (99.0,) * 30, calm),
    }
    assert cell.winner == "chain"
    assert cell.best.name == "chain"
    assert not cell.is_faster(cell.lines["linear"])


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


@pytest.mark.parametrize(("nodes", "known", "network"), [(2, "cxi", "cxi"), (1, "cxi", ""), (2, "", "")])
def test_rules_hold_for_the_network_between_nodes(nodes: int, known: str, network: str) -> None:
    tuner = tuned(Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)}), "bcast")
    tuner.job = replace(tuner.job, nodes=nodes, network=known)
    made = rules_of(tuner, "2026-11-22", "tutti tune")
    read = _engine.rules_from_text(to_text(made, "2026-11-22", "tutti tune"), "x.json")
    assert {rule.network for rule in read.all} == {network} and not read.remarks


def test_evidence_has_each_size_with_intervals() -> None:
    """At 8 bytes, chain gains 2 times; from there on up to 4 times."""
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 0.25e-3)})
    tuner = tuned(machine, "bcast")
    chain, native = rules_of(tuner, "2026-11-22", "tutti tune")
    evidence = chain["evidence"]
    assert evidence["calls"] == 30
    sizes = evidence["sizes"]
    assert [one["bytes"] for one in sizes] == sorted(tuner.cells["bcast"])
    for one in (evidence, *sizes):
        for name in ("native", "choice"):
            low, high = one[f"{name}_interval_us"]
            assert low <= one[f"{name}_us"] <= high
    gains = [one["native_us"] / one["choice_us"] for one in sizes]
    assert min(gains) == evidence["native_us"] / evidence["choice_us"] == pytest.approx(2, 0.05)
    assert gains[-1] == pytest.approx(4, 0.05)
    assert "sizes" not in native["evidence"] and "choice_us" not in native["evidence"]
    read = _engine.rules_from_text(to_text([chain, native], "2026-11-22", "tutti tune"), "x.json")
    assert [one.bytes for one in read.all[0].sizes] == [one["bytes"] for one in sizes]
    assert read.all[0].sizes[-1].native_interval_us == tuple(sizes[-1]["native_interval_us"])
    assert not read.remarks


def test_few_samples_have_no_interval() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3)}, seconds=20)
    rule = rules_of(tuned(machine, "bcast", budget=20), "2026-11-22", "tutti tune")[0]
    assert rule["evidence"]["calls"] == SCAN
    assert "choice_interval_us" not in rule["evidence"]


def test_where_no_rank_knows_the_sizes_one_algorithm_holds_for_all() -> None:
    better = Machine({"native": linear(10, 1e-3), "linear": linear(10, 0.4e-3)})
    assert spans(tuned(better, "gatherv")) == [("0..inf", "linear")]
    # Faster for large messages and slower for small ones: no rank could tell which it is.
    mixed = Machine({"native": linear(10, 1e-3), "linear": linear(30, 0.4e-3)})
    assert spans(tuned(mixed, "gatherv")) == [("0..inf", "native")]


def test_sizes_below_those_that_were_measured_are_native() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3)})
    tuner = Tuner(JOB, machine, grids(["bcast"], 8, (1 << 20, 4 << 20)), clock=lambda: 0.0)
    tuner.run()
    assert spans(tuner) == [
        ("0..1048575", "native"), ("1M..4M", "chain"), ("4194305..inf", "native"),
    ]  # fmt: skip
    # The same where the MPI's own fails for small messages.
    del tuner.cells["bcast"][1 << 20].lines["native"]
    assert spans(tuner)[0] == ("0..4194303", "native")


def test_a_barrier_has_one_size() -> None:
    machine = Machine({"native": linear(10, 0), "dissemination": linear(5, 0)})
    assert spans(tuned(machine, "barrier")) == [("0..inf", "dissemination")]


def test_candidates_come_from_the_list() -> None:
    names = _engine.useful("bcast", 8, 8)
    assert {"chain", "circulant", "knomial:k=4", "hierarchical(native,leaders=4)"} <= set(names)
    assert "knomial:k=8" not in names  # a tree of one level: linear
    assert "earliest" not in names  # it follows arrivals, and here all ranks come together
    assert not any("hierarchical" in name for name in _engine.useful("bcast", 8, 1))
    for collective in _engine.collectives():
        if not collective.startswith("rma_"):
            assert _engine.useful(collective, 8, 4)


def test_a_run_that_fails_costs_one_candidate_only() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)})
    failed = []

    def measure(collective: str, sizes: Any, names: Any, *rest: Any) -> Any:
        if "binomial" in names:
            failed.append(sizes)
            raise RunFailed("exit status 1")
        return machine(collective, sizes, names, *rest)

    tuner = Tuner(JOB, measure, grids(["bcast"], 8, SIZES), clock=lambda: 0.0)
    tuner.run()
    assert tuner.failed == {("bcast", "binomial"): "exit status 1"}
    assert tuner.cells["bcast"][8].winner == "chain"
    assert all(sizes == failed[0] for sizes in failed), "it is no candidate of further sizes"


def test_a_candidate_that_fails_in_the_race_wins_nothing() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3)})

    def measure(collective: str, sizes: Any, names: Any, repetitions: int, *rest: Any) -> Any:
        if "chain" in names and repetitions > SCAN:
            raise RunFailed("exit status 1")
        return machine(collective, sizes, names, repetitions, *rest)

    tuner = Tuner(JOB, measure, grids(["bcast"], 8, SIZES), clock=lambda: 0.0)
    tuner.run()
    assert tuner.failed == {("bcast", "chain"): "exit status 1"}
    assert {cell.winner for cell in tuner.cells["bcast"].values()} == {"native"}


def test_a_size_at_which_native_fails_is_left_out() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)})
    runs = []

    def measure(collective: str, sizes: Any, names: Any, *rest: Any) -> Any:
        if 4 << 20 in sizes:
            runs.append(names)
            raise RunFailed("exit status 1")
        return machine(collective, sizes, names, *rest)

    tuner = Tuner(JOB, measure, grids(["bcast"], 8, SIZES), clock=lambda: 0.0)
    tuner.run()
    assert tuner.failed == {("bcast", "native"): "exit status 1"}
    assert len(runs) == 2, "no candidate is to blame"
    assert tuner.cells["bcast"][8].winner == "chain"


@pytest.mark.parametrize("error", [RunFailed("exit status 1"), Refusal("No space left on device")])
def test_what_no_candidate_is_to_blame_for_ends_the_tuning(error: Refusal) -> None:
    runs = []

    def measure(*arguments: Any) -> Any:
        runs.append(arguments)
        raise error

    tuner = Tuner(JOB, measure, grids(["bcast"], 8, SIZES), clock=lambda: 0.0)
    with pytest.raises(Refusal, match=str(error)):
        tuner.run()
    assert not tuner.failed
    assert len(runs) < 10


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


def test_a_call_hangs_after_many_times_what_the_mpis_own_takes() -> None:
    def patience(native: float, size: int = 64, **more: float) -> int:
        """Seconds, where the MPI's own takes so many for 64 bytes; 0: unknown."""
        cells = {"bcast": {one: Cell(one) for one in (64, 8256)}}
        if native:
            cells["bcast"][64].lines["native"] = Measured("native", (native * 1e6,))
        tuner = Tuner(JOB, Machine({}), cells, clock=lambda: 0.0, **more)
        return tuner.patience("bcast", [cells["bcast"][64], cells["bcast"][size]])

    assert patience(1e-3) == 10
    assert patience(1e-3, start_up=5) == 15
    assert patience(1) == 100
    assert patience(1, size=8256) == math.ceil(100 * (8256 + 4096) / (64 + 4096))
    assert patience(0) == patience(10) == 300
    # Of a budget 5 %, if that is many times the MPI's own.
    assert patience(0, budget=600) == patience(1, budget=600) == 30
    assert patience(0, budget=60) == 10
    assert patience(5, budget=600) == 50


def test_the_time_of_a_programs_calls_counts_before_the_mpis_own_is_measured() -> None:
    cell = Cell(64, seconds=2)
    tuner = Tuner(JOB, Machine({}), {"bcast": {64: cell}}, clock=lambda: 0.0)
    assert tuner.patience("bcast", [cell]) == 200


def test_a_hanging_candidate_leaves_the_budget_to_others() -> None:
    machine = Machine({"native": linear(10, 1e-3), "chain": linear(5, 1e-3)})

    def measure(collective: str, sizes: Any, names: Any, *rest: Any) -> Any:
        if "binomial" in names:
            machine.now += rest[-1]
            raise RunFailed("exit status 3")
        return machine(collective, sizes, names, *rest)

    tuner = Tuner(JOB, measure, grids(["bcast"], 8, SIZES), budget=300, start_up=1,
                  clock=lambda: machine.now)  # fmt: skip
    tuner.run()
    assert tuner.failed == {("bcast", "binomial"): "exit status 3"}
    assert not tuner.unfinished
    assert tuner.cells["bcast"][8].winner == "chain"


def test_a_short_budget_serves_all_collectives() -> None:
    """Large messages take most of the time, and gain most by what is slow for small ones."""
    times = {"native": linear(300, 0.06), "linear": linear(400, 0.05)}
    times |= {name: linear(600, 0.015) for name in ("chain:parts=16", "ring")}
    machine = Machine(times, seconds=0.5)

    def measure(collective: str, sizes: Any, names: Any, repetitions: int, seconds: float, *rest: Any) -> Any:
        rows = machine(collective, sizes, names, repetitions, seconds)
        calls = [sum(line["samples_us"]) for row in rows for line in row["algorithms"]]
        # tutti-bench makes fewer calls than it is asked for, but 5 and the warm-up.
        most = sum(calls) * 1e-6
        machine.now += min(most, max(seconds, most * 7 / repetitions))
        return rows

    names = ["bcast", "allgather", "reduce", "allreduce", "reduce_scatter_block", "scan"]
    cells = grids(names, JOB.ranks, (8, 1 << 20), 30)
    tuner = Tuner(JOB, measure, cells, budget=60, start_up=0.5, clock=lambda: machine.now)
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
    assert grid("allgather", 1024, 256 << 10, 4 << 20) == [256 << 10]
    assert grid("allgather", 1024, (256 << 10) + 4, 4 << 20) == []
    assert grid("barrier", 8, 8, 1024) == [0]


def test_a_short_budget_begins_with_fewer_sizes() -> None:
    assert list(grids(["bcast"], 8, SIZES)["bcast"]) == [8, 128, 2048, 16384, 262144, 4 << 20]
    assert list(grids(["bcast"], 8, SIZES, 5)["bcast"]) == [8, 2048, 16384, 4 << 20]
    assert list(grids(["bcast"], 8, SIZES, 1)["bcast"]) == [8, 2048, 4 << 20]


def test_a_longer_budget_has_all_sizes_of_a_shorter_one() -> None:
    for most in (8, 12, 64, 1000, 1 << 16, 1 << 20, 1 << 28):
        fine, *coarse = (set(grid("bcast", 8, 8, most, factor)) for factor in (16, 256, 4096))
        assert all(one <= fine for one in coarse), most


def test_the_interval_of_a_median_is_that_of_order_statistics() -> None:
    # n = 10: P(B <= 1) = 11/1024, twice that is below 5 %; with P(B <= 2) = 56/1024 it is not.
    interval = median_interval([float(i) for i in range(10)])
    assert (interval.median, interval.low, interval.high) == (4.5, 1.0, 8.0)
    with pytest.raises(ValueError):
        median_interval([])


def test_what_auto_explores_between_nodes_is_a_candidate() -> None:
    between = _engine.explored("bcast", 8, 4 << 20, 8)[-1]
    assert between.startswith("hierarchical(") and between not in _engine.useful("bcast", 8, 8)
    machine = Machine({"native": linear(10, 1e-3), between: linear(5, 1e-4)})
    assert between in [use for _, use in spans(tuned(machine, "bcast"))]
