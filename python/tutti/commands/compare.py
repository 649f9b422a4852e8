"""`tutti run --compare`: runs a program natively and under Tutti in turn."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tutti import reports, supervised
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
from tutti.console import Refusal, console, duration, print_json, table
from tutti.shared_folder import shared_folder
from tutti.statistics import Interval

Prepare = Callable[[dict[str, str]], tuple[list[str], dict[str, str]]]
"""Returns the command and environment that run the program with these TUTTI_ settings."""


def compare(prepare: Prepare, settings: dict[str, str], rounds: int, as_json: bool) -> int:
    """Runs the program `rounds` times natively and under Tutti in turn, and prints the times.

    Native runs preload Tutti too, which forwards each call to the MPI's own function and records
    its time. The program's standard input is empty.

    Returns:
        The exit status of the first run that failed, else 0.

    Raises:
        Refusal: a setting is wrong, or the command cannot start.
    """
    settings_of = dict(zip(ARMS, ({**settings, "TUTTI": one} for one in ("off", "on")), strict=True))
    with shared_folder() as folder:

        def run(arm: str) -> tuple[int, Sample]:
            return _run(prepare, settings_of[arm], folder / "report.json", as_json)

        try:
            samples = in_turn(rounds, run, _progress)
        except Failed as error:
            print(f"tutti: --compare: {error}; there is nothing to compare", file=sys.stderr)
            return error.status
    rows = rows_of(samples)
    if as_json:
        print_json(_json(rows, samples))
    else:
        _show(rows, rounds)
    return 0


def _run(
    prepare: Prepare, settings: dict[str, str], report: Path, quiet: bool
) -> tuple[int, Sample]:
    command, environment = prepare({**settings, "TUTTI_REPORT": str(report)})
    report.unlink(missing_ok=True)
    stdout = sys.stderr.fileno() if quiet else None
    done = supervised.run(command, environment, stdin=subprocess.DEVNULL, stdout=stdout)
    if done.interrupted:
        raise KeyboardInterrupt
    return done.status, Sample(done.seconds, _in_collectives(report))


def _in_collectives(report: Path) -> float | None:
    """The seconds of a full report; None if there is none."""
    if not report.is_file():
        return None
    parts = reports.read(report)
    if len(parts) != 1 or parts[0].get("partial"):
        return None
    return float(parts[0]["seconds"]["mean"])


def _progress(number: int, arm: str, sample: Sample) -> None:
    print(f"tutti: round {number}, {arm}: {duration(sample.seconds)}", file=sys.stderr, flush=True)


def _show(rows: Sequence[Row], rounds: int) -> None:
    out = console()
    numbers = (*ARMS, "saved")
    listing = table("seconds in", *numbers, right=numbers)
    for row in rows:
        listing.add_row(
            row.name.removeprefix("in "),
            *(_text(one) for one in (row.native, row.tutti, row.saved)),
        )
    out.print(listing)
    for row in rows:
        out.print(verdict(row) + ".")
    if len(rows) == 1:
        out.print("in collectives: unknown, for some run wrote no full report (tutti run --report says why).")
    method = (
        f"medians of {rounds} rounds in turn, with the interval of the median by order\n"
        f"statistics (confidence {confidence(rounds):.0%}); saved: of the differences in each round"
    )
    out.print(
        f"[dim]Method: {method if rounds > 1 else 'one round, so there are no intervals'}.\n"
        "In all: the whole command. In collectives: mean of the ranks, waiting for late\n"
        "ranks included.[/]"
    )


def _text(interval: Interval) -> str:
    """Fits a third of 80 columns: "1.234 (1.200 .. 1.300)"."""
    digits = 3 if max(abs(interval.low), abs(interval.high)) < 100 else 1
    low, middle, high = (
        f"{value:.{digits}f}" for value in (interval.low, interval.median, interval.high)
    )
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


def rounds_of(text: str | None, is_comparing: bool) -> int:
    """The value of --rounds. Raises Refusal if it is no positive number or not comparing."""
    if text is None:
        return 5
    if not is_comparing:
        raise Refusal(f"--rounds {text} needs --compare")
    if not text.isdigit() or int(text) < 1:
        raise Refusal(f"invalid --rounds {text}: expected an integer of at least 1")
    return int(text)
