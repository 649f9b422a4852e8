"""The command `tutti`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from typer.main import get_command

from tutti import _engine
from tutti.commands.bench import bench
from tutti.commands.check import check
from tutti.commands.explain import explain
from tutti.commands.info import info
from tutti.commands.lab import lab
from tutti.commands.list import list_algorithms
from tutti.commands.map import map_ranks
from tutti.commands.report import report
from tutti.commands.run import run
from tutti.commands.simulate import simulate
from tutti.commands.verify import verify
from tutti.console import Refusal

app = typer.Typer(
    name="tutti",
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
    """MPI collectives that fit the program and the machine.

    Run an unmodified program under Tutti with `tutti run -- mpirun -n 16 ./app`; see what Tutti
    would do with a call, and why, with `tutti explain`.
    """


_USE, _ASK, _CHECK = "Use it", "Ask it", "Check and measure it"
app.command("run", rich_help_panel=_USE, context_settings={"allow_interspersed_args": False})(run)
app.command("report", rich_help_panel=_USE)(report)
app.command("list", rich_help_panel=_ASK)(list_algorithms)
app.command("info", rich_help_panel=_ASK)(info)
app.command("explain", rich_help_panel=_ASK)(explain)
app.command("simulate", rich_help_panel=_ASK)(simulate)
app.command("map", rich_help_panel=_ASK)(map_ranks)
app.command("place", hidden=True)(map_ranks)  # the former name, accepted for one version
app.command("verify", rich_help_panel=_CHECK)(verify)
app.command(
    "bench",
    rich_help_panel=_CHECK,
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)(bench)
app.command("check", rich_help_panel=_CHECK)(check)
app.add_typer(lab, name="lab", rich_help_panel=_CHECK)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit status: 2 for bad input, with one line that says so."""
    command = get_command(app)
    try:
        status = command.main(args=arguments, prog_name="tutti", standalone_mode=False)
    except (Refusal, ValueError) as error:
        print(f"tutti: {error}", file=sys.stderr)
        return 2
    except typer.Exit as end:
        return int(end.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        # What the parser of the command line raises says itself what is wrong.
        if not hasattr(error, "format_message"):
            raise
        text = error.format_message()
        if text:  # empty where no command was given and the help has been shown
            print(f"tutti: {text}", file=sys.stderr)
        return 2 if text else 0
    return status if isinstance(status, int) else 0
