"""`tutti bench`: tutti-bench under a launcher, and its plots."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tutti import bench as measuring
from tutti.commands.options import Mpirun, refuse_others
from tutti.console import Refusal, print_json
from tutti.plot import check as check_plot
from tutti.plot import plot as draw


def bench(
    ctx: typer.Context,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGUMENTS",
            help="Arguments of tutti-bench; without any, its help lists them.",
        ),
    ] = None,
    mpirun: Mpirun = "",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also plot the times (.png, .svg, .pdf).")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Measure nothing; plot this JSON of tutti-bench."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of the table.")
    ] = False,
) -> None:
    """Measure collectives: the MPI's own and Tutti's, alternating in one run.

    This starts tutti-bench under a launcher. Options of this command come first, then the
    arguments of tutti-bench:

    ```
    tutti bench --mpirun "mpirun -n 8" gatherv --distribution spikes --block 1,100,10000
    tutti bench --mpirun "mpirun -n 8" --plot times.png gatherv --algorithm native,traff
    ```
    """
    words = arguments or []
    if plot is not None:
        check_plot(plot, "--plot")
    if results is not None:
        if words or plot is None:
            raise Refusal(f"--results {results} needs --plot FILE and no arguments of tutti-bench")
        refuse_others(ctx, f"--results {results}", ("results", "plot"))
        draw(measuring.read(results), plot)
        return
    if plot is None and not as_json:
        command = measuring.command_of(mpirun, words or ["--help"])
        try:
            os.execvp(command[0], command)
        except OSError as error:
            raise Refusal(f"{command[0]}: {error.strerror}") from None
    result = measuring.measure(mpirun, words, quiet=as_json)
    if as_json:
        print_json(result)
    if plot is not None:
        draw(result, plot)
