"""`python -m tutti` is the command `tutti`."""

import sys

from tutti.cli import main

sys.exit(main())
