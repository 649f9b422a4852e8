"""`tutti verify`: every algorithm, over its whole space, against its contract."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from tutti import _engine
from tutti.console import console, print_json
from tutti.verification import verify as verify_all


def _with_bar(max_ranks: int, sampled: int, collective: str, algorithm: str) -> _engine.SweepResult:
    with Progress(
        TextColumn("verifying"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.description}[/]"),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=1.0)
        return verify_all(
            max_ranks,
            sampled,
            collective=collective,
            algorithm=algorithm,
            progress=lambda done, at: bar.update(task, completed=done, description=at),
        )


def verify(
    max_ranks: Annotated[int, typer.Option(help="Every number of ranks up to this one.")] = 33,
    sampled: Annotated[int, typer.Option(help="Beyond it, some up to this one.")] = 1024,
    collective: Annotated[str, typer.Option(help="Only this collective.")] = "",
    algorithm: Annotated[str, typer.Option(help="Only this name of the list.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Prove every algorithm right for every small number of ranks, root, order and kind of sizes.

    All ranks' schedules are executed symbolically: every block must reach its place exactly once,
    without deadlock even if no message is buffered. Exit status 1 if any case fails.
    """
    start = time.monotonic()
    result = _with_bar(max_ranks, sampled, collective, algorithm)
    seconds = time.monotonic() - start
    if as_json:
        print_json({"cases": result.cases, "failures": result.failures, "seconds": seconds})
    else:
        out = console()
        for failure in result.failures:
            out.print(failure, style="red", markup=False)
        verdict = "[red]failed[/]" if result.failures else "[green]all right[/]"
        out.print(f"{result.cases:,} cases in {seconds:.1f} s: {verdict}")
    if result.failures:
        raise typer.Exit(1)
