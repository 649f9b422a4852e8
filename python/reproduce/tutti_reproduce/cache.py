"""Results by content: a run that was interrupted, or repeated, computes nothing twice."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def default_folder() -> Path:
    """The folder of cached results: tutti/reproduce in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tutti" / "reproduce"


def content_of(path: Path) -> str:
    """A hash of a file's content; empty if it does not exist."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


class Cache:
    """Results in a folder, one file each, named by a hash of all that they depend on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hits = 0
        self.misses = 0

    def get(self, depends_on: object, compute: Callable[[], Any]) -> Any:
        """The result that was computed from equal dependences, else `compute()`, which it keeps.

        Args:
            depends_on: JSON of all that the result depends on, programs included.
            compute: makes the result, as JSON.
        """
        text = json.dumps(depends_on, sort_keys=True)
        path = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        if path.is_file():
            self.hits += 1
            return json.loads(path.read_text())["result"]
        self.misses += 1
        result = compute()
        self.folder.mkdir(parents=True, exist_ok=True)
        # A result is whole or absent, however the run ends.
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps({"of": depends_on, "result": result}))
        partial.replace(path)
        return result
