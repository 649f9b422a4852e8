"""The progress of `tutti tune` on standard error."""

from __future__ import annotations

import datetime
import math
import sys
import time

from rich import progress as bars
from rich.console import Console
from rich.text import Text

from tutti.tuning import Progress

_LINES_APART = 60.0
"""Seconds between lines about the progress where no terminal shows a bar."""


class Left(bars.ProgressColumn):
    """The estimated time until the end, which is at most that of the budget."""

    def __init__(self, budget: float) -> None:
        self._budget = budget or math.inf
        super().__init__()

    def render(self, task: bars.Task) -> Text:
        """The time as h:mm:ss; unknown at the start."""
        left = task.time_remaining
        if left is None:
            return Text("-:--:--")
        left = min(left, max(0.0, self._budget - (task.elapsed or 0.0)))
        return Text(str(datetime.timedelta(seconds=int(left))))


class Bar:
    """The progress of a tuning on standard error: runs done, those planned, the time left. Lines
    now and then if no bar is shown."""

    def __init__(self, shown: bool, budget: float) -> None:
        self._progress = bars.Progress(
            bars.TextColumn("{task.description}"), bars.BarColumn(12),
            bars.TextColumn("{task.percentage:3.0f} %"), bars.TimeElapsedColumn(),
            bars.TextColumn("left"), Left(budget),
            console=Console(stderr=True), disable=not shown, speed_estimate_period=600,
        )  # fmt: skip
        self._task = self._progress.add_task("start", total=None)
        self._shown = shown
        self._next_line = -math.inf

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, done: int, planned: int, text: str) -> None:
        """Updates what runs, how many runs are over and how many there will be."""
        self._progress.update(self._task, completed=done, total=planned, description=text)
        if not self._shown and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _LINES_APART
            print(f"tutti: run {done + 1} of about {planned}: {text}", file=sys.stderr, flush=True)

    def after(self, before: int, planned: int) -> Progress:
        """What shows the progress of a part, before which so many runs of all those planned are over."""
        return lambda done, _, text: self.show(before + done, max(planned, before + done + 1), text)
