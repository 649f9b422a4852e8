"""Tuning for uneven blocks, with a simulated tutti-bench."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated_bench import JOB, linear
from tutti import _engine
from tutti.tuning import Tuner
from tutti.tuning_blocks import Band, band_of, bands, blocks_for, class_end
from tutti.tuning_cells import Cell, Measured
from tutti.tuning_uneven import cells_of, choose, spans_beside
from uneven_ranks import Ranks, blocks_of, rules_in, said, take, tune, where_ring_wins


def test_measured_irregularities_stand_for_all_above_one() -> None:
    assert [one.text for one in bands(64)] == ["2..4", "5..inf"]
    assert bands(8) == [Band(2, 2, 4), Band(8, 5, None)]
    assert bands(4) == [Band(2, 2, 2), Band(4, 3, None)]
    assert bands(2) == [Band(2, 2, None)]


@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 48, 200])
def test_blocks_have_an_irregularity_of_the_band_and_about_the_mean(ranks: int) -> None:
    for band in bands(ranks):
        for size in (64, 1000, 1 << 20):
            words = blocks_for("allgatherv", ranks, size, band.irregularity, band)
            blocks = blocks_of(words, ranks)
            assert band.holds(_engine.irregularity_of(blocks))
            assert max(blocks) * ranks / sum(blocks) == pytest.approx(band.irregularity, rel=0.3)
            assert 4 * sum(blocks) / ranks == pytest.approx(size, rel=0.2)


def test_sizes_without_such_blocks_are_not_measured() -> None:
    equal = {"allgatherv": {4: Cell(4), 64: Cell(64)}, "bcast": {64: Cell(64)}, "gatherv": {64: Cell(64)}}
    # Of blocks of 1 element each, none is 8 times as large as the mean of 2 ranks.
    assert blocks_for("allgatherv", 2, 64, 8, Band(8, 5, None)) == []
    assert cells_of(equal, 2, Band(8, 5, None)) == {"allgatherv": {}}
    # Means of blocks around 1 element are larger, of the class of 8 B.
    assert list(cells_of(equal, 8, Band(8, 5, None))["allgatherv"]) == [64]
    assert blocks_for("allgatherv", 8, 4, 8), "a program's calls are replayed whatever their size"


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 8, 13, 64])
def test_blocks_of_a_band_stay_in_the_class_of_their_size(ranks: int) -> None:
    for band in bands(ranks):
        for size in (4, 8, 12, 16, 64):
            words = blocks_for("allgatherv", ranks, size, band.irregularity, band)
            assert words or size <= 8
            if words:
                assert class_end(4 * sum(blocks_of(words, ranks)) // ranks) == class_end(size)


def test_irregularity_is_a_key_only_where_the_winners_differ(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With very uneven blocks ring, which is best else, loses to the MPI's own."""
    even = {"native": linear(10, 1e-3), "ring": linear(5, 0.5e-3)}
    uneven = {"native": linear(10, 1e-3), "ring": linear(20, 2e-3)}
    rules, told = tune(monkeypatch, tmp_path, Ranks({1: even, 5: uneven}))
    assert rules == [
        ("5..inf", "0..inf", "native"),
        ("0..inf", "0..64K", "ring"), ("0..inf", "65537..inf", "native"),
    ]  # fmt: skip
    measured = {one["irregularity"] for one in told["measured"]}
    assert measured == {one["irregularity"] for one in told["check"]} == {1, 2, 8}
    assert not any(one["slower_than_native"] or one["refuted"] for one in told["check"])


def test_another_algorithm_for_uneven_blocks_holds_for_the_sizes_it_won(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    even = {"native": linear(10, 1e-3), "ring": linear(11, 1e-3)}
    uneven = {"native": linear(10, 2e-3), "ring": linear(20, 1e-3)}  # from 10 KB on
    rules, _ = tune(monkeypatch, tmp_path, Ranks({1: even, 2: uneven, 5: even}))
    assert [(rule[0], rule[2]) for rule in rules] == [("2..4", "ring"), ("0..inf", "native")]
    least, most = rules[0][1].split("..")
    assert 8192 <= _engine.bytes_from(least) <= 32768 and most == "64K"


def test_equal_winners_make_no_rule_for_uneven_blocks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Bruck is 2 % faster with uneven blocks: not beyond doubt."""
    even = {"native": linear(10, 1e-3), "ring": linear(5, 0.5e-3)}
    uneven = {**even, "bruck": linear(4.9, 0.49e-3)}
    rules, _ = tune(monkeypatch, tmp_path, Ranks({1: even, 2: uneven}))
    assert rules == [("0..inf", "0..64K", "ring"), ("0..inf", "65537..inf", "native")]


def test_a_rule_for_uneven_blocks_that_the_check_refutes_becomes_native(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    even = {"native": linear(10, 1e-3)}
    bench = Ranks({1: even, 2: {**even, "ring": linear(5, 0.5e-3)}})
    bench.of_rules["ring"] = linear(30, 3e-3)
    rules, told = tune(monkeypatch, tmp_path, bench)
    assert rules == [("0..inf", "0..inf", "native")]
    assert {one["irregularity"] for one in told["check"] if one["refuted"]} == {2, 8}


def test_a_rule_for_equal_blocks_that_a_check_with_uneven_ones_refutes_is_native_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = where_ring_wins(in_check=linear(30, 3e-3), from_irregularity=5)
    rules, _ = tune(monkeypatch, tmp_path, bench)
    assert rules == [
        ("5..inf", "0..inf", "native"),
        ("0..inf", "0..64K", "ring"), ("0..inf", "65537..inf", "native"),
    ]  # fmt: skip


def test_noise_in_the_check_makes_no_rule_for_uneven_blocks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There ring takes as long as the MPI's own, so that half of the sizes are slower."""
    bench = where_ring_wins(in_check=linear(10, 1e-3), from_irregularity=2)
    rules, told = tune(monkeypatch, tmp_path, bench)
    assert any(one["native_over_rules"] < 1 for one in told["check"])
    assert rules == [("0..inf", "0..64K", "ring"), ("0..inf", "65537..inf", "native")]


def test_equal_blocks_come_first_in_a_budget(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = where_ring_wins()
    rules, told = tune(monkeypatch, tmp_path, bench, "--budget", "1ms")
    assert told["unfinished"][-2:] == [
        {"collective": "allgatherv", "irregularity": 2}, {"collective": "allgatherv", "irregularity": 8},
    ]  # fmt: skip
    assert {one["irregularity"] for one in told["measured"]} <= {1}  # or nothing, on a busy machine
    assert all(rule[0] == "0..inf" for rule in rules)


def refuted(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Ranks:
    """Ring is fast in the tuning only; each run takes so many seconds."""
    bench = where_ring_wins(in_check=linear(30, 3e-3))
    take(monkeypatch, bench, seconds)
    return bench


def test_rules_that_the_budget_left_unchecked_are_not_called_native(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All 3 sizes checked are refuted; for 2 more the rules say ring."""
    told = " ".join(said(monkeypatch, tmp_path, refuted(monkeypatch, 6), "--budget", "2m").split())
    assert "did not suffice to check 2 of 5 sizes" in told
    assert "ring" in [use for _, _, use in rules_in(tmp_path)]
    assert "Nothing is faster" not in told


def test_uneven_blocks_that_nothing_checked_have_no_rules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The budget ends after the check of equal blocks, which has refuted ring."""
    bench = refuted(monkeypatch, 4)
    told = " ".join(said(monkeypatch, tmp_path, bench, "--budget", "2m").split())
    assert bench.machine.now == 120
    assert rules_in(tmp_path) == [("0..inf", "0..inf", "native")]
    assert "did not suffice for: allgatherv (irregularity 2..4), allgatherv (irregularity 5..inf)." in told
    assert "to check" not in told
    assert "Nothing is faster than the MPI's own algorithms here: " in told


def test_the_budget_that_is_named_suffices(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = where_ring_wins()
    take(monkeypatch, bench, 10)
    told = " ".join(said(monkeypatch, tmp_path, bench, "--budget", "1m").split())
    # 3 kinds of blocks with 5 sizes: 18 runs each, of 10 s, in 80 % of the budget.
    assert "By the runs so far, --budget 12m would suffice; with --resume" in told
    _, found = tune(monkeypatch, tmp_path, bench, "--budget", "12m")
    assert found["unfinished"] == []


def test_failures_are_told_by_collective_and_irregularity(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = where_ring_wins()
    bench.broken = "bruck"
    _, told = tune(monkeypatch, tmp_path, bench)
    assert told["failed"] == [
        {"collective": "allgatherv", "irregularity": irregularity, "name": "bruck", "why": "exit status 1"}
        for irregularity in (2, 8)
    ]


def test_a_rule_for_uneven_blocks_leaves_out_what_was_not_compared_with_it() -> None:
    """Equal blocks of 4 KiB select chain, which was not measured with uneven ones."""

    def tuner(use: dict[int, str], band: Band | None = None) -> Tuner:
        cells = {
            size: Cell(size, span=(size // 2 + 1, size), choice=name,
                       lines={one: Measured(one, (5.0 if one == name else 10.0,) * 30)
                              for one in {"native", "ring", name}})
            for size, name in use.items()
        }  # fmt: skip
        return Tuner(JOB, lambda *_: [], {"allgatherv": cells}, band=band, clock=lambda: 0.0)

    equal = tuner({64: "native", 512: "native", 4096: "chain", 65536: "native"})
    uneven = tuner(dict.fromkeys((64, 512, 4096, 65536), "ring"), Band(2, 2, 4))
    choose(equal, uneven)
    assert list(uneven.cells["allgatherv"]) == [64, 512, 65536]
    found = spans_beside(equal, uneven, Band(2, 2, 4))
    assert [(span.use, span.least, span.most) for _, _, span in found] == [("ring", 33, 2048), ("ring", 4097, 65536)]
    assert [[cell.bytes for cell in span.cells] for _, _, span in found] == [[64, 512], [65536]]


def test_nearly_equal_blocks_and_those_that_rules_do_not_tell_apart_have_no_band() -> None:
    nearly = [126, *[125] * 7]
    assert _engine.irregularity_of(nearly) == _engine.irregularity_of([0, 0]) == 1
    assert _engine.irregularity_of([106, 98, 98, 98]) == 2
    assert band_of("allgatherv", 8, 1.04) is None and band_of("allgatherv", 4, 1.05) is None
    assert band_of("gatherv", 8, 3.0) is None, "no rank knows the blocks of all"
    assert band_of("alltoall", 8, 3.0) is None
    assert band_of("allgatherv", 8, 1.06) == band_of("reduce_scatter", 8, 4.0) == Band(2, 2, 4)
    assert band_of("allgatherv", 8, 4.1) == Band(8, 5, None)
