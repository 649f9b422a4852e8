#!/usr/bin/env python3
"""Fails if a file includes a file of a layer that its own layer must not know.

The tables below define the architecture (docs/architecture.md). Three further rules hold: nothing
above run/ includes mpi.h; nothing above run/ accesses anything but its arguments (environment,
clock, files, output, threads, mutable globals); every algorithm's file is in the list. The rules
are patterns over source text without comments and strings.

    tools/check_layers.py [ROOT]        exit status 1 and one line for each violation
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

STD = frozenset()

LAYERS: dict[str, frozenset[str]] = {
    "src/core": STD,
    "src/schedule": frozenset({"core"}),
    "src/protocols": frozenset({"core"}),
    "src/topology": frozenset({"core"}),
    "src/shapes": frozenset({"core"}),
    "src/orders": frozenset({"core"}),
    "src/algorithms": frozenset({"core", "schedule", "shapes", "orders", "protocols", "lowering"}),
    "src/lowering": frozenset({"core", "schedule"}),
    "src/verify": frozenset({"core", "schedule", "lowering"}),
    "src/cost": frozenset({"algorithms", "core", "schedule"}),
    "src/report": frozenset({"core"}),
    "src/select": frozenset({"core", "schedule", "protocols", "topology", "orders", "algorithms", "cost"}),
    "src/sweep": frozenset(
        {
            "core", "schedule", "protocols", "topology", "orders", "algorithms", "lowering", "verify", "cost",
        }
    ),
    "src/run": frozenset(
        {"core", "schedule", "protocols", "topology", "shapes", "algorithms", "lowering", "mpi.h"}
    ),
    "src/api": frozenset(
        {
            "core", "protocols", "topology", "algorithms", "lowering", "cost", "select", "report",
            "run", "tutti",
        }
    ),
    "intercept": frozenset({"api", "core", "run", "tutti", "mpi.h"}),
    "bench": frozenset({"algorithms", "core", "cost", "lowering", "run", "simgrid", "tutti", "mpi.h"}),
    "simgrid": frozenset({"core", "intercept", "run", "mpi.h"}),
}  # fmt: skip

RUN: dict[str, frozenset[str]] = {
    "mpi": STD,
    "transport": frozenset({"mpi"}),
    "plan": frozenset({"transport"}),
    "call": frozenset({"mpi", "plan", "transport"}),
    "distance": frozenset({"mpi"}),
    "node": frozenset({"mpi"}),
    "arrival": frozenset({"mpi"}),
    "communicator": frozenset({"arrival", "call", "mpi", "plan", "transport"}),
    "hierarchical": frozenset({"call", "communicator", "mpi", "node", "plan"}),
    "rma": frozenset({"mpi", "node", "plan"}),
}
"""The folders of src/run that each of them may include. All may include files in src/run itself."""

BELOW_THE_LINE = frozenset({"src/run", "src/api", "intercept", "bench", "simgrid"})
"""The layers that may access the outside world; all others are pure."""

SUFFIXES = frozenset({".c", ".h", ".cc", ".cpp", ".hpp", ".inc", ".ipp"})

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

IMPURE = {
    "the environment": re.compile(r"\b(?:secure_)?getenv\b|\b(?:set|put|unset)env\b|\benviron\b"),
    "a clock": re.compile(
        r"<chrono>|<ctime>|<time\.h>|std::chrono|\bclock_gettime\b|\bgettimeofday\b|\bclock\s*\(\)"
    ),
    "a file": re.compile(
        r"<fstream>|<filesystem>|<fcntl\.h>|std::[io]?fstream|\bfopen\b|(?<!\w)::open\s*\("
    ),
    "the output": re.compile(
        r"<iostream>|<print>|std::c(?:out|err|log)\b|(?<![\w.])f?printf\s*\(|\bputs\s*\("
    ),
    "a thread": re.compile(r"<thread>|<mutex>|<atomic>|<condition_variable>|\bthread_local\b"),
    "the process": re.compile(r"(?<![\w.>])(?:std::)?(?:exit|abort|_exit|quick_exit)\s*\("),
    "a random device": re.compile(r"std::random_device|(?<![\w.>:])s?rand\s*\("),
}

CONSTANT = re.compile(r"\b(?:const|constexpr|constinit const)\b")
STATIC_VARIABLE = re.compile(r"^\s*(?:inline\s+)?static\s+[^()]*?[\w>]\s*(?:=|;|\{)")
NAMESPACE_VARIABLE = re.compile(
    r"^(?!(?:using|struct|class|enum|union|namespace|template|typedef|friend|extern|return|case"
    r"|public|private|protected|static_assert|concept)\b)(?:inline\s+)?"
    r"[A-Za-z_][\w:]*(?:<[^;()]*>)?[\s*&]+[A-Za-z_]\w*(?:\[[^\]]*\])?\s*(?:=(?!=)|;|\{[^{}]*\}\s*;)"
)

LITERAL_OR_COMMENT = re.compile(
    r'R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)


@dataclass(frozen=True)
class Violation:
    """A broken rule at a line of a file."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def blanked(source: str) -> str:
    """The source without comments, and with empty literals; lines keep their numbers."""

    def replacement(match: re.Match[str]) -> str:
        text = match.group(0)
        kept = '""' if text[0] in 'R"' else "''" if text[0] == "'" else " "
        return kept + "\n" * text.count("\n")

    return LITERAL_OR_COMMENT.sub(replacement, source)


def line_at(source: str, offset: int) -> int:
    """The number, from 1, of the line at an offset."""
    return source.count("\n", 0, offset) + 1


def imports(source: str) -> list[tuple[int, str]]:
    """Line and name of each include of the project: a folder, or "mpi.h"."""
    folders = {layer.removeprefix("src/") for layer in LAYERS} | {"tutti"}
    without_comments = re.sub(
        r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), source, flags=re.DOTALL
    )
    found = []
    for match in INCLUDE.finditer(without_comments):
        path = match.group(1) or match.group(2)
        first = path.split("/")[0]
        if path == "mpi.h" or first in folders and "/" in path:
            found.append((line_at(without_comments, match.start()), first))
    return found


def check_imports(path: Path, layer: str, source: str) -> list[Violation]:
    """Violations of the table by one file."""
    own = layer.removeprefix("src/")
    allowed = LAYERS[layer]
    listed = ", ".join(sorted(allowed)) or "the standard library only"
    return [
        Violation(path, line, f"{layer}/ may not include {name} (it may: {listed})")
        for line, name in imports(source)
        if name != own and name not in allowed
    ]


def check_run(path: Path, source: str) -> list[Violation]:
    """Violations of the table of src/run by one of its files."""
    own = path.parent.name
    if own not in RUN and own != "run":
        return [Violation(path, 1, f"{path.parent}/ has no line in tools/check_layers.py")]
    allowed = RUN.get(own, STD)
    listed = ", ".join(sorted(allowed)) or "no other"
    included = re.finditer(r'^[ \t]*#[ \t]*include "run/(\w+)/', source, re.MULTILINE)
    return [
        Violation(
            path,
            line_at(source, match.start()),
            f"{path.parent}/ may not include run/{match.group(1)} (it may: {listed})",
        )
        for match in included
        if match.group(1) != own and match.group(1) not in allowed
    ]


def check_purity(path: Path, layer: str, source: str) -> list[Violation]:
    """Violations by a file of a pure layer that accesses anything but its arguments."""
    text = blanked(source)
    found = [
        Violation(path, line_at(text, match.start()), f"{layer}/ is pure, but uses {what}: "
                  f"{match.group(0).strip()}")
        for what, pattern in IMPURE.items()
        for match in pattern.finditer(text)
    ]  # fmt: skip
    for number, line in enumerate(text.splitlines(), start=1):
        variable = STATIC_VARIABLE.match(line) or NAMESPACE_VARIABLE.match(line)
        if variable and not CONSTANT.search(line):
            found.append(
                Violation(path, number, f"{layer}/ is pure, but keeps state: {line.strip()}")
            )
    return found


def check_list(root: Path) -> list[Violation]:
    """Algorithm files without a line in list.inc, and lines without a file."""
    folder = root / "src" / "algorithms"
    registry = folder / "list.inc"
    if not registry.is_file():
        return []
    entry = re.compile(
        r"^TUTTI_(?:ALGORITHM|REDUCTION)(?:_FORMS\(\s*\w+\s*,|\()\s*\w+\s*,\s*\w+\s*,\s*(\w+)", re.MULTILINE
    )
    text = registry.read_text()
    listed = {match.group(1): line_at(text, match.start()) for match in entry.finditer(text)}
    relative = registry.relative_to(root)
    defined: dict[str, Path] = {}
    found = []
    for path in sorted(folder.glob("**/*.cpp")):
        names = re.findall(
            r"^Schedule\s+(\w+)\(const Problem&[^()]*\)\s*\{", blanked(path.read_text()), re.MULTILINE
        )
        defined.update(dict.fromkeys(names, path))
        if (names or path.parent != folder) and not any(name in listed for name in names):
            found.append(
                Violation(path.relative_to(root), 1, f"defines no algorithm that {relative} lists")
            )
    for name, line in sorted(listed.items(), key=lambda item: item[1]):
        if name not in defined:
            found.append(
                Violation(relative, line, f"{name} is defined in no file of src/algorithms/")
            )
    return found


def check_tree(root: Path) -> list[Violation]:
    """All violations under a source tree, by file and line."""
    found = check_list(root)
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        if f"src/{folder.name}" not in LAYERS:
            found.append(
                Violation(folder.relative_to(root), 1, "has no line in tools/check_layers.py")
            )
    for layer in LAYERS:
        for path in sorted((root / layer).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            source = path.read_text()
            relative = path.relative_to(root)
            found += check_imports(relative, layer, source)
            if layer == "src/run":
                found += check_run(relative, source)
            if layer not in BELOW_THE_LINE:
                found += check_purity(relative, layer, source)
    return sorted(found, key=lambda violation: (violation.path, violation.line))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent
    )
    violations = check_tree(parser.parse_args().root)
    for violation in violations:
        print(violation, file=sys.stderr)
    if violations:
        print(f"{len(violations)} violation(s) of the layers", file=sys.stderr)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
