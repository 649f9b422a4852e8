"""`tutti tune`: measures which algorithm is fastest, and writes rules."""

from __future__ import annotations

import datetime
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tutti import _engine, crossovers, tuning_run
from tutti.commands.options import AsJson
from tutti.console import Refusal, console, count, print_json, table, write
from tutti.tuning import Tuner
from tutti.tuning_rules import rules_of, to_text
from tutti.tuning_run import Check, State, geometric_mean
from tutti.workload import bytes_of

_FOR_CHECK = 0.8
"""The share of the budget for the tuning; the check has the rest."""


def _collectives(given: list[str] | None) -> list[str]:
    known = [name for name in _engine.collectives() if not name.startswith("rma_")]
    names = [name.strip().lower() for word in given or known for name in word.split(",")]
    for name in names:
        if name not in known:
            raise Refusal(f"--collective {name}: expected one of {', '.join(known)}")
    return list(dict.fromkeys(names))


def _seconds(text: str) -> float:
    units = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
    unit = next((u for u in units if text.endswith(u) and text[: -len(u)]), "s")
    try:
        seconds = float(text.removesuffix(unit)) * units[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise Refusal(f"--budget {text}: expected a time such as 90s, 10m or 2h")
    return seconds


def _range(text: str) -> tuple[int, int]:
    words = text.split("..")
    sizes = [bytes_of(word, "--bytes") for word in words]
    if len(sizes) != 2 or not 4 <= sizes[0] <= sizes[1] or any(size % 4 for size in sizes):
        raise Refusal(
            f"--bytes {text}: expected LEAST..MOST such as 8..4M, multiples of 4 from 4 on"
        )
    return sizes[0], sizes[1]


class _Bar:
    """The progress of a tuning on standard error: runs done, those planned, the time left."""

    def __init__(self, shown: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"),
            TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
            console=Console(stderr=True), disable=not shown, speed_estimate_period=600,
        )  # fmt: skip
        self._task = self._progress.add_task("start", total=None)

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, done: int, planned: int, text: str) -> None:
        """Updates what runs, how many runs are over and how many there will be."""
        self._progress.update(self._task, completed=done, total=planned, description=text)


def _rows(out: Console, checks: list[Check]) -> None:
    numbers = ("bytes", "native", "rules", "best", "native/rules", "loss")
    listing = table("collective", *numbers, "the rules ran", right=numbers)
    for check in checks:
        listing.add_row(
            check.collective,
            f"{check.bytes:,}",
            *(f"{line.median:,.1f} us" for line in (check.native, check.rules, check.best)),
            f"{check.speedup:.2f}",
            f"{check.loss * 100:.0f} %" if check.loss > 0 else "",
            check.ran.split(": ")[0] + (", refuted: native now" if check.refutes else ""),
            style="red" if check.is_slower else "bold" if check.speedup > 1.03 else "",
        )
    out.print(listing)


def _summary(out: Console, checks: list[Check], tuner: Tuner, output: Path) -> None:
    speedups = [check.speedup for check in checks]
    lost = sum(check.is_slower for check in checks)
    out.print(
        f"[bold]native/rules {geometric_mean(speedups):.2f}[/] in the geometric mean of "
        f"{count(len(checks), 'cell')}, least {min(speedups, default=1):.2f}, greatest "
        f"{max(speedups, default=1):.2f}; {lost} slower than native beyond doubt."
    )
    for (collective, name), why in tuner.failed.items():
        out.print(f"{collective} {name} failed and is no candidate: {why}", markup=False)
    if tuner.unfinished:
        out.print(f"The budget did not suffice for: {', '.join(tuner.unfinished)}.")
    out.print(f"Rules: {output}. Use them with TUTTI_RULES={output}; tutti rules show lists them.")


def _as_json(tuner: Tuner, rules: list[dict[str, Any]], checks: list[Check]) -> dict[str, Any]:
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
    }  # fmt: skip


def _tuned(
    run: tuning_run.Run, state: State, names: list[str], sizes: tuple[int, int], budget: float
) -> Tuner:
    job = tuning_run.job_of(run)
    with _Bar(sys.stderr.isatty()) as bar:
        tuner = Tuner(
            job, tuning_run.measuring(run, state), names, sizes,
            budget=budget * _FOR_CHECK, clock=time.monotonic, progress=bar.show,
        )  # fmt: skip
        tuner.run()
    return tuner


def tune(
    mpirun: Annotated[
        str, typer.Option(metavar="COMMAND", help='The launcher, e.g. "mpirun -n 8".')
    ] = "",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The rules file to write.")
    ] = None,
    collective: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,..", help="What to tune. Default: all collectives."),
    ] = None,
    sizes: Annotated[
        str, typer.Option("--bytes", metavar="RANGE", help="Message sizes to tune for.")
    ] = "8..4M",
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="About how long it may take, e.g. 10m. Default: no limit."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a tuning that was interrupted.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the crossovers (.svg, .png, .pdf).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure which algorithm is fastest for which calls, and write rules.

    tutti tune --mpirun "mpirun -n 8" --output rules.json --budget 10m

    tutti tune --mpirun "srun -n 64" --output rules.json --collective bcast,allgather
    """
    if not mpirun or output is None:
        raise Refusal("tune needs --mpirun COMMAND and --output FILE")
    reason = _engine.why_no_output(str(output))
    if reason:
        raise Refusal(f"--output {output}: {reason}")
    names, range_of_sizes = _collectives(collective), _range(sizes)
    seconds = _seconds(budget) if budget else 0.0
    output = output.absolute()
    identity = {"mpirun": mpirun, "bytes": list(range_of_sizes)}
    state = State(output.with_name(output.name + ".state"), identity, resume)
    run = tuning_run.under(mpirun)
    tuner = _tuned(run, state, names, range_of_sizes, seconds)
    command = f"tutti tune --mpirun {shlex.quote(mpirun)}"
    date = datetime.date.today().isoformat()
    rules = rules_of(tuner, date, command)
    write(output, to_text(rules, date, command), "--output")
    checks = tuning_run.check(tuner, run, output, seconds * (1 - _FOR_CHECK))
    if tuning_run.refute(tuner, checks):
        rules = rules_of(tuner, date, command)
        write(output, to_text(rules, date, command), "--output")
    state.remove()
    if plot is not None:
        crossovers.draw(tuner, plot)
    if as_json:
        print_json(_as_json(tuner, rules, checks))
        return
    out = console()
    _rows(out, checks)
    _summary(out, checks, tuner, output)
