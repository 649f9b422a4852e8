"""Finds the source lines of call sites in programs with debug information, by nm and addr2line."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_SITE = re.compile(r"(?P<module>[^:]+): (?P<function>.+)\+(?P<offset>0x[0-9a-f]+)")


def programs_in(command: Sequence[str]) -> list[Path]:
    """The words of a command that name files, in order: the launcher, the program, its input."""
    found = [Path(word) if Path(word).is_file() else shutil.which(word) for word in command]
    return [Path(file) for file in found if file]


def lines_of(sites: Iterable[str], programs: Sequence[Path]) -> dict[str, str]:
    """The source lines of call sites, as "path:line" by site.

    A site such as "app: main+0x10" is looked up in the program with the file name "app". The offset
    is that of the return address; the line is that of the call. A site is absent if no program has
    its name, if the program has no debug information, if its function is ambiguous, or if binutils
    are missing.
    """
    by_module: dict[str, list[tuple[str, str, int]]] = {}
    for site in dict.fromkeys(sites):
        if match := _SITE.fullmatch(site):
            place = (site, match["function"], int(match["offset"], 16))
            by_module.setdefault(match["module"], []).append(place)
    found: dict[str, str] = {}
    for program in programs:
        places = by_module.pop(program.name, [])
        if places:
            found.update(_lines_in(program, places))
    return found


def of_report(report: Mapping[str, Any]) -> dict[str, str]:
    """The source lines of a report's call sites, if its program is still at its path."""
    program = report.get("program")
    sites = (call["site"] for call in report["calls"])
    return lines_of(sites, [Path(program)]) if program else {}


def shown(site: str, lines: Mapping[str, str]) -> str:
    """A call site with its source line, if that is known: "app.c:12 (app: main+0x10)"."""
    return f"{Path(lines[site]).name} ({site})" if site in lines else site


def _lines_in(program: Path, places: list[tuple[str, str, int]]) -> dict[str, str]:
    functions = _functions(program)
    known = [
        (site, functions[name] + offset - 1) for site, name, offset in places if name in functions
    ]
    if not known:
        return {}
    listed = _output(["addr2line", "-e", str(program), *(hex(address) for _, address in known)])
    lines = [line.split(" (")[0] for line in listed.splitlines()]
    return {
        site: line
        for (site, _), line in zip(known, lines, strict=False)
        if not line.startswith("??") and not line.endswith((":0", ":?"))
    }


def _functions(program: Path) -> dict[str, int]:
    """The addresses of a program's functions, without those whose name occurs twice."""
    addresses: dict[str, set[int]] = {}
    for line in _output(["nm", "-C", "--defined-only", str(program)]).splitlines():
        address, kind, name = [*line.split(" ", 2), "", ""][:3]
        if kind in ("t", "T", "w", "W"):
            addresses.setdefault(name, set()).add(int(address, 16))
    return {name: found.pop() for name, found in addresses.items() if len(found) == 1}


def _output(command: list[str]) -> str:
    """The output of a tool; empty if it is missing or fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
