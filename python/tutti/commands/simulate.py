"""`tutti simulate`: a call in simulated time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from tutti._engine import has_two_ports
from tutti.commands.contenders import time_cells
from tutti.commands.options import (
    Arrivals,
    AsJson,
    Background,
    Block,
    Distances,
    Distribution,
    Machine,
    Ranks,
    Root,
    Sizes,
)
from tutti.console import console, count, microseconds, print_json, table, write
from tutti.explanation import Contender, Explanation
from tutti.explanation import explain as explain_call
from tutti.schedules import timeline as timelines
from tutti.workload import (
    arrivals_of,
    collective_of,
    distances_of,
    machine_of,
    root_of,
    sizes_of,
    source_of_machine,
)


def _contender_json(contender: Contender) -> dict[str, object]:
    return {
        "name": contender.algorithm,
        "seconds": contender.seconds,
        "learn_seconds": contender.learn_seconds,
        "data_seconds": contender.data_seconds,
        "messages": contender.messages,
    }


def _print(explained: Explanation, source: str) -> None:
    out = console()
    out.print(
        f"[bold]SIMULATED[/] {explained.collective} of {count(explained.ranks, 'rank')}, "
        f"{f'root {explained.root}, ' if explained.rooted else ''}"
        f"{count(explained.bytes, 'byte')}; spread of arrivals "
        f"{microseconds(explained.timeline.spread)}"
    )
    numbers = ("run time", "learn", "data", "/bound", "messages")
    listing = table("algorithm", *numbers, right=numbers)
    for contender in explained.contenders:
        listing.add_row(*time_cells(explained, contender), f"{contender.messages:,}")
    listing.add_row("[dim]lower bound[/]", microseconds(explained.lower_bound), "", "", "1.00", "")
    out.print(listing)
    each_way = " each way" if has_two_ports(explained.collective) else ""
    out.print("[dim]From the first arrival to the last exit; a rank takes part in one message"
              f"{each_way} at a time, latency + bytes * per_byte each.\n{escape(source)}[/]")  # fmt: skip


def simulate(
    collective: Annotated[
        str,
        typer.Argument(
            metavar="COLLECTIVE", help="A collective of tutti list, e.g. gatherv."
        ),
    ],
    ranks: Ranks = None,
    root: Root = "half",
    sizes: Sizes = None,
    distribution: Distribution = None,
    block: Block = "100",
    arrivals: Arrivals = "together",
    algorithm: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="Also simulate this algorithm, and draw it with --svg; auto: draw the fastest.",
        ),
    ] = "auto",
    background: Background = False,
    distances: Distances = None,
    machine: Machine = None,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw what each rank does over time."),
    ] = None,
    timeline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the timeline as JSON.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a call with each algorithm, for any arrivals.

    `tutti reproduce` compares the model with papers.

    ```
    tutti simulate gatherv --ranks 560 --distribution decreasing --block 100
    tutti simulate allgather --ranks 64 --arrivals one-late:500us --svg ranks.svg
    ```
    """
    collective = collective_of(collective)
    blocks = sizes_of(collective, ranks, sizes, distribution, block)
    explained = explain_call(
        collective,
        blocks,
        root_of(root, len(blocks)),
        algorithm=algorithm,
        machine=machine_of(machine),
        arrivals=arrivals_of(arrivals, len(blocks)),
        background=background,
        distances=distances_of(distances) if distances else None,
        draw_fastest=algorithm == "auto",
    )
    if svg is not None:
        write(svg, timelines.to_svg(explained.timeline, explained.title), "--svg")
    if timeline is not None:
        write(timeline, timelines.to_json(explained.timeline), "--timeline")
    if as_json:
        print_json(
            {
                "simulated": True,
                "collective": explained.collective,
                "ranks": explained.ranks,
                "root": explained.root,
                "bytes": explained.bytes,
                "spread_seconds": explained.timeline.spread,
                "lower_bound_seconds": explained.lower_bound,
                "algorithms": [_contender_json(c) for c in explained.contenders],
            }
        )
        return
    _print(explained, source_of_machine(machine))
