#!/usr/bin/env python3
"""Exit status 0 if every package that a requirements file names is installed, 1 otherwise.

It uses no network, so that a second ./demo or ./test needs none.
"""

import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def missing(requirements: str) -> list[str]:
    """The names of missing packages; pip checks versions."""
    lines = (line.split("#")[0].strip() for line in requirements.splitlines())
    absent = []
    for name in (re.split(r"[<>=!~\[; ]", line)[0] for line in lines if line):
        try:
            version(name)
        except PackageNotFoundError:
            absent.append(name)
    return absent


if __name__ == "__main__":
    sys.exit(1 if missing(Path(sys.argv[1]).read_text()) else 0)
