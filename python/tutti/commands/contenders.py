"""What `tutti explain` and `tutti simulate` print of an algorithm's modelled times."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from tutti import _engine
from tutti.console import microseconds
from tutti.explanation import Contender, Explanation, made_for_distances


def time_cells(explained: Explanation, contender: Contender) -> list[str]:
    """The cells of a table: name, time in all, of the protocol, of the data, ratio to the bound."""
    bound = explained.lower_bound
    return [
        f"[cyan]{contender.algorithm}[/]",
        microseconds(contender.seconds),
        microseconds(contender.learn_seconds),
        microseconds(contender.data_seconds),
        f"{contender.seconds / bound if bound else 1.0:.2f}",
    ]


def show_explored(
    out: Console, collective: str, ranks: int, explored: list[str], distances: _engine.Distances | None
) -> None:
    """Prints what auto explores, and what is known of orders by distance."""
    text = escape(", ".join(explored))
    out.print(f"[cyan]auto[/] explores {text} on the program's own calls.")
    orders = made_for_distances(collective, ranks)
    if orders and distances is None:
        out.print("[dim]Orders by distance are listed if --distances FILE, of tutti map --mpirun, predicts a gain.[/]")
    elif orders and explored[-1] not in orders:
        out.print("[dim]No order by distance is predicted to gain 25 %.[/]")
