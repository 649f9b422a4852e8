"""A temporary folder for what the ranks of a launcher write."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tutti.supervised import terminable


@contextlib.contextmanager
def shared_folder() -> Iterator[Path]:
    """Makes a folder, and removes it at the end, also after SIGTERM or SIGHUP.

    It is in the current folder, if possible: rank 0, which writes there, may run on another node,
    and the nodes of a job share the current folder more often than one for temporary files.
    """
    with terminable(), _made() as folder:
        yield Path(folder)


def _made() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(
            prefix=".tutti-", dir=Path.cwd(), ignore_cleanup_errors=True
        )
    except OSError:
        return tempfile.TemporaryDirectory(prefix="tutti-", ignore_cleanup_errors=True)
