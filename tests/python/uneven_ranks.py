"""Ranks with uneven blocks whose times are known, and tunings of these."""

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
