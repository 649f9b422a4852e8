"""Compares the JSON of a file with the fields that its readers need."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Value:
    """A value that is neither a list nor an object."""

    name: str
    """As in "a number", for errors."""
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Maybe:
    """A field that may be missing, null or both."""

    kind: Any
    null: bool = True
    missing: bool = True


@dataclass(frozen=True)
class Each:
    """An object with any names, whose values are of one kind."""

    kind: Any


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


_MISSING = object()
NUMBER = Value("a number", _is_number)
COUNT = Value("an integer of 0 or more", lambda value: type(value) is int and 0 <= value < 1 << 63)
INTEGER = Value("an integer", lambda value: type(value) is int and abs(value) < 1 << 63)
TEXT = Value("a text", lambda value: isinstance(value, str))
FLAG = Value("true or false", lambda value: isinstance(value, bool))


def fault_of(value: Any, kind: Any, at: str = "") -> str:
    """Where and why a value is not of a kind, such as "calls[2].site: expected a text"; else empty.

    Args:
        value: what json.loads returned.
        kind: a Value; [kind] for a list; (kind, kind) for a list of that length; {name: kind} for
            an object, whose further names are ignored; Maybe or Each.
        at: the name of the value.
    """
    if isinstance(kind, Maybe):
        is_absent = (value is None and kind.null) or (value is _MISSING and kind.missing)
        return "" if is_absent else fault_of(value, kind.kind, at)
    if isinstance(kind, Value):
        return "" if kind.fits(value) else _expected(at, kind.name)
    if isinstance(kind, (dict, Each)):
        if not isinstance(value, dict):
            return _expected(at, "an object")
        names = kind if isinstance(kind, dict) else dict.fromkeys(value, kind.kind)
        parts = ((value.get(name, _MISSING), names[name], f"{at}.{name}" if at else name) for name in names)
    else:
        if not isinstance(value, list):
            return _expected(at, "a list")
        if isinstance(kind, tuple) and len(value) != len(kind):
            return _expected(at, f"a list of {len(kind)}")
        kinds = kind if isinstance(kind, tuple) else kind * len(value)
        parts = ((one, of, f"{at}[{i}]") for i, (one, of) in enumerate(zip(value, kinds, strict=True)))
    return next((fault for part in parts if (fault := fault_of(*part))), "")


def _expected(at: str, what: str) -> str:
    return f"{at}: expected {what}" if at else f"expected {what}"
