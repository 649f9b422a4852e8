"""`tutti check`: the performance guidelines for irregular gathers."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.markup import escape

from tutti import bench
from tutti.commands.options import AsJson, Mpirun, refuse_others
from tutti.console import Refusal, console, percent, print_json, table
from tutti.guidelines import LEVEL, SLACK, Verdict, judge

_TABLES = (
    {
        "native gather": "MPI_Gather",
        "allreduce + native gather": "Guideline (2)",
        "native gatherv": "MPI_Gatherv",
    },
    {
        "tutti gather": "TUTTI_Gather",
        "allreduce + tutti gather": "Tutti's (2)",
        "tutti gatherv": "TUTTI_Gatherv",
    },
)
"""The measured calls, in the order and by the names of the paper's tables: the MPI's and Tutti's, each
as wide as a terminal."""


def _table(result: dict[str, Any], verdicts: list[Verdict], columns: dict[str, str]) -> Any:
    broken = {(v.distribution, v.block, v.left) for v in verdicts if v.broken}
    numbers = ("m", "m'", *columns.values())
    listing = table("problem", *numbers, right=numbers)
    ranks = int(result["metadata"].get("ranks", 0))
    before = None
    for row in result["rows"]:
        cells = []
        lines = {line["name"]: line for line in row["algorithms"]}
        for name in columns:
            samples = lines[name]["samples_us"] if name in lines else []
            if not samples:
                cells.append("-  ")
                continue
            cell = f"{median(samples):,.1f} {min(samples):,.1f}"
            red = (row["distribution"], row["block"], name) in broken
            cells.append(f"[bold red]{cell} ![/]" if red else cell + "  ")
        shown = row["distribution"] if row["distribution"] != before else ""
        before = row["distribution"]
        padded = f"{row['largest_elements'] * ranks:,}" if ranks else "-"
        listing.add_row(escape(shown), f"{row['total_elements']:,}", padded, *cells)
    return listing


def check(
    ctx: typer.Context,
    mpirun: Mpirun = "",
    distribution: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,..",
            help="Distributions of block sizes, as in tutti explain. Default: all.",
        ),
    ] = None,
    block: Annotated[
        str, typer.Option(metavar="N,..", help="Mean block sizes, in ints.")
    ] = "1,100,10000",
    repetitions: Annotated[
        int, typer.Option(metavar="N", help="Repetitions of each call.")
    ] = 75,
    settle: Annotated[
        int, typer.Option(metavar="N", help="Repetitions before, in which Tutti learns.")
    ] = 500,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Measure nothing; judge this JSON of tutti-bench."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Test whether the MPI and Tutti keep the performance guidelines of Träff 2017.

    Guideline (1): a gather takes no longer than a gatherv of equal blocks. Guideline (2): a
    gatherv takes no longer than agreeing on the largest block and gathering all blocks padded to
    it. The exit status is 1 if Tutti breaks one; violations by the MPI are reported only.

    Tutti first learns in calls of all problems in turn. Where these do not suffice, as for short
    calls, it still runs the MPI's own and breaks what that breaks; --settle gives it more.

    ```
    tutti check --mpirun "mpirun -n 16"
    ```
    """
    if results:
        refuse_others(ctx, f"--results {results}", ("results", "as_json"))
        result = bench.read(results)
    else:
        arguments = ["guidelines", "--block", block, "--repetitions", str(repetitions)]
        arguments += ["--settle", str(settle)]
        arguments += ["--distribution", distribution] if distribution else []
        # What other programs learned has no part in it, but without exploring Tutti would run the MPI's own.
        settings = {"TUTTI": "on", "TUTTI_REPORT": "none", "TUTTI_LEARN": "run"}
        result = bench.measure(mpirun, arguments, settings=settings)
    try:
        verdicts = judge(result)
    except Refusal as error:
        raise Refusal(f"{results}: {error}" if results else str(error)) from None
    broken = [verdict for verdict in verdicts if verdict.broken]
    if as_json:
        fields = (
            "guideline",
            "library",
            "distribution",
            "block",
            "left",
            "right",
            "ratio",
            "doubt",
        )
        print_json([{**{f: getattr(v, f) for f in fields}, "broken": v.broken} for v in verdicts])
    else:
        out = console()
        for key in ("library", "ranks", "nodes", "clock", "repetitions"):
            if key in result["metadata"]:
                out.print(f"{key}: {result['metadata'][key]}", style="dim", markup=False)
        for columns in _TABLES:
            out.print(_table(result, verdicts, columns))
            out.print()
        out.print(
            f"[dim]Median and least time in us. Red with !: more than {percent(SLACK - 1)} over what "
            f"the guideline allows, one-sided Mann-Whitney p < {LEVEL}.[/]\n"
        )
        for v in broken:
            where = f"{v.distribution}, block {v.block}"
            ratio = f"{v.left} takes {v.ratio:.2f} times {v.right}"
            out.print(
                f"guideline ({v.guideline}) violated by [bold]{escape(v.library)}[/]: "
                + escape(f"{where}: {ratio}")
            )
        out.print(f"{len(broken)} of {len(verdicts)} tests violated" if broken else "none violated")
    if any(verdict.library == "tutti" for verdict in broken):
        raise typer.Exit(1)
