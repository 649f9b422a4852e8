"""Runs of tutti-bench on simulated machines."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tutti.refusal import Refusal
from tutti.simgrid import running
from tutti.simgrid.platforms import Platform
from tutti_reproduce.context import Context, Numbers

READ = ("TUTTI_DISTANCES", "TUTTI_MACHINE", "TUTTI_RULES")
"""The settings that name files which runs read."""
_DEFAULTS = {"TUTTI_MACHINE": "built-in", "TUTTI_RULES": "none", "TUTTI_LEARN": "run"}
"""Unless the user names others: nothing that this user or the site has measured."""
_PATIENCE = 7200
"""Seconds after which a run of up to 560 ranks is given up; more ranks take time with their square."""


def times(
    words: Sequence[str], algorithms: Mapping[str, str], machine: Platform, ranks: int, ppn: int,
    selector: str, taken: Sequence[int], distances: str, settings: Mapping[str, str],
    configuration: Sequence[str] = (),
) -> list[Numbers]:  # fmt: skip
    """The shortest times of each row in microseconds, and the means: times_of().

    Args:
        words: arguments of tutti-bench.
        algorithms: by the name of the contender.
        machine: the platform.
        ranks: their number.
        ppn: ranks of a node.
        selector: whose choices the MPI's own collectives follow.
        taken: for each rank the number of the slot that it takes, node after node; empty: its own.
        distances: the text of the distance file; empty: none.
        settings: Tutti's, by the names of their variables.
        configuration: SimGrid's, as "key:value".
    """
    with tempfile.TemporaryDirectory() as folder:
        file, known = Path(folder) / "result.json", Path(folder) / "distances.json"
        known.write_text(distances)
        chosen = [word for each in algorithms.values() for word in ("--algorithm", each)]
        job = running.Job(("tutti-bench", *words, *chosen, "--no-check", "--json", str(file)), machine,
                          ranks, ppn, selector=selector, taken=taken, settings=configuration)  # fmt: skip
        named = {"TUTTI_DISTANCES": str(known)} if distances else {}
        timeout = _PATIENCE * max(1.0, (ranks / 560) ** 2)
        defaults = {name: text for name, text in _DEFAULTS.items() if name not in os.environ}
        running.output(job, {**defaults, **settings, **named}, timeout=timeout)
        return times_of(json.loads(file.read_text()), algorithms)


def times_of(document: Mapping[str, Any], algorithms: Mapping[str, str]) -> list[Numbers]:
    """Microseconds of each row of a result of tutti-bench by the names of the contenders: the shortest
    times, and as "NAME, avg" the means; `algorithms` has the algorithm of each name."""
    found = []
    for row in document["rows"]:
        lines = {line["name"]: line for line in row["algorithms"]}
        least = {name: lines[algorithm]["min_us"] for name, algorithm in algorithms.items()}
        means = {average(name): lines[algorithm]["mean_us"] for name, algorithm in algorithms.items()}
        found.append(least | means)
    return found


def average(name: str) -> str:
    """The name of a contender's mean times beside its shortest."""
    return f"{name}, avg"


def _libraries(smpimain: Path) -> list[Path]:
    """The files of SimGrid's library in the installation that a program of it belongs to."""
    above = smpimain.resolve().parent.parent
    folders = ("", "lib*/", "lib*/*/")
    found = (one for folder in folders for one in above.glob(f"{folder}libsimgrid.so*"))
    return sorted({one.resolve() for one in found})


def bench(
    context: Context, words: Sequence[str], algorithms: Mapping[str, str], machine: Platform,
    ranks: int, ppn: int, selector: str = "ompi", taken: Sequence[int] = (), distances: str = "",
    configuration: Sequence[str] = (),
) -> list[Numbers]:  # fmt: skip
    """What times() returns, kept by all that it depends on, the libraries and the files that settings
    name included."""
    front, smpimain = running.front(), running.smpimain()
    settings = {name: value for name, value in os.environ.items() if name.startswith("TUTTI")}
    files = [front, front.with_name("libtutti-simgrid-rank.so"), running.program("tutti-bench"),
             smpimain, *_libraries(smpimain),
             *(Path(settings.get(name, "")) for name in READ)]  # fmt: skip
    found: list[Numbers] = context.result(
        times, list(words), dict(algorithms), machine, ranks, ppn, selector, list(taken), distances,
        settings, list(configuration), of=files,
    )  # fmt: skip
    return found


def refuse_without_simgrid() -> str:
    """Why nothing can run in SimGrid here; empty if it can."""
    try:
        running.check("tutti-bench")
    except Refusal as missing:
        return str(missing)
    return ""
