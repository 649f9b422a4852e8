#!/usr/bin/env python3
"""Stages the pages of the documentation site: docs/, the changelog, and generated references.

    tools/docs_site.py FOLDER MAN    MAN: the folder of manual pages that tools/gen_man.py wrote

The site has the pages of docs/ at the same paths. Links to files outside it become the names of
these files. The reference of the C API is made from the comments of tutti.h, that of Python from
the docstrings of the package, and that of the commands from the manual pages.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
PLACES = {"README.md": "index.md", "docs/README.md": "pages.md", "CHANGELOG.md": "CHANGELOG.md",
          "CONTRIBUTING.md": "CONTRIBUTING.md"}  # fmt: skip
"""Files whose place is not their path in docs/: MkDocs takes no README.md beside an index.md."""


def outside_code(text: str, change: re.Pattern[str], by) -> str:
    """The text with every match outside blocks of code replaced."""
    parts = re.split(r"(^```.*?^```[^\n]*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else change.sub(by, part) for part in parts)


def staged(source: Path, target: str) -> str:
    """The text of a page for the site; `target` is its path there."""

    def link(match: re.Match[str]) -> str:
        picture, text, address = match.groups()
        if re.match(r"[a-z]+:", address) or address.startswith("#"):
            return match[0]
        path, _, anchor = address.partition("#")
        file = (source.parent / path).resolve()
        own = place_of(file)
        if own is None:
            name = f"`{file.relative_to(ROOT)}`"
            shown = name if text.startswith("`") else f"{text} ({name})"
            return shown
        relative = os.path.relpath(own, Path(target).parent)
        return f"{picture}[{text}]({relative}{'#' + anchor if anchor else ''})"

    # The file of a block of code is the block's title.
    text = re.sub(r"^( *```\w+) +(\S+)$", r'\1 title="\2"', source.read_text(), flags=re.MULTILINE)
    return outside_code(text, LINK, link)


def place_of(file: Path) -> str | None:
    """The path of a file of the repository on the site; None if the site does not have it."""
    inside = file.relative_to(ROOT).as_posix()
    if inside in PLACES:
        return PLACES[inside]
    has_page = inside.startswith("docs/") and file.suffix in (".md", ".svg", ".png")
    return inside.removeprefix("docs/") if has_page and file.is_file() else None


def c_reference(header: str) -> str:
    """The reference of the C API: each comment with the declarations that follow it."""
    lines = ["# C API", "", "Made from `tutti/tutti.h`. Link `tutti::tutti` of CMake's "
             "`find_package(tutti)`, or `-ltutti-openmpi` or `-ltutti-mpich`.", ""]  # fmt: skip
    comments = list(re.finditer(r"/\*(.*?)\*/", header, re.DOTALL))
    for number, comment in enumerate(comments):
        end = comments[number + 1].start() if number + 1 < len(comments) else len(header)
        code = declarations(header[comment.end() : end])
        text = prose(comment[1])
        functions = re.findall(r"\b(TUTTI_[A-Z]\w*)\(", code)
        if number == 0:
            lines += [text.replace("\nConventions\n", "\n## Conventions\n"), ""]
            continue
        if functions:
            plain = dict.fromkeys(name.removesuffix("_c") for name in functions)
            lines += [f"## {', '.join(plain)}", ""]
        lines += [text, ""]
        if code:
            lines += ["```c", code, "```", ""]
    return "\n".join(lines)


def declarations(text: str) -> str:
    """The declarations in a part of the header, without the preprocessor's and C++'s lines."""
    kept = [
        line
        for line in text.splitlines()
        if not re.match(r"\s*(#(?!define TUTTI_[A-Z_]+NULL)|extern \"C\"|}\s*$)", line)
    ]
    return "\n".join(kept).strip("\n")


def prose(comment: str) -> str:
    """The text of a comment: paragraphs, numbered lists, and indented lines as code."""
    rows = [re.sub(r"^ \*? ?", "", line).rstrip() for line in comment.strip().splitlines()]
    out: list[str] = []
    for row in rows:
        item = re.match(r" {0,2}(\d+)\.  ?(.*)", row)
        if item:
            out += ["", f"{item[1]}. {item[2]}"]
        elif row.startswith("    ") and not (out and re.match(r"\d+\. ", last_item(out))):
            out += ([""] if out and out[-1] and not out[-1].startswith("    ") else []) + [row]
        else:
            out.append("   " + row.strip() if row.startswith("    ") else row)
    return "\n".join(out).strip("\n")


def last_item(lines: list[str]) -> str:
    """The first line of the paragraph that the lines end with."""
    first = ""
    for line in reversed(lines):
        if not line:
            break
        first = line
    return first


def python_reference(package: Path) -> str:
    """The reference of the Python package: what `tutti` exports, with signatures and docstrings."""
    module = ast.parse((package / "__init__.py").read_text())
    lines = ["# Python API", "", "`import tutti` needs no MPI.", ""]
    exported = next(
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    )
    defined = {node.name: node for node in definitions(module)}
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tutti."):
            name = node.module.split(".")[-1]
            file = package / (name + ".py")
            source = file if file.is_file() else package / (name + ".pyi")
            found = {one.name: one for one in definitions(ast.parse(source.read_text()))}
            wanted = {alias.name for alias in node.names}
            defined |= {key: value for key, value in found.items() if key in wanted}
    for name in exported:
        if name in defined:
            lines += described(defined[name], "##", "tutti.")
    return "\n".join(lines)


Definition = ast.FunctionDef | ast.ClassDef


def definitions(module: ast.AST) -> list[Definition]:
    """The functions and classes of a module or class."""
    return [node for node in ast.iter_child_nodes(module) if isinstance(node, Definition)]


def described(node: Definition, level: str, prefix: str) -> list[str]:
    """A definition with its docstring, and the members of a class."""
    lines = [f"{level} {prefix}{node.name}", ""]
    if isinstance(node, ast.FunctionDef):
        result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        lines += ["```python", f"{node.name}({ast.unparse(node.args)}){result}", "```", ""]
    text = ast.get_docstring(node)
    if text:
        lines += [sections(text), ""]
    if isinstance(node, ast.ClassDef):
        for member in definitions(node):
            if not member.name.startswith("_") and ast.get_docstring(member):
                lines += described(member, level + "#", "")
    return lines


def sections(text: str) -> str:
    """A docstring whose sections (Args, Returns, Raises) become lists."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        if re.fullmatch(r"(Args|Returns|Raises|Yields):", line):
            out += [f"**{line[:-1]}**", ""]
            inside = True
        elif inside and re.match(r"    \S", line):
            name, colon, rest = line.strip().partition(": ")
            out.append(f"- `{name}`: {rest}" if colon and "`" not in name else f"- {line.strip()}")
        elif inside and line.startswith("     "):
            out.append("    " + line.strip())
        else:
            inside = inside and not line
            out.append(line)
    return "\n".join(out)


def commands_reference(man: Path) -> str:
    """The manual pages as text."""
    lines = ["# Command line", "", "The manual pages of `tutti` and `tutti-bench`; `tutti COMMAND "
             "--help` prints the part of one command.", ""]  # fmt: skip
    if not any(man.glob("*.1")):
        lines += ["These pages were built without an installed Tutti, so it is missing here."]
    for page in sorted(man.glob("*.1"), key=lambda page: page.stem):
        lines += [f"## {page.stem}", ""]
        lines += from_roff(page.read_text())
    return "\n".join(lines)


def from_roff(text: str) -> list[str]:
    """The few macros that tools/gen_man.py writes, as Markdown."""
    out: list[str] = []
    code = False
    for line in text.splitlines():
        plain = re.sub(r"\\f[BIR]", "", line).replace("\\-", "-").replace("\\&", "")
        plain = plain.replace("\\e", "\\")
        if code:
            if line == ".fi":
                out += ["```", ""]
                code = False
            elif line not in (".RS", ".RE"):
                out.append(plain)
        elif line == ".nf":
            out += ["", "```text"]
            code = True
        elif line.startswith(".SH "):
            out += ["", "### " + plain[4:].strip('"').capitalize(), ""]
        elif line.startswith(".SS "):
            out += ["", "#### " + plain[4:].strip('"'), ""]
        elif line == ".TP":
            out += ["", "TERM"]
        elif line in (".PP", ".RE", ".RS"):
            out.append("")
        elif line.startswith((".TH", ".\\\"")):
            continue
        elif out and out[-1] == "TERM":
            out[-1] = f"`{plain}`  "
        else:
            out.append(plain.replace("<", "&lt;"))
    return out


def stage(folder: Path, man: Path) -> None:
    """Writes all pages of the site into the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    inside = [file for file in sorted((ROOT / "docs").rglob("*")) if file.is_file()]
    for source in dict.fromkeys([*(ROOT / name for name in PLACES), *inside]):
        place = place_of(source)
        if place is None:
            continue
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target.write_text(staged(source, place))
        else:
            shutil.copy(source, target)
    reference = folder / "reference"
    reference.mkdir(exist_ok=True)
    header = (ROOT / "include/tutti/tutti.h").read_text()
    (reference / "c-api.md").write_text(c_reference(header))
    (reference / "python-api.md").write_text(python_reference(ROOT / "python/tutti"))
    (reference / "commands.md").write_text(commands_reference(man))


if __name__ == "__main__":
    stage(Path(sys.argv[1]), Path(sys.argv[2]))
