"""`tutti verify`: checks every algorithm against the contract of its collective."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from tutti import _engine
from tutti.commands.options import AsJson, refuse_others
from tutti.console import Refusal, console, print_json
from tutti.verification import verify as verify_all
from tutti.verification import verify_hierarchical
from tutti.workload import MAX_RANKS, collective_of

_MAX_SHOWN = 3


def _with_bar(
    max_ranks: int, sampled: int, collective: str, algorithm: str, nodes: str
) -> list[_engine.SweepResult]:
    """Verifies schedules and hierarchical programs, and shows a progress bar on a terminal."""
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


def _listed(collective: str, algorithm: str) -> str:
    """The algorithm of the list that its own name or that of a paper means. Raises Refusal if the
    collective has none; an empty one stands for all."""
    meant = {alias.name.lower(): alias.specification.split(":")[0] for alias in _engine.aliases()}
    name = meant.get(algorithm.lower(), algorithm.lower())
    known = dict.fromkeys(one.name for one in _engine.algorithms() if collective in ("", one.collective))
    if name in known:
        return name
    unknown = f"{collective} has no algorithm" if collective else "unknown algorithm"
    raise Refusal(f"{unknown} '{algorithm}'" + _engine.valid_names(algorithm, list(known), "algorithms"))


def verify(
    ctx: typer.Context,
    max_ranks: Annotated[
        int, typer.Option(metavar="N", min=1, max=MAX_RANKS, help="Verify every number of ranks up to N.")
    ] = 33,
    sampled: Annotated[
        int, typer.Option(metavar="N", min=0, max=MAX_RANKS, help="Beyond --max-ranks, verify some numbers up to N.")
    ] = 1024,
    collective: Annotated[
        str, typer.Option(metavar="NAME", help="Only this collective, e.g. gatherv.")
    ] = "",
    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="Only this algorithm of tutti list.")
    ] = "",
    nodes: Annotated[
        str,
        typer.Option(
            metavar="SHAPE",
            help="Only hierarchical programs on these nodes, e.g. 1,4,2:round_robin or 8x6.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Verify every algorithm exhaustively for small numbers of ranks.

    The cases are all roots, orders and kinds of sizes. The messages of all ranks' schedules must
    pair up. Then the programs that they become are executed byte by byte, for contiguous, packed,
    scattered and typed buffers, with and without MPI_IN_PLACE: they may not deadlock even if no
    message is buffered, every block must arrive exactly once where the contract requires it, and
    no operation may use bytes that are undefined, out of bounds or still in flight. Hierarchical
    programs are verified on all small shapes of nodes: 2 ranks may access the same byte of node
    memory only if a signal orders them. The exit status is 1 if a case fails.

    ```
    tutti verify --max-ranks 12 --sampled 0
    tutti verify --collective alltoall --nodes 1,4,2,3,1:round_robin
    ```
    """
    start = time.monotonic()
    if nodes:
        refuse_others(ctx, f"--nodes {nodes}", ("nodes", "collective", "as_json"))
    collective = collective_of(collective) if collective else ""
    if algorithm:
        algorithm = _listed(collective, algorithm)
    results = _with_bar(max_ranks, sampled, collective, algorithm, nodes)
    cases = sum(result.cases for result in results)
    if cases == 0:
        raise Refusal("nothing was verified: no case matches these options")
    programs = sum(result.programs for result in results)
    failed = sum(result.failed for result in results)
    failures = [failure for result in results for failure in result.failures]
    seconds = time.monotonic() - start
    if as_json:
        counts = {"cases": cases, "programs": programs, "failed": failed}
        print_json({**counts, "failures": failures, "seconds": seconds})
    else:
        out = console()
        for failure in failures[:_MAX_SHOWN]:
            out.print(failure, style="red", markup=False)
        if failed > _MAX_SHOWN:
            out.print(f"These are the smallest; --json lists {len(failures)}.")
        verdict = f"[red]{failed:,} failed[/]" if failed else "[green]all right[/]"
        out.print(f"{cases:,} cases, {programs:,} programs in {seconds:.1f} s: {verdict}")
    if failed:
        raise typer.Exit(1)
