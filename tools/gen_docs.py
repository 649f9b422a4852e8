#!/usr/bin/env python3
"""Generates parts of the documentation from the source.

    docs/generated/algorithms.md   list.inc, parameters.inc and aliases.inc of src/algorithms
    docs/generated/steps.md        the kinds of steps in src/schedule/schedule.hpp
    docs/generated/settings.md     src/select/settings.inc and src/core/collectives.inc
    docs/generated/collectives.md  src/core/collectives.inc
    docs/generated/rules.schema.json  see tools/rules_schema.py
    docs/architecture.md           the tables of layers in tools/check_layers.py
    README.md                      the table of algorithms, from list.inc

    tools/gen_docs.py              writes outdated pages
    tools/gen_docs.py --check      writes nothing; exit status 1 if a page is outdated
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from check_layers import LAYERS, RUN  # noqa: E402
from rules_schema import rules_schema  # noqa: E402

NOTICE = "<!-- Written by tools/gen_docs.py from {source}; change that and run it again. -->\n"

TOKEN = re.compile(r'"((?:\\.|[^"\\])*)"|([(),])|([^\s"(),]+)|(\s+)')

STAGING = {
    "nothing": "0",
    "subtrees": "M + b",
    "group": "(ceil(late / (p - late)) + 1) b, V of unequal blocks",
    "vector": "V",
    "four_vectors": "4 V",
    "ten_vectors": "10 V",
    "halved_vectors": "(4 + log2(p b / V)) V",
    "vector_each_round": "((k - 1) ceil(logk p) + 1) V",
    "alltoall vector_each_round": "(min(k - 1, 2) ceil(logk p) + 1) V",
    "vector_each_rank": "(p - 1) V",
    "block_each_rank": "(p - 1) b",
}
STAGING_NOTE = """
"Stages at most" is the memory that a rank needs beside the program's buffers in one call: b is the rank's own block, V the vector,
or all blocks that a rank sends or receives. In a reduce_scatter of uneven blocks b is the largest one, and V counts as at least
2 b. M is `TUTTI_MEMORY`, 64 MiB by default. Subtrees for which M would not do send straight
to the root. Any other gather, scatter or one-sided collective that would stage more than M becomes `linear`, which stages least;
all others leave the call to the MPI, on all ranks alike. Data of types that are not contiguous may be packed in addition: a copy of
the rank's own buffers at most. A call through node memory takes `TUTTI_NODE_MEMORY` for each node instead.
"""
KNOWLEDGE = {
    "nothing": "its arguments",
    "subtree_sizes": "the sizes of its subtrees",
    "tree_neighbours": "its place in the grown tree",
    "all_sizes": "all sizes",
}
"""The kinds of knowledge in words, by their names in `Knowledge` in algorithms.hpp."""


def entries(source: str, macro: str) -> Iterator[list[str]]:
    """The arguments of each use of an X-macro; adjacent string literals are joined."""
    source = re.sub(r"//[^\n]*", "", source)
    for match in re.finditer(rf"^{macro}\(", source, re.MULTILINE):
        arguments, depth = [""], 1
        for token in TOKEN.finditer(source, match.end()):
            literal, sign, word, _ = token.groups()
            depth += {"(": 1, ")": -1}.get(sign, 0)
            if depth == 0:
                break
            if sign == "," and depth == 1:
                arguments.append("")
            elif literal is not None:
                arguments[-1] += literal.replace('\\"', '"')
            else:
                arguments[-1] += word or sign or ""
        yield arguments


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n"
                   for line in lines)  # fmt: skip


@dataclass(frozen=True)
class Algorithm:
    """One line of list.inc; for reductions, `knowledge` has the operations that they support."""

    collective: str
    name: str
    function: str
    shape: str
    order: str
    knowledge: str
    staging: str
    parameters: str
    useful: str
    roles: str
    summary: str

    def file(self, root: Path) -> str:
        """The file that defines its function."""
        folder = root / "src/algorithms"
        definition = f"\nSchedule {self.function}(const Problem& problem) {{"
        files = [path for path in sorted(folder.glob("**/*.cpp")) if definition in path.read_text()]
        if len(files) != 1:
            raise SystemExit(f"{self.function} of list.inc is defined in {len(files)} files of {folder}")
        return str(files[0].relative_to(root))


def algorithms_of(root: Path) -> list[Algorithm]:
    """The algorithms, by collective, in the order of the list. A line of two forms has one field more."""
    source = (root / "src/algorithms/list.inc").read_text()
    found = []
    for line in entries(source, "TUTTI_ALGORITHM(?:_FORMS)?"):
        algorithm = Algorithm(*line[-11:])
        if len(line) > 11:
            reduces = algorithm.knowledge not in KNOWLEDGE
            knowledge = algorithm.knowledge if reduces else "nothing"
            found.append(replace(algorithm, collective=line[0], knowledge=knowledge))
        found.append(algorithm)
    collectives = list(dict.fromkeys(algorithm.collective for algorithm in found))
    return sorted(found, key=lambda algorithm: collectives.index(algorithm.collective))


def algorithms_page(root: Path) -> str:
    """The page of all algorithms, and of their names in papers."""
    page = NOTICE.format(source="src/algorithms/list.inc, parameters.inc and aliases.inc")
    page += "# Algorithms\n\nA specification is `name` or `name:key=value,key=value`; "
    page += "`native` is the MPI's own algorithm and `auto` leaves the choice to Tutti.\n"
    page += STAGING_NOTE
    algorithms = algorithms_of(root)
    for collective in dict.fromkeys(algorithm.collective for algorithm in algorithms):
        own = [a for a in algorithms if a.collective == collective]
        reduces = own[0].knowledge in ("any", "commutative")
        rows = [
            [f"[`{a.name}`](../../{a.file(root)})", a.summary,
             a.knowledge if reduces else KNOWLEDGE[a.knowledge],
             STAGING.get(f"{collective} {a.staging}") or STAGING[a.staging], a.order,
             ", ".join(f"`{key}`" for key in a.parameters.split(",")),
             " ".join(f"`{values}`" for values in a.useful.split())]
            for a in own
        ]  # fmt: skip
        third = "operations" if reduces else "a rank knows"
        page += f"\n## {collective}\n\n"
        page += table(["name", "how", third, "stages at most", "order", "parameters", "compared too"], rows)
    page += "\n## Parameters\n\n"
    parameters = entries((root / "src/algorithms/parameters.inc").read_text(), "TUTTI_PARAMETER")
    page += table(["parameter", "values", "default", "meaning"],
                  [[f"`{one[0]}`", one[4], one[2], one[3]] for one in parameters])  # fmt: skip
    page += "\n## Names in papers\n\n"
    aliases = entries((root / "src/algorithms/aliases.inc").read_text(), "TUTTI_ALIAS")
    page += table(["name", "stands for"], [[f"`{name}`", f"`{spec}`"] for name, spec in aliases])
    return page


def steps_page(root: Path) -> str:
    """The page of step kinds, from the comments of their definitions."""
    source = (root / "src/schedule/schedule.hpp").read_text()
    body = re.search(r"((?:^///[^\n]*\n)+)enum class StepKind[^{]*\{(.*?)\};", source, re.M | re.S)
    if not body:
        raise SystemExit("src/schedule/schedule.hpp: enum class StepKind not found")
    promise = " ".join(line.removeprefix("///").strip() for line in body.group(1).splitlines())
    kinds = re.findall(r"(\w+),\s*///<\s*(.+)", body.group(2))
    text = re.search(r"/// (A schedule as text.*?)\n\[\[nodiscard\]\]", source, re.S)
    page = NOTICE.format(source="src/schedule/schedule.hpp")
    page += f"# Steps\n\n{promise}\n\n"
    page += table(["kind", "what it moves"], [[f"`{kind}`", what] for kind, what in kinds])
    if text:
        lines = [line.removeprefix("///").removeprefix(" ") for line in text.group(1).splitlines()]
        page += "\n## As text\n\n" + "\n".join(lines) + "\n"
    return page


@dataclass(frozen=True)
class Collective:
    """One line of collectives.inc, with all MPI functions that are of this collective."""

    name: str
    blocks: str
    before: str
    after: str
    sizes: str
    data: str
    callers: str
    functions: list[str]

    @property
    def setting(self) -> str:
        """The environment variable for its algorithm."""
        return "TUTTI_" + self.name.upper()

    @property
    def meaning(self) -> str:
        """The meaning of the setting, as in settings.cpp."""
        if self.callers == "all_ranks":
            return "algorithm for " + " and ".join("MPI_" + name for name in self.functions)
        return f"algorithm for TUTTI_{self.name.capitalize()}; the root's value applies"


def collectives_of(root: Path) -> list[Collective]:
    """The collectives, in the order of the list."""
    source = (root / "src/core/collectives.inc").read_text()
    further = list(entries(source, "TUTTI_FURTHER_FUNCTION"))
    matched = [
        Collective(*line[:6], "all_ranks", [line[6], *(more[1] for more in further if more[0] == line[0])])
        for line in entries(source, "TUTTI_(?:PERSISTENT_)?COLLECTIVE(?:_WITHOUT_COUNTS)?")
    ]
    return matched + [Collective(*line, "root_alone", []) for line in entries(source, "TUTTI_ONE_SIDED")]


BLOCKS = {
    "ranks": "one of each rank",
    "pairs": "one of each pair of ranks",
    "parts": "parts of one vector",
    "none": "none",
}
HOLDERS = {
    "own": "each rank its own",
    "root": "the root all",
    "all": "each rank all",
    "inclusive": "each rank all of the ranks up to its own",
    "exclusive": "each rank all of the ranks before it",
}


def collectives_page(root: Path) -> str:
    """The page of collectives."""
    page = NOTICE.format(source="src/core/collectives.inc")
    page += "# Collectives\n\nEach has a setting, an option of `tutti run`, and a command of `tutti bench`.\n\n"
    rows = []
    for one in collectives_of(root):
        has_blocks = one.blocks != "none"
        calls = ", ".join(f"`MPI_{name}`" for name in one.functions)
        blocks = BLOCKS[one.blocks] + (", of varying sizes" if one.sizes == "varying" else "")
        combined = ", combined" if one.data == "reduced" else ""
        rows.append(
            [f"`{one.name}`", calls or f"`TUTTI_{one.name.capitalize()}`", blocks,
             HOLDERS[one.before] if has_blocks else "", HOLDERS[one.after] + combined if has_blocks else "",
             f"`{one.setting}`"]
        )  # fmt: skip
    return page + table(["collective", "functions", "blocks", "who has them before", "after", "setting"], rows)


def settings_page(root: Path) -> str:
    """The page of environment variables that Tutti reads."""
    page = NOTICE.format(source="src/select/settings.inc and src/core/collectives.inc")
    page += "# Settings\n\nRead once, at the first collective of a process. A wrong value is one "
    page += "error on rank 0 that names the variable, the value and what is accepted. Where on and "
    page += "off are accepted, so are 1, true, yes and 0, false, no, in any case.\n\n"
    rows = []
    for line in entries((root / "src/select/settings.inc").read_text(), "TUTTI_SETTING(?:S_OF)?"):
        if len(line) == 4:
            rows.append([f"`{line[0]}`", f"`{line[1]}`", *line[2:]])
            continue
        callers, default, accepted = line
        rows += [[f"`{one.setting}`", f"`{default}`", accepted, one.meaning]
                 for one in collectives_of(root) if one.callers == callers]  # fmt: skip
    return page + table(["variable", "default", "accepted", "meaning"], rows)


def between(path: Path, name: str, text: str) -> str:
    """The page with `text` between its markers of that name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    page = path.read_text()
    if begin not in page or end not in page:
        raise SystemExit(f"{path}: the markers {begin.strip()} and {end} are missing")
    before, rest = page.split(begin, 1)
    return before + begin + text + end + rest.split(end, 1)[1]


def readme(root: Path) -> str:
    """README.md with a new table: one line for each algorithm, with all its collectives."""
    algorithms: dict[str, tuple[Algorithm, list[str]]] = {}
    for algorithm in algorithms_of(root):
        algorithms.setdefault(algorithm.name, (algorithm, []))[1].append(algorithm.collective)
    rows = [[f"`{name}`", first.summary, ", ".join(f"`{key}`" for key in first.parameters.split(",")),
             ", ".join(collectives)]
            for name, (first, collectives) in algorithms.items()]  # fmt: skip
    header = ["algorithm", "in words (a scatter is the reverse)", "parameters (in the first collective of the last column)", "for"]
    return between(root / "README.md", "algorithms", table(header, rows))


def architecture(root: Path) -> str:
    """docs/architecture.md with the tables of tools/check_layers.py."""
    folders = {}
    for layer, allowed in LAYERS.items():
        folders[layer] = allowed
        if layer == "src/run":
            folders |= {f"src/run/{name}": of_run for name, of_run in RUN.items()}
    rows = [[f"`{folder}/`", ", ".join(f"`{name}`" for name in sorted(allowed))]
            for folder, allowed in folders.items()]  # fmt: skip
    return between(root / "docs/architecture.md", "layers", table(["folder", "may include"], rows))


def schema(root: Path) -> str:
    """The JSON Schema of rules files; rules hold for collectives that all ranks call."""
    return rules_schema(root, [one.name for one in collectives_of(root) if one.callers == "all_ranks"])


PAGES = {
    "docs/generated/algorithms.md": algorithms_page,
    "docs/generated/steps.md": steps_page,
    "docs/generated/settings.md": settings_page,
    "docs/generated/collectives.md": collectives_page,
    "docs/generated/rules.schema.json": schema,
    "docs/architecture.md": architecture,
    "README.md": readme,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if out of date")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    stale = []
    for name, page in PAGES.items():
        path = options.root / name
        wanted = page(options.root)
        if path.is_file() and path.read_text() == wanted:
            continue
        stale.append(name)
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted)
    for name in stale:
        print(f"{name} is out of date; run tools/gen_docs.py" if options.check else f"{name} written",
              file=sys.stderr if options.check else sys.stdout)  # fmt: skip
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
