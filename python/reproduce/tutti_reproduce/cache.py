"""Results by content: a run that was interrupted, or repeated, computes nothing twice."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tutti.refusal import Refusal


def default_folder() -> Path:
    """The folder of cached results: tutti/reproduce in the user's cache folder.

    Raises:
        Refusal: the user has no home folder.
    """
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        raise Refusal("no HOME and no XDG_CACHE_HOME; expected --cache FOLDER") from None
    return Path(base) / "tutti" / "reproduce"


def content_of(path: Path) -> str:
    """A hash of a file's content; empty if it does not exist."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _kept(path: Path) -> dict[str, Any] | None:
    """The content of a cache file; None if it does not exist or is damaged."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and "result" in content else None


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
        kept = _kept(path)
        if kept is not None:
            self.hits += 1
            return kept["result"]
        self.misses += 1
        result = compute()
        self.folder.mkdir(parents=True, exist_ok=True)
        # A result is whole or absent, however the run ends.
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps({"of": depends_on, "result": result}))
        partial.replace(path)
        return result
