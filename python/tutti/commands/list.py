"""`tutti list`: the algorithms."""

from __future__ import annotations

from typing import Annotated

import typer

from tutti import _engine
from tutti.commands.options import AsJson
from tutti.console import console, print_json, table
from tutti.workload import collective_of


def list_algorithms(
    collective: Annotated[
        str,
        typer.Argument(
            metavar="COLLECTIVE", help="Only algorithms of this collective, e.g. gatherv."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the algorithms, their parameters, the knowledge they need, and their names in papers.

    ```
    tutti list
    tutti list allgather
    ```
    """
    wanted = collective_of(collective) if collective else ""
    algorithms = [a for a in _engine.algorithms() if wanted in ("", a.collective)]
    if as_json:
        fields = ("collective", "name", "order", "knowledge", "parameters", "summary")
        print_json(
            {
                "algorithms": [{f: getattr(a, f) for f in fields} for a in algorithms],
                "aliases": {a.name: a.specification for a in _engine.aliases()},
            }
        )
        return
    out = console()
    # Without the column of its name, the table of one collective has room for the words.
    first = () if wanted else ("collective",)
    listing = table(*first, "algorithm", "order", "knows", "parameters", "what it does")
    before = ""
    for algorithm in algorithms:
        if before not in ("", algorithm.collective):
            listing.add_row()
        shown = algorithm.collective if algorithm.collective != before else ""
        before = algorithm.collective
        listing.add_row(
            *(f"[bold]{shown}[/]" for _ in first),
            f"[cyan]{algorithm.name}[/]",
            algorithm.order,
            algorithm.knowledge,
            algorithm.parameters.replace(",", ", "),
            algorithm.summary,
        )
    out.print(listing)
    out.print()
    names = table("name in a paper", "stands for")
    for alias in _engine.aliases():
        names.add_row(f"[cyan]{alias.name}[/]", alias.specification)
    out.print(names)
    out.print()
    out.print("Name one with parameters as [cyan]knomial:k=4,order=natural[/], in any case.")
    out.print(
        "[dim]knows: what a rank must learn beyond its arguments before it can start;"
        " `tutti explain` shows its price.[/]"
    )
