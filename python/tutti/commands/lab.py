"""`tutti lab`: a cluster on one machine."""

from __future__ import annotations

import ipaddress
import os
import shlex
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tutti.commands.options import AsJson
from tutti.commands.run import prepare, report_target
from tutti.console import Refusal, console, count, print_json, table
from tutti.lab import checks, launch, machine, mpi, session, state
from tutti.lab.layout import Layout, parse_rate, removal, show_rate

_DRY = typer.Option("--dry-run", help="Print the commands, and do nothing.")
_LIMIT = typer.Option("--timeout", metavar="SECONDS", min=0.1, help="After that it is killed.")
_MPI = "openmpi, mpich, intel, or the path of a launcher."

lab = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="A cluster on one machine: nodes with shaped links, which an MPI takes for machines.",
)


def _progress(what: str) -> Progress:
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
    )
    out = console()
    return Progress(*columns, console=out, transient=True, disable=not out.is_terminal)


def _print(commands: Iterable[list[str]]) -> None:
    for command in commands:
        print(shlex.join(command))


def _current() -> state.State:
    """The lab that is there. Raises Refusal where there is none, or only a part."""
    found = state.load()
    if found is None or not found.complete:
        raise Refusal("there is no lab; make one, for example: tutti lab up 4 --rate 100mbit")
    return found


def _refuse_conflicts(layout: Layout) -> None:
    """Raises Refusal where a lab is there, or the machine is in its network."""
    if state.load() is not None or machine.existing():
        raise Refusal("there is a lab, or what is left of one; tutti lab down removes it")
    own = ipaddress.ip_network(layout.network)
    for interface, network in machine.other_networks():
        if own.overlaps(ipaddress.ip_network(network, strict=False)):
            raise Refusal(f"--network {own}: {interface} is in {network}; name another one")


@lab.command()
def up(
    nodes: Annotated[int, typer.Argument(metavar="NODES", help="How many.")],
    rate: Annotated[str, typer.Option(help="Of each node's link, both ways.")] = "1gbit",
    switches: Annotated[int, typer.Option(help="That the nodes are spread over.")] = 1,
    uplink: Annotated[
        str | None, typer.Option(metavar="RATE", help="From a switch to the others; as --rate.")
    ] = None,
    network: Annotated[str, typer.Option(help="Addresses of the nodes.")] = Layout.network,
    dry_run: Annotated[bool, _DRY] = False,
) -> None:
    """Make the nodes, 1 to NODES, and their links.

    tutti lab up 48 --rate 1gbit

    tutti lab up 48 --rate 100mbit --switches 4 --uplink 500mbit
    """
    if uplink is not None and switches == 1:
        raise Refusal(f"--uplink {uplink}: there is none at one switch; see --switches")
    bits = parse_rate(rate, "--rate")
    layout = Layout(
        nodes, bits, switches, parse_rate(uplink, "--uplink") if uplink else bits, network
    )
    layout.check()
    if dry_run:
        for name, least in layout.settings().items():
            print(f"sysctl -w {name.replace('/', '.')}={least}    # where it is less")
        _print(command for _, commands in layout.steps() for command in commands)
        return
    machine.require(f"make {count(nodes, 'node')} as network namespaces")
    _refuse_conflicts(layout)
    with state.alone():
        _refuse_conflicts(layout)  # again: who was sooner has made one by now
        _make(layout)
    console().print(f"{count(nodes, 'node')} of {show_rate(bits)}; tutti lab check measures them")


def _make(layout: Layout) -> None:
    """Makes a lab, or nothing of it."""
    made = state.State(layout)
    made.save()
    steps = layout.steps()
    try:
        made.settings = machine.raise_settings(layout.settings())
        made.save()
        state.write_files(layout)
        with _progress("making the lab") as progress:
            task = progress.add_task("", total=len(steps))
            for what, commands in steps:
                progress.update(task, description=what)
                for command in commands:
                    machine.output(command)
                progress.advance(task)
    except BaseException:
        _remove()
        raise
    made.complete = True
    made.save()


def _remove() -> list[tuple[str, str]]:
    """Removes what bears a lab's names, and the state; returns what would not go."""
    names = machine.existing()
    machine.kill([name for kind, name in names if kind == "namespace"])
    with _progress("removing the lab") as progress:
        task = progress.add_task("", total=len(names))
        left = machine.remove(names, lambda: progress.advance(task))
    try:
        found = state.load()
    except Refusal:
        found = None  # unreadable: the names alone say what is to be removed
    if found:
        machine.restore_settings(found.settings)
    if not left:
        state.forget()
    return left


@lab.command()
def down(dry_run: Annotated[bool, _DRY] = False) -> None:
    """Remove the lab, or what a crash has left of one, and end what runs in it.

    Only what bears the names that a lab gives is removed: tuttilab- and what follows.
    """
    names = machine.existing()
    if dry_run:
        _print(removal(names))
        return
    if not names and not state.FOLDER.exists():
        console().print("there is no lab")
        return
    machine.require(f"remove {len(names)} network namespaces and interfaces")
    left = _remove()
    if left:
        raise Refusal(f"{', '.join(name for _, name in left)} would not go")
    console().print("removed")


@lab.command()
def status(
    as_json: AsJson = False,
) -> None:
    """Show the nodes, what runs in them, and what is left of an earlier lab or run."""
    found = state.load()
    names = machine.existing()
    there = {name for kind, name in names if kind == "namespace"}
    running = machine.processes(there)
    user = state.user()
    layout = found.layout if found else None
    rows = [
        {
            "name": layout.name(node),
            "address": layout.address(node),
            "switch": layout.switch_of(node),
            "namespace": layout.namespace(node),
            "there": layout.namespace(node) in there,
            "processes": running.get(layout.namespace(node), []),
        }
        for node in range(1, layout.nodes + 1)
    ] if layout else []  # fmt: skip
    told: dict[str, Any] = {
        "lab": {**asdict(layout), "since": found.since} if found and layout else None,
        "complete": bool(found and found.complete and all(row["there"] for row in rows)),
        "used_by": user,
        "nodes": rows,
        # Processes without a run that they belong to, or pieces without a lab.
        "leftovers": [name for _, name in names] if found is None else
        [f"process {pid}" for pids in running.values() for pid in pids if user is None],
    }  # fmt: skip
    if as_json:
        print_json(told)
    else:
        _show(told)


def _show(told: Mapping[str, Any]) -> None:
    out = console()
    layout = told["lab"]
    if layout is None:
        out.print("there is no lab")
    else:
        listing = table("node", "address", "switch", "state", "processes", right=("processes",))
        for row in told["nodes"]:
            there = "up" if row["there"] else "[bold red]missing[/]"
            number = str(len(row["processes"]))
            listing.add_row(row["name"], row["address"], str(row["switch"]), there, number)
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(layout["since"]))
        out.print(f"{count(layout['nodes'], 'node')} of {show_rate(layout['rate'])}, up {since}")
        if layout["switches"] > 1:
            out.print(f"{layout['switches']} switches, uplinks of {show_rate(layout['uplink'])}")
        out.print(listing)
        if not told["complete"]:
            out.print("[bold red]the lab is not complete[/]; tutti lab down removes it")
    if told["used_by"] is not None:
        out.print(f"in use by process {told['used_by']}")
    if told["leftovers"]:
        out.print(f"[bold red]left over:[/] {', '.join(told['leftovers'])}; tutti lab down removes")


def _program(word: str) -> str:
    path = shutil.which(word)
    if path is None:
        raise Refusal(f"{word}: there is no such program")
    return path


@lab.command(context_settings={"allow_interspersed_args": False})
def run(
    command: Annotated[
        list[str] | None, typer.Argument(help="The program and its arguments, without launcher.")
    ] = None,
    nodes: Annotated[int | None, typer.Option(help="From node1 on; all by default.")] = None,
    per_node: Annotated[int, typer.Option("--ranks-per-node", help="On each of them.")] = 1,
    ranks: Annotated[
        str | None, typer.Option(metavar="N,..", help="Ranks of each node instead: 1,4,2,3.")
    ] = None,
    mapping: Annotated[str, typer.Option(help="block, round-robin or shuffled[:N].")] = "block",
    chosen: Annotated[
        str | None, typer.Option("--mpi", metavar="MPI", help=_MPI + " By default the program's.")
    ] = None,
    native: Annotated[bool, typer.Option("--native", help="Without Tutti.")] = False,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="As that of tutti run.")
    ] = None,
    limit: Annotated[float, _LIMIT] = 600,
    dry_run: Annotated[bool, _DRY] = False,
) -> None:
    """Run an MPI program across nodes of the lab, under Tutti.

    The MPI is found from the library that the program links to. Environment and folder are those
    of this command. Exit status: the launcher's; 124 where the time was over.

        tutti lab run --nodes 8 --ranks-per-node 4 -- ./app input.txt

        tutti lab run --native --ranks 1,4,2,3,1 --mapping round-robin -- ./app
    """
    if not command:
        raise Refusal("run what? For example: tutti lab run --nodes 4 -- ./app")
    if native and report is not None:
        raise Refusal("--report: there is no report of --native")
    layout = _current().layout
    placement = launch.place(layout, nodes, per_node, ranks, mapping)
    used = mpi.find(_program(command[0]), chosen)
    launch.check(used, placement)
    site = launch.Site(str(state.FOLDER / "nodesh"), str(state.FOLDER / "ranks"))
    words = [*launch.command(used, layout, placement, site), *command]
    settings = {} if report is None else {"TUTTI_REPORT": report_target(report)}
    added = launch.environment(used, os.environ)
    if not native:
        start = prepare(words, settings, os.environ)
        words, added = start.command, {**added, **start.environment}
    if dry_run:
        _print([["env", *(f"{name}={value}" for name, value in added.items()), *words]])
        return
    machine.require(f"start {count(placement.total, 'rank')} in network namespaces")
    with state.alone():
        _refuse_leftovers(layout)
        Path(site.hosts).write_text(launch.hosts_of_ranks(layout, placement))
        ended = session.run(words, layout, {**os.environ, **added}, limit)
    _tell(ended, limit)


def _refuse_leftovers(layout: Layout) -> None:
    spaces = [layout.namespace(node) for node in range(1, layout.nodes + 1)]
    left = machine.kill(spaces)  # what a killed run left would take time from this one
    if left:
        raise Refusal(f"process {left[0]} of an earlier run would not go")


def _tell(ended: session.Ended, limit: float) -> None:
    """Says what was unusual, and ends with the launcher's status."""
    err = typer.echo
    if ended.status == session.TIMED_OUT:
        err(f"tutti: stopped after {limit:g} s (--timeout)", err=True)
    elif ended.killed:
        err(
            f"tutti: what had stayed in the lab was killed: {ended.killed} of its processes",
            err=True,
        )
    if ended.status:
        raise typer.Exit(ended.status)


@lab.command()
def check(
    nodes: Annotated[int | None, typer.Option(help="From node1 on; all by default.")] = None,
    per_node: Annotated[int, typer.Option("--ranks-per-node", help="On each of them.")] = 1,
    chosen: Annotated[str, typer.Option("--mpi", metavar="MPI", help=_MPI)] = "openmpi",
    limit: Annotated[float, _LIMIT] = 120,
    as_json: AsJson = False,
) -> None:
    """Measure the lab: its links, the nodes that an MPI sees, and a scatter beside the wire's time.

    Exit status 1 where something is not as it is meant; on a loaded machine that is the rate.
    """
    layout = _current().layout
    placement = launch.place(layout, nodes, per_node, None, "block")
    machine.require("start programs in network namespaces")
    used = mpi.find("", chosen)
    launch.check(used, placement)
    with state.alone():
        _refuse_leftovers(layout)
        lines = list(checks.links(layout, str(state.FOLDER / "nodesh")))
        lines += checks.nodes(layout, used, placement, limit)
    if as_json:
        print_json([{**asdict(line), "ratio": line.ratio} for line in lines])
    else:
        columns = ("measured", "meant", "ratio")
        listing = table("what", *columns, "", title=str(used), right=columns)
        for line in lines:
            values = [f"{value:,.4g} {line.unit}".strip() for value in (line.measured, line.meant)]
            verdict = "ok" if line.good else f"[bold red]{line.advice}[/]"
            listing.add_row(line.what, *values, f"{line.ratio:.2f}", verdict)
        console().print(listing)
    if not all(line.good for line in lines):
        raise typer.Exit(1)
