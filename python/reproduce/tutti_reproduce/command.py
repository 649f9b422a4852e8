"""`tutti reproduce`: published tables beside what Tutti shows of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import Progress

from tutti.console import Refusal, console, why_not_writable, write
from tutti_reproduce import bhowmik, page, parsons, paznikov, proficz, simulated, traff, traff_lab
from tutti_reproduce.cache import Cache, default_folder
from tutti_reproduce.context import Context
from tutti_reproduce.tables import Result, Table

_ALL = "all"
_WITH_MACHINE = ("traff", "parsons")
"""Papers whose own network is not modelled for every source."""
_SECONDS = {"traff": 0.03, "proficz": 0.03, "paznikov": 0.1, "bhowmik": 0.03, "parsons": 2}
"""About what a result outside SimGrid takes, on one core of 2 GHz."""
_PAGES = {"reproduced.html": page.html, "reproduced.md": page.markdown, "reproduced.json": page.document}
"""The files, and what makes the text of each."""


def _show(context: Context) -> None:
    """What there is to reproduce, by paper."""
    out = console()
    without = replace(context, simgrid_ranks=0)
    for paper, title in page.PAPERS.items():
        of_paper = [each for each in _tables(without) if each.paper == paper]
        steps = sum(each.steps for each in of_paper)
        simulated = sum(each.steps for each in _tables(context) if each.paper == paper) - steps
        in_simgrid = f", and {simulated} results in SimGrid" if simulated else ""
        out.print(f"[bold]{paper}[/]  {title}; about {max(_SECONDS[paper] * steps, 1):.0f} s{in_simgrid}")
        out.print(Padding(", ".join(each.name for each in of_paper), (0, 0, 0, 4), expand=False))
    out.print(f"One table: tutti reproduce traff table-1\nEverything: tutti reproduce {_ALL}\n"
              "Results that a former run kept take no time. In SimGrid a result of hundreds of ranks "
              "takes minutes; --simgrid-ranks 0 leaves these out.")  # fmt: skip


def _tables(context: Context) -> list[Table]:
    return [each for of in (traff, traff_lab, proficz, paznikov, bhowmik, parsons) for each in of.tables(context)]


def _wanted(tables: list[Table], paper: str, table: str) -> list[Table]:
    if paper not in (_ALL, *page.PAPERS):
        raise Refusal(f"unknown paper {paper}; expected {', '.join(page.PAPERS)}, or {_ALL}")
    of_paper = [each for each in tables if paper in (_ALL, each.paper)]
    wanted = [each for each in of_paper if table in ("", each.name)]
    if not wanted:
        raise Refusal(
            f"{paper} has no {table}; expected {', '.join(each.name for each in of_paper)}"
        )
    return wanted


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="[PAPER]", help=f"{', '.join(page.PAPERS)}, or {_ALL}. Default: list the tables."
        ),
    ] = "",
    table: Annotated[
        str, typer.Argument(metavar="[TABLE]", help="One table, e.g. table-3. Default: all.")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write reproduced.html, reproduced.md with its images, and reproduced.json here. Default: the current "
            "folder, if it has none.",
        ),
    ] = None,
    simgrid_ranks: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Run tables of up to N ranks in SimGrid too; 0: none."
        ),
    ] = traff.SIMGRID_RANKS,
    samples: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Samples of the lab and of SimGrid. Default: docs/results, if it exists."
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep results here. Default: the user's cache folder."),
    ] = None,
    machine: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"For {' and '.join(_WITH_MACHINE)}: parameters of the model, a file of tutti-bench machine, or "
            "built-in. Default: built-in.",
        ),
    ] = None,
) -> None:
    """Reproduce the tables and figures of papers beside the published numbers.

    Without a paper it lists them, with about the time that they take on one core.

    It says of each table and source whether both agree in shape: who wins, by what factor, where
    crossovers lie; and where not, why. Each result is kept by its content, so an interrupted run
    goes on where it was, and one repeated with --output takes seconds. A table that fails is not
    on the pages; then the exit status is 1. Tables of up to 560 ranks also run in SimGrid, if it
    is installed; for more ranks there are samples.

    ```
    tutti reproduce
    tutti reproduce proficz table-3 --output out
    tutti reproduce all --output out
    ```
    """
    if samples is not None and not samples.is_dir():
        raise Refusal(f"--samples {samples}: no such folder")
    missing = simulated.refuse_without_simgrid() if simgrid_ranks else ""
    if missing:
        print(f"tutti: without SimGrid: {missing}", file=sys.stderr)
    kept = Cache(cache or default_folder())
    context = Context(kept, machine, samples or Path("docs/results"), 0 if missing else simgrid_ranks)
    if not paper:
        return _show(context)
    wanted = _wanted(_tables(context), paper, table)
    if machine is not None and paper not in (_ALL, *_WITH_MACHINE):
        raise Refusal(f"--machine {machine}: {paper} has networks of its own; expected {' or '.join(_WITH_MACHINE)}")
    folder = _folder(output)
    reproduced, failed = _run(wanted)
    _write(folder, reproduced)
    out = console()
    for each, result in reproduced:
        out.print(f"[bold]{each.title}[/]")
        for view in result.views:
            out.print(f"  {view.heading}: {each.verdict(result, view)}")
    out.print(f"{folder / 'reproduced.html'}, .md with images, .json; {kept.hits} of "
              f"{kept.hits + kept.misses} results were known")  # fmt: skip
    for text in failed:
        print(f"tutti: {text}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _folder(output: Path | None) -> Path:
    """The folder for the pages, which it makes. Raises Refusal if they cannot be written there; or, where the
    user named none, if there are former ones, perhaps of more tables."""
    folder = output or Path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"--output {folder}: {error.strerror}") from None
    for name in _PAGES:
        if output is None and (folder / name).exists():
            raise Refusal(f"{name} exists; name its folder, or another one, with --output")
        if reason := why_not_writable(folder / name):
            raise Refusal(f"--output {folder}: {name}: {reason}")
    return folder


def _run(tables: list[Table]) -> tuple[list[tuple[Table, Result]], list[str]]:
    """The results of the tables, and the errors of those that failed. Raises Refusal if all failed."""
    reproduced, failed = [], []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        total = progress.add_task("", total=sum(each.steps for each in tables))
        for each in tables:
            progress.update(total, description=f"{each.paper} {each.name}")
            try:
                reproduced.append((each, each.run(lambda: progress.advance(total))))
            except Refusal as error:
                failed.append(f"{each.paper} {each.name}: {error}")
    if not reproduced:
        raise Refusal(failed[0])
    return reproduced, failed


def _write(folder: Path, reproduced: list[tuple[Table, Result]]) -> None:
    """Writes the pages, with their pictures."""
    for name, text in _PAGES.items():
        write(folder / name, text(reproduced), "--output")
    for path, svg in page.pictures(reproduced).items():
        (folder / path).parent.mkdir(exist_ok=True)
        write(folder / path, svg, "--output")
