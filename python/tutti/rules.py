"""Rules files: which ones there are, what they say together, and how two differ."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tutti import _engine, libraries
from tutti._engine import Rule, Rules
from tutti.refusal import Refusal

_MAX_BYTES = 1 << 20
_INF = (1 << 63) - 1
_ALL = "0..inf"
_NAMES = {"openmpi": "Open MPI v", "mpich": "MPICH Version: "}

UNKNOWN_SIZES = ("gatherv", "scatterv", "alltoallv")
"""No rank knows all sizes of such a call, so that a rule holds for every message size."""


def read(path: Path) -> Rules:
    """One rules file. Raises Refusal with line, field and value if it is invalid."""
    try:
        return _engine.rules_from_text(_engine.read_text_file(str(path), _MAX_BYTES), path.name)
    except ValueError as error:
        raise Refusal(f"{path}: {error}") from None


def files() -> list[Path]:
    """The files that a program of this user reads, in the sequence in which they are tried."""
    try:
        folder = str(libraries.folder())
    except Refusal:
        folder = ""
    return [Path(path) for path in _engine.rule_files(os.environ.get("TUTTI_RULES", ""), folder)]


def learned_file() -> Path | None:
    """What programs of this user have learned with TUTTI_LEARN=keep; None if there is nothing."""
    path = Path(_engine.cache_file("learned.json"))
    return path if path.is_file() else None


def merged(paths: list[Path]) -> Rules:
    """The rules of several files; those of the first are tried first."""
    rules = Rules()
    for path in paths:
        rules.extend(read(path))
    return rules


def limits(text: str) -> tuple[int, int]:
    """The first and the last number of a range such as 1K..inf."""
    words = text.split("..")
    low, high = words[0], words[-1]
    return _engine.bytes_from(low), _INF if high == "inf" else _engine.bytes_from(high)


def key_of(rule: Rule) -> tuple[str, ...]:
    """What a rule holds for, but the message size."""
    commutative = "" if rule.commutative is None else str(rule.commutative).lower()
    return (
        rule.collective, rule.p, rule.nodes, rule.ranks_per_node, commutative, rule.mpi,
        rule.version,
    )  # fmt: skip


def text_of(rule: Rule) -> str:
    """The keys of a rule in words; those that match everything are left out."""
    names = ("p", "nodes", "ranks_per_node", "commutative", "mpi", "version")
    words = [
        f"{name} {value}"
        for name, value in zip(names, key_of(rule)[1:], strict=True)
        if value not in ("", _ALL)
    ]
    return ", ".join(words)


def never_matches(rule: Rule) -> bool:
    """Does a rule give message sizes, where most ranks do not know them?"""
    return rule.collective in UNKNOWN_SIZES and rule.bytes != _ALL


def covers(wider: Rule, rule: Rule) -> bool:
    """Do the keys of a rule, but the message size, hold wherever those of another do?"""
    return (
        wider.collective == rule.collective
        and _within(wider.p, rule.p)
        and _within(wider.nodes, rule.nodes)
        and _within(wider.ranks_per_node, rule.ranks_per_node)
        and wider.commutative in (None, rule.commutative)
        and wider.mpi in ("", rule.mpi)
        and (not wider.version or f"{rule.version}.".startswith(f"{wider.version}."))
    )


def _within(wider: str, text: str) -> bool:
    (first, last), (low, high) = limits(wider), limits(text)
    return first <= low and high <= last


def undecided(rules: Rules) -> list[tuple[Rule, str]]:
    """Rules that never decide, each with the reason."""
    found = []
    for position, rule in enumerate(rules.all):
        if never_matches(rule):
            found.append((rule, f"most ranks do not know the sizes of a {rule.collective}: omit bytes"))
            continue
        for earlier in rules.all[:position]:
            matches = not never_matches(earlier) and covers(earlier, rule)
            if matches and _within(earlier.bytes, rule.bytes):
                found.append((rule, f"{earlier.use} for {_holds_for(earlier)} comes first"))
                break
    return found


def _holds_for(rule: Rule) -> str:
    return ", ".join(filter(None, (f"{rule.bytes} bytes", text_of(rule))))


def title_of(rule: Rule) -> str:
    """One line that names a rule: what it holds for, and what it selects."""
    return f"{rule.collective}, {_holds_for(rule)}, {rule.use}"


@dataclass(frozen=True)
class Difference:
    """Message sizes for which two files decide differently; "" where one has no rule."""

    rule: Rule
    """One of the rules, for its keys."""
    least: int
    most: int
    left: str
    right: str

    @property
    def bytes(self) -> str:
        """The message sizes as rules write them."""
        most = "inf" if self.most == _INF else str(self.most)
        return _engine.range_text(f"{self.least}..{most}")


def differences(left: Rules, right: Rules) -> list[Difference]:
    """Where the first matches of two files differ, for each set of keys that either has."""
    found: list[Difference] = []
    with_keys: dict[tuple[str, ...], Rule] = {}
    for rule in [*left.all, *right.all]:
        with_keys.setdefault(key_of(rule), rule)
    for rule in with_keys.values():
        sides = [
            [r for r in side.all if covers(r, rule) and not never_matches(r)]
            for side in (left, right)
        ]
        ranges = [limits(r.bytes) for side in sides for r in side]
        cuts = sorted({0, _INF + 1} | {low for low, _ in ranges} | {high + 1 for _, high in ranges})
        for low, end in zip(cuts, cuts[1:], strict=False):
            uses = [_use_at(side, low) for side in sides]
            if uses[0] == uses[1]:
                continue
            before = found[-1] if found else None
            joins = before is not None and before.rule is rule and before.most + 1 == low
            if before is not None and joins and [before.left, before.right] == uses:
                low = found.pop().least
            found.append(Difference(rule, low, min(end - 1, _INF), *uses))
    return found


def _use_at(rules: list[Rule], size: int) -> str:
    for rule in rules:
        low, high = limits(rule.bytes)
        if low <= size <= high:
            return rule.use
    return ""


def _of_programs() -> Rules:
    """The rules that a program of this user has. Like a program, passes over an invalid file, with
    a line on standard error, but not over that of TUTTI_RULES."""
    rules = Rules()
    for path in files():
        try:
            rules.extend(read(path))
        except Refusal as error:
            if path == Path(os.environ.get("TUTTI_RULES", "")):
                raise
            print(f"tutti: a rules file is ignored: {error}", file=sys.stderr)
    return rules


def rule_for(collective: str, sizes: list[int], mpi: str) -> Rule | None:
    """The rule of this user's files that decides a call, whatever its nodes; None without one.

    Without `mpi` (openmpi or mpich) rules for any MPI count.
    """
    size = sum(sizes) // len(sizes) if sizes else 0
    rules = _of_programs()
    if mpi and mpi not in _NAMES:
        raise Refusal(f"--mpi {mpi}: expected {' or '.join(_NAMES)}")
    return rules.find(collective, len(sizes), size, 0, 0, True, _NAMES.get(mpi, ""))
