"""Finds the functions and source lines of call sites, by nm and addr2line."""

from __future__ import annotations

import bisect
import functools
import re
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tutti.programs import is_elf

_SYMBOL = re.compile(r"([0-9a-f]+) (?:([0-9a-f]+) )?[tTwWi] (.*)")
_SITE = re.compile(r"(?P<module>[^:]+?)(?:: (?P<function>.+))?\+(?P<offset>0x[0-9a-f]+)")

_ARGUMENTS = re.compile(r"(?<!operator)(?:\([^()<>]*\)|<[^()<>]*>)")
"""Innermost parameters or template arguments."""


@dataclass(frozen=True)
class _Place:
    """A return address: an offset in a module, or in one of its functions."""

    site: str
    module: str
    function: str | None
    offset: int


class _Symbol(NamedTuple):
    """A function of a module: its address, its size (0 if unknown) and its name."""

    start: int
    size: int
    name: str


def lines_of(sites: Iterable[str], programs: Sequence[Path]) -> dict[str, str]:
    """The source lines of call sites, as "path:line" by site.

    A site such as "app: main+0x10" or "app+0x1139" is looked up in the program with the file name
    "app". The offset is that of the return address; the line is that of the call. A site is absent
    if no program has its name, if the program has no debug information, if its function is
    ambiguous, or if binutils are missing. Scripts are passed over, such as those that libtool
    writes for a program.
    """
    by_module = _places_by_module(sites)
    found: dict[str, str] = {}
    for program in programs:
        places = [place for place in by_module.get(program.name, ()) if place.site not in found]
        if places and is_elf(program):
            found.update(_lines_in(program, places))
    return found


def program_of(report: Mapping[str, Any], written: float) -> list[Path]:
    """The program of a report, unless it has changed since the run began; else none."""
    program = report.get("program")
    return [Path(program)] if program and is_unchanged(Path(program), report, written) else []


def of_reports(reports: Sequence[Mapping[str, Any]], written: float) -> dict[str, str]:
    """The source lines of the call sites of reports, as far as program_of knows their programs."""
    found: dict[str, str] = {}
    for report in reports:
        found |= lines_of(sites_in([report]), program_of(report, written))
    return found


def sites_in(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """All call sites that reports have, some several times."""
    return (holder[key] for report in reports for holder, key in _holders_of_sites(report))


def source_of(site: str, lines: Mapping[str, str]) -> str:
    """The source line of a call site without its folder: "app.c:12"; empty if it is unknown."""
    return Path(lines[site]).name if site in lines else ""


def short(site: str) -> str:
    """A call site without the parameters and template arguments of its function, which fill lines in C++."""
    match = _SITE.fullmatch(site)
    name = match and match["function"]
    if not name:
        return site
    left = name.replace("(anonymous namespace)", "{anonymous}")
    changes = 1
    while changes:
        left, changes = _ARGUMENTS.subn("", left)
    return site.replace(name, left.removesuffix(" const"))


def shown(site: str, lines: Mapping[str, str]) -> str:
    """A call site with its source line, if that is known: "app.c:12 (app: main+0x10)"."""
    source = source_of(site, lines)
    return f"{source} ({short(site)})" if source else short(site)


def name_functions(report: dict[str, Any], written: float) -> None:
    """Replaces sites of a report such as "app+0x1139" by "app: main+0x10", in place.

    A site stays if its module is not at its path any more, has changed since the run began, or has no
    symbol of the function with its size, or if nm is missing.

    Args:
        report: as read.
        written: when its file was, a time of the file system.
    """
    holders = list(_holders_of_sites(report))
    by_module = _places_by_module(holder[key] for holder, key in holders)
    names: dict[str, str] = {}
    for module in map(Path, report.get("modules", ())):
        places = [place for place in by_module.get(module.name, []) if place.function is None]
        if places and is_unchanged(module, report, written):
            names.update(_names_in(module, places))
    for holder, key in holders:
        holder[key] = names.get(holder[key], holder[key])


def is_unchanged(file: Path, report: Mapping[str, Any], written: float) -> bool:
    """Is a file there, and not changed since the run of a report began that was written at a time of the
    file system?"""
    try:
        about = file.stat()
    except (OSError, ValueError):  # another user's folder, or a name that no file can have
        return False
    return stat.S_ISREG(about.st_mode) and about.st_mtime <= written - (report.get("wall") or 0)


def _holders_of_sites(report: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The containers of a report's call sites, each with its key or index."""
    for call in report["calls"]:
        yield call, "site"
        for number in range(len(call.get("other_sites", ()))):
            yield call["other_sites"], number
    for case in (report.get("tuning") or {}).get("cases", ()):
        for site in case["sites"]:
            yield site, "site"


def _places_by_module(sites: Iterable[str]) -> dict[str, list[_Place]]:
    by_module: dict[str, list[_Place]] = {}
    for site in dict.fromkeys(sites):
        if match := _SITE.fullmatch(site):
            place = _Place(site, match["module"], match["function"], int(match["offset"], 16))
            by_module.setdefault(place.module, []).append(place)
    return by_module


def _names_in(module: Path, places: list[_Place]) -> dict[str, str]:
    symbols = sorted(one for one in _symbols(module) if one.size)
    starts = [one.start for one in symbols]
    names = {}
    for place in places:
        # A return address may lie behind a function whose last instruction is the call.
        at = bisect.bisect_right(starts, place.offset - 1) - 1
        if at >= 0 and place.offset <= symbols[at].start + symbols[at].size:
            names[place.site] = f"{place.module}: {symbols[at].name}+{place.offset - starts[at]:#x}"
    return names


def _lines_in(program: Path, places: list[_Place]) -> dict[str, str]:
    functions = _functions(program) if any(place.function for place in places) else {}
    known = []
    for place in places:
        starts = functions.get(place.function, set()) if place.function else {0}
        if len(starts) == 1:
            known.append((place.site, next(iter(starts)) + place.offset - 1))
    if not known:
        return {}
    listed = _output(["addr2line", "-e", str(program), *(hex(address) for _, address in known)])
    lines = [line.split(" (")[0] for line in listed.splitlines()]
    return {
        site: line
        for (site, _), line in zip(known, lines, strict=False)
        if not line.startswith("??") and not line.endswith((":0", ":?"))
    }


def _functions(module: Path) -> dict[str, set[int]]:
    """The addresses of a module's functions by name."""
    addresses: dict[str, set[int]] = {}
    for one in _symbols(module):
        addresses.setdefault(one.name, set()).add(one.start)
    return addresses


@functools.cache
def _symbols(module: Path) -> list[_Symbol]:
    """The functions of a module; those that it exports if it is stripped."""
    for table in ([], ["-D"]):
        listed = _output(["nm", "-C", "-S", "--defined-only", *table, str(module)])
        found = [_SYMBOL.fullmatch(line) for line in listed.splitlines()]
        if symbols := [_Symbol(int(one[1], 16), int(one[2] or "0", 16), one[3]) for one in found if one]:
            return symbols
    return []


def _output(command: list[str]) -> str:
    """The output of a tool; empty if it is missing or fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
