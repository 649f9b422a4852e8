"""Tuning for uneven blocks, with a simulated tutti-bench."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from reporting import line_of, write_report
from simulated_bench import JOB, Bench, Machine, linear
from tutti import _engine, tuning_run
from tutti.bench import RunFailed
from tutti.cli import app
from tutti.commands import tune as command
from tutti.tuning import Tuner
from tutti.tuning_blocks import Band, band_of, bands, blocks_for, class_end
from tutti.tuning_cells import Cell, Measured
from tutti.tuning_uneven import cells_of, choose, spans_beside
from typer.testing import CliRunner

Time = Callable[[int], float]


def blocks_of(words: list[str], ranks: int = JOB.ranks) -> list[int]:
    """The blocks that tutti-bench makes."""
    options = dict(zip(words[::2], words[1::2], strict=True))
    return _engine.distribute(
        options["--distribution"], ranks, int(options["--block"]),
        int(options.get("--seed", 1)), int(options.get("--rho", 5)),
    )  # fmt: skip


class Ranks(Bench):
    """Ranks whose times depend on the irregularity of blocks, and that follow rules."""

    def __init__(self, times: dict[int, dict[str, Time]]) -> None:
        """`times`: by the least irregularity that they hold for."""
        super().__init__(Machine({}))
        self.of_irregularity = times
        self.of_rules: dict[str, Time] = {}
        """Times that an algorithm takes in the check only."""
        self.from_irregularity = 1
        """The least irregularity for which it does."""
        self.broken = ""
        """An algorithm that fails with uneven blocks."""

    def __call__(self, words: list[str], settings: dict[str, str]) -> dict[str, Any]:
        if words[0] in ("allgatherv", "reduce_scatter"):
            blocks = blocks_of(words[words.index("--block") :][:2] + words[words.index("--distribution") :][:2]
                               + self._rest(words))  # fmt: skip
            irregularity = _engine.irregularity_of(blocks)
            if irregularity > 1 and self.broken in words:
                raise RunFailed("exit status 1")
            least = max(one for one in self.of_irregularity if one <= irregularity)
            self.machine.times = dict(self.of_irregularity[least])
            if settings["TUTTI_RULES"] != "none":
                self._follow(Path(settings["TUTTI_RULES"]), words[0], blocks, irregularity)
        return super().__call__(words, settings)

    @staticmethod
    def _rest(words: list[str]) -> list[str]:
        return [word for name in ("--seed", "--rho") if name in words
                for word in words[words.index(name) :][:2]]  # fmt: skip

    def _follow(self, path: Path, collective: str, blocks: list[int], irregularity: int) -> None:
        rules = _engine.rules_from_text(path.read_text(), path.name)
        mean = 4 * sum(blocks) // len(blocks)
        rule = rules.find(collective, JOB.ranks, mean, 1, JOB.ranks, True, JOB.library, irregularity)
        use = rule.use if rule else "native"
        self.ran = f"{use}: rules: measured"
        is_other = use in self.of_rules and irregularity >= self.from_irregularity
        times = self.of_rules if is_other else self.machine.times
        self.machine.times["auto"] = times.get(use, lambda size: 4 * self.machine.times["native"](size))


def where_ring_wins(in_check: Time | None = None, from_irregularity: int = 1) -> Ranks:
    """Ring takes half the time of the MPI's own, but `in_check` in the check of irregular blocks."""
    bench = Ranks({1: {"native": linear(10, 1e-3), "ring": linear(5, 0.5e-3)}})
    if in_check:
        bench.of_rules["ring"] = in_check
    bench.from_irregularity = from_irregularity
    return bench


def tune(
    monkeypatch: pytest.MonkeyPatch, folder: Path, bench: Bench, *words: str
) -> tuple[list[tuple[str, str, str]], dict[str, Any]]:
    """Irregularity, sizes and what runs, by rule; and what the command says."""
    told = json.loads(said(monkeypatch, folder, bench, "--json", *words))
    return rules_in(folder), told


def said(monkeypatch: pytest.MonkeyPatch, folder: Path, bench: Bench, *words: str) -> str:
    """What the command prints."""
    monkeypatch.setattr(tuning_run, "under", lambda mpirun: bench)
    output = folder / "rules.json"
    options = ["--collective", "allgatherv", "--bytes", "8..64K", "--output", str(output), *words]
    done = CliRunner().invoke(app, ["tune", "--mpirun", "mpirun -n 8", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def rules_in(folder: Path) -> list[tuple[str, str, str]]:
    rules = _engine.rules_from_text((folder / "rules.json").read_text(), "").all
    return [(rule.irregularity, rule.bytes, rule.use) for rule in rules]


def take(monkeypatch: pytest.MonkeyPatch, bench: Bench, seconds: float) -> None:
    """Each run takes so long by the clock of the command, and nothing else takes time."""
    bench.machine.seconds = seconds
    clock = SimpleNamespace(monotonic=lambda: bench.machine.now)
    monkeypatch.setattr(command, "time", clock)


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


def calls(irregularity: float, seconds: float = 1.0, size: int = 4096) -> dict[str, Any]:
    """Those of one site of a program."""
    sizes = [{"p": 8, "bytes": size, "calls": 9, "irregularity": irregularity, "seconds": seconds, "root": -1}]
    return line_of(None, collective="allgatherv", site=f"app: f{irregularity}", sizes=sizes,
                   elapsed={"mean": seconds / 9, "sum": seconds})  # fmt: skip


def tune_for(
    monkeypatch: pytest.MonkeyPatch, folder: Path, bench: Bench, sites: list[dict[str, Any]], *words: str
) -> tuple[list[tuple[str, str, str]], dict[str, Any]]:
    """As `tune`, for a program."""
    monkeypatch.setattr(tuning_run, "under", lambda mpirun: bench)
    path = write_report(folder, *sites, ranks=8)
    output = ["--output", str(folder / "rules.json"), "--json"]
    done = CliRunner().invoke(app, ["tune", "--mpirun", "mpirun -n 8", "--report", path, *output, *words])
    assert done.exit_code == 0, done.output
    return rules_in(folder), json.loads(done.stdout)


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
    bench = Ranks({1: {"native": linear(10, 1e-3), "bruck": linear(10 * even, 1e-3 * even)}})
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
