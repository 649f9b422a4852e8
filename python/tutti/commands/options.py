"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated

import typer

from tutti.refusal import Refusal
from tutti.workload import MAX_RANKS, MAX_RANKS_OF_PAIRS

Mpirun = Annotated[
    str, typer.Option(metavar="COMMAND", help='The launcher, e.g. "mpirun -n 16".')
]
Ranks = Annotated[
    int | None, typer.Option(
        metavar="N",
        help=f"Number of ranks, up to {MAX_RANKS:,}, or {MAX_RANKS_OF_PAIRS:,} in allgathers, alltoalls and "
        "reduce_scatters; not needed with --sizes.",
    ),
]
Root = Annotated[
    str, typer.Option(metavar="RANK", help="The root: a rank, or first, half or last.")
]
Sizes = Annotated[
    str | None, typer.Option(metavar="BYTES,..", help="Block size of each rank, e.g. 1K,0,64.")
]
Distribution = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Instead of --sizes, draw block sizes: same, random, spikes, decreasing, "
        "alternating or two_blocks.",
    ),
]
Block = Annotated[
    str, typer.Option(metavar="BYTES", help="Mean block size, e.g. 100, 64K or 1M.")
]
Arrivals = Annotated[
    str,
    typer.Option(
        metavar="PATTERN",
        help="When ranks arrive: together, one-late:500us, ramp:1ms, random:2ms, or a list "
        "such as 0,1ms,..",
    ),
]
Background = Annotated[
    bool, typer.Option("--background", help="Assume that every rank has a background thread.")
]
Distances = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Distances between ranks, written by tutti map, for order=distance."
    ),
]
Machine = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Parameters of the model: a file of tutti-bench machine, or built-in. Default: as "
        "TUTTI_MACHINE.",
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Show everything, however long.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def refuse_others(ctx: typer.Context, mode: str, used: Collection[str]) -> None:
    """Raises Refusal if an option was given that the mode does not use."""
    for one in ctx.command.params:
        name = one.name or ""
        source = ctx.get_parameter_source(name)
        if name not in used and source is not None and source.name == "COMMANDLINE":
            option = one.opts[0] if one.param_type_name == "option" else name.upper()
            value = ctx.params[name]
            raise Refusal(f"{mode} excludes {option}" + ("" if value is True else f" ({value})"))


def refuse_report(file: Path, targets: Mapping[str, Path | None]) -> None:
    """Raises Refusal if an option names the report itself as the file to write."""
    for option, target in targets.items():
        if target is not None and target.exists() and target.samefile(file):
            raise Refusal(f"{option} {target}: is the report to read; expected another file")


def refuse_with_json(ctx: typer.Context, as_json: bool, *of_text: str) -> None:
    """Raises Refusal if --json and an option were given that changes only the text."""
    if as_json:
        names = {one.name or "" for one in ctx.command.params}
        refuse_others(ctx, "--json", names.difference(of_text))
