"""What `tutti explain` and `tutti simulate` print of an algorithm's modelled times."""

from __future__ import annotations

from tutti.console import microseconds
from tutti.explanation import Contender, Explanation


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
