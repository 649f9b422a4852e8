"""Runs a tuning: starts tutti-bench, keeps what it has measured for a later --resume, checks."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from tutti import _engine, bench
from tutti.fields import COUNT, NUMBER, TEXT, Each, fault_of
from tutti.refusal import Refusal
from tutti.rules import UNKNOWN_SIZES
from tutti.tuning import CHECK, WARMUP, WIDTH, Job, Progress, Tuner
from tutti.tuning_cells import Cell, Measured
from tutti.tuning_rules import settle

STATE_SCHEMA = "tutti-tune-state-6"
_CHECKS = 20
_RULES = ["native", "auto"]
"""What a check compares: with rules, auto runs what they select."""
_LEAST_US = 0.001
"""Of a clock's resolution; a time of 0 has no ratio."""

_ALONE = {
    "TUTTI": "on", "TUTTI_RULES": "none", "TUTTI_REPORT": "none", "TUTTI_LEARN": "off",
    "TUTTI_MACHINE": "built-in",
}  # fmt: skip
"""Whatever the environment says: no rules, no report, which each run would replace, nothing learned,
which real programs would start from, and none of the measurements for lower bounds that every run
would make."""

Run = Callable[[list[str], dict[str, str]], dict[str, Any]]
"""Starts tutti-bench with arguments and further settings, and returns its JSON."""


def under(mpirun: str) -> Run:
    """Runs tutti-bench under a launcher."""
    return lambda arguments, settings: bench.measure(mpirun, arguments, settings=settings)


def job_of(run: Run) -> Job:
    """The job that the launcher starts."""
    found = run(["barrier", "--repetitions", "1", "--warmup", "0"], _ALONE)
    known = found["metadata"]
    numbers = (int(known[name]) for name in ("ranks", "nodes", "ranks of a node"))
    network = known["network"]
    machine = f"{known['processor']}, {known['cores of a node']} cores, {network}"
    return Job(*numbers, known["library"], machine, "" if network == "unknown" else network)


_ROW = {"bytes": COUNT, "algorithms": [{"name": TEXT, "ran": TEXT, "samples_us": [NUMBER]}]}


def settings() -> dict[str, str]:
    """What the environment tells Tutti and MPIs, which measurements depend on."""
    names = (
        "TUTTI", "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPIR_CVAR_", "MPICH_", "I_MPI_", "MV2_",
        "MVP_", "UCX_", "FI_",
    )  # fmt: skip
    found = {name: value for name, value in sorted(os.environ.items()) if name.startswith(names)}
    return {name: value for name, value in found.items() if name not in _ALONE}


def _different(old: Any, new: Any) -> tuple[Any, Any]:
    """Two values that differ; of two dictionaries, the entries that do."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return old, new
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    kept, own = (
        ", ".join(f"{name}={side[name]}" if name in side else f"no {name}" for name in names)
        for side in (old, new)
    )
    return kept, own


@contextlib.contextmanager
def alone(output: Path) -> Iterator[None]:
    """Keeps other tunings from these rules meanwhile, as far as the file system has locks. Raises
    Refusal if one is under way."""
    path = output.with_name(output.name + ".lock")
    with _locked(path, output):
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _locked(path: Path, output: Path) -> TextIO:
    """A file of this name, locked."""
    while True:
        try:
            lock = path.open("w")
        except OSError as error:
            raise Refusal(f"{path}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise Refusal(f"--output {output}: another tutti tune is writing these rules") from None
        except OSError:  # no locks there
            return lock
        try:
            if os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                return lock
        except OSError:
            pass
        lock.close()  # the one before has removed it


class State:
    """Measurements of this tuning, kept in a file beside the rules until they are written."""

    def __init__(self, path: Path, identity: dict[str, Any], resume: bool) -> None:
        self.path = path
        self._content: dict[str, Any] = {"schema": STATE_SCHEMA, **identity, "runs": {}, "bounds": {}}
        if not resume:
            return
        try:
            found = json.loads(path.read_text())
        except OSError as error:
            raise Refusal(f"--resume: {path}: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise Refusal(f"--resume: {path}: invalid JSON: {error}") from None
        for key, value in {"schema": STATE_SCHEMA, **identity}.items():
            old = found.get(key) if isinstance(found, dict) else None
            if old != value:
                kept, own = _different(old, value)
                raise Refusal(f"--resume: {path} has {key} {kept}, this run has {own}")
        if fault := fault_of(found, {"runs": Each([_ROW]), "bounds": Each(NUMBER)}):
            raise Refusal(f"--resume: {path}: {fault}")
        self._content = found

    def get(self, key: str) -> list[dict[str, Any]] | None:
        """The rows of a run that an earlier tuning has finished."""
        rows: list[dict[str, Any]] | None = self._content["runs"].get(key)
        return rows

    def bound(self, key: str) -> float:
        """The seconds that the run was given; 0 without a bound."""
        return float(self._content["bounds"].get(key, 0))

    def put(self, key: str, rows: list[dict[str, Any]], bound: float) -> None:
        """Keeps the rows of a run and its bound in seconds. The file is whole at any time."""
        self._content["runs"][key] = rows
        self._content["bounds"][key] = bound
        new = self.path.with_name(self.path.name + ".new")
        try:
            new.write_text(json.dumps(self._content))
            os.replace(new, self.path)
        except OSError as error:
            raise Refusal(f"{self.path}: {error.strerror}") from None

    def remove(self) -> None:
        """The rules are written."""
        self.path.unlink(missing_ok=True)


Shape = Callable[[str, int], list[str]]
"""What tutti-bench takes for a collective and message size: blocks, root, arrivals."""


def equal_blocks(collective: str, size: int) -> list[str]:
    """The Shape of a tuning for any program."""
    words = ["--block", str(max(1, size // WIDTH))] if size > 0 else []
    if _engine.is_irregular(collective):
        # Where ranks know the mean block it must be what was asked for.
        words += ["--distribution", "random" if collective in UNKNOWN_SIZES else "same"]
    return words


def arguments_of(collective: str, algorithms: Sequence[str], repetitions: int) -> list[str]:
    """What tutti-bench takes for one run, except the Shape."""
    words = [collective, "--repetitions", str(repetitions), "--warmup", str(WARMUP)]
    for algorithm in algorithms:
        words += ["--algorithm", algorithm]
    return words


def measuring(run: Run, state: State, shape: Shape = equal_blocks) -> Any:
    """A tutti.tuning.Measure that passes over what the state has. Each size is a run of its own."""

    def measure(
        collective: str,
        sizes: Sequence[int],
        algorithms: Sequence[str],
        repetitions: int,
        seconds: float,
    ) -> list[dict[str, Any]]:
        bound = ["--budget", f"{max(seconds, 0.05) * 1e3:.0f}ms"] if seconds else []
        measured = []
        for size in sizes:
            words = arguments_of(collective, algorithms, repetitions) + shape(collective, size)
            key = " ".join(words)
            rows = state.get(key)
            # A budget cuts runs short. What is left of one becomes less from run to run.
            is_cut = rows is not None and not all(_has(row, repetitions) for row in rows)
            if rows is None or (is_cut and not 0 < seconds <= 2 * state.bound(key)):
                found = run([*words, "--no-check", *bound], _ALONE)
                rows = [_kept(row, size, samples_of(collective, words)) for row in found["rows"]]
                state.put(key, rows, seconds)
            measured += rows
        return measured

    return measure


def _has(row: dict[str, Any], repetitions: int) -> bool:
    return all(len(line["samples_us"]) >= repetitions for line in row["algorithms"])


def waits_for_all(collective: str) -> bool:
    """Can no rank leave before the last one arrives?"""
    one_way = _engine.has_root(collective) or _engine.is_irregular(collective)
    return not one_way and collective not in ("scan", "exscan")


Samples = Callable[[dict[str, Any]], list[float]]
"""The times of a line of tutti-bench in microseconds."""


def samples_of(collective: str, words: Sequence[str]) -> Samples:
    """Which times of a run with these arguments count: until the last exit, from the last arrival on
    where ranks are made to arrive apart or where every rank waits for all. Elsewhere the last rank
    may find its data there, so from the first arrival on."""
    from_last = "--delay" in words or waits_for_all(collective)
    kind = "after_last_arrival_us" if from_last else "samples_us"

    def samples(line: dict[str, Any]) -> list[float]:
        return [max(_LEAST_US, sample) for sample in line.get(kind, line["samples_us"])]

    return samples


def _kept(row: dict[str, Any], size: int, samples: Samples) -> dict[str, Any]:
    """What a tuning needs of a row that it has asked for by a message size."""
    lines = [
        {"name": line["name"], "ran": line.get("ran", ""), "samples_us": samples(line)}
        for line in row["algorithms"]
    ]
    return {"bytes": size, "algorithms": lines}


@dataclass(frozen=True)
class Check:
    """The times of one collective and size under the new rules, beside those without them."""

    collective: str
    bytes: int
    native: Measured
    rules: Measured
    ran: str
    """What Tutti ran by the rules."""
    best: Measured
    """The fastest of native, what the rules selected and what the tuning found fastest."""
    refutes: bool = False
    """The rules selected something that has not shown here to be better than native."""

    @property
    def is_native(self) -> bool:
        """The rules selected the MPI's own algorithm."""
        return self.ran.startswith("native: ")

    @property
    def speedup(self) -> float:
        """Native's median over that of the rules; 1 where they ran native, as all else is noise."""
        return 1.0 if self.is_native else self.native.median / self.rules.median

    @property
    def loss(self) -> float:
        """What the rules take longer than the best, as a share of the best."""
        least = min(self.native.median, self.rules.median)
        return (least if self.is_native else self.rules.median) / self.best.median - 1

    @property
    def is_slower(self) -> bool:
        """The rules are slower than native beyond doubt, by the intervals of the medians."""
        return not self.is_native and self.rules.interval.low > self.native.interval.high


def check(
    tuner: Tuner, run: Run, rules: Path, left: Callable[[], float] = lambda: math.inf,
    shape: Shape = equal_blocks, progress: Progress = lambda done, planned, text: None,
) -> list[Check]:  # fmt: skip
    """Measures native, the rules and the best found in turn, with received data compared.

    `left` is the number of seconds that the checks may still take. Sizes for which the rules select
    something else than native come first, since only these can be refuted. Where the rules fail,
    what was checked of their collective is dropped. Where only the best found fails, it is left out.

    Raises:
        RunFailed: the MPI's own algorithm alone fails too.
    """
    cells = [
        (collective, cell)
        for collective, sizes in tuner.cells.items()
        for _, cell in sorted(sizes.items())
        if "native" in cell.lines
    ]
    settle(tuner)
    order = sorted(range(len(cells)), key=lambda at: cells[at][1].choice == "native")
    checks: dict[int, Check] = {}
    for done, at in enumerate(order):
        seconds = left()
        if seconds <= 0:
            break
        collective, cell = cells[at]
        if (collective, CHECK) in tuner.failed:
            continue
        progress(done, len(cells), f"check {collective} {_engine.range_text(str(cell.bytes))}")
        names = [*_RULES, *({cell.best.name} - {"native"})]
        further = shape(collective, cell.bytes)
        if seconds < math.inf:
            further += ["--budget", f"{max(50.0, seconds / (len(cells) - done) * 1e3):.0f}ms"]
        found = _check_run(tuner, run, rules, collective, names, further)
        for row in found["rows"][:1]:
            checks[at] = _check_of(row, collective, cell, samples_of(collective, further))
    return _refuted(tuner, [check for _, check in sorted(checks.items())])


def _check_run(
    tuner: Tuner, run: Run, rules: Path, collective: str, names: list[str], further: list[str]
) -> dict[str, Any]:
    """Runs native, the rules and perhaps the best found. Where that fails, finds out which is to
    blame; no rows if it is the rules."""
    settings = _ALONE | {"TUTTI_RULES": str(rules)}
    try:
        return run(arguments_of(collective, names, _CHECKS) + further, settings)
    except bench.RunFailed as error:
        if names != _RULES:
            found = _check_run(tuner, run, rules, collective, _RULES, further)
            if found["rows"]:
                tuner.leave_out(collective, names[-1], str(error))
            return found
        run(arguments_of(collective, ["native"], _CHECKS) + further, _ALONE)
        tuner.failed[collective, CHECK] = str(error)
        return {"rows": []}


def _refuted(tuner: Tuner, checks: list[Check]) -> list[Check]:
    """Makes native what a check refutes, what lost its candidate, and collectives that failed. A rule
    that holds for all sizes is refuted by one that is slower, or by no gain in the mean. Returns the
    checks of what has not failed."""
    for name, cells in tuner.cells.items():
        own = [one for one in checks if one.collective == name]
        lost = {one.bytes for one in own if one.refutes}
        lost |= {size for size, cell in cells.items() if cell.choice not in ("", *cell.lines)}
        gains = [one.speedup for one in own if not one.is_native]
        gains_nothing = bool(gains) and geometric_mean(gains) <= 1
        if (name, CHECK) in tuner.failed or (name in UNKNOWN_SIZES and (lost or gains_nothing)):
            lost = set(cells)
        for size in lost:
            cells[size].is_refuted = True
    return [
        replace(one, refutes=not one.is_native and tuner.cells[one.collective][one.bytes].is_refuted)
        for one in checks if (one.collective, CHECK) not in tuner.failed
    ]  # fmt: skip


def _check_of(row: dict[str, Any], collective: str, cell: Cell, samples: Samples) -> Check:
    lines = {line["name"]: line for line in row["algorithms"]}
    times = {name: Measured(name, tuple(samples(line))) for name, line in lines.items()}
    best = min(times.values(), key=lambda line: line.median)
    ran = lines["auto"].get("ran", "")
    check = Check(collective, cell.bytes, times["native"], times["auto"], ran, best)
    # Where the rule only was as fast as native, the times of the check fall on either side. So do
    # those of some size among several with one rule.
    was_faster = cell.choice in cell.lines and cell.is_faster(cell.lines[cell.choice])
    was_faster = was_faster and collective not in UNKNOWN_SIZES
    is_refuted = check.speedup <= 1 if was_faster else check.is_slower
    return replace(check, refutes=is_refuted and not check.is_native)


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers; 1 without any."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0
