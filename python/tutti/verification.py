"""Runs the exhaustive verification on several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed

from tutti import _engine

Progress = Callable[[float, str], None]


def verify(
    max_ranks: int = 33,
    sampled: int = 1024,
    *,
    collective: str = "",
    algorithm: str = "",
    threads: int | None = None,
    progress: Progress | None = None,
) -> _engine.SweepResult:
    """Verifies every algorithm for all numbers of ranks, roots, orders and kinds of sizes.

    Both the schedules and the programs that they become for several kinds of buffers.

    Args:
        max_ranks: verify every number of ranks up to this one.
        sampled: verify some larger numbers of ranks up to this one.
        collective, algorithm: verify only this one; empty: all.
        threads: the number of threads; by default one per processor.
        progress: receives the completed share, 0 to 1, and the current case.

    Returns:
        The numbers of cases and of the programs that their schedules become, and the first
        failures with all that reproduces them.

    Raises:
        ValueError: names the wrong argument and the accepted values.
        BaseException: what `progress` raised; it ends all threads, as an interrupt does.
    """
    parts = threads or len(os.sched_getaffinity(0))
    shares = [0.0] * parts
    lock = threading.Lock()
    ended = threading.Event()

    def run(part: int) -> _engine.SweepResult:
        def report(done: float, at: str) -> None:
            if ended.is_set():
                raise CancelledError
            with lock:
                shares[part] = done
                if progress:
                    progress(sum(shares) / parts, at)

        return _engine.sweep(max_ranks, sampled, collective, algorithm, part, parts, report)

    with ThreadPoolExecutor(parts) as pool:
        parallel = [pool.submit(run, part) for part in range(parts)]
        try:
            for done in as_completed(parallel):
                done.result()
        except BaseException:
            ended.set()  # the pool waits for all threads
            raise
    results = [part.result() for part in parallel]
    for other in results[1:]:
        results[0].add(other)
    return results[0]


def verify_hierarchical(
    max_ranks: int = 5, *, collective: str = "", nodes: str = "", progress: Progress | None = None
) -> _engine.SweepResult:
    """Verifies hierarchical programs.

    Args:
        max_ranks: verify every distribution of up to this many ranks over nodes, and some larger
            ones.
        collective: verify only this one; empty: all.
        nodes: verify only this shape of nodes, e.g. "1,4,2,3,1:round_robin".
        progress: as for verify.

    Raises:
        ValueError: names the wrong argument and the accepted values.
    """
    names = [collective] if collective else list(_engine.collectives())
    result: _engine.SweepResult | None = None
    for done, name in enumerate(names):
        if progress:
            progress(done / len(names), f"{name} through node memory")
        found = _engine.sweep_hierarchical(name, max_ranks, nodes)
        if result is None:
            result = found
        else:
            result.add(found)
    assert result is not None
    return result
