"""What bad input is answered with."""

from __future__ import annotations


class Refusal(Exception):
    """Bad input: one sentence that names the value and what is accepted. Exit status 2."""
