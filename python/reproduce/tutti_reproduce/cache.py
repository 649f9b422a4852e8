"""Results by content: a run that was interrupted, or repeated, computes nothing twice."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tutti.refusal import Refusal
from tutti.user_files import cache_file


def default_folder() -> Path:
    """The folder of cached results: reproduce in the user's cache folder.

    Raises:
        Refusal: the user has none.
    """
    folder = cache_file("reproduce")
    if folder is None:
        raise Refusal("no TUTTI_CACHE_DIR, XDG_CACHE_HOME or HOME; expected --cache FOLDER")
    return folder


def content_of(path: Path) -> str:
    """A hash of a file's content; empty if it does not exist."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


@cache
def sources_of(source: Path) -> list[Path]:
    """A source file, those of Tutti's that it imports, directly or not, and the published numbers in
    its folder; in a fixed sequence."""
    found = {source: None}
    waiting = [source]
    while waiting:
        for file in map(_source_of, _imported(waiting.pop())):
            if file is not None and file not in found:
                found[file] = None
                waiting.append(file)
    return [*sorted(found), *sorted(source.parent.glob("*.json"))]


def _imported(source: Path) -> Iterator[str]:
    """The modules, and what may be modules, that a source file imports."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _source_of(module: str) -> Path | None:
    """The source file of a module of Tutti's; None for all else."""
    if module.partition(".")[0] not in ("tutti", "tutti_reproduce"):
        return None
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a name in a module
        return None
    origin = None if spec is None else spec.origin
    return Path(origin) if origin is not None and origin.endswith(".py") else None


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
