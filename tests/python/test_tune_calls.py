"""What a tuning takes from the calls of a report."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from program_calls import line, report_of, size_of
from reporting import late_rank, line_of
from simulated_bench import JOB, Machine, linear
from tutti import _engine, tuning_run
from tutti.commands.tune_report import program_of
from tutti.refusal import Refusal
from tutti.tuning import Tuner
from tutti.tuning_blocks import class_end
from tutti.tuning_calls import calls_of, check_ranks, replays_of
from tutti.tuning_cells import Cell, Measured
from tutti.tuning_rules import rules_of


def test_lines_of_one_site_count_together_whatever_ran() -> None:
    native = line("bcast", size_of(1000, 30, 0.03), algorithm="native")
    tried = line("bcast", size_of(1024, 10, 0.01), algorithm="chain")
    (calls,) = calls_of(report_of(native, tried))
    assert (calls.calls, calls.bytes, calls.most) == (40, 1006, 1024)
    assert calls.seconds == pytest.approx(40e-3)
    assert calls.moved == pytest.approx(30 * 5e-4)


def test_a_line_is_divided_by_the_times_of_its_sizes() -> None:
    calls = calls_of(report_of(line("bcast", size_of(8, 10, 0.1), size_of(4096, 30, 0.3))))
    assert [(one.bytes, round(one.seconds, 9)) for one in calls] == [(4096, 0.03), (8, 0.01)]


def test_sizes_that_a_former_report_does_not_list_have_their_share_of_its_time() -> None:
    rest = {"calls": 10, "rank_seconds": 8 * 0.1}
    report = report_of(line("bcast", size_of(8, 30, 0.3), elapsed={"mean": 1e-3, "sum": 0.04}, other_sizes=rest))
    listed, others = calls_of(report)
    assert (listed.calls, listed.seconds) == (30, pytest.approx(0.03))
    assert (others.calls, others.seconds) == (10, pytest.approx(0.01))
    assert listed.is_tunable() and not others.is_tunable()
    assert [one.calls for one in replays_of([listed, others], 8, ["bcast"])] == [30]
    rest["calls"] = 0
    assert [one.calls for one in calls_of(report)] == [30]


def test_calls_on_fewer_ranks_count_by_their_share_of_the_ranks() -> None:
    (calls,) = calls_of(report_of(line("bcast", size_of(8, 100, 0.1, p=4))))
    assert calls.seconds == pytest.approx(100 * 1e-3 * 4 / 8)


def test_what_takes_less_than_one_percent_is_left_out() -> None:
    calls = calls_of(
        report_of(
            line("bcast", size_of(8, 985, 1.0)),
            line("reduce", size_of(8, 6, 1.0)),
            line("reduce", size_of(8, 6, 1.0), site="app: other"),
            line("gather", size_of(8, 3, 1.0)),
        )
    )
    found = replays_of(calls, 8, ["bcast", "reduce", "gather"])
    # The two sites of the reduce have 1.2 % together.
    assert [(one.collective, len(one.sites)) for one in found] == [("bcast", 1), ("reduce", 2)]
    assert replays_of(calls, 8, ["gather"]) == []
    assert replays_of(calls, 4, ["bcast"]) == []


def test_calls_without_data_and_one_sided_ones_are_left_out() -> None:
    calls = calls_of(
        report_of(
            line("bcast", size_of(0, 10, 1.0)),
            line("rma_bcast", size_of(8, 10, 1.0)),
            line("barrier", size_of(0, 10, 1.0)),
            line("allreduce", size_of(8, 10, 1.0, p=1)),
        )
    )
    found = replays_of(calls, 8, _engine.collectives())
    assert [(one.collective, one.size) for one in found] == [("barrier", 0)]
    assert found[0].words(8, 0, -1) == []


def test_sizes_of_a_class_are_one_cell_whose_rule_holds_for_the_class() -> None:
    assert [class_end(size) for size in (0, 1, 2, 3, 4, 5, 1024, 1025)] == [0, 1, 2, 4, 4, 8, 1024, 2048]
    calls = calls_of(report_of(line("bcast", *(size_of(n, 1, 1.0) for n in (1, 2, 3, 1030, 1050)))))
    found = {one.size: one.cell().span for one in replays_of(calls, 8, ["bcast"])}
    assert found == {4: (1, 4), 1040: (1025, 2048)}
    calls = calls_of(report_of(line("bcast", *(size_of(n, 1, 1.0) for n in (8, 9, 32, 33)))))
    found = {one.size: one.cell().span for one in replays_of(calls, 8, ["bcast"])}
    assert found == {8: (5, 8), 12: (9, 16), 32: (17, 32), 36: (33, 64)}


def test_other_numbers_of_ranks_are_refused_by_name() -> None:
    calls = calls_of(report_of(line("bcast", size_of(8, 9, 1.0), size_of(8, 9, 1.0, p=4))))
    check_ranks(calls, 8, 8)
    check_ranks(calls, 4, 8)
    with pytest.raises(Refusal, match=r"--mpirun starts 2 ranks, .* ran 8; .* starts 8, or 4 "):
        check_ranks(calls, 2, 8)


def replay_of(collective: str, size: int, **changes: Any) -> Any:
    calls = calls_of(report_of(line(collective, size_of(size, 10, 1.0, **changes))))
    (found,) = replays_of(calls, 8, [collective])
    return found


def test_the_roots_of_the_calls_are_replayed_by_their_shares() -> None:
    first = line("bcast", size_of(64, 10, 1.0, root=3))
    second = line("bcast", size_of(64, 20, 1.0, root=5), algorithm="chain")
    (found,) = replays_of(calls_of(report_of(first, second)), 8, ["bcast"])
    assert found.main.roots() == [(3, 0.25), (5, 0.75)]
    assert found.words(8, 64, 5) == ["--block", "16", "--root", "5"]
    (root,) = replay_of("allreduce", 64).main.roots()
    assert replay_of("allreduce", 64).words(8, 64, root[0]) == ["--block", "16"]


@pytest.mark.parametrize(
    ("calls_of_roots", "replayed"),
    [
        ([[2, 30]], [(2, 1.0)]),
        ([[7, 3], [0, 97]], [(0, 1.0)]),  # rare ones do not count
        ([[6, 50], [1, 50]], [(1, 0.5), (6, 0.5)]),
        ([[root, 5] for root in range(8)], [(1, 0.25), (3, 0.25), (5, 0.25), (7, 0.25)]),
    ],
)
def test_at_most_four_roots_stand_for_all(
    calls_of_roots: list[list[int]], replayed: list[tuple[int, float]]
) -> None:
    number = sum(calls for _, calls in calls_of_roots)
    size = size_of(64, number, 1.0, root=calls_of_roots[0][0], roots=calls_of_roots)
    (calls,) = calls_of(report_of(line("bcast", size)))
    assert calls.roots() == replayed


def test_runs_of_several_roots_share_the_time_of_a_size() -> None:
    """Of a budget of 50 s the only size has 30 s; a call takes 0.1 s, and a run begins after 1 s."""
    numbers = []
    for roots in ([[2, 10]], [[0, 3], [2, 2], [4, 3], [6, 2]]):
        machine = Machine({"native": linear(1e5, 0)}, seconds=1)
        cell = replace(replay_of("bcast", 64, root=roots[0][0], roots=roots).cell(), seconds=0.1)
        tuner = Tuner(JOB, machine, {"bcast": {64: cell}}, budget=50, start_up=1, clock=lambda: 0.0)
        tuner.run()
        assert cell.runs == len(roots) == Tuner._between(128, cell).runs
        numbers.append(len(machine.runs[0][2]) - 1)
    # Into 30 / 4 - 1 s fit 9 times 5 + 2 calls: those of native and of 8 candidates.
    assert numbers[0] > numbers[1] == 8


def test_each_root_has_the_arrivals_of_its_own_calls() -> None:
    late = late_rank(8, 8, 2, 0.002)
    late[::2] = late_rank(8, 4, 5, 0.003)
    one = line_of(late, collective="bcast", sizes=[size_of(64, 8, 1.0, root=5)])
    one["pattern"]["roots"] = [5, 2] * 4
    (calls,) = calls_of(report_of(one))
    assert calls.roots() == [(2, 0.5), (5, 0.5)]
    assert [call[2] for call in calls.delays(2)] == [0.002] * 4
    assert [call[5] for call in calls.delays(5)] == [0.003] * 4


def test_times_of_several_roots_count_by_their_shares() -> None:
    def row(time: float, ran: str, number: int) -> dict[str, Any]:
        names = {"native": "", "chain": ran}
        lines = [{"name": name, "ran": ran, "samples_us": [time] * number} for name, ran in names.items()]
        return {"bytes": 64, "algorithms": lines}

    both = tuning_run.joined([(0.25, row(100.0, "chain: ", 3)), (0.75, row(20.0, "native: why", 2))])
    assert both["bytes"] == 64
    assert [line["samples_us"] for line in both["algorithms"]] == [[40.0, 40.0]] * 2
    assert both["algorithms"][1]["ran"] == "native: why", "it did not run everywhere"


@pytest.mark.parametrize("collective", ["gatherv", "alltoallv", "allgatherv"])
@pytest.mark.parametrize("irregularity", [1.0, 1.5, 2.0, 3.0, 5.0])
def test_the_distribution_has_the_irregularity_and_the_mean_of_the_calls(
    collective: str, irregularity: float
) -> None:
    replay = replay_of(collective, 40000, irregularity=irregularity)
    words = replay.words(8, 40000, -1)
    options = dict(zip(words[::2], words[1::2], strict=True))
    blocks = _engine.distribute(
        options["--distribution"], 8, int(options["--block"]), int(options["--seed"]),
        int(options["--rho"]),
    )  # fmt: skip
    mean = sum(blocks) / 8
    # Of 5 and more, 8 ranks have blocks of 8 only.
    near = 8.0 if replay.band and irregularity > 4 else irregularity
    assert max(blocks) / mean == pytest.approx(near, rel=0.25)
    assert replay.band is None or replay.band.holds(math.ceil(max(blocks) / mean))
    assert mean == pytest.approx(10000, rel=0.1)
    if irregularity == 1:
        assert options["--distribution"] == "same"


def test_arrivals_are_replayed_if_they_are_farther_apart_than_a_sleep_is_precise() -> None:
    def delays(late: float, ranks: int = 8) -> list[list[float]]:
        one = line_of(late_rank(ranks, 100, 2, late), sizes=[size_of(64, 100, 1.0)])
        one["spread"]["median"] = late
        return calls_of(report_of(one))[0].delays(0)

    assert len(delays(0.002)) == 32
    assert delays(0.002)[0][2] == 0.002
    assert delays(0.0001) == []
    assert delays(0.002, ranks=4) == []  # the pattern is of another communicator


def row_of_calls(collective: str = "bcast", **changes: Any) -> Any:
    """Calls with root 0 that follow each other: it computes for 1 ms, leaves after 2 ms, and is always a
    call ahead of the others, which compute for 4 ms and receive for 1 ms."""
    one = line_of([[0.0] + [0.007] * 7] * 9, collective=collective, sizes=[size_of(64, 9, 1.0)])
    one["pattern"] |= {
        "calls": list(range(9)),
        "begins": [0.005 * call for call in range(9)],
        "elapsed": [[0.004 if rank == 0 else 0.001 for rank in range(8)]] * 9,
    } | changes
    one["elapsed"] = {"mean": 0.0015, "sum": 9 * 0.0015}
    return one


def test_calls_that_follow_each_other_are_replayed_in_a_row_with_what_ranks_compute() -> None:
    (replay,) = replays_of(calls_of(report_of(row_of_calls())), 8, ["bcast"])
    assert replay.words(8, 64, 0) == ["--block", "16", "--root", "0", "--calls", "8"]
    found = replay.main.delays(0)
    assert len(found) == 8
    assert found[0] == pytest.approx([0.001] + [0.004] * 7)
    assert replay.cell().seconds == pytest.approx(8 * (0.004 + replay.main.a_call))


def test_of_what_all_ranks_compute_a_row_has_as_much_as_a_call_takes() -> None:
    slow = row_of_calls(begins=[0.105 * call for call in range(9)])
    (calls,) = calls_of(report_of(slow))
    assert calls.delays(0)[0] == pytest.approx([0.0015] + [0.0045] * 7)


@pytest.mark.parametrize(
    "one",
    [
        row_of_calls(collective="allreduce"),  # its ranks wait for each other
        row_of_calls(calls=[3 * call for call in range(9)]),
        row_of_calls(roots=[call % 8 for call in range(9)]),
        row_of_calls(roots=[0, 0, 0, 1] * 2 + [0]),  # root 1 would be lost
        row_of_calls(communicators=2),
    ],
)
def test_other_calls_are_replayed_one_by_one(one: Any) -> None:
    (calls,) = calls_of(report_of(one))
    assert not calls.follow
    assert calls.delays(0)[0] == [0.0] + [0.007] * 7


def test_calls_of_several_classes_are_replayed_one_by_one() -> None:
    one = row_of_calls()
    one["sizes"].append(size_of(1 << 20, 9, 1.0))
    assert [calls.follow for calls in calls_of(report_of(one))] == [False, False]


def test_calls_between_which_ranks_wait_for_each_other_are_replayed_one_by_one() -> None:
    for numbers, follow in (((3,), True), ((5,), False), ((3, 3), False)):
        sizes = [size_of(8 << at, number, 1.0) for at, number in enumerate(numbers)]
        found = calls_of(report_of(row_of_calls(), line("allreduce", *sizes)))
        assert [calls.follow for calls in found if calls.collective == "bcast"] == [follow]


def test_pairs_of_calls_are_enough() -> None:
    (calls,) = calls_of(report_of(row_of_calls(calls=[0, 1, 4, 5, 8, 9, 12, 13, 16])))
    assert calls.follow and len(calls.delays(0)) == 4


def test_naps_shorter_than_a_sleep_are_left_out() -> None:
    one = row_of_calls(elapsed=[[0.004] + [0.00498] * 7] * 9)
    assert calls_of(report_of(one))[0].delays(0)[0] == pytest.approx([0.001] + [0.0] * 7)


def test_a_row_without_blocks_of_its_band_counts_as_one_of_none() -> None:
    one = row_of_calls("allgatherv") | {"sizes": [size_of(4, 9, 1.0, irregularity=3.0)]}
    one["irregularity"] = {"mean": 3.0, "max": 3.0}
    (replay,) = replays_of(calls_of(report_of(one)), 8, ["allgatherv"])
    assert replay.band is None
    assert "--distribution" in replay.words(8, 4, -1)


def test_a_report_without_sizes_or_ranks_is_refused() -> None:
    old = line("bcast")
    del old["sizes"]
    with pytest.raises(Refusal, match="no message sizes; .* run the program again"):
        calls_of(report_of(old))
    (unnumbered,) = report_of(line("bcast", size_of(8, 9, 1.0)))
    del unnumbered["ranks"]
    with pytest.raises(Refusal, match="no number of ranks; .* run the program again"):
        calls_of([unnumbered])


def cells_of(*won: tuple[int, tuple[int, int], str]) -> Tuner:
    """Cells with spans that a candidate has won."""
    cells = {}
    for size, span, name in won:
        cell = cells[size] = Cell(size, span=span)
        for one, time in (("native", 10.0), ("chain", 20.0), ("linear", 20.0), (name, 5.0)):
            if one != "native" or name != "native":
                cell.lines[one] = Measured(one, tuple([time] * 30))
        if name == "native":
            cell.lines["native"] = Measured("native", (10.0,) * 30)
    return Tuner(JOB, lambda *_: [], {"bcast": cells}, clock=lambda: 0.0)


def spans_of(tuner: Tuner) -> list[tuple[str, str]]:
    return [(rule["bytes"], rule["use"]) for rule in rules_of(tuner, "", "")]


@pytest.mark.parametrize(
    ("changes", "text"),
    [({"calls": []}, "the report has no calls that took time"), ({"partial": True}, "partial, of single processes;")],
)
def test_a_report_without_calls_or_of_single_processes_is_refused(
    tmp_path: Path, changes: dict[str, Any], text: str
) -> None:
    path = tmp_path / "r.json"
    path.write_text(2 * json.dumps({**report_of(line("bcast", size_of(8, 9, 1.0)))[0], **changes}))
    with pytest.raises(Refusal, match=f"--report {path}: {text}"):
        program_of(path, JOB, ["bcast"])


def test_rules_cover_sizes_between_two_cells_only_if_one_algorithm_won_both() -> None:
    same = cells_of((100, (65, 128), "chain"), (4000, (2049, 4096), "chain"))
    assert spans_of(same) == [("65..4K", "chain")]
    other = cells_of((100, (65, 128), "chain"), (4000, (2049, 4096), "linear"))
    assert spans_of(other) == [("65..128", "chain"), ("2049..4K", "linear")]


def test_a_class_of_the_program_precedes_that_of_a_bisection() -> None:
    found = cells_of(
        (40, (33, 64), "chain"), (64, (33, 64), "native"), (200, (129, 256), "native")
    )  # fmt: skip
    assert spans_of(found) == [("33..64", "chain"), ("65..256", "native")]


def test_only_calls_of_the_own_algorithm_can_save_time() -> None:
    native = line("bcast", size_of(64, 30, 0.03))
    tried = line("bcast", size_of(64, 10, 0.01), algorithm="chain")
    unknown = line("bcast", size_of(64, 10, 0.01), site="app: other", moving=None)
    calls = calls_of(report_of(native, tried, unknown))
    assert [one.seconds for one in calls] == pytest.approx([40e-3, 10e-3])
    assert [one.moved for one in calls] == pytest.approx([30 * 5e-4, 10e-3])
    assert calls[0].moving == pytest.approx(5e-4)


def test_each_size_moves_data_for_the_same_share_of_its_time() -> None:
    both = line("bcast", size_of(8, 990, 0.1), size_of(1 << 22, 10, 0.9))
    large, small = calls_of(report_of(both))
    assert (large.moved, small.moved) == pytest.approx((0.5 * large.seconds, 0.5 * small.seconds))
    assert large.moving == pytest.approx(0.5 * 0.9 / 10)


def test_the_time_of_a_call_is_the_mean_over_its_own_ranks() -> None:
    (calls,) = calls_of(report_of(line("bcast", size_of(64, 100, 0.1, p=4))))
    assert calls.a_call == pytest.approx(1e-3)
    assert calls.moving == pytest.approx(5e-4)
