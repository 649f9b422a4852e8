"""`tutti explain --nodes`: explains a hierarchical call."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from tutti import _engine
from tutti.commands.contenders import show_explored
from tutti.console import Refusal, console, count, microseconds, print_json, table
from tutti.explanation import explored_in

_MAX_NODES = 12


def _hierarchical_problem(
    collective: str,
    sizes: list[int],
    nodes: str,
    root: int,
    algorithm: str,
    bound: int,
    machine: _engine.Machine,
) -> _engine.HierarchicalProblem:
    named = "hierarchical(native)" if algorithm == "auto" else algorithm
    if "hierarchical(" not in named and "level=node" not in named:
        raise Refusal(
            f"--algorithm {algorithm}: --nodes needs a hierarchical specification, such as "
            "hierarchical(native) or hierarchical(ring,leaders=2)"
        )
    try:
        return _engine.HierarchicalProblem(
            collective, sizes, nodes, root, named, bound, True, machine
        )
    except ValueError as error:
        raise Refusal(str(error)) from None


def _nodes(out: Console, call: _engine.HierarchicalProblem) -> None:
    listing = table("node", "ranks", "bytes of memory", right=("bytes of memory",))
    for node, (ranks, memory) in enumerate(zip(call.ranks, call.memory, strict=True)):
        if node == _MAX_NODES:
            listing.add_row("..", f"{len(call.ranks) - node} more", "")
            break
        listing.add_row(str(node), " ".join(str(rank) for rank in ranks), f"{memory:,}")
    out.print(listing)


def _proposals(out: Console, call: _engine.HierarchicalProblem) -> None:
    listing = table("call", "predicted", "", right=("predicted",))
    for candidate in call.proposals():
        listing.add_row(
            f"[cyan]{escape(candidate.name)}[/]",
            microseconds(candidate.seconds),
            f"[dim]{candidate.note}[/]",
        )
    out.print(listing)


def explain_hierarchical(
    collective: str,
    sizes: list[int],
    nodes: str,
    root: int,
    algorithm: str,
    bound: int,
    machine: _engine.Machine,
    steps: int | None,
    as_json: bool,
    distances: _engine.Distances | None,
) -> None:
    """Prints the nodes, the collectives between them, the verifier's verdict and modelled times, which
    are those of equal links: distances count only for what auto explores.

    Raises:
        Refusal: names the wrong argument and the accepted values.
    """
    call = _hierarchical_problem(collective, sizes, nodes, root, algorithm, bound, machine)
    if steps is not None and not 0 <= steps < len(sizes):
        raise Refusal(f"--steps {steps}: expected a rank from 0 to {len(sizes) - 1}")
    fault = call.fault()
    most = max(len(ranks) for ranks in call.ranks)
    if distances and distances.ranks != len(sizes):
        raise Refusal(
            f"--distances: those of {count(distances.ranks, 'rank')}, the call has {len(sizes)}"
        )
    explored = explored_in(collective, sizes, machine, distances, ranks_per_node=most)
    if as_json:
        print_json(
            {
                "collective": collective,
                "algorithm": call.algorithm,
                "leaders": call.leaders,
                "chunks": call.chunks,
                "nodes": call.ranks,
                "memory": call.memory,
                "between_nodes": call.calls(),
                "fault": fault or None,
                "predicted": [{"name": c.name, "seconds": c.seconds} for c in call.proposals()],
                "auto": explored,
            }
        )
        return
    out = console()
    out.print(
        f"[bold]{collective} of {count(len(sizes), 'rank')} on {count(len(call.ranks), 'node')}[/] "
        f"by [cyan]{escape(call.algorithm)}[/]: {count(call.leaders, 'leader')} each, "
        f"{count(call.chunks, 'chunk')}"
    )
    _nodes(out, call)
    if most == 1:
        out.print("The call runs flat because every node has a single rank.")
    if len(call.ranks) == 1:
        out.print("The call uses node memory alone because all ranks share a node.")
    for inner in call.calls():
        out.print(f"between nodes: {inner}", markup=False)
    out.print(
        f"[red]{escape(fault)}[/]" if fault else "[green]Verified[/]: every byte, every signal."
    )
    out.print()
    _proposals(out, call)
    if distances:
        out.print("[dim]Times are those of equal links; --distances counts only for what auto explores.[/]")
    show_explored(out, collective, len(sizes), explored, distances)
    if steps is not None:
        out.print(f"\n[bold]Steps of rank {steps}[/]")
        for line in call.program(steps).splitlines():
            out.print(line, markup=False)
