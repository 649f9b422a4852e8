"""Runs the command `tutti` for `python -m tutti`."""

import sys

from tutti.cli import main

sys.exit(main())
