"""Files of this user, by the variables that the library reads too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from tutti import _engine
from tutti.refusal import Refusal


@contextlib.contextmanager
def naming(*names: str) -> Iterator[None]:
    """Names the variable that is not UTF-8, if the engine cannot take or return a text by it."""
    try:
        yield
    except (TypeError, UnicodeError):
        for name in names:
            value = os.environ.get(name, "")
            if any("\udc80" <= sign <= "\udcff" for sign in value):
                raise Refusal(f"invalid {name}={value}: expected UTF-8") from None
        raise


def cache_file(name: str) -> Path | None:
    """What is kept under this name between runs; None if no variable says where.

    Raises:
        Refusal: the variable is not UTF-8.
    """
    with naming("TUTTI_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        path = _engine.cache_file(name)
    return Path(path) if path else None
