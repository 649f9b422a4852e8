"""`tutti lab`: emulates a cluster on one machine."""

from __future__ import annotations

import ipaddress
import os
import shlex
import shutil
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tutti import mpis, pages
from tutti.commands.options import AsJson
from tutti.commands.run import prepare, report_target
from tutti.console import Refusal, console, count, print_json, table
from tutti.supervised import Outcome, terminable
from tutti_lab import checks, launch, machine, overview, session, state
from tutti_lab.layout import Layout, parse_rate, removal, show_rate

_DRY = typer.Option("--dry-run", help="Print the commands; execute nothing.")
_LIMIT = typer.Option("--timeout", metavar="SECONDS", min=0.1, help="Kill the run after this time.")
_MPI = "The MPI: openmpi, mpich, intel, or the path of a launcher."
_NODES = typer.Option(metavar="N", help="Use nodes 1 to N. Default: all nodes.")
_PER_NODE = typer.Option("--ranks-per-node", metavar="N", help="Ranks on each node.")

lab = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Emulate a cluster on one machine: nodes with links of limited rate.

The nodes are network namespaces, and an MPI uses them like machines. Requires root.

```
tutti lab up 8 --rate 1gbit
tutti lab run --ranks-per-node 4 -- ./app input.txt
tutti lab down
```
""",
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


def _refuse_conflicts(layout: Layout) -> None:
    """Raises Refusal if a lab exists, or if the machine uses addresses of its network."""
    if state.load() is not None or machine.existing():
        raise Refusal("a lab or its leftovers exist; tutti lab down removes them")
    own = ipaddress.ip_network(layout.network)
    for interface, network in machine.other_networks():
        if own.overlaps(ipaddress.ip_network(network, strict=False)):
            raise Refusal(f"--network {own}: {interface} is in {network}; choose another network")


@lab.command()
def up(
    nodes: Annotated[int, typer.Argument(metavar="NODES", help="Number of nodes.")],
    rate: Annotated[
        str,
        typer.Option(
            metavar="RATE", help="Rate of each node's link in each direction, e.g. 100mbit."
        ),
    ] = "1gbit",
    switches: Annotated[
        int, typer.Option(metavar="N", help="Distribute the nodes over N switches.")
    ] = 1,
    uplink: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Rate of the link from each switch to the core switch. Default: --rate.",
        ),
    ] = None,
    network: Annotated[
        str, typer.Option(metavar="NETWORK", help="IPv4 network of the nodes' addresses.")
    ] = Layout.network,
    dry_run: Annotated[bool, _DRY] = False,
) -> None:
    """Make a lab: its nodes, switches and links.

    ```
    tutti lab up 48 --rate 1gbit
    tutti lab up 48 --rate 100mbit --switches 4 --uplink 500mbit
    ```
    """
    if uplink is not None and switches == 1:
        raise Refusal(f"--uplink {uplink} needs --switches of at least 2")
    bits = parse_rate(rate, "--rate")
    layout = Layout(
        nodes, bits, switches, parse_rate(uplink, "--uplink") if uplink else bits, network
    )
    layout.check()
    if dry_run:
        for name, least in layout.settings().items():
            print(f"sysctl -w {name.replace('/', '.')}={least}    # if the value is less")
        _print(command for _, commands in layout.steps() for command in commands)
        return
    machine.require(f"make {count(nodes, 'node')} as network namespaces")
    _refuse_conflicts(layout)
    with state.alone(), terminable():
        _refuse_conflicts(layout)  # again: another process may have made a lab before the lock
        _make(layout)
    console().print(f"{count(nodes, 'node')} of {show_rate(bits)}; tutti lab check measures them")


def _make(layout: Layout) -> None:
    """Makes a lab; after an error or a signal removes all of it."""
    made = state.State(layout)
    steps = layout.steps()
    try:
        made.save()
        machine.raise_settings(layout.settings(), made.keep_setting)
        state.write_files(layout)
        with _progress("making the lab") as progress:
            task = progress.add_task("", total=len(steps))
            for what, commands in steps:
                progress.update(task, description=what)
                for command in commands:
                    machine.output(command)
                progress.advance(task)
        made.complete = True
        made.save()
    except BaseException:
        with session.undisturbed():
            _remove()
        raise


def _remove() -> list[tuple[str, str]]:
    """Removes everything that has a lab's names, and the state; returns what remains."""
    names = machine.existing()
    try:
        found = state.load()
    except Refusal:
        found = None  # unreadable: the names suffice to remove the lab
    if found:
        found.complete = False  # also if the removal is interrupted
        with suppress(OSError):
            found.save()
    machine.kill([name for kind, name in names if kind == "namespace"])
    with _progress("removing the lab") as progress:
        task = progress.add_task("", total=len(names))
        left = machine.remove(names, lambda: progress.advance(task))
    if found:
        machine.restore_settings(found.settings)
    if not left:
        state.forget()
    return left


@lab.command()
def down(
    dry_run: Annotated[bool, _DRY] = False,
    force: Annotated[bool, typer.Option("--force", help="End the run that uses it.")] = False,
) -> None:
    """Remove the lab, or what a crash has left of it, and kill the processes in it.

    This removes only network namespaces and interfaces whose names begin with tuttilab-. A machine
    has one lab for all users: `tutti lab status` shows whether somebody runs in it.
    """
    names = machine.existing()
    if dry_run:
        _print(removal(names))
        return
    if not names and not state.FOLDER.exists():
        console().print("no lab")
        return
    machine.require(f"remove {len(names)} network namespaces and interfaces")
    if force:
        state.end_user()
    with state.alone("try again" if force else "kill what runs in it: --force"):
        left = _remove()
    if left:
        raise Refusal(f"{', '.join(name for _, name in left)} cannot be removed")
    console().print("removed")


@lab.command()
def status(
    as_json: AsJson = False,
) -> None:
    """Show the nodes, their processes, and leftovers of earlier labs or runs."""
    found = overview.find()
    if as_json:
        print_json(found)
    else:
        overview.show(found)


def _program(word: str) -> str:
    path = shutil.which(word)
    if path is None:
        raise Refusal(f"{word}: no such program")
    return path


@lab.command(context_settings={"allow_interspersed_args": False})
def run(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND", help="The program and its arguments, without a launcher."
        ),
    ] = None,
    nodes: Annotated[int | None, _NODES] = None,
    per_node: Annotated[int, _PER_NODE] = 1,
    ranks: Annotated[
        str | None,
        typer.Option(metavar="N,..", help="Ranks of node 1, 2, .. each, e.g. 1,4,2,3."),
    ] = None,
    mapping: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Process mapping: block, round-robin or shuffled[:SEED].",
        ),
    ] = "block",
    chosen: Annotated[
        str | None,
        typer.Option("--mpi", metavar="MPI", help=_MPI + " Default: the MPI of the program."),
    ] = None,
    native: Annotated[bool, typer.Option("--native", help="Run without Tutti.")] = False,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a report, as in tutti run; -: standard error."),
    ] = None,
    limit: Annotated[float, _LIMIT] = 600,
    dry_run: Annotated[bool, _DRY] = False,
) -> None:
    """Run an MPI program on nodes of the lab, under Tutti.

    The command finds the launcher from the MPI library that the program links to. The program
    inherits the environment and the working folder. The exit status is that of the launcher, or
    124 after the timeout.

    ```
    tutti lab run --nodes 8 --ranks-per-node 4 -- ./app input.txt
    tutti lab run --native --ranks 1,4,2,3,1 --mapping round-robin -- ./app
    ```
    """
    if not command:
        raise Refusal("lab run needs a COMMAND, such as: tutti lab run --nodes 4 -- ./app")
    if native and report is not None:
        raise Refusal(f"--report {report} excludes --native")
    layout = state.current().layout
    processes = launch.map_processes(layout, nodes, per_node, ranks, mapping)
    used = mpis.find(_program(command[0]), chosen)
    launch.check(used, processes)
    site = launch.Site(str(state.FOLDER / "nodesh"), str(state.FOLDER / "ranks"))
    words = [*launch.command(used, layout, processes, site), *command]
    settings = {} if report is None else {"TUTTI_REPORT": report_target(report, "invalid --report ")}
    where = _words(nodes, per_node, ranks, mapping, chosen or used.mpirun)
    if dry_run and not native:
        pages.page_of(settings)
    deliver = None if native or dry_run else pages.delivery(settings, where)
    added = launch.environment(used, os.environ)
    if not native:
        start = prepare(words, settings, os.environ)
        words, added = start.command, {**added, **start.environment}
    hosts = launch.hosts_of_ranks(layout, processes)
    if dry_run:
        if site.hosts in words:
            print(f"printf '%s\\n' {shlex.join(hosts.split())} > {shlex.quote(site.hosts)}")
        _print([["env", *(f"{name}={value}" for name, value in added.items()), *words]])
        return
    machine.require(f"start {count(processes.total, 'rank')} in network namespaces")
    ended = session.Ended(128 + signal.SIGINT)  # if the user interrupts it
    with session.alone_in(layout) as environment:
        Path(site.hosts).write_text(hosts)
        try:
            ended = session.run(words, layout, {**environment, **added}, limit)
        finally:
            if deliver is not None:
                pages.conclude(deliver, command, Outcome(ended.status, ended.seconds, interrupted=False))
    _finish(ended, limit)


def _words(
    nodes: int | None, per_node: int, ranks: str | None, mapping: str, mpi: str
) -> list[str]:
    """The words that start another program on the same nodes."""
    where = ["--ranks", ranks] if ranks else ["--ranks-per-node", str(per_node)]
    some = ["--nodes", str(nodes)] if nodes else []
    return ["tutti", "lab", "run", "--mpi", mpi, *some, *where, "--mapping", mapping, "--"]


def _finish(ended: session.Ended, limit: float) -> None:
    """Reports a timeout or killed processes, and exits with the launcher's status."""
    err = typer.echo
    if ended.timed_out:
        err(f"tutti: stopped after {limit:g} s (--timeout)", err=True)
    elif ended.killed:
        err(
            f"tutti: killed {ended.killed} of its processes that stayed in the lab",
            err=True,
        )
    if ended.status:
        raise typer.Exit(ended.status)


@lab.command()
def check(
    nodes: Annotated[int | None, _NODES] = None,
    per_node: Annotated[int, _PER_NODE] = 1,
    chosen: Annotated[str, typer.Option("--mpi", metavar="MPI", help=_MPI)] = "openmpi",
    limit: Annotated[float, _LIMIT] = 120,
    as_json: AsJson = False,
) -> None:
    """Measure the lab: the rates of its links, the nodes that an MPI sees, and a scatter.

    Each value stands beside the value that the lab should have. The exit status is 1 if one of
    them differs; on a loaded machine the rates can be too low.
    """
    layout = state.current().layout
    processes = launch.map_processes(layout, nodes, per_node, None, "block")
    machine.require("start programs in network namespaces")
    used = mpis.find("", chosen)
    launch.check(used, processes)
    with session.alone_in(layout) as environment, terminable():
        lines = list(checks.links(layout, str(state.FOLDER / "nodesh"), limit))
        lines += checks.nodes(layout, used, processes, limit, environment)
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
