"""`tutti explain`: what one call does, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tutti import _engine
from tutti.commands.explain_hierarchical import explain_hierarchical
from tutti.commands.explain_report import explain_report
from tutti.commands.options import (
    AsJson,
    Background,
    Block,
    Distances,
    Distribution,
    Full,
    Machine,
    Ranks,
    Root,
    Sizes,
)
from tutti.console import Refusal, console, count, microseconds, print_json, table, write
from tutti.explanation import Explanation
from tutti.explanation import explain as explain_call
from tutti.workload import (
    arrivals_of,
    bytes_of,
    distances_of,
    machine_of,
    node_machine_of,
    ranks_on,
    root_of,
    sizes_of,
)

_MAX_LINES = 60
_KNOWLEDGE = {
    "nothing": "Every rank can start at once: its arguments suffice.",
    "subtree_sizes": "First each rank learns the sizes of its subtrees from its children",
    "tree_neighbours": "First the ranks grow the tree, each from its own size alone",
    "all_sizes": "First the root passes all sizes to all ranks",
}


def _cut(lines: list[str], full: bool) -> list[str]:
    if full or len(lines) <= _MAX_LINES:
        return lines
    left = len(lines) - _MAX_LINES
    return [*lines[:_MAX_LINES], f".. and {left:,} more lines; --full shows them"]


def _data(told: Explanation) -> str:
    """What the call moves, in words."""
    kind = _engine.block_kind(told.collective)
    filled = sum(1 for size in told.sizes if size)
    if kind == "none":
        return "no data"
    if kind == "parts":
        return f"a vector of {count(told.sizes[0], 'byte')}"
    if kind == "pairs":
        return f"blocks of up to {count(max(told.sizes), 'byte')} from every rank for every rank"
    return (
        f"{count(sum(told.sizes), 'byte')} in {count(filled, 'block')}, the largest "
        f"{max(told.sizes):,} ({told.irregularity:.3g} times the mean)"
    )


def _headline(out: Console, told: Explanation) -> None:
    root = f", root {told.root}" if told.rooted else ""
    out.print(f"[bold]{told.collective}[/] of {count(told.ranks, 'rank')}{root}: {_data(told)}")
    out.print(f"[bold]Tutti runs [cyan]{told.choice.algorithm}[/][/]: {escape(told.choice.reason)}")


def _rounds(out: Console, told: Explanation, full: bool) -> None:
    listing = table("round", "messages", right=("round",))
    shown = told.rounds if full else told.rounds[:16]
    for number, messages in enumerate(shown, 1):
        words = [f"{m.source}>{m.target}:{m.bytes}" for m in messages]
        if len(words) > 16 and not full:
            words = [*words[:16], f".. {len(words) - 16:,} more"]
        listing.add_row(str(number), "  ".join(words))
    out.print(listing)
    if len(shown) < len(told.rounds):
        out.print(f".. and {len(told.rounds) - len(shown):,} more rounds; --full shows them")
    takes = "sends and receives" if _engine.has_two_ports(told.collective) else "takes part in"
    out.print(f"[dim]A rank {takes} one message a round; source>target:bytes.[/]")


def _knowledge(out: Console, told: Explanation, machine: _engine.Machine) -> None:
    text = _KNOWLEDGE[told.call.knowledge]
    price = told.call.knowledge_price()
    if price.messages:
        text += (
            f": {count(price.messages, 'message')} of together {count(price.words, 'word')}, "
            f"{count(price.steps, 'dependent step')}, modelled at "
            f"{microseconds(price.steps * machine.latency)}."
        )
    elif told.call.knowledge != "nothing":
        text = "Sizes are equal, so every rank knows its place without a message."
    out.print(text)


def _contenders(out: Console, told: Explanation) -> None:
    numbers = ("modelled", "learn", "data", "/bound", "rounds", "messages", "bytes moved")
    listing = table("with these sizes", *numbers, right=numbers)
    for contender in told.contenders:
        ratio = contender.seconds / told.lower_bound if told.lower_bound else 1.0
        listing.add_row(
            f"[cyan]{contender.algorithm}[/]",
            microseconds(contender.seconds),
            microseconds(contender.learn_seconds),
            microseconds(contender.data_seconds),
            f"{ratio:.2f}",
            f"{contender.rounds:,}",
            f"{contender.messages:,}",
            f"{contender.moved:,}",
            style="bold" if contender.algorithm == told.call.algorithm else "",
        )
    out.print(listing)
    ports = "one message a rank each way" if _engine.has_two_ports(told.collective) else (
        "one message a rank")  # fmt: skip
    out.print("[dim]learn: a latency for each dependent step of the protocol; data: simulated, "
              f"{ports} at a time.[/]")  # fmt: skip


def _choice(out: Console, told: Explanation) -> None:
    if not told.choice.candidates:
        return
    listing = table("for the choice", "modelled", "how", right=("modelled",))
    for candidate in told.choice.candidates:
        listing.add_row(
            f"[cyan]{candidate.name}[/]", microseconds(candidate.seconds), escape(candidate.note)
        )
    out.print(listing)
    if _engine.is_irregular(told.collective):
        out.print("[dim]All ranks must choose alike, so sizes, which few of them know, do not "
                  "enter the choice.[/]")  # fmt: skip


def _by_size(out: Console, collective: str, ranks: int, machine: _engine.Machine) -> None:
    """Where the choice of a one-sided collective changes: the crossovers of the model."""
    changes: list[str] = []
    before = ""
    for size in (1 << bits for bits in range(3, 25)):
        chosen = _engine.choose(collective, "auto", ranks, size, machine, 0, [], background=True)
        if chosen.algorithm != before:
            changes.append(f"{chosen.algorithm} from {size:,} bytes")
        before = chosen.algorithm
    out.print(f"[bold]By size[/], for {count(ranks, 'rank')}: {', '.join(changes)}.")


def _as_json(told: Explanation) -> dict[str, object]:
    return {
        "collective": told.collective,
        "ranks": told.ranks,
        "root": told.root,
        "sizes": told.sizes,
        "algorithm": told.choice.algorithm,
        "reason": told.choice.reason,
        "drawn": told.call.algorithm,
        "tree": told.tree.splitlines(),
        "rounds": [[[m.source, m.target, m.bytes] for m in messages] for messages in told.rounds],
        "seconds": told.seconds,
        "lower_bound_seconds": told.lower_bound,
        "candidates": [
            {"name": c.name, "seconds": c.seconds, "note": c.note} for c in told.choice.candidates
        ],
        "algorithms": [
            {
                "name": c.algorithm,
                "seconds": c.seconds,
                "learn_seconds": c.learn_seconds,
                "rounds": c.rounds,
                "messages": c.messages,
                "bytes_moved": c.moved,
                "knowledge_steps": c.knowledge.steps,
                "knowledge_messages": c.knowledge.messages,
            }
            for c in told.contenders
        ],
    }


def explain(
    collective: Annotated[
        str | None, typer.Argument(help="One that tutti list shows, e.g. gatherv.")
    ] = None,
    ranks: Ranks = None,
    root: Root = "0",
    sizes: Sizes = None,
    distribution: Distribution = None,
    block: Block = "100",
    algorithm: Annotated[
        str, typer.Option(metavar="SPEC", help="auto, native, or one that tutti list shows.")
    ] = "auto",
    arrivals: Annotated[
        str, typer.Option(metavar="PATTERN", help="When ranks arrive, e.g. one-late:500us.")
    ] = "together",
    background: Background = False,
    mpi: Annotated[
        str, typer.Option(metavar="NAME", help="What native is: openmpi or mpich.")
    ] = "",
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Instead of a call: the arrivals of this report."),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(metavar="SITE", help="--report: the line, by number or a part of its name."),
    ] = None,
    distances: Distances = None,
    machine: Machine = None,
    steps: Annotated[
        int | None, typer.Option(metavar="RANK", help="Also show the steps of this rank.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the tree as SVG.")] = None,
    goal: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the schedules for LogGOPSim.")
    ] = None,
    schedules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the schedules as JSON.")
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(metavar="SHAPE", help="Through node memory, e.g. 1,4,2:round_robin or 8x6."),
    ] = None,
    node_memory: Annotated[
        str | None, typer.Option(metavar="BYTES", help="--nodes: no more of it; in chunks then.")
    ] = None,
    cores: Annotated[
        int, typer.Option(metavar="N", min=0, help="--nodes: cores of each; 0: one for each rank.")
    ] = 0,
    full: Full = False,
    as_json: AsJson = False,
) -> None:
    """Explain one call: its tree, rounds and modelled time, and why this algorithm.

    tutti explain gatherv --ranks 11 --root 9 --sizes 1,0,2,3,4,2,0,0,1,7,5

    tutti explain gatherv --ranks 560 --root half --distribution spikes --block 1K

    tutti explain alltoall --nodes 1,4,2 --algorithm hierarchical(native),leaders=2

    tutti explain --report run.json --site 1
    """
    if report is not None:
        if collective is not None:
            raise Refusal(
                f"--report {report}: it says what was called, so {collective} is too much"
            )
        explain_report(report, site, machine, background, as_json)
        return
    if site is not None:
        raise Refusal(f"--site {site}: it goes with --report FILE")
    if collective is None:
        raise Refusal("explain what? A collective, or --report FILE")
    if nodes is not None:
        if ranks is None and sizes is None:
            ranks = ranks_on(nodes)
        blocks = sizes_of(collective, ranks, sizes, distribution, block)
        bound = bytes_of(node_memory, "--node-memory") if node_memory else 0
        explain_hierarchical(
            collective,
            blocks,
            nodes,
            root_of(root, len(blocks)),
            algorithm,
            bound,
            node_machine_of(machine),
            cores,
            steps,
            as_json,
        )
        return
    if node_memory is not None:
        raise Refusal(f"--node-memory {node_memory}: it goes with --nodes")
    if cores > 0:
        raise Refusal(f"--cores {cores}: it goes with --nodes")
    blocks = sizes_of(collective, ranks, sizes, distribution, block)
    model = machine_of(machine)
    told = explain_call(
        collective,
        blocks,
        root_of(root, len(blocks)),
        algorithm=algorithm,
        machine=model,
        arrivals=arrivals_of(arrivals, len(blocks)),
        background=background,
        distances=distances_of(distances) if distances else None,
        mpi=mpi,
    )
    if steps is not None and not 0 <= steps < told.ranks:
        raise Refusal(f"--steps {steps}: ranks are 0..{told.ranks - 1}")
    if svg is not None:
        if not told.tree:
            raise Refusal(f"--svg {svg}: data does not flow along a tree; try tutti simulate --svg")
        write(svg, told.call.svg(told.title), "--svg")
    if goal is not None:
        write(goal, told.call.goal(), "--goal")
    if schedules is not None:
        write(schedules, told.call.json(), "--schedules")
    if as_json:
        print_json(_as_json(told))
        return
    out = console()
    _headline(out, told)
    out.print()
    if told.choice.algorithm == "native":
        out.print(f"Tutti's own [cyan]{told.call.algorithm}[/] would be:\n")
    if told.tree:
        for line in _cut(told.tree.splitlines(), full):
            out.print(line, markup=False)
        out.print("[dim]Each edge with its bytes; ranks without data are left out.[/]\n")
    _rounds(out, told, full)
    out.print()
    _knowledge(out, told, model)
    bound = told.lower_bound
    ratio = f", {told.seconds / bound:.2f} times the bound" if bound else ""
    out.print(
        f"[bold]Modelled {microseconds(told.seconds)}{ratio}[/]: "
        f"no algorithm can be over before {microseconds(bound)}.\n"
    )
    _contenders(out, told)
    out.print()
    _choice(out, told)
    if told.collective.startswith("rma_"):
        _by_size(out, told.collective, told.ranks, model)
    if steps is not None:
        out.print(f"\n[bold]Steps of rank {steps}[/]")
        for line in told.call.schedule(steps).splitlines()[1:]:
            out.print(line, markup=False)
