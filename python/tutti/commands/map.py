"""`tutti map`: how far ranks are from one another, and what an order by that would bring."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tutti import heatmap
from tutti import process_mapping
from tutti._engine import Distances
from tutti.commands.options import AsJson, Machine
from tutti.console import Refusal, console, count, microseconds, print_json, table
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
        # Too wide for a table: rows in microseconds, as they are, for other programs too.
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
        out.print("No groups of ranks are seen that are near to one another and far from the rest.")
    for level in levels:
        groups = process_mapping.groups_of(level)
        out.print(f"[bold]{count(len(groups), 'group')}[/] of ranks near to one another:")
        for group in groups[:_MAX_GROUPS]:
            out.print(f"  {_ranks(group)}")
        if len(groups) > _MAX_GROUPS:
            out.print(f"  .. and {len(groups) - _MAX_GROUPS:,} more")


def _cases(out: Console, cases: list[process_mapping.Case]) -> None:
    numbers = ("block", "natural", "RMH", "RDMH", "BBMH BGMH", "best", "gain")
    listing = table("collective", "shape", *numbers, "how", right=numbers)
    for case in cases:
        found = case.reordering
        heuristics = [case.seconds(way) for way in _HEURISTICS]
        listing.add_row(
            case.collective,
            f"[cyan]{case.algorithm}[/]",
            f"{case.block:,}",
            microseconds(found.natural.seconds),
            *("" if one is None else microseconds(one) for one in heuristics),
            microseconds(found.best.seconds),
            f"{found.gain:.2f}",
            escape(found.best.name) if case.worth_it else "not worth it",
            style="bold" if case.worth_it else "",
        )
    out.print(listing)
    out.print(
        "[dim]Modelled: each round as long as its slowest message, or what a shared link carries. "
        "RMH and RDMH are the orders of Bhowmik & Bodele 2019, BBMH (broadcast) and BGMH (gather) "
        "that of Mirsadeghi & Afsahi 2016; below a gain of a tenth an order is not worth it.[/]"
    )


def _verdict(out: Console, cases: list[process_mapping.Case]) -> None:
    worth = [case for case in cases if case.worth_it]
    if not worth:
        out.print("[bold]A reordering is not worth it[/] for any of these.")
        return
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
    shades = heatmap.SHADES if out.encoding.lower().startswith("utf") else heatmap.SHADES_ASCII
    order = process_mapping.sorted_by_groups(levels, distances.ranks)
    cells = max(1, min(_MAX_CELLS, (out.width - 12) // 2))
    # Sizes differ most where bandwidth counts.
    for line in process_mapping.text_of(distances.matrix(len(distances.bytes) - 1), order, cells, shades):
        out.print(line, markup=False, highlight=False)


def _distances(file: Path | None, mpirun: str, nodes_per_switch: int) -> Distances:
    """Those of a file, which is written before where there is something to measure."""
    if file is None and not mpirun:
        raise Refusal("map needs the FILE of distances, or --mpirun COMMAND to measure them")
    if not mpirun:
        if nodes_per_switch:
            raise Refusal(f"--nodes-per-switch {nodes_per_switch}: it goes with --mpirun")
        assert file is not None
        return distances_of(file, "")
    with tempfile.TemporaryDirectory() as folder:
        path = file or Path(folder) / "distances.json"
        process_mapping.measure(mpirun, path, nodes_per_switch)
        return distances_of(path, "")


def map_ranks(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Measured distances, as JSON; written with --mpirun."),
    ] = None,
    mpirun: Annotated[
        str, typer.Option(metavar="COMMAND", help='Measure between its ranks: "mpirun -n 8".')
    ] = "",
    nodes_per_switch: Annotated[
        int, typer.Option(metavar="N", min=0, help="So many in a row, beyond 64 ranks.")
    ] = 0,
    block: Annotated[
        str, typer.Option(metavar="BYTES,..", help="Blocks to model, or vectors for bcast.")
    ] = "8,1K,64K",
    root: Annotated[int, typer.Option(metavar="RANK", help="Of bcast, gather, scatter.")] = 0,
    machine: Machine = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the matrix (.svg, .png, .pdf).")
    ] = None,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Print the matrix of more than 16 ranks too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show how far ranks are from one another, and what an order by distance would bring.

    tutti map examples/place/bhowmik-bodele-2019.json --block 8,64K

    tutti map --mpirun "mpirun -n 8" distances.json
    """
    distances = _distances(file, mpirun, nodes_per_switch)
    if not 0 <= root < distances.ranks:
        raise Refusal(f"--root {root}: ranks are 0..{distances.ranks - 1}")
    blocks = [bytes_of(word.strip(), "--block") for word in block.split(",")]
    cases = process_mapping.cases_of(distances, blocks, root, machine_of(machine))
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
    _cases(out, cases)
    out.print()
    _verdict(out, cases)
