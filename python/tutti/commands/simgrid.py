"""`tutti simgrid`: a program on a simulated machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tutti.commands.options import refuse_others
from tutti.console import Refusal, write
from tutti.simgrid import platforms, running


def simgrid(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROGRAM [ARGUMENTS]",
            help="A program compiled by smpicc, or tutti-bench, with its arguments.",
        ),
    ] = None,
    platform: Annotated[
        str,
        typer.Option(
            metavar="SHAPE:NODES[:KEY=VALUE,..]",
            help="The machine: switch, two-switches, fat-tree, dragonfly or torus, e.g. "
            "fat-tree:1024:taper=4; or a machine of a paper, e.g. vsc3-100x16.",
        ),
    ] = "",
    ppn: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=1024, help="Ranks of a node. Default: 1, or the machine's."
        ),
    ] = None,
    ranks: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Ranks. Default: all nodes full.")
    ] = None,
    native: Annotated[bool, typer.Option("--native", help="Without Tutti.")] = False,
    selector: Annotated[
        str,
        typer.Option(
            metavar="MPI",
            help=f"Whose choices the MPI's own collectives follow: {', '.join(running.SELECTORS)}.",
        ),
    ] = "ompi",
    cfg: Annotated[
        list[str] | None,
        typer.Option("--cfg", metavar="KEY:VALUE", help="A further setting of SimGrid."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only write the platform file; run nothing."),
    ] = None,
) -> None:
    """Run a program on a simulated machine of any size, under Tutti.

    SimGrid runs the program's real code with thousands of ranks in one process, in simulated time.

    ```
    smpicc app.c -o app
    tutti simgrid --platform fat-tree:1024:taper=2 --ppn 16 -- ./app
    tutti simgrid --platform gbe48 -- tutti-bench gatherv --repetitions 3 --block 100
    ```
    """
    if not platform:
        raise Refusal("--platform is missing; e.g. --platform fat-tree:64")
    machine = platforms.platform(platform)
    if output is not None:
        if command:
            raise Refusal(f"--output {output} runs nothing; omit {command[0]}")
        refuse_others(ctx, f"--output {output}", ("command", "platform", "output"))
        write(output, machine.xml, "--output")
        return
    if not command:
        raise Refusal("no program; e.g. tutti simgrid --platform switch:8 -- ./app")
    if selector not in running.SELECTORS:
        raise Refusal(f"--selector {selector}: expected {', '.join(running.SELECTORS)}")
    each = ppn or machine.cores or 1
    job = running.Job(
        command, machine, ranks or machine.nodes * each, each, native, selector, cfg or ()
    )
    raise typer.Exit(running.run(job))
