#!/usr/bin/env python3
"""What `auto` gains on simulated machines over the selections of four MPIs, and its page.

    bench/simgrid_auto.py run [--retry] PROGRAM SAMPLES [SECONDS]
    bench/simgrid_auto.py page SAMPLES docs/results/simgrid-auto.md

PROGRAM is tutti-selection of a build with SimGrid and -DTUTTI_BENCH=ON. `run` measures what SAMPLES
lacks, for at most so many seconds; with --retry also what failed before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import geometric_mean, median

import lab_page
import selection_runs

from tutti import _engine
from tutti.refusal import Refusal
from tutti.simgrid import platforms, running

SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
SCANS = {"scan": "512", "exscan": "512"}
"""Of few ranks: SimGrid's own send p^2 messages at once, and crash with 256 ranks."""


def of_blocks(*kinds: str) -> list[str]:
    """The collectives of the MPI with blocks of these kinds, without scans."""
    return [name for name in _engine.collectives() if _engine.block_kind(name) in kinds
            and name not in SCANS and not name.startswith("rma_")]  # fmt: skip


VECTORS, BLOCKS = of_blocks("parts"), of_blocks("ranks", "pairs")
SHORT = {**dict.fromkeys(VECTORS, "512"), **dict.fromkeys(of_blocks("none"), "0"),
         **dict.fromkeys(BLOCKS, "64")}  # fmt: skip
"""Bytes of the whole vector, or of a rank's block."""
LONG = {**{name: "8192" if _engine.reduces(name) else "65536" for name in VECTORS},
        **{name: "4096" for name in BLOCKS if _engine.has_root(name)}}  # fmt: skip
LONG_OF_ALL = {name: "4096" for name in BLOCKS if not _engine.has_root(name)}
"""Calls of p^2 messages, too many for 1,024 ranks."""
THOUSAND = ("fat-tree:64:leaf=16,taper=2", "dragonfly:64", "torus:64", "two-switches:64")
"""Of 16 ranks per node."""
SMALL = ("fat-tree:8:leaf=4,taper=2",)
QUARTER = ("fat-tree:32:leaf=8,taper=2", "switch:32", "dragonfly:32", "torus:32")
"""Of 8 ranks per node, as SMALL."""
CALLS = 3000
"""Calls of `auto` at most."""
LIMIT = 900
"""Seconds of one run: `auto` explores for 1/3 of them; the call that it is in may take as long."""

SOURCE = Path(__file__).resolve().parents[1]

Group = tuple[str, int, str, str]
"""Platform, ranks per node, collective and sizes."""


def plan() -> list[Group]:
    """The most important first."""
    first = ("bcast", "reduce", "allreduce", "scatter", "gather")
    parts = [
        (THOUSAND[:1], 16, SHORT), (THOUSAND[:1], 16, LONG), (QUARTER[:1], 8, SHORT), (QUARTER[:1], 8, LONG),
        (THOUSAND[1:], 16, {name: SHORT[name] for name in first}), (QUARTER, 8, SHORT), (QUARTER, 8, LONG),
        (QUARTER, 8, LONG_OF_ALL), (SMALL, 8, SCANS | SHORT),
        (SMALL, 8, LONG_OF_ALL),
    ]  # fmt: skip
    listed = [(shape, ppn, name, size) for shapes, ppn, sizes in parts
              for name, size in sizes.items() for shape in shapes]  # fmt: skip
    return list(dict.fromkeys(listed))


def key(group: Group, selector: str, size: str) -> str:
    """The name of a sample."""
    return f"{group[0]} x {group[1]}, {selector}, {group[2]}, {size}"


def commit() -> str:
    """The commit of the library's sources; exits outside a checkout."""
    words = ("git", "-C", str(SOURCE), "log", "-1", "--format=%h", "--", "src", "simgrid")
    ended = subprocess.run(words, check=False, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"simgrid_auto: {SOURCE}: expected a checkout of Tutti: {ended.stderr.strip()}")
    return ended.stdout.strip()


def is_missing(sample: object, retry: bool) -> bool:
    """Is a sample still to be measured? With `retry` one that failed is, too."""
    return sample is None or (retry and isinstance(sample, str))


def measure(
    program: str, group: Group, selector: str, sizes: str, limit: float, library: str
) -> dict[str, object]:
    """By name the samples of a run, or the text of its failure; none if it ran out of less time
    than LIMIT. `library` is the commit that samples name."""
    shape, ppn, collective, _ = group
    calls = f"{CALLS}/{int(limit / 3)}" if selector == "ompi" else "0"
    words = (program, calls, f"{collective}:{sizes}")
    try:
        found = selection_runs.lines(words, shape, ppn, selector, {"TUTTI_EXPLORE": "1"}, limit)
    except Refusal as failure:
        reason = str(failure).rpartition(": ")[2]
        if reason.startswith("not done") and limit < LIMIT:
            return {}
        return {key(group, selector, size): reason for size in sizes.split(",")}
    done = [line for line in found if line.get("settled", True) or limit >= LIMIT]
    return {
        key(group, selector, str(line["bytes"])): line | {"commit": library} if line["native"] > 0
        else "returned at once, without communicating" for line in done
    }  # fmt: skip


def run(program: str, file: Path, seconds: float, retry: bool) -> None:
    """Measures what is missing until the time is over: `auto` with a run for each size. Raises Refusal
    if the program cannot start."""
    running.check(program)
    library = commit()
    samples = json.loads(file.read_text()) if file.exists() else {}
    end = time.monotonic() + seconds
    for group in plan():
        sizes = group[3].split(",")
        runs = [("ompi", [size]) for size in sizes] + [(other, sizes) for other in SELECTORS[1:]]
        for selector, wanted in runs:
            missing = [size for size in wanted
                       if is_missing(samples.get(key(group, selector, size)), retry)]  # fmt: skip
            limit = min(LIMIT, end - time.monotonic())
            if not missing or limit <= 0:
                continue
            began = time.monotonic()
            found = measure(program, group, selector, ",".join(missing), limit, library)
            print(f"{', '.join(found)}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
            samples |= found
            file.write_text(json.dumps(samples, indent=1) + "\n")


class Cell:
    """One size of a collective on one platform; seconds until the last exit, and to the mean one."""

    def __init__(self, collective: str, by_selector: dict[str, dict]) -> None:
        ours = by_selector["ompi"]
        self.collective, self.bytes = collective, ours["bytes"]
        self.natives = {name: line["native"] for name, line in by_selector.items()}
        self.auto, self.own = ours["auto"], ours["native"] / ours["auto"]
        self.own_mean = ours["native_mean"] / ours["auto_mean"]
        self.best = min(self.natives.values()) / self.auto
        self.best_mean = min(line["native_mean"] for line in by_selector.values()) / ours["auto_mean"]
        self.selected = lab_page.ran(ours["selected"])
        self.settled, self.calls, self.commit = ours["settled"], ours["calls"], ours["commit"]
        # A lower bound: what calls by the faster selection gained pays for exploring here, not in the selector.
        lost = ours["spent"] - ours["calls"] * ours["native"]
        self.calls_by_default = max(self.calls, lost / (0.01 * ours["native"]))


def cells(samples: dict[str, object], shape: str, ppn: int) -> list[Cell]:
    """The cells of a platform in which `auto` ran."""
    found = []
    for group in plan():
        for size in group[3].split(",") if group[:2] == (shape, ppn) else []:
            runs = {each: samples.get(key(group, each, size)) for each in SELECTORS}
            lines = {each: line for each, line in runs.items() if isinstance(line, dict)}
            if "ompi" in lines:
                found.append(Cell(group[2], lines))
    return found


def summary(found: list[Cell]) -> list[str]:
    """A row for each collective."""
    titles = ["collective", ">cells", ">settled", ">own / `auto`", ">in the mean",
              ">best of four / `auto`", ">in the mean", "worst own / `auto`", ">calls", ">by default, at least"]  # fmt: skip
    rows = []
    for name in [*dict.fromkeys(cell.collective for cell in found), ""]:
        group = [cell for cell in found if name in ("", cell.collective)]
        worst = min(group, key=lambda cell: cell.own)
        done = [cell for cell in group if cell.settled]
        means = [geometric_mean(getattr(cell, ratio) for cell in group)
                 for ratio in ("own", "own_mean", "best", "best_mean")]  # fmt: skip
        calls = [f"{median(getattr(cell, which) for cell in done):,.0f}" if done else ""
                 for which in ("calls", "calls_by_default")]  # fmt: skip
        rows.append([
            name or "**all**", str(len(group)), str(len(done)), *(f"{mean:.2f}" for mean in means),
            f"{worst.own:.2f} ({worst.collective}, {worst.bytes:,} B)", *calls,
        ])  # fmt: skip
    return lab_page.table(titles, rows)


def table(found: list[Cell]) -> list[str]:
    """A row for each cell, in microseconds."""
    titles = ["collective", ">bytes", *(f">{name}" for name in SELECTORS), ">`auto`",
              ">own / `auto`", ">in the mean", "selected", ">calls", "library"]  # fmt: skip
    rows = []
    for cell in found:
        natives = [f"{1e6 * cell.natives[name]:,.1f}" if name in cell.natives else ""
                   for name in SELECTORS]  # fmt: skip
        rows.append([
            cell.collective, f"{cell.bytes:,}", *natives, f"{1e6 * cell.auto:,.1f}",
            f"{cell.own:.2f}", f"{cell.own_mean:.2f}", f"`{cell.selected}`",
            f"{cell.calls:,}" if cell.settled else "not settled", cell.commit,
        ])  # fmt: skip
    return lab_page.table(titles, rows)


def failures(samples: dict[str, object]) -> list[str]:
    """What ended without a result."""
    failed = [f"- {name}: {text}" for name, text in samples.items() if isinstance(text, str)]
    return ["## Runs without a result", "", *failed] if failed else []


def page(samples: dict[str, object], page: Path) -> None:
    """Writes the tables."""
    lines: list[str] = []
    for shapes, ppn in ((THOUSAND[1:], 16), (QUARTER, 8)):
        found = [cell for shape in shapes for cell in cells(samples, shape, ppn)]
        if found:
            ranks = platforms.platform(shapes[0]).nodes * ppn
            lines += [f"## {ranks:,} ranks: {', '.join(f'`{shape}`' for shape in shapes)}", "",
                      *summary(found), ""]  # fmt: skip
    for shape, ppn in dict.fromkeys(group[:2] for group in plan()):
        found = cells(samples, shape, ppn)
        if found:
            ranks = platforms.platform(shape).nodes * ppn
            lines += [f"## {ranks:,} ranks: `{shape}`, {ppn} on a node", "", *summary(found), "",
                      *table(found), ""]  # fmt: skip
    lab_page.write([*lines, *failures(samples)], page)


def main(words: list[str]) -> int:
    """Runs `run` or `page`."""
    retry = words[:2] == ["run", "--retry"]
    if retry:
        words = ["run", *words[2:]]
    if words[:1] == ["run"] and len(words) in (3, 4):
        run(words[1], Path(words[2]), float(words[3]) if len(words) == 4 else 1e9, retry)
        return 0
    if words[:1] == ["page"] and len(words) == 3:
        page(json.loads(Path(words[1]).read_text()), Path(words[2]))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    lab_page.main(lambda: main(sys.argv[1:]))
