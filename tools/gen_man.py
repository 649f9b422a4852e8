#!/usr/bin/env python3
"""Writes the manual pages of `tutti` and `tutti-bench` from the commands themselves.

    tools/gen_man.py FOLDER     writes FOLDER/tutti.1 and FOLDER/tutti-bench.1

`cmake --install` does so. It imports the package `tutti`, and it starts tutti-bench, which needs an
MPI; without one there is no page of it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.main import get_command

import tutti
from tutti import libraries
from tutti.cli import app


def escaped(text: str) -> str:
    """Text that roff takes as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def paragraphs(text: str) -> list[str]:
    """A help text as roff: blocks of code stay as they are, the rest is filled."""
    lines: list[str] = []
    for number, part in enumerate(re.split(r"^```\w*\n?", text, flags=re.MULTILINE)):
        if number % 2:
            lines += [".PP", ".nf", ".RS", escaped(part.rstrip("\n")), ".RE", ".fi"]
            continue
        for paragraph in part.strip().split("\n\n"):
            if paragraph:
                plain = " ".join(paragraph.split()).replace("`", "")
                lines += [".PP", escaped(plain)]
    return lines


def option(parameter: Any) -> list[str]:
    """An option with its value and meaning."""
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    value = "" if parameter.is_flag else f" {parameter.metavar or parameter.type.name.upper()}"
    text = " ".join((parameter.help or "").split()).replace("`", "")
    default = parameter.default
    if not parameter.is_flag and default not in (None, "", [], ()) and "efault" not in text:
        text += f" Default: {default}."
    return [".TP", f"\\fB{escaped(names)}\\fR{escaped(value)}", escaped(text)]


def synopsis(name: str, command: Any) -> str:
    """The name with the arguments of a command."""
    words = [
        parameter.metavar or parameter.name.upper()
        for parameter in command.params
        if parameter.param_type_name == "argument"
    ]
    return f"\\fB{escaped(name)}\\fR [OPTIONS] {escaped(' '.join(words))}".rstrip()


def described(name: str, command: Any, context: Any) -> list[str]:
    """The part of a command, with those of its own commands."""
    lines = [f".SS {escaped(name)}", synopsis(name, command)]
    lines += paragraphs((command.help or "").split("\f")[0])
    for parameter in command.params:
        hidden = getattr(parameter, "hidden", False) or parameter.name == "help"
        if parameter.param_type_name == "option" and not hidden:
            lines += option(parameter)
    if hasattr(command, "list_commands"):
        for own in command.list_commands(context):
            lines += described(f"{name} {own}", command.get_command(context, own), context)
    return lines


def head(name: str, line: str) -> list[str]:
    """The start of a page. It has no date, so that it changes with the commands only."""
    return [
        f'.TH {name.upper()} 1 "" "Tutti {tutti.__version__}" "User Commands"',
        ".SH NAME", escaped(f"{name} - {line}"),
    ]  # fmt: skip


def command_page() -> str:
    """The manual page of `tutti`."""
    root = get_command(app)
    context = root.context_class(root, info_name="tutti")
    lines = head("tutti", "speed up the MPI collectives of unmodified programs")
    lines += [".SH SYNOPSIS", "\\fBtutti\\fR COMMAND [OPTIONS] [ARGUMENTS]", ".SH DESCRIPTION"]
    lines += paragraphs(root.help or "")
    lines += [".SH COMMANDS"]
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if not command.hidden:
            lines += described(f"tutti {name}", command, context)
    lines += [".SH ENVIRONMENT"]
    for setting in tutti.settings():
        text = f"{setting.meaning}. Accepted: {setting.accepted}. Default: {setting.default}."
        lines += [".TP", f"\\fB{escaped(setting.name)}\\fR", escaped(text)]
    lines += [".SH EXIT STATUS", "0: success. 1: a check failed. 2: bad input, which one line on "
              "standard error names. \\fBtutti run\\fR ends with the status of the program.",
              ".SH SEE ALSO", "\\fBtutti\\-bench\\fR(1), \\fBmpirun\\fR(1)"]  # fmt: skip
    return "\n".join(lines) + "\n"


def bench_page() -> str | None:
    """The manual page of `tutti-bench`: its own help; None if it cannot start."""
    folder = libraries.programs()
    if folder is None:
        return None
    try:
        done = subprocess.run(
            [folder / "tutti-bench", "--help"], capture_output=True, text=True, check=True, timeout=30,
            env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        )  # fmt: skip
    except subprocess.SubprocessError:  # some MPIs do not start without a launcher
        return None
    lines = head("tutti-bench", "measure MPI collectives: the MPI's own and Tutti's")
    lines += [".SH SYNOPSIS", "mpirun \\-n N \\fBtutti\\-bench\\fR COLLECTIVE [OPTIONS]",
              ".SH DESCRIPTION", ".nf", escaped(done.stdout.rstrip("\n")), ".fi",
              ".SH SEE ALSO", "\\fBtutti\\fR(1), \\fBmpirun\\fR(1)"]  # fmt: skip
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Writes the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("tutti.1", command_page()), ("tutti-bench.1", bench_page())):
        if text is not None:
            (folder / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tools/gen_man.py FOLDER")
    main(Path(sys.argv[1]))
