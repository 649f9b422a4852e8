"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Ranks = Annotated[int | None, typer.Option(help="How many; --sizes may say it too.")]
Root = Annotated[str, typer.Option(metavar="RANK", help="A rank, first, half or last.")]
Sizes = Annotated[str | None, typer.Option(metavar="BYTES,..", help="Bytes of each rank's block.")]
Distribution = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Instead: same, random, spikes, decreasing, alternating or two_blocks.",
    ),
]
Block = Annotated[str, typer.Option(metavar="BYTES", help="Average block of it.")]
Background = Annotated[
    bool, typer.Option("--background", help="Every rank has a background thread.")
]
Distances = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Between ranks, for order=distance.")
]
Machine = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The model's parameters; built-in, or as TUTTI_MACHINE."),
]
Full = Annotated[bool, typer.Option("--full", help="Leave nothing out.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
