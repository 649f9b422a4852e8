"""`tutti map`: distances between ranks, and the gain from a rank order that fits them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tutti import heatmap
from tutti import process_mapping
from tutti._engine import Distances
from tutti.commands.options import AsJson, Machine, refuse_with_json
from tutti.console import (
    Refusal, console, count, microseconds, print_json, table, why_not_writable, write,
)  # fmt: skip
from tutti.plot import check as check_plot
from tutti.shared_folder import shared_folder
from tutti.workload import bytes_of, distances_of, machine_of

_HEURISTICS = ("nearest_next", "two_partners_each", "heaviest_first")
_MAX_SHOWN = 16
_MAX_GROUPS = 12
_MAX_CELLS = 32


def _ranks(ranks: list[int]) -> str:
    words = [str(rank) for rank in ranks[:_MAX_SHOWN]]
    return " ".join(words) + (f" .. {len(ranks)} in all" if len(ranks) > _MAX_SHOWN else "")


def _matrix(out: Console, distances: Distances, which: int, numbers: bool) -> None:
    matrix = distances.matrix(which)
    far = process_mapping.slowest(matrix)
    out.print(
        f"[bold]Messages of {count(distances.bytes[which], 'byte')}[/]: "
        f"median {microseconds(process_mapping.middle(matrix))}, the longest "
        f"{microseconds(matrix[far[0]][far[1]])} from rank {far[0]} to {far[1]}"
    )
    if distances.ranks > _MAX_SHOWN:
        # Too wide for a table: plain rows in microseconds, which other programs can read.
        for row in matrix if numbers else []:
            line = " ".join(f"{one * 1e6:.4g}" for one in row)
            out.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    columns = [str(rank) for rank in range(distances.ranks)]
    listing = table("us", *columns, right=("us", *columns))
    for rank, row in enumerate(matrix):
        listing.add_row(
            f"[bold dim]{rank}[/]",
            *(f"{one * 1e6:.4g}" if other != rank else "." for other, one in enumerate(row)),
        )
    out.print(listing)


def _clusters(out: Console, levels: list[list[int]]) -> None:
    if not levels:
        out.print("No groups of near ranks.")
    for level in levels:
        groups = process_mapping.groups_of(level)
        out.print(f"[bold]{count(len(groups), 'group')}[/] of near ranks:")
        for group in groups[:_MAX_GROUPS]:
            out.print(f"  {_ranks(group)}")
        if len(groups) > _MAX_GROUPS:
            out.print(f"  .. and {len(groups) - _MAX_GROUPS:,} more")


def _cases(out: Console, cases: list[process_mapping.Case]) -> None:
    numbers, heuristics = ("block", "natural", "best", "gain"), ("RMH", "RDMH", "BBMH BGMH")
    listing = table(
        "collective", "shape", *numbers, *heuristics, "how", right=(*numbers, *heuristics)
    )
    for case in cases:
        found = case.reordering
        others = [case.seconds(name) for name in _HEURISTICS]
        listing.add_row(
            case.collective,
            f"[cyan]{case.algorithm}[/]",
            f"{case.block:,}",
            microseconds(found.natural.seconds),
            microseconds(found.best.seconds),
            f"{found.gain:.2f}",
            *("" if one is None else microseconds(one) for one in others),
            escape(found.best.name),
        )
    out.print(listing)
    out.print(
        "[dim]Predicted: each round takes as long as its slowest message or its most loaded link. "
        "RMH and RDMH are the orders that Bhowmik & Bodele 2019 measured, BBMH (broadcast) and BGMH (gather) "
        "that of Mirsadeghi & Afsahi 2016. Not shown: speedups below 10 %.[/]\n"
    )


def _verdict(out: Console, cases: list[process_mapping.Case]) -> None:
    """Prints the orders that gain, or that none does."""
    worth = [case for case in cases if case.worth_it]
    if not worth:
        out.print(
            f"[bold]A reordering is not worth it[/] for any of {len(cases)}: no predicted speedup "
            "of 10 % or more."
        )
        return
    _cases(out, worth)
    best = max(worth, key=lambda case: case.reordering.gain)
    out.print(
        f"[bold]A reordering is worth it[/] for {len(worth)} of {len(cases)}; most for "
        f"{best.collective} {best.algorithm} with blocks of {count(best.block, 'byte')}, "
        f"{best.reordering.gain:.2f} times: {_ranks(best.reordering.best.ranks)}"
    )


def _as_json(
    distances: Distances, levels: list[list[int]], cases: list[process_mapping.Case]
) -> dict[str, object]:
    return {
        "ranks": distances.ranks,
        "method": distances.method,
        "names": distances.names,
        "measured": [
            {"bytes": size, "seconds": distances.matrix(which)}
            for which, size in enumerate(distances.bytes)
        ],
        "clusters": [process_mapping.groups_of(level) for level in levels],
        "modelled": True,
        "cases": [
            {
                "collective": case.collective,
                "algorithm": case.algorithm,
                "block": case.block,
                "natural_seconds": case.reordering.natural.seconds,
                "best_seconds": case.reordering.best.seconds,
                "gain": case.reordering.gain,
                "worth_it": case.worth_it,
                "how": case.reordering.best.name,
                "order": case.reordering.best.ranks,
                "tried": {s.name: s.seconds for s in case.reordering.all},
            }
            for case in cases
        ],
    }


def _picture(out: Console, distances: Distances, levels: list[list[int]]) -> None:
    shades = heatmap.shades_of(out.encoding)
    order = process_mapping.sorted_by_groups(levels, distances.ranks)
    cells = max(1, min(_MAX_CELLS, (out.width - 12) // 2))
    # The largest messages show differences in bandwidth best.
    for line in process_mapping.text_of(distances.matrix(len(distances.bytes) - 1), order, cells, shades):
        out.print(line, markup=False, highlight=False)


def _distances(file: Path | None, mpirun: str, nodes_per_switch: int) -> Distances:
    """The distances of a file; with a launcher, measures them, and then writes the file, if there is one.

    A former file stays as it was if the measurement fails or has a single rank.
    """
    if file is None and not mpirun:
        raise Refusal("map needs a FILE of distances, or --mpirun COMMAND to measure them")
    if not mpirun:
        if nodes_per_switch:
            raise Refusal(f"--nodes-per-switch {nodes_per_switch} needs --mpirun")
        assert file is not None
        return _of_ranks(file, str(file))
    if file is not None and (reason := why_not_writable(file)):
        raise Refusal(f"{file}: {reason}")
    with shared_folder() as folder:
        path = folder / "distances.json"
        process_mapping.measure(mpirun, path, nodes_per_switch)
        found = _of_ranks(path, f"--mpirun {mpirun}")
        if file is not None:
            write(file, path.read_text(encoding="utf-8"), "FILE")
        return found


def _of_ranks(file: Path, source: str) -> Distances:
    """The distances in a file. Raises Refusal, which names the source, if they are those of 1 rank."""
    found = distances_of(file, "")
    if found.ranks < 2:
        raise Refusal(f"{source}: distances of 1 rank; expected 2 or more ranks")
    return found


def map_ranks(
    ctx: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="JSON file of distances: read, or written with --mpirun."
        ),
    ] = None,
    mpirun: Annotated[
        str,
        typer.Option(
            metavar="COMMAND",
            help='Measure the distances between the ranks of this launcher, e.g. "mpirun -n 8".',
        ),
    ] = "",
    nodes_per_switch: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Each N consecutive nodes share a switch: beyond 64 ranks, measure between "
            "switches by one rank of each. 0: unknown.",
        ),
    ] = 0,
    block: Annotated[
        str,
        typer.Option(metavar="BYTES,..", help="Block sizes to model; for bcast, vector sizes."),
    ] = "8,1K,64K",
    root: Annotated[
        int, typer.Option(metavar="RANK", min=0, help="Root of bcast, gather and scatter.")
    ] = 0,
    machine: Machine = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the distance matrix (.svg, .png, .pdf)."),
    ] = None,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Print the matrix even beyond 16 ranks.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the distances between ranks, and the gain from a process mapping that fits them.

    The distances come from a file, or from a measurement with `--mpirun`. For several
    algorithms, the model compares the natural order with orders by distance.

    ```
    tutti map --mpirun "mpirun -n 8" distances.json
    tutti map examples/place/bhowmik-bodele-2019.json --block 8,64K
    ```
    """
    refuse_with_json(ctx, as_json, "numbers")
    if picture is not None:
        check_plot(picture, "--picture")
    blocks = [bytes_of(word.strip(), "--block") for word in block.split(",")]
    model = machine_of(machine)
    distances = _distances(file, mpirun, nodes_per_switch)
    if root >= distances.ranks:
        raise Refusal(f"--root {root}: expected a rank from 0 to {distances.ranks - 1}")
    cases = process_mapping.cases_of(distances, blocks, root, model)
    if picture is not None:
        process_mapping.draw(distances, picture)
    levels = distances.clusters()
    if as_json:
        print_json(_as_json(distances, levels, cases))
        return
    out = console()
    method = f" ({escape(distances.method)})" if distances.method else ""
    out.print(f"[bold]{count(distances.ranks, 'rank')}[/]{method}\n")
    for which in range(len(distances.bytes)):
        _matrix(out, distances, which, numbers)
        out.print()
    _picture(out, distances, levels)
    out.print()
    _clusters(out, levels)
    out.print()
    _verdict(out, cases)
