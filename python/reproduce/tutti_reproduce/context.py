"""What all papers need to compute: a cache, samples, published numbers. It has no words and verdicts of
pages, so that results are kept when those change."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from tutti import _engine, bench
from tutti_reproduce.cache import Cache, content_of, sources_of

Numbers = dict[str, float]
"""The numbers of one problem by contender. The name `factor` is the first contender's time over the
second's where the times are unknown; `ahead` says no more than who wins: 1 the second contender, -1
the first, 0 neither; `value` is the number of a table without contenders. Empty: no numbers."""


@dataclass(frozen=True)
class Context:
    """What all papers need.

    Attributes:
        cache: keeps the results.
        machine: the file of --machine; None: each paper's own network, or the built-in machine.
        samples: the folder with the lab's samples.
        simgrid_ranks: tables of more ranks do not run in SimGrid; 0 for none.
    """

    cache: Cache
    machine: Path | None
    samples: Path
    simgrid_ranks: int = 0

    def result(self, compute: Callable[..., Any], *arguments: Any, of: Sequence[Path] = ()) -> Any:
        """The result of a function, kept by its name, its arguments, and the contents of its source
        file and all that this imports of Tutti's, with the published numbers, of the engine, and of
        other files that it depends on."""
        source = Path(compute.__code__.co_filename)
        files = [Path(_engine.__file__), *sources_of(source), *of]
        key = [*map(content_of, files), compute.__name__, arguments]
        known = json.loads(json.dumps(key, default=_text))
        return self.cache.get(known, lambda: compute(*arguments))

    def documents(self, pattern: str, schema: str = bench.SCHEMA) -> list[dict[str, Any]]:
        """The samples whose file names match, by name. Raises Refusal if one has another schema."""
        return [bench.read(path, schema) for path in sorted(self.samples.glob(pattern))]


def _text(argument: Any) -> str:
    """What identifies an argument that is no JSON."""
    return argument.__name__ if callable(argument) else str(argument)


def published(paper: str) -> dict[str, Any]:
    """The published numbers of a paper, from its file beside this one."""
    text = resources.files("tutti_reproduce").joinpath(f"{paper}.json").read_text()
    document: dict[str, Any] = json.loads(text)
    return document
