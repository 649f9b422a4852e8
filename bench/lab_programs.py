#!/usr/bin/env python3
"""Compares total times of programs, natively and under Tutti in turn, in the lab.

    tutti lab up 8 --rate 1gbit
    mpicc -O2 bench/programs/mixed_calls.c -o mixed_calls
    bench/lab_programs.py measure FOLDER/program-mixed.json --rounds 5 -- ./mixed_calls 2000
    tutti lab down
    bench/lab_programs.py page FOLDER

Every other round has the contenders in reverse order. The program prints "total X s"; --total names
another pattern. Where it prints a digest, all runs must print the same.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import lab_page
import typer
from lab_job import err, links, output
from rich.progress import track

from tutti.bench import read
from tutti.console import write

SCHEMA = "tutti-lab-programs/2"
DIGEST = re.compile(r"digest ([0-9a-f]+)")
REPORTED = "auto, with a report"
"""A contender: a report costs time of its own, and says what exploring cost."""
app = typer.Typer(add_completion=False)


def run(words: list[str], place: list[str], contender: str, rules: Path | None) -> dict[str, Any]:
    """One run: its output and, where it has a report, what exploring cost."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        how = {"native": ["--native"], REPORTED: ["--report", str(report)]}.get(contender, [])
        settings = {} if rules is None else {"TUTTI_RULES": str(rules.resolve())}
        said = output(["tutti", "lab", "run", *how, *place, "--", *words], settings)
        seen = json.loads(report.read_text()) if report.exists() else {}
    return {"output": said, "tuning": exploration(seen)}


def exploration(report: dict[str, Any]) -> dict[str, Any]:
    """What exploring cost, from a report: its sums, by collective, and by class without candidates.
    Seconds in the mean over the ranks; `native`: the median call of the MPI's own."""
    if not report:
        return {}
    tuning = report.get("tuning", {})
    sums = {name: value for name, value in tuning.items() if isinstance(value, (int, float))}
    spent: Counter[str] = Counter()
    for line in report.get("calls", []):
        spent[line["collective"]] += line["elapsed"]["sum"]
    lost = {one["collective"]: one["exploring"] for one in tuning.get("collectives", [])}
    collectives = [{"collective": name, "seconds": seconds, "exploring": lost.get(name, 0)}
                   for name, seconds in spent.most_common()]  # fmt: skip
    kept = ("collective", "bytes", "selected", "calls", "explored", "exploring", "saved")
    cases = [{name: one[name] for name in kept} | {"native": one["candidates"][0]["median"]}
             for one in tuning.get("cases", [])]  # fmt: skip
    return {**sums, "collectives": collectives, "cases": cases}


@app.command()
def measure(
    file: Annotated[Path, typer.Argument(help="JSON file for the times.")],
    words: Annotated[list[str], typer.Argument(help="The program and its arguments.")],
    nodes: Annotated[int, typer.Option(help="Nodes of the lab.")] = 8,
    per_node: Annotated[int, typer.Option(help="Ranks on each.")] = 1,
    mapping: Annotated[str, typer.Option(help="As in tutti lab run --mapping.")] = "block",
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each contender.")] = 5,
    limit: Annotated[float, typer.Option("--timeout", help="Seconds of each run.")] = 600,
    rules: Annotated[Path | None, typer.Option(help="Rules file: one more contender.")] = None,
    total: Annotated[str, typer.Option(help="Pattern of the seconds in all.")] = r"total ([\d.]+)",
) -> None:
    """Measure a program in rounds; the file has all complete rounds. A former file is refused."""
    lab_page.refuse_former(file)
    contenders = {"native": None, "auto": None, REPORTED: None} | ({} if rules is None else {"rules": rules})
    place = ["--nodes", str(nodes), "--ranks-per-node", str(per_node), "--mapping", mapping,
             "--timeout", f"{limit:g}"]  # fmt: skip
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in contenders}
    in_turn = list(contenders.items())
    for number in track(range(rounds), description=words[0], console=err):
        for name, path in in_turn if number % 2 == 0 else reversed(in_turn):
            one = run(words, place, name, path)
            found = re.search(total, one["output"])
            if found is None:
                raise typer.BadParameter(f"no {total!r} in the output: {one['output']}")
            one["seconds"] = float(found.group(1))
            runs[name].append(one)
        digests = {tuple(DIGEST.findall(one["output"])) for of in runs.values() for one in of}
        if len(digests) > 1:
            err.print(f"results differ: {sorted(digests)}")
            raise typer.Exit(1)
        document = {"schema": SCHEMA, "words": [Path(words[0]).name, *words[1:]],
                    "nodes": nodes, "per_node": per_node, "metadata": {"mapping": mapping} | links(),
                    "runs": runs}  # fmt: skip
        write(file, json.dumps(document) + "\n", "FILE")


def documents(files: list[Path]) -> list[dict[str, Any]]:
    """What was measured; older files lack metadata."""
    return [read(path, SCHEMA, "tutti-lab-programs/1") for path in files]


def table(programs: list[dict[str, Any]]) -> list[str]:
    """A row for each program and contender."""
    rows = []
    for document in programs:
        native = [one["seconds"] for one in document["runs"]["native"]]
        for name, runs in document["runs"].items():
            seconds = [one["seconds"] for one in runs]
            wins = sum(one < other for one, other in zip(seconds, native, strict=True))
            explored = [one["tuning"]["exploring"] for one in runs if "exploring" in one["tuning"]]
            rows.append([
                f"`{' '.join(document['words'])}`", f"{document['nodes']} x {document['per_node']}", name,
                f"{median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})",
                f"{median(native) / median(seconds):.2f}",
                "" if name == "native" else f"{wins} of {len(runs)}",
                f"{median(explored):.2f}" if explored else "",
            ])  # fmt: skip
    titles = ["program", "nodes x ranks", "contender", ">total, s: median (least to most)", ">native / it",
              ">rounds won", ">spent exploring, s"]  # fmt: skip
    return lab_page.table(titles, rows)


def losses(programs: list[dict[str, Any]]) -> list[str]:
    """A row for each collective of each program in runs with a report."""
    rows = []
    for document in programs:
        tunings = [one["tuning"] for of in document["runs"].values() for one in of if "cases" in one["tuning"]]
        rounds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        classes: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for tuning in tunings:
            for one in tuning["collectives"]:
                rounds[one["collective"]].append(one)
            for one in tuning["cases"]:
                classes[one["collective"]].append(one)
        for name, of in rounds.items():
            seconds, lost = ([one[what] for one in of] for what in ("seconds", "exploring"))
            share = max(one["exploring"] / one["seconds"] for one in of)
            start = [f"`{' '.join(document['words'])}`", name, f"{median(seconds):.2f}",
                     f"{1e3 * median(lost):.1f} ({1e3 * max(lost):.1f})", f"{100 * share:.1f} %"]  # fmt: skip
            known = [one for one in classes[name] if one["native"]]
            if not known:
                rows.append([*start, *[""] * 6])
                continue
            of_class = lambda one: one["exploring"] / (one["calls"] * one["native"])  # noqa: E731
            most = max(known, key=of_class)
            rows.append([*start, bytes_in_words(most["bytes"]), f"{most['calls']:,}", f"{most['explored']}",
                         f"{1e3 * most['exploring']:.2f}", f"{100 * of_class(most):.1f} %", f"`{most['selected']}`"])
    titles = ["program", "collective", ">in it, s", ">lost by exploring, ms: median (most)", ">most / time in it",
              "its class with the most", ">calls", ">explored", ">lost, ms", ">lost / its time", "selected"]  # fmt: skip
    return lab_page.table(titles, rows)


def bytes_in_words(limits: list[int | None]) -> str:
    """The message sizes of a class."""
    least, most = limits
    return f"{least:,} B and more" if most is None else f"{least:,} to {most:,} B"


@app.command()
def page(folder: Annotated[Path, typer.Argument(help="Folder of the results.")]) -> None:
    """Print the tables of all measured programs; lab_selection.py writes them into its page."""
    programs = documents(lab_page.files(folder, "program-*.json"))
    lab_page.write([*table(programs), "", *losses(programs)], None)


if __name__ == "__main__":
    lab_page.main(app)
