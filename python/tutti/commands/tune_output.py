"""The results of `tutti tune`, as text and as JSON."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti import _engine
from tutti.console import count, duration, percent, volume
from tutti.tuning import CHECK, Tuner
from tutti.tuning_cells import MAX_BUFFER
from tutti.tuning_run import Check, geometric_mean


def show_checks(out: Console, checks: list[Check]) -> None:
    """Prints a line for each size below its collective, in 80 columns."""
    heads = ("size", "native", "rules", "best", "speedup", "loss")
    widths = (7, 8, 8, 8, 7, 5)
    row = lambda cells: " ".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))  # noqa: E731
    out.print(f"{row(heads)}  the rules ran", style="bold dim")
    collective = ""
    for check in checks:
        if check.collective != collective:
            collective = check.collective
            out.print(collective, style="bold")
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


def show_summary(out: Console, checks: list[Check], tuner: Tuner, output: Path) -> None:
    """Prints what the rules gain, what is not in them, and how to use them."""
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
    for (collective, name), why in tuner.failed.items():
        what = "failed in the check, and its rules are native" if name == CHECK else f"{name} failed and was left out"
        out.print(f"{collective} {what}: {why}", markup=False)
    if skipped := [name for name, cells in tuner.cells.items() if not cells]:
        out.print(f"Skipped, as a rank would need more than {volume(MAX_BUFFER)}: {', '.join(skipped)}.")
    if tuner.unfinished:
        out.print(f"The budget did not suffice for: {', '.join(tuner.unfinished)}.")
    sizes = sum(
        "native" in cell.lines
        for collective, cells in tuner.cells.items() if (collective, CHECK) not in tuner.failed
        for cell in cells.values()
    )  # fmt: skip
    if len(checks) < sizes:
        out.print(
            f"The budget did not suffice to check {sizes - len(checks)} of {count(sizes, 'size')}: "
            "their rules stand on the tuning alone."
        )
    here = Path.cwd()
    name = shlex.quote(str(output.relative_to(here) if output.is_relative_to(here) else output))
    # No console breaks the lines, which are copied; names of folders may look like markup.
    out.print(f"Rules: {name}; tutti rules show {name} lists them.", markup=False, soft_wrap=True)
    out.print(f"To use them: TUTTI_RULES={name}", markup=False, soft_wrap=True)


def as_json(tuner: Tuner, rules: list[dict[str, Any]], checks: list[Check]) -> dict[str, Any]:
    """The measured times, the rules and their check."""

    def line(measured: Any) -> dict[str, Any]:
        interval = measured.interval
        return {
            "name": measured.name, "median_us": interval.median,
            "low_us": interval.low, "high_us": interval.high, "repetitions": len(measured.samples),
        }  # fmt: skip

    return {
        "ranks": tuner.job.ranks,
        "nodes": tuner.job.nodes,
        "mpi": tuner.job.library,
        "rules": rules,
        "measured": [
            {
                "collective": name, "bytes": size, "winner": cell.winner,
                "algorithms": [line(one) for one in cell.lines.values()],
            }
            for name, cells in tuner.cells.items()
            for size, cell in sorted(cells.items()) if "native" in cell.lines
        ],
        "check": [
            {
                "collective": check.collective, "bytes": check.bytes, "ran": check.ran,
                "native": line(check.native), "rules": line(check.rules), "best": line(check.best),
                "native_over_rules": check.speedup, "loss": check.loss, "refuted": check.refutes,
                "slower_than_native": check.is_slower,
            }
            for check in checks
        ],
        "failed": [{"collective": c, "name": n, "why": w} for (c, n), w in tuner.failed.items()],
        "unfinished": tuner.unfinished,
        "skipped": [name for name, cells in tuner.cells.items() if not cells],
    }  # fmt: skip
