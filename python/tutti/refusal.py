"""The exception for bad input."""

from __future__ import annotations


class Refusal(Exception):
    """Bad input: one sentence that names the value and what is accepted. Exit status 2."""
