"""`tutti verify`: every algorithm, over its whole space, against its contract."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from tutti import _engine
from tutti.commands.options import AsJson
from tutti.console import Refusal, console, print_json
from tutti.verification import verify as verify_all
from tutti.verification import verify_hierarchical


def _with_bar(
    max_ranks: int, sampled: int, collective: str, algorithm: str, nodes: str
) -> list[_engine.SweepResult]:
    """What was found, of schedules and of plans through node memory."""
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

        def show(done: float, at: str) -> None:
            bar.update(task, completed=done, description=at)

        if nodes:
            return [verify_hierarchical(collective=collective, nodes=nodes, progress=show)]
        schedules = verify_all(
            max_ranks, sampled, collective=collective, algorithm=algorithm, progress=show
        )
        if algorithm:
            return [schedules]
        return [
            schedules,
            verify_hierarchical(min(max_ranks, 5), collective=collective, progress=show),
        ]


def verify(
    max_ranks: Annotated[int, typer.Option(help="Every number of ranks up to this one.")] = 33,
    sampled: Annotated[int, typer.Option(help="Beyond it, some up to this one.")] = 1024,
    collective: Annotated[str, typer.Option(help="Only this collective.")] = "",
    algorithm: Annotated[str, typer.Option(help="Only this name of the list.")] = "",
    nodes: Annotated[
        str, typer.Option(metavar="SHAPE", help="Only node memory, e.g. 1,4,2:round_robin or 8x6.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Prove every algorithm right for every small number of ranks, root, order and kind of sizes.

    All ranks' schedules are executed symbolically: every block must reach its place exactly once,
    without deadlock even if no message is buffered. So are the plans of calls through node memory,
    on every small shape of nodes: no byte may be touched by two ranks without a flag between them.
    Exit status 1 if any case fails.
    """
    start = time.monotonic()
    if nodes and algorithm:
        raise Refusal(f"--nodes {nodes}: it goes without --algorithm")
    results = _with_bar(max_ranks, sampled, collective, algorithm, nodes)
    cases = sum(result.cases for result in results)
    failures = [failure for result in results for failure in result.failures]
    seconds = time.monotonic() - start
    if as_json:
        print_json({"cases": cases, "failures": failures, "seconds": seconds})
    else:
        out = console()
        for failure in failures:
            out.print(failure, style="red", markup=False)
        verdict = "[red]failed[/]" if failures else "[green]all right[/]"
        out.print(f"{cases:,} cases in {seconds:.1f} s: {verdict}")
    if failures:
        raise typer.Exit(1)
