"""Runs a program under the preloaded library, and checks its report.

check.py PRELOADED PROGRAM MPIRUN...
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RANKS = 4
CALLS = 5


def blocks(ranks: int) -> int:
    """The bytes of one gather: rank i contributes 1000 i."""
    return 1000 * ranks * (ranks - 1) // 2


def function_at(program: Path, site: str) -> str:
    """The function of a site "module+0xoffset", by the program's symbols."""
    module, offset = site.rsplit("+", 1)
    assert module == program.name, site
    listed = subprocess.run(
        ["addr2line", "-f", "-e", program, hex(int(offset, 16) - 1)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return listed.splitlines()[0]


class Runner:
    """The program with and without settings on all ranks or on one."""

    def __init__(self, preloaded: str, program: str, mpirun: list[str], folder: Path) -> None:
        self.preloaded, self.program, self.mpirun = preloaded, program, mpirun
        self.report = folder / "report.json"

    def run(self, mode: str, only_rank: int | None = None, report: str | None = None, **more: str):
        """Runs the program; returns the documents of its report and its standard error."""
        self.report.unlink(missing_ok=True)
        settings = {"LD_PRELOAD": self.preloaded, "TUTTI_GATHERV": "ordered_tree", **more}
        where = f"TUTTI_REPORT={report or self.report}"
        if only_rank is None:
            where = f"export {where};"
        else:
            rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
            where = f'if [ "{rank}" = {only_rank} ]; then export {where}; fi;'
        exports = " ".join(f"export {name}={value};" for name, value in settings.items())
        script = f"{where} {exports} exec {self.program} {mode} {CALLS}"
        done = subprocess.run(
            [*self.mpirun, "-n", str(RANKS), "sh", "-c", script],
            capture_output=True, text=True, timeout=100, env=dict(os.environ),
        )  # fmt: skip
        # Launchers may report an error if a rank exits without MPI_Finalize.
        assert done.returncode == 0 or mode == "exit", done.stderr
        written = self.report.read_text().splitlines() if self.report.exists() else []
        return [json.loads(line) for line in written], done.stderr


def call_of(report: dict, collective: str) -> dict:
    (call,) = [call for call in report["calls"] if call["collective"] == collective]
    return call


def check_world(runner: Runner) -> None:
    (report,), _ = runner.run("world")
    assert report["format"] == 2 and report["partial"] is False, report
    assert report["ranks"] == RANKS and report["nodes"] == 1, report
    gatherv = call_of(report, "gatherv")
    assert gatherv["calls"] == CALLS and gatherv["bytes"] == CALLS * blocks(RANKS), gatherv
    # The largest block is 1000 (p - 1) bytes, the mean one 1000 (p - 1) / 2.
    assert gatherv["irregularity"] == {"mean": 2, "max": 2}, gatherv
    (size,) = gatherv["sizes"]
    seconds = size.pop("seconds")
    mean = blocks(RANKS) // RANKS
    roots = {"root": 0, "roots": [[0, CALLS]]}
    assert size == {"p": RANKS, "bytes": mean, "calls": CALLS, "irregularity": 2, **roots}, size
    assert 0 < seconds <= CALLS * gatherv["seconds"]["max"], gatherv
    assert gatherv["algorithm"].startswith("ordered_tree") and gatherv["reason"], gatherv
    (other,) = gatherv["other_sites"]
    program = Path(runner.program).resolve()
    assert str(program) in report["modules"], report
    for site in (gatherv["site"], other):
        assert function_at(program, site) == "write_snapshot", gatherv
    assert other != gatherv["site"], gatherv
    assert gatherv["spread_note"] == "", gatherv
    assert gatherv["spread"]["max"] >= 0.002, gatherv  # the last rank slept ten times as long
    assert gatherv["seconds"]["mean"] >= 0.002, gatherv
    assert gatherv["seconds"]["max"] >= gatherv["seconds"]["mean"], gatherv
    assert 0 < gatherv["moving"]["mean"] < gatherv["seconds"]["mean"], gatherv
    check_pattern(gatherv)
    scatter = call_of(report, "scatter")
    assert [size["bytes"] for size in scatter["sizes"]] == [4], scatter
    assert scatter["calls"] == 1 and scatter["bytes"] == 4 * RANKS, scatter
    assert scatter["irregularity"]["max"] == 1 and scatter["other_sites"] == [], scatter


def check_pattern(call: dict) -> None:
    """Checks the arrivals, and the parts of each rank's time."""
    pattern = call["pattern"]
    assert pattern["communicators"] == 1 and pattern["ranks"] == list(range(RANKS)), pattern
    assert pattern["calls"] == list(range(CALLS)) and pattern["roots"] == [0] * CALLS, pattern
    assert pattern["begins"] == sorted(pattern["begins"]) and pattern["begins"][0] == 0, pattern
    assert len(pattern["delays"]) == len(pattern["elapsed"]) == CALLS, pattern
    for call_number in range(CALLS):
        delays, elapsed = pattern["delays"][call_number], pattern["elapsed"][call_number]
        assert len(delays) == len(elapsed) == RANKS and min(delays) == 0, pattern
        assert min(elapsed) > 0, pattern
    assert max(row[-1] for row in pattern["delays"]) >= 0.002, pattern  # the last rank slept
    assert sum(pattern["last"]) == CALLS, pattern
    assert call["late"].startswith(("rank ", "no rank ")), call
    parts = call["parts"]
    assert parts["calls"] == CALLS, parts
    whole = parts["waiting"] + parts["held"] + parts["moving"]
    assert abs(whole - call["elapsed"]["mean"]) < 1e-6, call
    # The root needs all ranks, so it is never held.
    assert pattern["held"][0] == 0 and pattern["waiting"][0] > 0, pattern


def check_expectations(runner: Runner) -> None:
    """Checks the predictions in the report if the library exchanges arrivals."""
    (report,), _ = runner.run(
        "world", TUTTI_GATHERV="binomial:order=arrival", TUTTI_BACKGROUND="on"
    )
    pattern = call_of(report, "gatherv")["pattern"]
    ahead = pattern["ahead"]
    assert ahead[0] == [None] * RANKS, ahead  # no earlier calls to predict from
    assert len(ahead) == CALLS and None not in ahead[-1], ahead
    (plain,), _ = runner.run("world")
    assert call_of(plain, "gatherv")["pattern"]["ahead"] is None, plain


def check_persistent(runner: Runner) -> None:
    """Checks that the report has persistent calls, from Wait to its end."""
    for algorithm in ("native", "binomial"):
        (report,), _ = runner.run("persistent", TUTTI_GATHER=algorithm)
        gather = call_of(report, "gather")
        assert gather["calls"] == CALLS and gather["bytes"] == CALLS * 4 * RANKS, gather
        assert gather["algorithm"] == algorithm, gather
        assert function_at(Path(runner.program), gather["site"]).startswith("persist"), gather
        assert gather["spread"]["max"] >= 0.002, gather
        assert gather["pattern"]["calls"] == list(range(CALLS)), gather


def check_text(runner: Runner) -> None:
    _, printed = runner.run("world", report="-")
    assert f"{RANKS} ranks on 1 node" in printed and "ordered_tree" in printed, printed
    _, printed = runner.run("often", report="-", TUTTI_EXPLORE="1")
    report = printed[printed.index("Tutti ") :].splitlines()
    assert report[-1].startswith("time in collectives "), printed
    assert not [line for line in report if len(line) > 80], printed


def check_candidates(runner: Runner, mode: str) -> None:
    """Checks what the report says of the candidates for 1,000 allreduces of 4 KiB."""
    # The budget is so large that candidates are explored whatever they cost.
    (report,), _ = runner.run(mode, TUTTI_EXPLORE="1")
    tuning = report["tuning"]
    rounding = 1e-4 * tuning["seconds"]
    assert abs(tuning["seconds"] - report["seconds"]["mean"]) <= rounding, tuning
    assert tuning["exploring"] > 0 and tuning["left_out"] == 0, tuning
    (case,) = tuning["cases"]
    assert case["collective"] == "allreduce" and case["ranks"] == RANKS, case
    assert case["bytes"] == [2049, 4096] and case["evidence"].startswith("this run"), case
    # A call that runs something else than was selected or explored would be missing.
    assert case["calls"] == 200 * CALLS, case
    (site,) = case["sites"]
    assert function_at(Path(runner.program), site["site"]) == "reduce_often", case
    assert site["calls"] == case["calls"], case
    lines = [line for line in report["calls"] if line["collective"] == "allreduce"]
    assert sum(line["calls"] for line in lines) == case["calls"], lines
    assert 0 < sum(line["explored"] for line in lines), lines
    candidates = case["candidates"]
    assert candidates[0]["name"] == "native" and candidates[0]["median"] > 0, candidates
    assert [one["name"] for one in candidates if one["state"] == "selected"] == [case["selected"]]
    explored = [one for one in candidates[1:] if one["median"] is not None]
    assert explored, candidates
    for one in candidates:
        assert one["state"] and one["why"], one
        if one["interval"] is None:
            assert one["calls"] < 6, one
        else:
            assert one["interval"][0] <= one["median"] <= one["interval"][1], one
            assert one["confidence"] >= 0.95, one
    check_rules(runner, mode, candidates[-1]["name"])


def check_kept(runner: Runner) -> None:
    """Checks that the blocks which an alltoallv leaves with their rank are no part of its message
    size, neither in the list of sizes nor for the tuner."""
    (report,), _ = runner.run("kept", TUTTI_EXPLORE="1")
    lines = [line for line in report["calls"] if line["collective"] == "alltoallv"]
    assert {size["bytes"] for line in lines for size in line["sizes"]} == {100}, lines
    classes = [case["bytes"] for case in report["tuning"]["cases"]]
    assert [65, 128] in classes and max(classes) == [65, 128], report["tuning"]


def check_rules(runner: Runner, mode: str, algorithm: str) -> None:
    """Checks that the report cites a rule, and counts savings by its times."""
    rules = runner.report.with_name("rules.json")
    evidence = {"native_us": 300, "choice_us": 100, "date": "2026-11-22", "source": "site.json"}
    rule = {"collective": "allreduce", "use": algorithm, "evidence": evidence}
    rules.write_text(json.dumps({"schema": "tutti-rules-1", "rules": [rule]}))
    (report,), _ = runner.run(mode, TUTTI_RULES=str(rules))
    (case,) = report["tuning"]["cases"]
    assert case["evidence"] == "rules file site.json, 2026-11-22", case
    assert case["selected"] == algorithm and case["bytes"] == [0, None], case
    assert [one["median"] for one in case["candidates"]] == [3e-4, 1e-4], case
    assert case["calls"] == 200 * CALLS and case["exploring"] == 0, case
    # 1,000 calls, 200 us each.
    assert abs(case["saved"] - 0.2) < 1e-6, case
    assert abs(report["tuning"]["saved"] - 0.2) < 1e-6, report["tuning"]


def check_environment_of_one_rank(runner: Runner) -> None:
    """Checks that the settings of rank 0 of the communicator apply to all, without hangs."""
    (report,), _ = runner.run("world", only_rank=0)
    assert report["ranks"] == RANKS and call_of(report, "gatherv")["spread"], report
    assert runner.run("world", only_rank=1)[0] == []


def check_partial(runner: Runner, mode: str, roots: int, ranks: int) -> None:
    """Checks partial reports: one line for each root."""
    reports, _ = runner.run(mode)
    assert len(reports) == roots, reports
    for report in reports:
        assert report["partial"] is True and report["nodes"] is None, report
        gatherv = call_of(report, "gatherv")
        assert gatherv["calls"] == CALLS and gatherv["bytes"] == CALLS * blocks(ranks), gatherv
        assert gatherv["seconds"] is None and gatherv["elapsed"]["mean"] > 0, gatherv
        assert "only the root's" in gatherv["spread_note"], gatherv


def check_no_place(runner: Runner) -> None:
    _, printed = runner.run("world", report="/nowhere/report.json")
    assert printed.count("TUTTI_REPORT=/nowhere/report.json") == 1, printed


def main() -> None:
    preloaded, program, *mpirun = sys.argv[1:]
    modes = subprocess.run([program, "modes"], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(preloaded, program, mpirun, Path(folder))
        check_world(runner)
        check_text(runner)
        check_expectations(runner)
        check_persistent(runner)
        check_candidates(runner, "often")
        check_candidates(runner, "freed")
        check_kept(runner)
        check_environment_of_one_rank(runner)
        check_no_place(runner)
        check_partial(runner, "halves", 2, RANKS // 2)
        check_partial(runner, "exit", 1, RANKS)
        if "session" in modes.stdout:
            check_partial(runner, "session", 1, RANKS)


if __name__ == "__main__":
    main()
