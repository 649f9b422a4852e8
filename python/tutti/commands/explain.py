"""`tutti explain`: what one call does, which algorithm Tutti selects, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tutti import _engine
from tutti.commands.contenders import show_explored, time_cells
from tutti.commands.explain_hierarchical import explain_hierarchical
from tutti.commands.explain_report import explain_report
from tutti.commands.explain_rule import as_json_of, drawn_for, sentence_of
from tutti.commands.options import (
    Arrivals,
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
    refuse_others,
    refuse_with_json,
)
from tutti.console import Refusal, console, count, microseconds, print_json, table, write
from tutti.explanation import Explanation
from tutti.explanation import explain as explain_call
from tutti.rules import rule_for
from tutti.schedules import files, tree
from tutti.workload import (
    arrivals_of,
    bytes_of,
    collective_of,
    distances_of,
    machine_of,
    ranks_on,
    root_of,
    sizes_of,
    source_of_machine,
)

_MAX_LINES = 60
_KNOWLEDGE = {
    "nothing": "Every rank starts at once: its arguments suffice.",
    "subtree_sizes": "First each rank learns its subtrees' sizes from its children",
    "tree_neighbours": "First the ranks construct the tree, each from its own size alone",
    "all_sizes": "First the root broadcasts all sizes",
}


_WITH_REPORT = ("report", "site", "machine", "background", "as_json")
_WITH_NODES = (
    "collective", "nodes", "node_memory", "ranks", "root", "sizes", "distribution", "block", "algorithm",
    "distances", "machine", "steps", "as_json",
)  # fmt: skip


def _cut(lines: list[str], full: bool) -> list[str]:
    if full or len(lines) <= _MAX_LINES:
        return lines
    left = len(lines) - _MAX_LINES
    return [*lines[:_MAX_LINES], f".. and {left:,} more lines; --full shows them"]


def _data(explained: Explanation) -> str:
    """The data of the call in words."""
    kind = _engine.block_kind(explained.collective)
    filled = sum(1 for size in explained.sizes if size)
    if kind == "none":
        return "no data"
    if kind == "parts":
        return f"a vector of {count(explained.sizes[0], 'byte')}"
    if kind == "pairs":
        return f"blocks of up to {count(max(explained.sizes), 'byte')} from every rank for every rank"
    return (
        f"{count(sum(explained.sizes), 'byte')} in {count(filled, 'block')}, the largest "
        f"{max(explained.sizes):,} ({explained.irregularity:.3g} times the mean)"
    )


def _headline(
    out: Console, explained: Explanation, rule: _engine.Rule | None, background: bool
) -> None:
    root = f", root {explained.root}" if explained.rooted else ""
    out.print(f"[bold]{explained.collective}[/] of {count(explained.ranks, 'rank')}{root}: {_data(explained)}")
    if rule is not None:
        out.print(escape(sentence_of(rule, background)))
        return
    out.print(f"[bold]Tutti runs [cyan]{explained.choice.algorithm}[/][/]: {escape(explained.choice.reason)}")


def _rounds(out: Console, explained: Explanation, full: bool) -> None:
    listing = table("round", "messages", right=("round",))
    shown = explained.rounds if full else explained.rounds[:16]
    for number, messages in enumerate(shown, 1):
        words = [f"{m.source}>{m.target}:{m.bytes}" for m in messages]
        if len(words) > 16 and not full:
            words = [*words[:16], f".. {len(words) - 16:,} more"]
        listing.add_row(str(number), "  ".join(words))
    out.print(listing)
    if len(shown) < len(explained.rounds):
        out.print(f".. and {len(explained.rounds) - len(shown):,} more rounds; --full shows them")
    takes = "sends and receives" if _engine.has_two_ports(explained.collective) else "takes part in"
    out.print(f"[dim]A rank {takes} one message a round; source>target:bytes.[/]")


def _knowledge(out: Console, explained: Explanation, machine: _engine.Machine) -> None:
    text = _KNOWLEDGE[explained.call.knowledge]
    price = explained.call.knowledge_price()
    if price.messages:
        text += (
            f": {count(price.messages, 'message')} with {count(price.words, 'word')} in all, "
            f"{count(price.steps, 'dependent step')}, predicted "
            f"{microseconds(price.steps * machine.latency)}."
        )
    elif explained.call.knowledge != "nothing":
        text = "Sizes are equal, so every rank knows its position without a message."
    out.print(text)


def _contenders(out: Console, explained: Explanation, source: str) -> None:
    numbers = ("predicted", "learn", "data", "/bound", "rounds", "messages", "bytes moved")
    listing = table("with these sizes", *numbers, right=numbers)
    for contender in explained.contenders:
        listing.add_row(
            *time_cells(explained, contender),
            f"{contender.rounds:,}",
            f"{contender.messages:,}",
            f"{contender.moved:,}",
            style="bold" if contender.algorithm == explained.call.algorithm else "",
        )
    out.print(listing)
    ports = "one message a rank each way" if _engine.has_two_ports(explained.collective) else (
        "one message a rank")  # fmt: skip
    out.print("[dim]learn: a latency for each dependent step of the protocol; data: simulated, "
              f"{ports} at a time.\n{escape(source)}[/]")  # fmt: skip


def _choice(out: Console, explained: Explanation, distances: _engine.Distances | None) -> None:
    if explained.explored:
        show_explored(out, explained.collective, explained.ranks, explained.explored, distances)
    if not explained.choice.candidates:
        return
    listing = table("candidate", "predicted", "model", right=("predicted",))
    for candidate in explained.choice.candidates:
        listing.add_row(
            f"[cyan]{candidate.name}[/]", microseconds(candidate.seconds), escape(candidate.note)
        )
    out.print(listing)


def _by_size(out: Console, collective: str, ranks: int, machine: _engine.Machine) -> None:
    """Prints the sizes at which the selection for a one-sided collective changes."""
    changes: list[str] = []
    before = ""
    for size in (1 << bits for bits in range(3, 25)):
        chosen = _engine.choose(collective, "auto", ranks, size, machine)
        if chosen.algorithm != before:
            changes.append(f"{chosen.algorithm} from {size:,} bytes")
        before = chosen.algorithm
    out.print(f"[bold]By size[/], for {count(ranks, 'rank')}: {', '.join(changes)}.")


def _as_json(explained: Explanation) -> dict[str, object]:
    return {
        "collective": explained.collective,
        "ranks": explained.ranks,
        "root": explained.root,
        "sizes": explained.sizes,
        "algorithm": explained.choice.algorithm,
        "reason": explained.choice.reason,
        "drawn": explained.call.algorithm,
        "tree": explained.tree.splitlines(),
        "rounds": [[[m.source, m.target, m.bytes] for m in messages] for messages in explained.rounds],
        "seconds": explained.seconds,
        "lower_bound_seconds": explained.lower_bound,
        "auto": explained.explored,
        "candidates": [
            {"name": c.name, "seconds": c.seconds, "note": c.note} for c in explained.choice.candidates
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
            for c in explained.contenders
        ],
    }


def explain(
    ctx: typer.Context,
    collective: Annotated[
        str | None,
        typer.Argument(metavar="COLLECTIVE", help="A collective of tutti list, e.g. gatherv."),
    ] = None,
    ranks: Ranks = None,
    root: Root = "0",
    sizes: Sizes = None,
    distribution: Distribution = None,
    block: Block = "100",
    algorithm: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="auto, native, or an algorithm of tutti list, e.g. knomial:k=4.",
        ),
    ] = "auto",
    arrivals: Arrivals = "together",
    background: Background = False,
    mpi: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Also apply rules for this MPI: openmpi or mpich.",
        ),
    ] = "",
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Instead of a call, explain the arrivals in this report (JSON)."
        ),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(
            metavar="SITE",
            help="With --report: this line, by its number or a part of its name. Default: the "
            "line whose ranks waited longest.",
        ),
    ] = None,
    distances: Distances = None,
    machine: Machine = None,
    steps: Annotated[
        int | None, typer.Option(metavar="RANK", help="Also show the steps of this rank.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the tree as SVG.")
    ] = None,
    goal: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the schedules in GOAL, for LogGOPSim."),
    ] = None,
    schedules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the schedules as JSON.")
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="SHAPE",
            help="Explain a hierarchical call on these nodes, e.g. 1,4,2:round_robin or 8x6.",
        ),
    ] = None,
    node_memory: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="With --nodes: limit of node memory; larger calls run in chunks.",
        ),
    ] = None,
    full: Full = False,
    as_json: AsJson = False,
) -> None:
    """Explain one call: its algorithm and why, its tree and rounds, and modelled times.

    Describe the call by its collective, ranks, root and block sizes. All times are modelled, with
    the machine of `--machine`.

    ```
    tutti explain gatherv --ranks 11 --root 9 --sizes 1,0,2,3,4,2,0,0,1,7,5
    tutti explain gatherv --ranks 560 --root half --distribution spikes --block 1K
    tutti explain alltoall --nodes 1,4,2 --algorithm 'hierarchical(native,leaders=2)'
    tutti explain --report run.json --site 1
    ```
    """
    if report is not None:
        refuse_others(ctx, f"--report {report}", _WITH_REPORT)
        explain_report(report, site, machine, background, as_json)
        return
    if site is not None:
        raise Refusal(f"--site {site} needs --report FILE")
    refuse_with_json(ctx, as_json, "steps", "full")
    if collective is None:
        raise Refusal("explain needs a COLLECTIVE or --report FILE")
    collective = collective_of(collective)
    between = distances_of(distances) if distances else None
    if nodes is not None:
        refuse_others(ctx, f"--nodes {nodes}", _WITH_NODES)
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
            machine_of(machine),
            steps,
            as_json,
            between,
        )
        return
    if node_memory is not None:
        raise Refusal(f"--node-memory {node_memory} needs --nodes")
    if mpi and algorithm != "auto":
        raise Refusal(f"--algorithm {algorithm} excludes --mpi ({mpi})")
    blocks = sizes_of(collective, ranks, sizes, distribution, block)
    model = machine_of(machine)
    rule = rule_for(collective, blocks, mpi) if algorithm == "auto" else None
    explained = explain_call(
        collective,
        blocks,
        root_of(root, len(blocks)),
        algorithm=drawn_for(rule, background) if rule else algorithm,
        machine=model,
        arrivals=arrivals_of(arrivals, len(blocks)),
        background=background,
        distances=between,
    )
    if steps is not None and not 0 <= steps < explained.ranks:
        raise Refusal(f"--steps {steps}: expected a rank from 0 to {explained.ranks - 1}")
    if svg is not None:
        if not explained.tree:
            raise Refusal(f"--svg {svg}: its data does not flow along a tree; try tutti simulate --svg")
        write(svg, tree.to_svg(explained.call, explained.title), "--svg")
    if goal is not None:
        write(goal, files.to_goal(explained.call), "--goal")
    if schedules is not None:
        write(schedules, files.to_json(explained.call), "--schedules")
    if as_json:
        print_json(_as_json(explained) | as_json_of(rule, background))
        return
    out = console()
    _headline(out, explained, rule, background)
    out.print()
    if explained.choice.algorithm == "native":
        out.print(f"Tutti's own [cyan]{explained.call.algorithm}[/] would be:\n")
    if explained.tree:
        for line in _cut(explained.tree.splitlines(), full):
            out.print(line, markup=False)
        out.print("[dim]Each edge with its bytes; ranks without data are left out.[/]\n")
    _rounds(out, explained, full)
    out.print()
    _knowledge(out, explained, model)
    bound = explained.lower_bound
    ratio = f", {explained.seconds / bound:.2f} times the bound" if bound else ""
    out.print(
        f"[bold]Predicted {microseconds(explained.seconds)}{ratio}[/]: "
        f"no algorithm can end before {microseconds(bound)}.\n"
    )
    _contenders(out, explained, source_of_machine(machine))
    out.print()
    if rule is None:
        _choice(out, explained, between)
    if explained.collective.startswith("rma_"):
        _by_size(out, explained.collective, explained.ranks, model)
    if steps is not None:
        out.print(f"\n[bold]Steps of rank {steps}[/]")
        for line in explained.call.schedule(steps).splitlines()[1:]:
            out.print(line, markup=False)
