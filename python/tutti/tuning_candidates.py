"""Which algorithms a tuning compares."""

from __future__ import annotations

from tutti import _engine

_PARAMETERS = {"k": (4, 8), "parts": (4, 16, 64)}
"""Values that are tried beside the default, by the parameter's name."""
_LEADERS = (1, 2, 4)


def candidates(
    collective: str, ranks: int, ranks_per_node: int, *, arrivals: bool = False
) -> list[str]:
    """The algorithms of the list that a rule can select, with useful parameters.

    Algorithms that depend on arrivals are left out unless `arrivals`: ranks arrive together.
    """
    found: list[str] = []
    for algorithm in _engine.algorithms():
        if algorithm.collective != collective:
            continue
        names = [algorithm.name]
        parameters = algorithm.parameters.split(",")
        for parameter, values in _PARAMETERS.items():
            if parameter in parameters:
                fitting = [v for v in values if parameter != "k" or v < ranks]
                names += [f"{algorithm.name}:{parameter}={value}" for value in fitting]
        if arrivals and "order" in parameters:
            names.append(f"{algorithm.name}:order=arrival")
        found += [_engine.setting(collective, name) for name in names]
    if not arrivals:
        found = [name for name in found if not _engine.needs_arrivals(collective, name)]
    if ranks_per_node > 1:
        found += [
            _engine.setting(collective, f"hierarchical(native,leaders={leaders})")
            for leaders in _LEADERS
            if leaders <= ranks_per_node
        ]
    return list(dict.fromkeys(found))
