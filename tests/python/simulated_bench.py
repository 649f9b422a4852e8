"""A tutti-bench whose times are known."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from tutti import _engine, tuning_run
from tutti.cli import app
from tutti.tuning import Job, Tuner
from tutti.tuning_cells import grids
from tutti.tuning_rules import rules_of, to_text
from tutti.tuning_run import waits_for_all
from typer.testing import CliRunner

JOB = Job(8, 1, 8, "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4",
          "P, 8 cores, unknown", cores=8)  # fmt: skip
SIZES = (8, 4 << 20)


class Machine:
    """Times in microseconds by algorithm and bytes, with 1 % of noise; counts its calls."""

    def __init__(self, times: dict[str, Any], seconds: float = 1.0) -> None:
        self.times = times
        self.seconds = seconds
        self.now = 0.0
        self.runs: list[tuple[str, list[int], list[str], int]] = []
        self.patience: list[int] = []
        """Of each run: the seconds without progress after which it ends."""
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
        patience: int = 300,
    ) -> list[dict[str, Any]]:
        self.runs.append((collective, list(sizes), list(names), repetitions))
        self.patience.append(patience)
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
    tuner = Tuner(JOB, machine, cells, budget=budget, start_up=machine.seconds,
                  clock=lambda: machine.now)  # fmt: skip
    tuner.run()
    return tuner


def spans(tuner: Tuner) -> list[tuple[str, str]]:
    """Message sizes and what runs, after a round through the reader of rules."""
    rules = rules_of(tuner, "2026-11-22", "tutti tune")
    read = _engine.rules_from_text(to_text(rules, "2026-11-22", "tutti tune"), "x.json")
    return [(rule.bytes, rule.use) for rule in read.all]


def linear(latency: float, per_byte: float) -> Any:
    return lambda size: latency + per_byte * size


class Bench:
    """Takes the arguments of tutti-bench. Where a rank may wait for nobody, times after the last
    arrival are the shorter, the longer the algorithm takes."""

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
        metadata = {"ranks": "8", "nodes": "1", "ranks of a node": "8", "library": JOB.library,
                    "processor": "P", "cores of a node": "8", "network": "unknown"}  # fmt: skip
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
                times = line["samples_us"]
                misleads = not waits_for_all(words[0])
                line["after_last_arrival_us"] = [1 / time for time in times] if misleads else times
        return {"metadata": metadata, "rows": rows}


def simulated(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Stands for tutti-bench in the command. Chain is twice as fast as the MPI's own."""
    times = {"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3), "auto": linear(5, 0.5e-3)}
    made = Bench(Machine(times))
    monkeypatch.setattr(tuning_run, "under", lambda mpirun: made)
    return made


def invoke(*words: str) -> Any:
    """Runs `tutti tune` on 8 ranks."""
    return CliRunner().invoke(app, ["tune", "--mpirun", "mpirun -n 8", *words])
