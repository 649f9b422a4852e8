"""`tutti run --compare`: runs a program natively and under Tutti in turn."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tutti import output, reports, supervised, unseen
from tutti.comparison import (
    ARMS,
    Failed,
    Row,
    Sample,
    confidence,
    in_turn,
    rows_of,
    verdict,
)
from tutti.console import Refusal, console, duration, literal, percent, print_json, table
from tutti.shared_folder import shared_folder
from tutti.statistics import Interval

Prepare = Callable[[dict[str, str]], tuple[list[str], dict[str, str]]]
"""Returns the command and environment that run the program with these TUTTI_ settings."""


@dataclass
class _Seen:
    """What is odd about the runs so far."""

    notes: list[str] = field(default_factory=list)
    """The notes of the first report."""
    missing: str = ""
    """Why the first run without a full report has none; empty if all have."""


def compare(
    prepare: Prepare, command: Sequence[str], settings: dict[str, str], rounds: int, as_json: bool
) -> int:
    """Runs the program `rounds` times natively and under Tutti in turn, and prints the times, and
    whether the runs wrote the same.

    Native runs preload Tutti too, which forwards each call to the MPI's own function and records
    its time. The program's standard input is empty. What makes the comparison worthless, such as a
    program without collectives, is said after the first run.

    Args:
        prepare: prepares a run with further settings.
        command: as the user typed it.
        settings: those of the runs under Tutti; natively the same, with TUTTI=off.
        rounds: the number of runs of each.
        as_json: print JSON instead of tables.

    Returns:
        The exit status of the first run that failed, else 0.

    Raises:
        Refusal: a setting is wrong, or the command cannot start.
    """
    settings_of = dict(zip(ARMS, ({**settings, "TUTTI": one} for one in ("off", "on")), strict=True))
    seen, outputs = _Seen(), output.Outputs()
    with shared_folder() as folder:

        def run(arm: str) -> tuple[int, Sample]:
            outcome, text = _run(prepare, settings_of[arm], folder, as_json)
            if outcome.status == 0:
                outputs.add(arm, text)
            times = None if outcome.status else _in_collectives(folder, command, seen)
            return outcome.status, Sample(outcome.seconds, times)

        try:
            samples = in_turn(rounds, run, _progress)
        except Failed as error:
            print(f"tutti: --compare: {error}; there is nothing to compare", file=sys.stderr)
            return error.status
    rows = rows_of(samples)
    if as_json:
        print_json({**_json(rows, samples), "output": _json_of_output(outputs)})
    else:
        _show(rows, rounds, seen.missing, outputs)
    return 0


def _run(
    prepare: Prepare, settings: dict[str, str], folder: Path, quiet: bool
) -> tuple[supervised.Outcome, bytes]:
    """How the run ended, and what it wrote, which is passed on to standard output; if `quiet` to
    standard error."""
    # Each program, and each rank that runs alone, writes a report of its own.
    target = literal(folder) + "/%p.json"
    command, environment = prepare({**settings, "TUTTI_REPORT": target})
    sys.stdout.flush()
    with output.passed_on((sys.stderr if quiet else sys.stdout).fileno()) as (pipe, text):
        done = supervised.run(command, environment, stdin=subprocess.DEVNULL, stdout=pipe)
    if done.interrupted:
        raise KeyboardInterrupt
    return done, bytes(text)


def _in_collectives(folder: Path, command: Sequence[str], seen: _Seen) -> float | None:
    """The seconds of the one full report in a folder; None if there is none. Empties the folder."""
    files = list(folder.iterdir())
    try:
        found, damaged = [reports.read(one) for one in files], ""
    except Refusal as error:
        found, damaged = [], str(error)
    for one in files:
        one.unlink()
    if len(found) == 1 and len(found[0]) == 1 and not found[0][0].get("partial"):
        report = found[0][0]
        if not seen.notes:
            seen.notes = [str(note) for note in report.get("notes", ())]
            for note in seen.notes:
                print(f"tutti: note: {note}", file=sys.stderr)
        return float(report["seconds"]["mean"])
    if not seen.missing:
        seen.missing = damaged or _why_none(len(found), command)
        print(f"tutti: note: no times in collectives: {seen.missing}", file=sys.stderr)
    return None


def _why_none(found: int, command: Sequence[str]) -> str:
    if found > 1:
        return f"{found} reports in a run, of ranks that ran alone or of several programs"
    return "its report is partial" if found else unseen.why(command)


def _progress(number: int, arm: str, sample: Sample) -> None:
    print(f"tutti: round {number}, {arm}: {duration(sample.seconds)}", file=sys.stderr, flush=True)


def _show(rows: Sequence[Row], rounds: int, missing: str, outputs: output.Outputs) -> None:
    out = console()
    numbers = (*ARMS, "saved")
    longest = [max(row.native.high, row.tutti.high) for row in rows]
    is_short = min(longest) < 0.1 and max(longest) < 10
    listing = table("ms in" if is_short else "seconds in", *numbers, right=numbers)
    for row in rows:
        times = (row.native, row.tutti, row.saved)
        name = row.name.removeprefix("in ")
        listing.add_row(name, *(_text(one, 1e3 if is_short else 1) for one in times))
    out.print(listing)
    for row in rows:
        out.print(verdict(row) + ".")
    if missing:
        out.print(f"in collectives: unknown: {missing}.", markup=False)
    for line in outputs.verdict(ARMS[0]):
        out.print(line, markup=False)
    method = (
        f"medians of {rounds} rounds in turn, with the interval of the median by order\n"
        f"statistics (confidence {percent(confidence(rounds))}); saved: of the differences in each round"
    )
    out.print(
        f"[dim]Method: {method if rounds > 1 else 'one round, so there are no intervals'}.\n"
        "In all: the whole command. In collectives: mean of the ranks, waiting for late\n"
        "ranks included. Output: lines in any sequence.[/]"
    )


def _text(interval: Interval, scale: float) -> str:
    """Three of them fit beside a name in 80 columns: "1.234 (1.200..1.300)"."""
    values = [scale * one for one in (interval.low, interval.median, interval.high)]
    largest = max(map(abs, values))
    digits = sum(largest < limit for limit in (9.9995, 99.995, 999.95))
    low, middle, high = (f"{value:.{digits}f}" for value in values)
    return f"{middle} ({low}..{high})"


def _json(rows: Sequence[Row], samples: dict[str, list[Sample]]) -> dict[str, Any]:
    rounds = rows[0].rounds
    return {
        "rounds": rounds,
        "confidence": confidence(rounds),
        "rows": [
            {**asdict(row), "beyond_doubt": row.is_beyond_doubt, "verdict": verdict(row)}
            for row in rows
        ],
        "runs": {arm: [asdict(one) for one in samples[arm]] for arm in ARMS},
    }


def _json_of_output(outputs: output.Outputs) -> dict[str, Any] | None:
    if outputs.is_too_long:
        return None
    return {
        "lines": outputs.lines,
        "different": outputs.different,
        "different_natively": outputs.different_within(ARMS[0]),
        "examples": outputs.examples(),
    }


def rounds_of(text: str | None, is_comparing: bool) -> int:
    """The value of --rounds. Raises Refusal if it is no positive number or not comparing."""
    if text is None:
        return 7
    if not is_comparing:
        raise Refusal(f"--rounds {text} needs --compare")
    if not text.isdecimal() or int(text) < 1:
        raise Refusal(f"invalid --rounds {text}: expected an integer of at least 1")
    return int(text)
