"""`tutti doctor`: finds what keeps Tutti from working here."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from tutti import diagnosis
from tutti.commands.options import AsJson
from tutti.console import console, print_json

_MARKS = {"good": "[green]ok[/]     ", "note": "[yellow]note[/]   ", "problem": "[bold red]PROBLEM[/]"}


def doctor(
    tries: Annotated[
        bool,
        typer.Option(
            "--run/--no-run", help="Run 2 ranks of each MPI under Tutti for a moment, or nothing."
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Examine this machine: MPIs, launchers, backends, settings, rules, what is preloaded.

    Each problem comes with its fix, and one verdict stands at the end. The exit status is 1 if
    there is a problem.

    ```
    tutti doctor
    ```
    """
    found = []
    out = console()
    for one in diagnosis.findings(tries):
        found.append(one)
        if not as_json:
            out.print(f"{_MARKS[one.state]} [bold]{one.what}[/]")
            out.print(Padding(escape(one.text), (0, 0, 0, 8), expand=False))
            if one.fix:
                out.print(Padding(f"[bold]fix:[/] {escape(one.fix)}", (0, 0, 0, 8), expand=False))
    verdict = diagnosis.verdict(found)
    if as_json:
        print_json({"findings": [asdict(one) for one in found], "verdict": verdict})
    else:
        out.print(f"\n{escape(verdict)}")
    if any(one.state == "problem" for one in found):
        raise typer.Exit(1)
