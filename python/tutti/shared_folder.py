"""A temporary folder for what the ranks of a launcher write."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def shared_folder() -> Iterator[Path]:
    """Makes a folder, and removes it at the end.

    It is in the current folder, if possible: rank 0, which writes there, may run on another node,
    and the nodes of a job share the current folder more often than one for temporary files.
    """
    try:
        made = tempfile.TemporaryDirectory(
            prefix=".tutti-", dir=Path.cwd(), ignore_cleanup_errors=True
        )
    except OSError:
        made = tempfile.TemporaryDirectory(prefix="tutti-", ignore_cleanup_errors=True)
    with made as folder:
        yield Path(folder)
