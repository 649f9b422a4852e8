"""Runs of tutti-selection, which calls collectives on simulated machines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tutti.simgrid import platforms, running


def lines(
    words: tuple[str, ...], shape: str, ppn: int, selector: str = "ompi",
    settings: Mapping[str, str] | None = None, timeout: float = 3600,
) -> list[dict[str, Any]]:  # fmt: skip
    """What a run printed.

    Args:
        words: the program and its arguments.
        shape: the platform, all of whose nodes have `ppn` ranks.
        selector: one of running.SELECTORS.
        settings: of Tutti.
        timeout: in seconds.

    Raises:
        Refusal: the program failed, or exceeded the timeout.
    """
    machine = platforms.platform(shape)
    job = running.Job(words, machine, machine.nodes * ppn, ppn, selector=selector)
    text = running.output(job, settings, timeout)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
