"""Rules files: which ones there are, what they say together, and how two differ."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutti import _engine, libraries
from tutti._engine import Rule, Rules
from tutti.explanation import mean_block
from tutti.refusal import Refusal
from tutti.user_files import cache_file, naming

_INF = (1 << 63) - 1
_ALL = "0..inf"
_RANGES = ("p", "nodes", "ranks_per_node", "irregularity", "bytes")
_KEYS = ("p", "nodes", "ranks_per_node", "irregularity", "commutative", "mpi", "version", "network", "bytes")
_NAMES = {"openmpi": "Open MPI v", "mpich": "MPICH Version: "}

UNKNOWN_SIZES = tuple(
    name for name in _engine.collectives()
    if _engine.is_irregular(name) and (_engine.has_root(name) or _engine.block_kind(name) == "pairs")
)  # fmt: skip
"""No rank knows all sizes of such a call, so that a rule holds for every message size."""


def read(path: Path) -> Rules:
    """One rules file. Raises Refusal with line, field and value if it is invalid."""
    try:
        return _engine.rules_from_text(_engine.read_text_file(str(path), _engine.max_rules_bytes), path.name)
    except ValueError as error:
        raise Refusal(f"{path}: {error}") from None


def files() -> list[Path]:
    """The files that a program of this user reads, in the sequence in which they are tried."""
    try:
        folder = str(libraries.folder())
    except Refusal:
        folder = ""
    with naming("TUTTI_RULES", "TUTTI_LIBRARY_DIR", "XDG_CONFIG_HOME", "HOME"):
        return [Path(path) for path in _engine.rule_files(os.environ.get("TUTTI_RULES", ""), folder)]


def learned_file() -> Path | None:
    """What programs of this user have learned with TUTTI_LEARN=keep; None if there is nothing."""
    path = cache_file(_engine.kept_rules_name)
    return path if path is not None and path.is_file() else None


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


def _keys_of(rule: Rule) -> dict[str, str]:
    """What a rule holds for, but collective and message size."""
    return {
        "p": rule.p,
        "nodes": rule.nodes,
        "ranks_per_node": rule.ranks_per_node,
        "irregularity": rule.irregularity,
        "commutative": "" if rule.commutative is None else str(rule.commutative).lower(),
        "mpi": rule.mpi,
        "version": rule.version,
        "network": rule.network,
    }


def text_of(rule: Rule) -> str:
    """The keys of a rule in words; those that match everything are left out."""
    keys = _keys_of(rule).items()
    return ", ".join(f"{name} {value}" for name, value in keys if value not in ("", _ALL))


def never_matches(rule: Rule) -> str:
    """Why a rule matches no call, whatever rules there are: it asks for what most ranks do not know,
    or for irregular blocks where all are equal. Empty if it may match."""
    name = rule.collective
    if name in UNKNOWN_SIZES:
        asked = [key for key in ("bytes", "irregularity") if getattr(rule, key) != _ALL]
        return f"most ranks do not know the sizes of a {name}: omit {asked[0]}" if asked else ""
    least, most = limits(rule.irregularity)
    largest = _INF if _engine.is_irregular(name) else 1
    return "" if least <= largest and most >= 1 else f"no {name} has irregularity {rule.irregularity}"


@dataclass(frozen=True)
class _Region:
    """The calls that a rule holds for, with each key read once."""

    rule: Rule
    ranges: Mapping[str, tuple[int, int]]
    """The limits of keys with numbers."""
    words: Mapping[str, str]
    """The other keys; empty where the rule holds for every value."""

    def covers(self, other: _Region, but: str = "") -> bool:
        """Does the rule hold for all calls of another region, whatever the range `but` says?"""
        is_within = all(
            low <= other.ranges[name][0] and other.ranges[name][1] <= high
            for name, (low, high) in self.ranges.items() if name != but
        )  # fmt: skip
        return is_within and all(
            _includes(name, word, other.words[name]) for name, word in self.words.items()
        )


def _region_of(rule: Rule) -> _Region:
    keys = {**_keys_of(rule), "bytes": rule.bytes}
    if not any(word in rule.collective for word in ("reduce", "scan")):
        keys["commutative"] = ""  # only operations commute
    if not _engine.is_irregular(rule.collective):
        keys["irregularity"] = _ALL  # never_matches knows what asks for others
    ranges = {name: limits(keys[name]) for name in _RANGES}
    return _Region(rule, ranges, {name: keys[name] for name in keys if name not in _RANGES})


def _includes(name: str, wider: str, word: str) -> bool:
    """Does a key with the value `wider` hold for a word? Version 4.1 holds for 4.1.4."""
    return wider in ("", word) or (name == "version" and word.startswith(f"{wider}."))


def undecided(rules: Rules) -> list[tuple[Rule, str]]:
    """Rules that never decide, each with the reason."""
    return [(rule, why) for rule, why in _judged(rules) if why]


def deciding(rules: Rules) -> Rules:
    """The same rules without those that never decide."""
    return Rules([rule for rule, why in _judged(rules) if not why])


def _judged(rules: Rules) -> Iterator[tuple[Rule, str]]:
    """Each rule, and why it never decides; empty if it may decide."""
    deciding: dict[str, list[_Region]] = {}
    for rule in rules.all:
        why = never_matches(rule)
        if not why:
            region = _region_of(rule)
            before = deciding.setdefault(rule.collective, [])
            why = _why_covered(region, before)
            if not why:
                before.append(region)
        yield rule, why


def _why_covered(region: _Region, before: list[_Region]) -> str:
    """Which of the regions before decide all calls of this one; empty if they do not."""
    wider = [one for one in before if one.covers(region, but="bytes")]
    if earlier := next((one.rule for one in wider if one.covers(region)), None):
        return f"{earlier.use} for {_holds_for(earlier)} comes first"
    least, most = region.ranges["bytes"]
    for low, high in sorted(one.ranges["bytes"] for one in wider):
        if low <= least:
            least = max(least, high + 1)
    return "rules before it decide all its message sizes" if least > most else ""


def _holds_for(rule: Rule) -> str:
    return ", ".join(filter(None, (f"{rule.bytes} bytes", text_of(rule))))


def title_of(rule: Rule) -> str:
    """One line that names a rule: what it holds for, and what it selects."""
    return f"{rule.collective}, {_holds_for(rule)}, {rule.use}"


@dataclass(frozen=True)
class Difference:
    """Calls for which two files decide differently; left or right is "" where one has no rule."""

    collective: str
    keys: str
    """What else the calls have in common, as text_of says it."""
    bytes: str
    """The message sizes as rules write them."""
    left: str
    right: str


_Sides = Sequence[Sequence[_Region]]
_Found = tuple[tuple[str, ...], str, str]
"""The text of each key, and what the left and the right file use."""


def differences(left: Rules, right: Rules) -> list[Difference]:
    """The calls for which the first matches of two files differ."""
    sides = [_by_collective(left), _by_collective(right)]
    return [
        Difference(collective, ", ".join(filter(None, texts[:-1])), texts[-1], *uses)
        for collective in {**sides[0], **sides[1]}
        for texts, *uses in _compared([side.get(collective, []) for side in sides], _KEYS)
    ]


def _by_collective(rules: Rules) -> dict[str, list[_Region]]:
    """The regions of the rules that may decide."""
    found: dict[str, list[_Region]] = {}
    for rule in rules.all:
        if not never_matches(rule):
            found.setdefault(rule.collective, []).append(_region_of(rule))
    return found


def _compared(sides: _Sides, names: Sequence[str]) -> list[_Found]:
    """The differences of regions that hold for the same values of all keys but these."""
    if not any(sides) or _are_alike(sides, names):
        return []
    if not names:
        left, right = (side[0].rule.use if side else "" for side in sides)
        return [] if left == right else [((), left, right)]
    parts = _by_range if names[0] in _RANGES else _by_word
    return [
        ((text, *texts), left, right)
        for text, inner in parts(sides, names[0], names[1:])
        for texts, left, right in inner
    ]


def _are_alike(sides: _Sides, names: Sequence[str]) -> bool:
    """Have both sides the same rules in the same sequence, apart from other keys?"""

    def compared(one: _Region) -> list[object]:
        return [one.rule.use, *(one.ranges.get(name, one.words.get(name)) for name in names)]

    return list(map(compared, sides[0])) == list(map(compared, sides[1]))


def _by_range(sides: _Sides, name: str, rest: Sequence[str]) -> list[tuple[str, list[_Found]]]:
    """The differences in each part of a range, cut where a region begins or ends. Neighbours with
    the same differences are one part."""
    least = 0 if name == "bytes" else 1
    ranges = [one.ranges[name] for side in sides for one in side]
    cuts = {least, *(max(low, least) for low, _ in ranges), *(high + 1 for _, high in ranges)}
    parts: list[tuple[int, list[_Found]]] = []
    for low in sorted(cuts - {_INF + 1}):
        held = [
            [one for one in side if one.ranges[name][0] <= low <= one.ranges[name][1]]
            for side in sides
        ]
        inner = _compared(held, rest)
        if not parts or parts[-1][1] != inner:
            parts.append((low, inner))
    if name != "bytes" and len(parts) == 1:
        return [("", parts[0][1])]
    ends = [*(str(low - 1) for low, _ in parts[1:]), "inf"]
    before = "" if name == "bytes" else f"{name} "
    return [
        (before + _engine.range_text(f"{low}..{end}"), inner)
        for (low, inner), end in zip(parts, ends, strict=True)
    ]


def _by_word(sides: _Sides, name: str, rest: Sequence[str]) -> list[tuple[str, list[_Found]]]:
    """The differences for each value of a key that a rule names, and for all other values."""
    words = {"", *(one.words[name] for side in sides for one in side)}
    if name == "commutative" and len(words) > 1:
        words = {"false", "true"}
    parts = []
    for word in sorted(words):
        held = [[one for one in side if _includes(name, one.words[name], word)] for side in sides]
        parts.append((f"{name} {word}" if word else f"any other {name}", _compared(held, rest)))
    first = parts[0][1]
    return [("", first)] if all(inner == first for _, inner in parts) else parts


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
    """The rule of this user's files that decides a call, whatever its nodes and network; None
    without one.

    Without `mpi` (openmpi or mpich) rules for any MPI count.
    """
    rules = _of_programs()
    if mpi and mpi not in _NAMES:
        raise Refusal(f"--mpi {mpi}: expected {' or '.join(_NAMES)}")
    of_mpi = _NAMES.get(mpi, "")
    return rules.find(collective, len(sizes), mean_block(sizes), 0, 0, True, of_mpi, _engine.irregularity_of(sizes))
