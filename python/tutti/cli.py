"""The command `tutti`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup
from typer.main import get_command

from tutti import _engine
from tutti.refusal import Refusal

_USE, _ASK, _CHECK = "Run programs", "Predict and explain", "Verify and measure"
_OWN_OPTIONS = {"allow_interspersed_args": False}


@dataclass(frozen=True)
class _Entry:
    """A command: its panel and line in `tutti --help`, and what defines it, as module and name."""

    panel: str
    line: str
    target: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False
    package: str = "tutti.commands"
    """Holds the module; packages apart from tutti need not be installed."""
    folder: str = ""
    """Of such a package in the source tree."""

    def named(self) -> None:
        """Stands for the command in `tutti --help`, which needs only its name."""

    def load(self, name: str) -> Any:
        """The command, from its module.

        Raises:
            Refusal: the command's package is not installed.
        """
        module, _, function = self.target.partition(".")
        try:
            defined = getattr(import_module(f"{self.package}.{module}"), function)
        except ModuleNotFoundError as missing:
            if not self.folder or (missing.name or "").partition(".")[0] != self.package:
                raise
            raise Refusal(
                f"tutti {name} is in a package of its own, {self.package}; in Tutti's source tree: "
                f"pip install ./{self.folder}"
            ) from None
        group = typer.Typer(rich_markup_mode="markdown", callback=self.named)
        if isinstance(defined, typer.Typer):
            group.add_typer(defined, name=name)
        else:
            group.command(name, context_settings=dict(self.settings), hidden=self.hidden)(defined)
        return _with_plain_help(get_command(group).commands[name])


def _with_plain_help(command: Any) -> Any:
    """The command, whose help has no type beside switches and arguments. Newer versions of Typer
    would print "--json <bool>", as if the option took a value."""
    all_of = command.get_params

    def get_params(ctx: Any) -> Any:
        found = all_of(ctx)
        for one in found:
            if one.param_type_name == "argument" or one.is_flag:
                one.display_type_rich = lambda ctx: None
        return found

    command.get_params = get_params
    for further in getattr(command, "commands", {}).values():
        _with_plain_help(further)
    return command


COMMANDS = {
    "run": _Entry(
        _USE,
        "Run an unmodified MPI program under Tutti.",
        "run.run", _OWN_OPTIONS,
    ),
    "report": _Entry(
        _USE,
        "Show a report: which algorithm ran at each call site, how long, why, what was saved, and "
        "who was late.",
        "report.report",
    ),
    "diff": _Entry(
        _USE,
        "Compare two reports of a program: the time at each call site, and its algorithms.",
        "diff.diff",
    ),
    "doctor": _Entry(
        _USE,
        "Examine this machine: MPIs, launchers, backends, settings, rules, what is preloaded.",
        "doctor.doctor",
    ),
    "list": _Entry(
        _ASK,
        "List the algorithms, their parameters, the knowledge they need, and their names in "
        "papers.",
        "list.list_algorithms",
    ),
    "info": _Entry(
        _ASK,
        "Show the version, the libraries for each MPI, the files that programs read, and all "
        "settings with their values.",
        "info.info",
    ),
    "explain": _Entry(
        _ASK,
        "Explain one call: its algorithm and why, its tree and rounds, and modelled times.",
        "explain.explain",
    ),
    "simulate": _Entry(
        _ASK,
        "Simulate a call with each algorithm, for any arrivals.",
        "simulate.simulate",
    ),
    "map": _Entry(
        _ASK,
        "Show the distances between ranks, and the gain from a process mapping that fits them.",
        "map.map_ranks",
    ),
    "completion": _Entry(
        _ASK,
        "Print the script that completes commands, options and values of tutti in a shell.",
        "completion.completion",
    ),
    # An alias, accepted for one version.
    "place": _Entry(_ASK, "", "map.map_ranks", hidden=True),
    "verify": _Entry(
        _CHECK,
        "Verify every algorithm exhaustively for small numbers of ranks.",
        "verify.verify",
    ),
    "bench": _Entry(
        _CHECK,
        "Measure collectives: the MPI's own and Tutti's, alternating in one run.",
        "bench.bench", _OWN_OPTIONS | {"ignore_unknown_options": True},
    ),
    "tune": _Entry(
        _CHECK,
        "Measure which algorithm is fastest for which calls, and write rules.",
        "tune.tune",
    ),
    "check": _Entry(
        _CHECK,
        "Test whether the MPI and Tutti keep the performance guidelines of Träff 2017.",
        "check.check",
    ),
    "rules": _Entry(
        _ASK,
        "Check, show, compare and merge rules files.",
        "rules.rules",
    ),
    "lab": _Entry(
        _CHECK,
        "Emulate a cluster on one machine: nodes with links of limited rate.",
        "command.lab", package="tutti_lab", folder="python/lab",
    ),
    "simgrid": _Entry(
        _CHECK,
        "Run a program on a simulated machine of any size, under Tutti.",
        "simgrid.simgrid", _OWN_OPTIONS,
    ),
    "reproduce": _Entry(
        _CHECK,
        "Reproduce the tables and figures of papers beside the published numbers.",
        "command.reproduce", package="tutti_reproduce", folder="python/reproduce",
    ),
}
"""Every command. Its module is imported when the command runs, as all take 0.2 s to import."""


class _Commands(TyperGroup):
    """Imports a command when it is used; for the list of `tutti --help` it needs none."""

    lists = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.lists = True
        super().format_help(ctx, formatter)
        self.lists = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self.lists or cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        return COMMANDS[cmd_name].load(cmd_name)


app = typer.Typer(
    name="tutti",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"tutti {_engine.version}")
        raise typer.Exit


@app.callback()
def tutti(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Speed up the MPI collectives of unmodified programs.

    Tutti measures other algorithms and node memory on the program's own calls, and keeps what is
    faster. Run a program under Tutti, and see what ran, why, and which ranks were late:

    ```
    tutti run --report - -- mpirun -n 16 ./app
    ```

    `tutti COMMAND --help` explains each command.
    """


for _name, _entry in COMMANDS.items():
    app.command(
        _name, help=_entry.line, rich_help_panel=_entry.panel, hidden=_entry.hidden
    )(_entry.named)


def _with_value(error: Any, words: list[str]) -> str:
    """The text of an error of the command-line parser, with the value of the option if it is about
    one: the parser leaves it out."""
    options = getattr(getattr(error, "param", None), "opts", ())
    for word, value in zip(words, [*words, ""][1:], strict=True):
        name, _, attached = word.partition("=")
        if name in options and error.message.startswith("Input should be "):
            wanted = error.message.removeprefix("Input should be ").split(",")[0]
            return f"invalid {name} {attached or value}: expected {wanted}"
    return str(error.format_message())


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit status.

    Bad input, and output that cannot be written, print one line on standard error and return 2. If
    nobody reads the output any more, the status is 0.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    out, err = sys.stdout, sys.stderr  # Typer replaces them if nobody reads the output any more
    for stream in (out, err):
        if isinstance(stream, TextIOWrapper):  # its encoding may lack letters of names
            stream.reconfigure(errors="backslashreplace")
    status = _status_of(arguments)
    error = _flush(out)
    if error is not None and status != 2 and not isinstance(error, BrokenPipeError):
        status = _refused(_text_of(error))
    _flush(err)
    return status


def _flush(stream: TextIO) -> OSError | None:
    """Writes what a stream still holds, or returns why that fails."""
    try:
        stream.flush()
    except OSError as error:
        # Else the end of the process would try once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None


def _refused(text: str) -> int:
    with suppress(OSError):  # nobody reads it any more
        print(f"tutti: {text}", file=sys.stderr)
    return 2


def _text_of(error: OSError) -> str:
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, FileNotFoundError):  # of os.getcwd
        return "the current folder was removed"
    return error.strerror or str(error)


def _status_of(arguments: list[str] | None) -> int:
    command = _with_plain_help(get_command(app))
    words = sys.argv[1:] if arguments is None else arguments
    if "_TUTTI_COMPLETE" in os.environ:  # a shell asks for completions
        from typer._completion_classes import completion_init

        completion_init()
    try:
        status = command.main(args=arguments, prog_name="tutti", standalone_mode=False)
    except (Refusal, ValueError) as error:
        return _refused(str(error))
    except MemoryError:
        return _refused("out of memory")
    except typer.Exit as end:
        return int(end.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        return 0
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # Typer and Rich end the process
            return 0
        raise
    except OSError as error:
        return _refused(_text_of(error))
    except Exception as error:
        # Errors of the command-line parser carry their own message.
        if not hasattr(error, "format_message"):
            # The engine takes text, which names of files need not be.
            from tutti.console import is_utf_8

            if isinstance(error, TypeError) and (no_text := [w for w in words if not is_utf_8(w)]):
                return _refused(f"{no_text[0]}: expected UTF-8")
            raise
        text = _with_value(error, words)
        if text:  # empty if no command was given: the help has been printed instead
            return _refused(text)
        return 0
    return status if isinstance(status, int) else 0
