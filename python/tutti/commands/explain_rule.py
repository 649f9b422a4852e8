"""What `tutti explain` says of a rule."""

from __future__ import annotations

from typing import Any

from tutti import rules
from tutti._engine import Rule


def drawn_for(rule: Rule, background: bool) -> str:
    """What is drawn: the rule's algorithm, or native for calls through node memory."""
    chosen = rule.choice(background)
    return "native" if chosen.startswith("hierarchical") else chosen


def sentence_of(rule: Rule, background: bool) -> str:
    """What Tutti runs by the rule, why, and where."""
    where = rules.text_of(rule)
    condition = f"; holds for {where}" if where else ""
    return f"Tutti runs {rule.choice(background)}: {rule.reason(background)}{condition}"


def as_json_of(rule: Rule | None, background: bool) -> dict[str, Any]:
    """What the rule changes in the JSON of an explanation."""
    if rule is None:
        return {}
    return {
        "algorithm": rule.choice(background),
        "reason": rule.reason(background),
        "rule": {
            "bytes": rule.bytes,
            "keys": rules.text_of(rule),
            "native_us": rule.native_us,
            "choice_us": rule.choice_us,
            "date": rule.date,
            "source": rule.source,
        },
    }
