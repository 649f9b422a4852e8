"""The command `tutti`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from typer.main import get_command

from tutti import _engine
from tutti.commands.bench import bench
from tutti.commands.check import check
from tutti.commands.diff import diff
from tutti.commands.explain import explain
from tutti.commands.info import info
from tutti.commands.lab import lab
from tutti.commands.list import list_algorithms
from tutti.commands.map import map_ranks
from tutti.commands.report import report
from tutti.commands.rules import rules
from tutti.commands.run import run
from tutti.commands.simulate import simulate
from tutti.commands.tune import tune
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
    """Speed up the MPI collectives of unmodified programs.

    Tutti adapts them to uneven block sizes, to ranks that arrive late and to nodes with shared
    memory. Run a program under Tutti, and see what ran, why, and which ranks were late:

    ```
    tutti run --report - -- mpirun -n 16 ./app
    ```

    `tutti COMMAND --help` explains each command.
    """


_USE, _ASK, _CHECK = "Run programs", "Predict and explain", "Verify and measure"
app.command("run", rich_help_panel=_USE, context_settings={"allow_interspersed_args": False})(run)
app.command("report", rich_help_panel=_USE)(report)
app.command("diff", rich_help_panel=_USE)(diff)
app.command("list", rich_help_panel=_ASK)(list_algorithms)
app.command("info", rich_help_panel=_ASK)(info)
app.command("explain", rich_help_panel=_ASK)(explain)
app.command("simulate", rich_help_panel=_ASK)(simulate)
app.command("map", rich_help_panel=_ASK)(map_ranks)
app.command("place", hidden=True)(map_ranks)  # an alias, accepted for one version
app.command("verify", rich_help_panel=_CHECK)(verify)
app.command(
    "bench",
    rich_help_panel=_CHECK,
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)(bench)
app.command("tune", rich_help_panel=_CHECK)(tune)
app.command("check", rich_help_panel=_CHECK)(check)
app.add_typer(rules, name="rules", rich_help_panel=_ASK)
app.add_typer(lab, name="lab", rich_help_panel=_CHECK)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit status.

    Bad input prints one line on standard error and returns 2.
    """
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
        # Errors of the command-line parser carry their own message.
        if not hasattr(error, "format_message"):
            raise
        text = error.format_message()
        if text:  # empty if no command was given: the help has been printed instead
            print(f"tutti: {text}", file=sys.stderr)
        return 2 if text else 0
    return status if isinstance(status, int) else 0
