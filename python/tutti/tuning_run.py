"""Runs a tuning: starts tutti-bench, and keeps what it has measured for a later --resume."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from tutti import _engine, bench
from tutti.console import write
from tutti.fields import COUNT, NUMBER, TEXT, Each, fault_of
from tutti.refusal import Refusal
from tutti.rules import UNKNOWN_SIZES
from tutti.tuning import WARMUP, Job
from tutti.tuning_blocks import WIDTH

STATE_SCHEMA = "tutti-tune-state-7"
_LEAST_US = 0.001
"""Of a clock's resolution; a time of 0 has no ratio."""

ALONE = {
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
    found = run(["barrier", "--repetitions", "1", "--warmup", "0"], ALONE)
    known = found["metadata"]
    names = ("ranks", "nodes", "ranks of a node", "cores of a node")
    ranks, nodes, ranks_per_node, cores = (int(known[name]) for name in names)
    network = known["network"]
    machine = f"{known['processor']}, {cores} cores, {network}"
    is_known = network != "unknown"
    return Job(
        ranks, nodes, ranks_per_node, known["library"], machine, network if is_known else "", cores
    )


_ROW = {"bytes": COUNT, "algorithms": [{"name": TEXT, "ran": TEXT, "samples_us": [NUMBER]}]}


def settings() -> dict[str, str]:
    """What the environment tells Tutti and MPIs, which measurements depend on."""
    # ALONE switches off all that reads the cache folder, and each job may have its own.
    without = {*ALONE, "TUTTI_CACHE_DIR"}
    names = (
        "TUTTI", "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPIR_CVAR_", "MPICH_", "I_MPI_", "MV2_",
        "MVP_", "UCX_", "FI_",
    )  # fmt: skip
    found = {name: value for name, value in sorted(os.environ.items()) if name.startswith(names)}
    return {name: value for name, value in found.items() if name not in without}


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
    path = output.with_name(f".{output.name}.lock")
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
    """Measurements of this tuning, kept in a file beside the rules until these are written, or longer
    for a tuning with a larger budget.

    Args:
        path: the file.
        identity: what the measurements depend on.
        resume: begin with those in the file. It must be of this identity; a finished tuning of
            another one is as good as none.

    Raises:
        Refusal: the file cannot be read, is invalid, or has the runs of another tuning.
    """

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
            if old != value and is_finished(path):
                print(f"tutti: {path} is of another tuning, which has finished: this one begins anew",
                      file=sys.stderr)  # fmt: skip
                return
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
        self._content["finished"] = False
        self._write()

    def finish(self, keep: bool) -> None:
        """The rules are written. Kept, the next tuning may continue from here, or begin anew."""
        if not keep:
            self.path.unlink(missing_ok=True)
            return
        self._content["finished"] = True
        self._write()

    def _write(self) -> None:
        write(self.path, json.dumps(self._content), "--output")


def is_finished(path: Path) -> bool:
    """Is this the file of a State whose rules are written?"""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("finished") is True


@dataclass(frozen=True)
class Variant:
    """Calls of one root, which one run of tutti-bench measures."""

    words: list[str]
    """What tutti-bench takes for them: blocks, root, arrivals."""
    share: float = 1.0
    """Of the calls of their size; the shares of all variants add up to 1."""


Shape = Callable[[str, int], list[Variant]]
"""How calls of a collective and message size are measured."""


def equal_blocks(collective: str, size: int) -> list[Variant]:
    """The Shape of a tuning for any program."""
    words = ["--block", str(max(1, size // WIDTH))] if size > 0 else []
    if _engine.is_irregular(collective):
        # Where ranks know the mean block it must be what was asked for.
        words += ["--distribution", "random" if collective in UNKNOWN_SIZES else "same"]
    return [Variant(words)]


def budget_words(seconds: float) -> list[str]:
    """What tutti-bench takes for a bound of the time for each size."""
    return ["--budget", f"{max(seconds, 0.05) * 1e3:.0f}ms"]


def patience_words(seconds: int) -> list[str]:
    """What tutti-bench takes for the seconds without progress after which it gives up."""
    return ["--timeout", str(seconds)]


def arguments_of(collective: str, algorithms: Sequence[str], repetitions: int) -> list[str]:
    """What tutti-bench takes for one run, except the Shape."""
    words = [collective, "--repetitions", str(repetitions), "--warmup", str(WARMUP)]
    for algorithm in algorithms:
        words += ["--algorithm", algorithm]
    return words


def measuring(run: Run, state: State, shape: Shape = equal_blocks) -> Any:
    """A tutti.tuning.Measure that passes over what the state has. Each variant of a size is a run of
    its own."""

    def measure_variant(
        collective: str, size: int, words: list[str], repetitions: int, seconds: float, patience: int
    ) -> dict[str, Any]:
        key = " ".join(words)
        rows = state.get(key) or []
        # A budget cuts runs short. What is left of one becomes less from run to run.
        is_cut = not all(_has(row, repetitions) for row in rows)
        if not rows or (is_cut and not 0 < seconds <= 2 * state.bound(key)):
            bound = budget_words(seconds) if seconds else []
            found = run([*words, "--no-check", *bound, *patience_words(patience)], ALONE)
            rows = [kept(row, size, samples_of(collective, words)) for row in found["rows"]]
            state.put(key, rows, seconds)
        return rows[0]

    def measure(
        collective: str,
        sizes: Sequence[int],
        algorithms: Sequence[str],
        repetitions: int,
        seconds: float,
        patience: int,
    ) -> list[dict[str, Any]]:
        measured = []
        for size in sizes:
            variants = shape(collective, size)
            parts = []
            for variant in variants:
                words = arguments_of(collective, algorithms, repetitions) + variant.words
                part = measure_variant(
                    collective, size, words, repetitions, seconds / len(variants), patience
                )
                parts.append((variant.share, part))
            measured.append(joined(parts))
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


def kept(row: dict[str, Any], size: int, samples: Samples) -> dict[str, Any]:
    """What a tuning needs of a row that it has asked for by a message size."""
    lines = [
        {"name": line["name"], "ran": line.get("ran", ""), "samples_us": samples(line)}
        for line in row["algorithms"]
    ]
    return {"bytes": size, "algorithms": lines}


def joined(parts: Sequence[tuple[float, dict[str, Any]]]) -> dict[str, Any]:
    """One row of those of several variants, each with its share: every time is the mean over the
    variants. An algorithm that another one has replaced in some variant counts as replaced."""
    if len(parts) == 1:
        return parts[0][1]
    lines = []
    for of_variants in zip(*(row["algorithms"] for _, row in parts), strict=True):
        name = of_variants[0]["name"]
        runs = [line["ran"] for line in of_variants]
        ran = next((one for one in runs if not one.startswith(f"{name}:")), runs[0])
        columns = zip(*(line["samples_us"] for line in of_variants), strict=False)
        samples = [
            sum(share * time for (share, _), time in zip(parts, column, strict=True))
            for column in columns
        ]
        lines.append({"name": name, "ran": ran, "samples_us": samples})
    return {"bytes": parts[0][1]["bytes"], "algorithms": lines}
