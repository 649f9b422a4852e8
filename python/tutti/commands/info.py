"""`tutti info`: the installed libraries, the files that programs read, and the settings."""

from __future__ import annotations

import os

from rich.markup import escape

from tutti import _engine, libraries, rules, workload
from tutti.commands.options import AsJson
from tutti.console import Refusal, console, print_json, table
from tutti.user_files import cache_file


def info(as_json: AsJson = False) -> None:
    """Show the version, the libraries for each MPI, the files that programs read, and all settings with
    their values."""
    try:
        folder, found = str(libraries.folder()), libraries.flavours()
        missing = ""
    except Refusal as refusal:
        folder, found, missing = None, {}, str(refusal)
    bench = libraries.programs()
    machine, learned = workload.machine_file(), _learned()
    if as_json:
        print_json(
            {
                "version": _engine.version,
                "libraries": {"folder": folder, **{n: str(p) for n, p in found.items()}},
                "programs": str(bench) if bench else None,
                "rules": [str(path) for path in rules.files()],
                "machine": machine or None,
                "learned": learned,
                "settings": [
                    {
                        "name": s.name,
                        "default": s.default,
                        "accepted": s.accepted,
                        "meaning": s.meaning,
                        "value": os.environ.get(s.name),
                    }
                    for s in _engine.settings()
                ],
            }
        )
        return
    out = console()
    out.print(f"[bold]Tutti {_engine.version}[/]")
    out.print()
    if missing:
        out.print(f"[yellow]{escape(missing)}[/]")
    else:
        listing = table("library", "serves", "path")
        listing.add_row(
            "[cyan]tutti[/]", "any MPI: loads the one that fits", escape(f"{folder}/libtutti.so")
        )
        for name, serves in libraries.FLAVOURS.items():
            path = escape(str(found[name])) if name in found else "[dim]not built[/]"
            listing.add_row(f"[cyan]tutti-{name}[/]", serves, path)
        out.print(listing)
    program = escape(str(bench / "tutti-bench")) if bench else "[dim]not installed[/]"
    files = escape(", ".join(map(str, rules.files()))) or "[dim]none: auto explores[/]"
    out.print(f"\ntutti-bench  {program}\nrules        {files}")
    out.print(f"machine      {escape(machine) or '[dim]built-in[/]'}")
    unread = "" if os.environ.get("TUTTI_LEARN") == "keep" else "; read with TUTTI_LEARN=keep only"
    kept = f"{escape(', '.join(learned))}[dim]{unread}[/]" if learned else "[dim]nothing kept[/]"
    out.print(f"learned      {kept}\n")
    settings = table("setting", "now", "meaning", "default", "accepted")
    for setting in _engine.settings():
        now = os.environ.get(setting.name)
        settings.add_row(
            f"[cyan]{setting.name}[/]",
            "" if now is None else f"[bold]{escape(now)}[/]",
            setting.meaning,
            escape(setting.default),
            escape(setting.accepted),
        )
    out.print(settings)


def _learned() -> list[str]:
    """The files that programs with TUTTI_LEARN=keep have left and read."""
    paths = [cache_file(name) for name in (_engine.kept_rules_name, "distances.json")]
    return [str(path) for path in paths if path is not None and path.is_file()]
