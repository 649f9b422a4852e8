"""The machine that hosts a lab: its commands, and existing parts and processes of labs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tutti.console import Refusal
from tutti_lab.layout import OWN_NAMES, Command

TOOLS = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "mount": "mount"}
"""The commands that a lab needs, with the Debian package of each."""

NAMESPACES = Path("/run/netns")

Names = list[tuple[str, str]]


def path_of_system(environment: dict[str, str] | os._Environ[str] = os.environ) -> str:
    """PATH with the folders of system tools, which a user's PATH often lacks."""
    return os.pathsep.join([environment.get("PATH", "/usr/bin:/bin"), "/usr/sbin", "/sbin"])


def require(what: str) -> None:
    """Raises Refusal if the user is not root or tools are missing.

    Args:
        what: completes "tutti lab needs root to ..".
    """
    if os.geteuid() != 0:
        raise Refusal(f"tutti lab needs root to {what}; --dry-run shows the commands")
    missing = {p for tool, p in TOOLS.items() if not shutil.which(tool, path=path_of_system())}
    if missing:
        raise Refusal(f"tutti lab needs {' and '.join(sorted(missing))}; install it first")


def output(command: Command, limit: float = 30) -> str:
    """The output of a command. Raises Refusal with its last message if it fails."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": path_of_system()},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"{' '.join(command)}: {error}") from None
    if done.returncode:
        raise Refusal(f"{' '.join(command)}: {message_in(done.stderr or done.stdout)}")
    return done.stdout


def message_in(text: str) -> str:
    """The line of a failed command's output that says why: the first with an error, or else the last with
    words."""
    lines = [line.strip() for line in text.splitlines() if any(map(str.isalnum, line))] or ["failed"]
    return next((line for line in lines if "error" in line.lower()), lines[-1])


def existing() -> Names:
    """The namespaces and interfaces of labs on the machine, found by name: (kind, name)."""
    names = [("namespace", p.name) for p in NAMESPACES.glob("*")] if NAMESPACES.is_dir() else []
    names += [("interface", p.name) for p in Path("/sys/class/net").glob("*")]
    return sorted(pair for pair in names if OWN_NAMES.fullmatch(pair[1]))


def other_networks() -> list[tuple[str, str]]:
    """The networks of the machine's interfaces: (interface, network). Networks behind a gateway are
    not among them."""
    routes = json.loads(output(["ip", "-json", "-4", "route", "show"]) or "[]")
    own = [r for r in routes if "dev" in r and "gateway" not in r]
    return [(r["dev"], r["dst"]) for r in own if r["dst"] != "default"]


def remove(names: Names, done: Callable[[], None] = lambda: None) -> Names:
    """Removes namespaces and interfaces; returns those that remain. Calls `done` after each.

    A namespace exists as long as a process in it: kill its processes first.
    """
    for kind, name in sorted(names, key=lambda pair: pair[0] != "namespace"):
        noun = ["netns"] if kind == "namespace" else ["link"]
        # It may have gone with its other end; the result has what remains at the end.
        with contextlib.suppress(Refusal):
            output(["ip", *noun, "del", name])
        done()
    deadline = time.monotonic() + 5
    while (left := sorted(set(names) & set(existing()))) and time.monotonic() < deadline:
        time.sleep(0.05)  # the kernel empties namespaces in the background
    return left


def raise_settings(least: dict[str, int], keep: Callable[[str, int], None]) -> None:
    """Raises kernel settings to at least `least`. Skips those that the kernel lacks, as in a container
    with a network of its own.

    Args:
        keep: gets the name and the old value of each setting before it changes.
    """
    for name, value in least.items():
        path = Path("/proc/sys") / name
        if not path.exists():
            continue
        with _named(path):
            now = int(path.read_text())
        if now < value:
            keep(name, now)
            with _named(path):
                path.write_text(str(value))


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turns an OSError into a Refusal that names the file."""
    try:
        yield
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}") from None


def restore_settings(before: dict[str, int]) -> None:
    """Restores settings; skips those that the kernel no longer has, and those that did not change: a
    read-only /proc/sys keeps its values."""
    for name, value in before.items():
        path = Path("/proc/sys") / name
        if path.exists() and int(path.read_text()) != value:
            path.write_text(str(value))


def processes(namespaces: Iterable[str]) -> dict[str, list[int]]:
    """The processes in network namespaces, by namespace; only root sees those of other users."""
    wanted = {}
    for name in namespaces:
        try:
            status = (NAMESPACES / name).stat()
        except OSError:
            continue
        wanted[status.st_dev, status.st_ino] = name
    found: dict[str, list[int]] = {name: [] for name in wanted.values()}
    for entry in Path("/proc").iterdir() if wanted else ():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "ns/net").stat()
        except OSError:
            continue  # it has ended, or belongs to another user
        name = wanted.get((status.st_dev, status.st_ino))
        if name:
            found[name].append(int(entry.name))
    return found


def kill(namespaces: list[str], patience: float = 5) -> list[int]:
    """Kills all processes in network namespaces; returns those alive after `patience` seconds."""
    deadline = time.monotonic() + patience
    while True:
        left = [pid for pids in processes(namespaces).values() for pid in pids]
        if not left or time.monotonic() > deadline:
            return left
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
