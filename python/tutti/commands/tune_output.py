"""The results of `tutti tune`, as text and as JSON."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti import _engine
from tutti.console import count, duration, percent, volume
from tutti.tuning import CHECK, FOR_TUNING, Tuner
from tutti.tuning_cells import MAX_BUFFER, measured_cells
from tutti.tuning_check import Check, geometric_mean
from tutti.tuning_rules import mpi_of


def show_checks(out: Console, checks: list[Check]) -> None:
    """Prints a line for each size below its collective, in 80 columns."""
    if not checks:
        return
    heads = ("size", "native", "rules", "best", "speedup", "loss")
    widths = (7, 8, 8, 8, 7, 5)
    row = lambda cells: " ".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))  # noqa: E731
    out.print(f"{row(heads)}  the rules ran", style="bold dim")
    heading = ""
    for check in checks:
        if check.title != heading:
            heading = check.title
            out.print(heading, style="bold")
        times = (check.native, check.rules, check.best)
        cells = (
            _engine.range_text(str(check.bytes)),
            *(duration(line.median * 1e-6) for line in times),
            "" if check.is_native else f"{check.speedup:.2f}",
            percent(check.loss) if check.loss >= 0.005 else "",
        )
        ran = check.ran.split(": ")[0] + (", refuted: native now" if check.refutes else "")
        style = "red" if check.is_slower else "bold" if check.speedup > 1.03 else ""
        out.print(f"{row(cells)}  {ran}", style=style, markup=False)


def show_summary(
    out: Console, checks: list[Check], tuners: Sequence[Tuner], output: Path, budget: float = 0,
    rules: Sequence[dict[str, Any]] = (),
) -> None:  # fmt: skip
    """Prints what the rules gain, what is not in them, and how to use them. `budget`: in seconds."""
    _show_gains(out, checks, rules)
    _show_missing(out, checks, tuners, budget)
    here = Path.cwd()
    name = shlex.quote(str(output.relative_to(here) if output.is_relative_to(here) else output))
    # No console breaks the lines, which are copied; names of folders may look like markup.
    out.print(f"Rules: {name}; tutti rules show {name} lists them.", markup=False, soft_wrap=True)
    job = tuners[0].job
    where = f"{count(job.ranks, 'rank')} on {count(job.nodes, 'node')}"
    network = f" over {job.network}" if job.network and job.nodes > 1 else ""
    mpi = " ".join(mpi_of(job)).strip()
    out.print(f"They hold for {where} with {mpi}{network}.", markup=False, soft_wrap=True)
    out.print(f"To use them: TUTTI_RULES={name}", markup=False, soft_wrap=True)


def _show_gains(out: Console, checks: list[Check], rules: Sequence[dict[str, Any]]) -> None:
    speedups = [check.speedup for check in checks if not check.is_native]
    lost = sum(check.is_slower for check in checks)
    if speedups:
        out.print(
            f"[bold]native/rules {geometric_mean(speedups):.2f}[/] in the geometric mean of "
            f"{count(len(speedups), 'cell')}, least {min(speedups):.2f}, greatest "
            f"{max(speedups):.2f}; {lost} slower than native beyond doubt."
        )
    if natives := len(checks) - len(speedups):
        out.print(f"The rules ran native in {count(natives, 'cell')}: differences there are noise.")
    if rules and all(rule["use"] == "native" for rule in rules):
        out.print(
            "[bold]Nothing is faster than the MPI's own algorithms here[/]: with these rules a program "
            "runs them without exploring."
        )


def _show_missing(
    out: Console, checks: list[Check], tuners: Sequence[Tuner], budget: float
) -> None:
    """What the rules do not have, and why."""
    for tuner in tuners:
        for (collective, name), why in tuner.failed.items():
            what = f"{name} failed and was left out"
            if name == CHECK:
                what = "failed in the check, and its rules are native"
            out.print(f"{tuner.title(collective)} {what}: {why}", markup=False)
    if skipped := [name for name, cells in tuners[0].cells.items() if not cells]:
        out.print(f"Skipped, as a rank would need more than {volume(MAX_BUFFER)}: {', '.join(skipped)}.")
    if unfinished := [tuner.title(name) for tuner, name in _unfinished(tuners)]:
        out.print(f"The budget did not suffice for: {', '.join(unfinished)}.{_enough(tuners, budget)}")
    sizes = sum(
        bool(cell.choice)
        for tuner in tuners for collective, cells in tuner.cells.items()
        if (collective, CHECK) not in tuner.failed for cell in cells.values()
    )  # fmt: skip
    if len(checks) < sizes:
        out.print(
            f"The budget did not suffice to check {sizes - len(checks)} of {count(sizes, 'size')}: "
            "their rules stand on the tuning alone."
        )


def _unfinished(tuners: Sequence[Tuner]) -> list[tuple[Tuner, str]]:
    """The collectives that the budget did not suffice for."""
    return [(tuner, name) for tuner in tuners for name in tuner.cells if name in tuner.unfinished]


def _enough(tuners: Sequence[Tuner], budget: float) -> str:
    """A sentence with the budget that suffices by the runs so far; empty if they do not say."""
    runs = sum(tuner.runs for tuner in tuners)
    whole = sum(tuner.planned for tuner in tuners)
    seconds = sum(tuner.seconds for tuner in tuners) * whole / max(1, runs) / FOR_TUNING
    minutes = math.ceil(seconds / 60)
    if seconds <= budget:
        return ""
    return f" By the runs so far, --budget {minutes}m would suffice; with --resume it starts from them."


def as_json(
    tuners: Sequence[Tuner], rules: list[dict[str, Any]], checks: list[Check]
) -> dict[str, Any]:
    """The measured times, the rules and their check. `native_us` is the median of the MPI's own in the
    run that measured an algorithm: medians of several runs give no ratio."""

    def line(measured: Any) -> dict[str, Any]:
        interval = measured.interval
        return {
            "name": measured.name, "median_us": interval.median,
            "low_us": interval.low, "high_us": interval.high, "repetitions": len(measured.samples),
        }  # fmt: skip

    job = tuners[0].job
    return {
        "ranks": job.ranks,
        "nodes": job.nodes,
        "mpi": job.library,
        "rules": rules,
        "measured": [
            {
                "collective": name, "bytes": cell.bytes, "irregularity": tuner.irregularity,
                "winner": cell.winner,
                "algorithms": [
                    line(one) | {"native_us": cell.native_of(one).median} for one in cell.lines.values()
                ],
            }
            for tuner in tuners for name, cells in tuner.cells.items()
            for cell in measured_cells(cells)
        ],
        "check": [
            {
                "collective": check.collective, "bytes": check.bytes,
                "irregularity": check.irregularity, "ran": check.ran,
                "native": line(check.native), "rules": line(check.rules), "best": line(check.best),
                "native_over_rules": check.speedup, "loss": check.loss, "refuted": check.refutes,
                "slower_than_native": check.is_slower,
            }
            for check in checks
        ],
        "failed": [
            {
                "collective": collective, "irregularity": tuner.irregularity, "name": name,
                "why": why,
            }
            for tuner in tuners for (collective, name), why in tuner.failed.items()
        ],
        "unfinished": [
            {"collective": name, "irregularity": tuner.irregularity}
            for tuner, name in _unfinished(tuners)
        ],
        "skipped": [name for name, cells in tuners[0].cells.items() if not cells],
    }  # fmt: skip
