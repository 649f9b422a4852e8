"""What `tutti lab status` shows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tutti.console import console, count, table
from tutti_lab import machine, state
from tutti_lab.layout import show_rate


def find() -> dict[str, Any]:
    """The lab, its nodes with their processes, who uses it, and what earlier ones left."""
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
    return {
        "lab": {**asdict(layout), "since": found.since} if found and layout else None,
        "complete": bool(found and found.complete and all(row["there"] for row in rows)),
        "used_by": user,
        "nodes": rows,
        # Parts without a lab, or processes without a run.
        "leftovers": [name for _, name in names] if found is None else
        [f"process {pid}" for pids in running.values() for pid in pids if user is None],
    }  # fmt: skip


def show(shown: Mapping[str, Any]) -> None:
    """Prints it."""
    out = console()
    layout = shown["lab"]
    if layout is None:
        out.print("no lab")
    else:
        listing = table("node", "address", "switch", "state", "processes", right=("processes",))
        for row in shown["nodes"]:
            there = "up" if row["there"] else "[bold red]missing[/]"
            number = str(len(row["processes"]))
            listing.add_row(row["name"], row["address"], str(row["switch"]), there, number)
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(layout["since"]))
        out.print(f"{count(layout['nodes'], 'node')} of {show_rate(layout['rate'])}, up {since}")
        if layout["switches"] > 1:
            out.print(f"{layout['switches']} switches, uplinks of {show_rate(layout['uplink'])}")
        out.print(listing)
        if not shown["complete"]:
            out.print("[bold red]the lab is not complete[/]; tutti lab down removes it")
    if shown["used_by"] is not None:
        number = shown["used_by"]
        out.print(f"in use by {f'process {number}' if number else 'another process'}")
    if shown["leftovers"]:
        out.print(f"[bold red]left over:[/] {', '.join(shown['leftovers'])}; tutti lab down removes them")
