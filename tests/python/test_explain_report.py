"""`tutti explain --report`: the prediction of recorded arrivals, and the replayed algorithms."""

from __future__ import annotations

import json

import pytest
import tutti
from reporting import late_rank, line_of, pattern_of, write_report
from tutti import prediction, reports


def made(delays: list[list[float]], **changes: object) -> reports.Pattern:
    """The pattern with these delays."""
    line = {**line_of(delays), "pattern": {**pattern_of(delays), **changes}}
    (site,) = reports.sites_of([{"calls": [line]}])
    assert site.pattern is not None
    return site.pattern


def test_predicted_delays_are_means_in_which_the_latest_call_counts_half():
    expected = prediction.from_predictor([[0, 0.004], [0, 0.008], [0.002, 0], [0, 0]])
    assert expected[0] is None and expected[1] == [0, 0.004]
    assert expected[2] == pytest.approx([0, 0.006])
    assert expected[3] == pytest.approx([0.001, 0.003])


def test_errors_are_what_expectations_were_off_by():
    pattern = made([[0, 0.004], [0, 0.008], [0.002, 0]])
    judged = prediction.judge(pattern, prediction.from_predictor(pattern.delays))
    assert judged is not None and judged.calls == 2
    # Half a difference for each of two ranks: of 4 against 8 ms, then of 6 against -2 ms.
    assert judged.error == pytest.approx((0.002 + 0.004) / 2)
    assert judged.together == pytest.approx((0.004 + 0.001) / 2)
    assert judged.last == 0.5
    assert judged.by_rank == pytest.approx([0.003, 0.003])
    assert prediction.judge(made([[0, 1]]), [None]) is None


def test_what_the_library_expected_comes_from_the_report():
    # Call 0: nothing; call 1: of one rank only; call 2: rank 0 at -1 ms, rank 1 at 5 ms.
    ahead = [[None, None], [0.0, None], [-0.001, -0.003]]
    expected = prediction.from_library(made([[0, 0], [0, 0], [0, 0.008]], ahead=ahead))
    assert expected is not None and expected[:2] == [None, None]
    assert expected[2] == pytest.approx([0, 0.006])
    assert prediction.from_library(made([[0, 0]])) is None
    assert prediction.from_library(made([[0, 0]], ahead=[[None, None]])) is None


def test_replays_are_those_of_a_single_call():
    pattern = made([[0.0, 0.0, 0.003, 0.0]] * 3)
    machine = tutti.Machine()
    replays = prediction.replay(
        "gather", 1 << 20, pattern, prediction.from_predictor(pattern.delays), machine, False
    )
    seconds = {one.algorithm: one.seconds for one in replays}
    assert list(seconds.values()) == sorted(seconds.values())
    alone = tutti.explain("gather", [1 << 20] * 4, 0, arrivals=pattern.delays[0])
    for contender in alone.contenders:
        if contender.algorithm in seconds:
            assert seconds[contender.algorithm] == pytest.approx(contender.data_seconds)
    assert [one.bound for one in replays] == pytest.approx([alone.lower_bound] * len(replays))
    assert seconds["linear"] < seconds["linear_sync"]


def test_a_candidate_counts_once_and_its_schedules_serve_equal_calls(monkeypatch):
    built = []

    def call(*arguments):
        built.append(arguments[3])
        return tutti.Call(*arguments)

    monkeypatch.setattr(prediction, "Call", call)
    pattern, machine = made([[0.0, 0.0, 0.003, 0.0]] * 3), tutti.Machine()
    replays = prediction.replay("bcast", 1024, pattern, [None] * 3, machine, False)
    assert len(built) == len(set(built))
    alone = tutti.Call("bcast", [1024] * 4, 0, "earliest", machine).simulate(pattern.delays[0])
    seconds = {one.algorithm: one.seconds for one in replays}
    assert seconds["earliest"] == pytest.approx(alone.run_time)


def test_long_patterns_are_replayed_in_part():
    pattern = made(late_rank(3, 100, 1))
    expected = prediction.from_predictor(pattern.delays)
    calls = prediction.replayed(pattern, expected)
    assert len(calls) <= prediction.MAX_REPLAYS and calls[0] == 1 and calls[-1] > 90
    assert prediction.replayed(made([[0, 1]]), [None]) == [0]


def test_explain_shows_the_pattern_and_what_each_algorithm_takes(command, tmp_path):
    name = write_report(tmp_path, line_of(late_rank(4, 10, 2)), line_of(None, collective="scatter"))
    out = command("explain", "--report", name).out
    assert "1: gather at app: main+0x10: 10 calls of 4 ranks, ran native" in out
    assert "rank 2 is last in 90 % of 10 calls" in out and "blocks of 4,096 bytes" in out
    assert "from earlier calls" in out and "by the library" not in out
    assert "binomial:order=late_leaf" in out and "SIMULATED" in out
    parsed = json.loads(command("explain", "--report", name, "--site", "1", "--json").out)
    assert parsed["block"] == 4096 and parsed["replayed_calls"] == [2 * n for n in range(1, 10)]
    # Of 9 predictions 8 are right; in the last call the rank is not late.
    assert parsed["skipped_calls"] == 9 and "9 calls between these are not recorded here" in " ".join(out.split())
    judged = parsed["predictions"]["from earlier calls"]
    assert judged["calls"] == 9
    assert judged["error"] == pytest.approx((2 * 0.041 * 3 / 4) / 4 / 9)
    assert judged["expected"][2] == pytest.approx(0.041)
    vector = write_report(tmp_path, line_of(late_rank(4, 10, 2), collective="bcast"))
    assert "blocks of 16,384 bytes" in command("explain", "--report", vector).out


def test_a_line_without_arrivals_is_modelled_as_if_together(command, tmp_path):
    """Clocks of several nodes, or one-sided calls, which a program may have alone."""
    sizes = [{"p": p, "bytes": size, "calls": 3, "irregularity": 1, "seconds": seconds, "root": 1}
             for p, size, seconds in ((3, 5000, 2), (4, 8, 1))]  # fmt: skip
    name = write_report(tmp_path, line_of(None, sizes=sizes), line_of(None, collective="bcast"))
    out = " ".join(command("explain", "--report", name, "--site", "1").out.split())
    assert "1: gather at app: main+0x10: 3 calls of 3 ranks, ran native arrivals unknown: clocks of 2 nodes" in out
    assert "all ranks together" in out and "blocks of 5,000 bytes" in out and "SIMULATED: one call, first" in out
    assert "mean delay" not in out and "No predictions" not in out
    parsed = json.loads(command("explain", "--report", name, "--site", "1", "--json").out)
    alone = {one.algorithm: one.data_seconds for one in tutti.explain("gather", [5000] * 3, 1, machine=tutti.Machine()).contenders}
    replayed = {one["algorithm"]: one["seconds"] for one in parsed["algorithms"]}
    assert replayed["binomial"] == pytest.approx(alone["binomial"]) and len(replayed) > 5
    assert parsed["mean_delay"] is None and parsed["replayed_calls"] == [] and parsed["predictions"] == {}
    assert "3 calls of 4 ranks" in command("explain", "--report", name, "--site", "2").out
    refused = command("explain", "--report", name).err
    assert "arrivals of 2 or more ranks; --site LINE models one as if all ranks came together\n" in refused


@pytest.mark.parametrize(("collective", "is_mean"), [("gather", False), ("gatherv", True), ("reduce_scatter", True)])
def test_blocks_of_irregular_collectives_are_means(command, tmp_path, collective, is_mean):
    line = line_of(late_rank(4, 10, 2), collective=collective)
    shown = command("explain", "--report", write_report(tmp_path, line))
    assert shown.status == 0 and ("(mean; the report has no sizes of single ranks)" in shown.out) == is_mean


def test_blocks_are_those_of_the_communicator_with_the_pattern(command, tmp_path):
    """Not of all communicators, which may differ in ranks and sizes."""
    sizes = [{"p": 4, "bytes": size, "calls": calls, "irregularity": 1, "seconds": 1, "root": 0}
             for size, calls in ((1000, 30), (5000, 10))]  # fmt: skip
    other = {**sizes[0], "p": 64, "bytes": 9000, "calls": 990}
    line = line_of(late_rank(4, 10, 2), sizes=[*sizes, other], calls=1030, bytes=10**9)
    name = write_report(tmp_path, line)
    assert json.loads(command("explain", "--report", name, "--json").out)["block"] == 2000


def test_ranks_whose_schedules_take_gigabytes_are_not_replayed(command, tmp_path):
    line = line_of(late_rank(2049, 2, 2), collective="alltoall")
    shown = command("explain", "--report", write_report(tmp_path, line))
    assert shown.status == 0 and "of 2,049 ranks" in shown.out
    text = " ".join(shown.out.split())
    assert "No modelled times: 2,049 ranks: expected 1 to 2,048 for alltoall." in text


def test_the_librarys_own_expectations_come_first_where_there_are_any(command, tmp_path):
    line = line_of([[0.0, 0.01], [0.0, 0.02]])
    line["pattern"]["ahead"] = [[None, None], [0.0, -0.004]]
    line["pattern"]["calls"] = [7, 8]
    out = command("explain", "--report", write_report(tmp_path, line)).out
    assert "by the library in the run" in out and "16.0 ms" in out and "not recorded here" not in out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--site", "4"], "--site 4: no recorded arrivals"),
        (["--site", "7"], "--site 7: no line matches"),
        (["--site", "3"], "--site 3: a single rank waits for no other"),
        (["gather"], "excludes COLLECTIVE (gather)"),
    ],
)
def test_errors_are_one_line(command, tmp_path, words, text):
    single = line_of(late_rank(1, 3, 0), site="app: alone+0x1")
    none = line_of(None, sizes=[{"p": 1, "bytes": 8, "calls": 3, "irregularity": 1, "seconds": 1, "root": 0}], site="app: g+0x1")
    name = write_report(tmp_path, line_of(late_rank(4, 3, 2)), line_of(None), single, none)
    shown = command("explain", *words, "--report", name)
    assert shown.status == 2 and text in shown.err and shown.err.count("\n") == 1


def test_what_is_missing_is_said(command):
    assert "a COLLECTIVE or --report FILE" in command("explain").err
    assert "needs --report FILE" in command("explain", "gather", "--site", "1").err
