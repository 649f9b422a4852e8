"""What the files of a command are, and which libraries the loader finds for them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

UNKNOWN = "unknown"
"""What libraries_of() returns without a loader to ask."""


def programs_in(command: Sequence[str]) -> list[Path]:
    """The words of a command that name files, in order: the launcher, the program, its input."""
    # Unlike Path.is_file, this takes words that no file can have as its name.
    found = [word if os.path.isfile(word) else shutil.which(word) for word in command]
    return [Path(file) for file in found if file]


def is_elf(program: Path) -> bool:
    """Is it a program or library, and not a script?"""
    try:
        with program.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def libraries_of(program: Path) -> str:
    """The libraries that the loader finds for a program; empty if it needs no loader."""
    try:
        done = subprocess.run(
            ["ldd", str(program)], capture_output=True, text=True, errors="replace", timeout=20,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return UNKNOWN
    is_dynamic = done.returncode == 0 and "statically linked" not in done.stdout
    return done.stdout if is_dynamic else ""
