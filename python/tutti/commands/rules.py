"""`tutti rules`: checks, shows, compares and merges rules files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from tutti import rules as files_of
from tutti._engine import Rule, Rules
from tutti.commands.options import AsJson
from tutti.console import Refusal, console, count, print_json, table, write

rules = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Check, show, compare and merge rules files.

A rules file says which algorithm runs for which calls. `tutti tune` writes one.

```
tutti rules check rules.json
tutti rules show
tutti rules diff old.json new.json
tutti rules merge new.json old.json --output rules.json
```
""",
)

_Files = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILE..", help="Rules files. Default: those that programs read."),
]


def _paths(given: list[Path] | None) -> list[Path]:
    paths = given or files_of.files()
    if not paths:
        raise Refusal(
            "no rules: TUTTI_RULES is not set, and neither this user nor the site has a file; "
            "tutti tune writes one" + _learned_remark("; ")
        )
    return paths


def _learned_remark(before: str = "") -> str:
    """Where to find what programs have learned; empty if there is nothing."""
    path = files_of.learned_file()
    if path is None:
        return ""
    return f"{before}{path} has what runs have learned: tutti rules show --learned"


def _learned_path(given: list[Path] | None) -> Path:
    path = files_of.learned_file()
    if given:
        raise Refusal("--learned shows one file, and takes no other; expected no FILE")
    if path is None:
        raise Refusal("nothing is kept: no program has ended with TUTTI_LEARN=keep")
    return path


def _gain(rule: Rule) -> str:
    """How many times as fast: the least and, over several sizes, the greatest."""
    gains = sorted(
        one.native_us / one.choice_us
        for one in (rule.sizes or [rule])
        if one.native_us is not None and one.choice_us
    )
    return " to ".join(dict.fromkeys(f"{gain:.2f}" for gain in gains[:1] + gains[-1:]))


_KEYS = (
    "collective", "p", "nodes", "ranks_per_node", "bytes", "irregularity", "commutative", "mpi",
    "version", "network", "use",
)  # fmt: skip
_TIMES = ("native_us", "native_interval_us", "choice_us", "choice_interval_us")
_ORIGIN = ("calls", "date", "command", "source")


def _as_json(rule: Rule) -> dict[str, Any]:
    sizes = [{name: getattr(one, name) for name in ("bytes", *_TIMES)} for one in rule.sizes]
    fields = {name: getattr(rule, name) for name in (*_KEYS, *_TIMES, *_ORIGIN)}
    return fields | {"sizes": sizes}


@rules.command()
def check(paths: _Files = None, as_json: AsJson = False) -> None:
    """Check rules files: syntax, names, and rules that never decide.

    Exit status 2 if a file is invalid. The message names line, field, value and what is accepted.
    """
    found = []
    for path in _paths(paths):
        read = files_of.read(path)
        never = [
            f"{files_of.title_of(rule)}: never decides, because {why}"
            for rule, why in files_of.undecided(read)
        ]
        found.append((path, read, [*read.remarks, *never]))
    if as_json:
        print_json(
            [
                {"file": str(path), "rules": len(read.all), "remarks": remarks}
                for path, read, remarks in found
            ]
        )
        return
    out = console()
    for path, read, remarks in found:
        # A line for each, as compilers write them: editors and grep find them whole.
        for text in (f"{count(len(read.all), 'rule')}, valid", *remarks):
            out.print(f"{path}: {text}", markup=False, soft_wrap=True)


@rules.command()
def show(
    paths: _Files = None,
    learned: Annotated[
        bool, typer.Option("--learned", help="Show what programs learned with TUTTI_LEARN=keep.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show rules in the sequence in which they are tried, with their measurements."""
    path = _learned_path(paths) if learned else None
    merged = files_of.read(path) if path else files_of.merged(_paths(paths))
    if as_json:
        print_json([_as_json(rule) for rule in merged.all])
        return
    right = ("bytes", "native", "use takes", "gain")
    listing = table(
        "collective", "bytes", "use", "native", "use takes", "gain", "where", "measured", right=right
    )
    for rule in merged.all:
        listing.add_row(
            rule.collective,
            "all" if rule.bytes == "0..inf" else rule.bytes,
            f"[cyan]{rule.use}[/]",
            "" if rule.native_us is None else f"{rule.native_us:,.1f} us",
            "" if rule.choice_us is None else f"{rule.choice_us:,.1f} us",
            _gain(rule),
            escape(files_of.text_of(rule)),
            escape(f"{rule.date} {rule.source}".strip()),
        )
    out = console()
    out.print(listing)
    if not paths and not learned and (remark := _learned_remark()):
        out.print(remark, markup=False)


@rules.command()
def diff(
    left: Annotated[Path, typer.Argument(metavar="FILE")],
    right: Annotated[Path, typer.Argument(metavar="FILE")],
    as_json: AsJson = False,
) -> None:
    """Show for which calls two rules files decide differently.

    Files are compared by what they decide, not by how their rules divide the calls or by their
    evidence. Exit status 1 if they differ.
    """
    both: list[Rules] = [files_of.read(left), files_of.read(right)]
    found = files_of.differences(*both)
    if as_json:
        print_json(
            [
                {
                    "collective": one.collective, "keys": one.keys, "bytes": one.bytes,
                    "left": one.left, "right": one.right,
                }
                for one in found
            ]
        )  # fmt: skip
    else:
        listing = table("collective", "bytes", str(left), str(right), "where", right=("bytes",))
        for one in found:
            uses = (one.left or "[dim]no rule[/]", one.right or "[dim]no rule[/]")
            listing.add_row(one.collective, one.bytes, *uses, escape(one.keys))
        console().print(listing if found else "The files decide alike.")
    if found:
        raise typer.Exit(1)


@rules.command()
def merge(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE..", help="Rules files; those of the first are tried first."),
    ],
    output: Annotated[
        Path, typer.Option(metavar="FILE", help="The rules file to write. It may be one of these.")
    ],
) -> None:
    """Write the rules of several files as one.

    Rules of the first file are tried first, so name the newest one first. Rules that never decide,
    such as those that the newest ones replace, are left out.
    """
    found = Rules()
    for path in paths:
        read = files_of.read(path)
        for remark in read.remarks:
            print(f"tutti: {path}: {remark}", file=sys.stderr)
        found.extend(read)
    merged = files_of.deciding(found)
    write(output, merged.text(), "--output")
    lost = len(found.all) - len(merged.all)
    without = f"; without {count(lost, 'rule')} that would never decide" if lost else ""
    console().print(
        f"{output}: {count(len(merged.all), 'rule')} of {count(len(paths), 'file')}{without}",
        markup=False, soft_wrap=True,
    )  # fmt: skip
