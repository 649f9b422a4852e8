"""Tuning for the uneven blocks of a program, with a simulated tutti-bench."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated_bench import linear
from tutti.tuning_blocks import Band, blocks_for
from uneven_ranks import Ranks, calls, take, tune_for, where_ring_wins


def test_a_program_is_tuned_with_its_own_blocks_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = where_ring_wins()
    rules, told = tune_for(monkeypatch, tmp_path, bench, [calls(3.0)])
    names = ("--distribution", "--block", "--seed", "--rho")
    kinds = {tuple(word for name in names for word in (name, words[words.index(name) + 1]))
             for words in bench.runs if words[0] == "allgatherv"}  # fmt: skip
    assert kinds == {tuple(blocks_for("allgatherv", 8, 4096, 3.0, Band(2, 2, 4)))}
    # Nothing has measured equal blocks.
    assert rules == [("2..4", "2049..4K", "ring")]
    (site,) = told["sites"]
    assert (site["irregularity"], site["blocks"], site["chosen"]) == (3.0, "2..4", "ring")
    assert site["speedup"] == pytest.approx(2, rel=0.1)
    assert told["saved_seconds"] == pytest.approx(0.5, rel=0.1)


def test_calls_of_one_site_with_equal_and_uneven_blocks_in_turn_have_one_rule(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for mean, most, irregularity in (4.5, 8.0, "0..inf"), (4.0, 4.5, "0..inf"), (6.5, 8.0, "5..inf"):
        mixed = {**calls(mean), "irregularity": {"mean": mean, "max": most}}
        rules, _ = tune_for(monkeypatch, tmp_path, where_ring_wins(), [mixed])
        assert rules == [(irregularity, "2049..4K", "ring")]


def test_a_program_with_uneven_blocks_only_has_rules_when_the_budget_is_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = where_ring_wins()
    take(monkeypatch, bench, 20)
    rules, told = tune_for(monkeypatch, tmp_path, bench, [calls(3.0)], "--budget", "40s")
    assert rules == [("2..4", "2049..4K", "ring")] and told["check"] == []


def test_calls_of_a_program_without_blocks_of_their_band_are_tuned_without_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert not blocks_for("allgatherv", 8, 4, 8.0, Band(8, 5, None))
    sites = [calls(8.0, size=4), calls(1.0, 0.5, size=4)]
    rules, told = tune_for(monkeypatch, tmp_path, where_ring_wins(), sites)
    assert rules == [("0..inf", "3..4", "ring")]
    assert [site["chosen"] for site in told["sites"]] == ["ring", "ring"]


@pytest.mark.parametrize(
    ("size", "chosen", "even"),
    [(4096, "as equal blocks", 0.5), (4096, "native", 2), (256, "no rule", 0.5)],
)
def test_the_table_says_what_calls_run_that_the_budget_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, size: int, chosen: str, even: float
) -> None:
    # One of the few candidates that the budget suffices for.
    bench = Ranks({1: {"native": linear(10, 1e-3), "bruck:k=4": linear(10 * even, 1e-3 * even)}})
    take(monkeypatch, bench, 10)
    sites = [calls(1.0), calls(8.0, 0.9, size=size)]
    _, told = tune_for(monkeypatch, tmp_path, bench, sites, "--budget", "40s")
    assert {one["irregularity"]: one["chosen"] for one in told["sites"]}[8.0] == chosen


def test_irregularity_is_a_key_where_sites_of_a_program_need_different_rules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    even = {"native": linear(10, 1e-3), "ring": linear(5, 0.5e-3)}
    uneven = {"native": linear(10, 1e-3), "ring": linear(20, 2e-3)}
    sites = [calls(1.0), calls(2.5), calls(8.0)]
    rules, told = tune_for(monkeypatch, tmp_path, Ranks({1: even, 5: uneven}), sites)
    assert rules == [("5..inf", "2049..4K", "native"), ("0..inf", "2049..4K", "ring")]
    chosen = {site["irregularity"]: site["chosen"] for site in told["sites"]}
    assert chosen == {1.0: "ring", 2.5: "ring", 8.0: "native"}
    assert {one["irregularity"] for one in told["check"]} == {1, 2, 8}


def test_blocks_of_a_program_for_which_nothing_is_faster_get_the_mpis_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rules, told = tune_for(monkeypatch, tmp_path, Ranks({1: {"native": linear(10, 1e-3)}}), [calls(6.0)])
    assert rules == [("5..inf", "2049..4K", "native")]
    assert told["saved_seconds"] == 0


def test_a_rule_for_uneven_blocks_of_a_program_that_the_check_refutes_is_native(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = where_ring_wins(in_check=linear(30, 3e-3), from_irregularity=5)
    rules, told = tune_for(monkeypatch, tmp_path, bench, [calls(1.0), calls(8.0)])
    assert rules == [("5..inf", "2049..4K", "native"), ("0..inf", "2049..4K", "ring")]
    assert [one["irregularity"] for one in told["check"] if one["refuted"]] == [8]


def test_the_blocks_of_a_program_share_a_budget_by_the_time_of_their_calls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Uneven blocks take nearly all of the program's time. Those of equal ones would take all of
    the budget."""
    bench = where_ring_wins()
    take(monkeypatch, bench, 4)
    equal = [calls(1.0, 0.02, size=1 << n) for n in range(6, 16)]
    rules, told = tune_for(monkeypatch, tmp_path, bench, [*equal, calls(8.0)], "--budget", "1m")
    assert ("5..inf", "2049..4K", "ring") in rules
    assert {"collective": "allgatherv", "irregularity": 1} in told["unfinished"]


def test_what_some_blocks_of_a_program_leave_of_a_budget_serves_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Equal ones need 3 of 4 runs, but take half of the time. So many runs fit in the budget."""
    bench = where_ring_wins()
    take(monkeypatch, bench, 4)
    equal = [calls(1.0, 0.2, size=1 << n) for n in (8, 10, 12, 14, 16)]
    _, told = tune_for(monkeypatch, tmp_path, bench, [*equal, calls(8.0)], "--budget", "140s")
    assert told["unfinished"] == []
