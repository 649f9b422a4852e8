"""Reports of a program whose calls have sizes."""

from __future__ import annotations

from typing import Any

from reporting import line_of


def size_of(size: int, calls: int, seconds: float, **changes: Any) -> dict[str, Any]:
    one = {"p": 8, "bytes": size, "calls": calls, "irregularity": 1.0, "seconds": seconds, "root": -1}
    return one | changes


def line(collective: str, *sizes: dict[str, Any], site: str = "app: main", **changes: Any) -> Any:
    calls = sum(size["calls"] for size in sizes)
    seconds = sum(1e-3 * size["calls"] * size["p"] / 8 for size in sizes)
    made = {"calls": calls, "elapsed": {"mean": 1e-3, "sum": seconds}, "moving": {"mean": 5e-4}, **changes}
    return line_of(None, collective=collective, site=site, sizes=list(sizes), **made)


def report_of(*lines: Any) -> list[dict[str, Any]]:
    return [{"format": 2, "ranks": 8, "mpi": "Open MPI v4.1.4", "calls": list(lines)}]
