"""Which algorithms a tuning compares."""

from __future__ import annotations

from tutti import _engine


def candidates(
    collective: str, ranks: int, ranks_per_node: int, *, arrivals: bool = False
) -> list[str]:
    """The algorithms of the list that a rule can select, with useful parameters.

    Algorithms that depend on arrivals are left out unless `arrivals`: ranks arrive together.
    """
    return _engine.useful(collective, ranks, ranks_per_node, arrivals=arrivals)
