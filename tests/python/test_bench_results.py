"""`tutti check` and `tutti bench` read results of tutti-bench."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def bench_result(native_gather: float) -> dict:
    times = {
        "native gather": native_gather,
        "allreduce + native gather": 12.0,
        "native gatherv": 10.0,
        "tutti gather": 9.0,
        "allreduce + tutti gather": 12.0,
        "tutti gatherv": 10.0,
    }
    lines = [
        {"name": name, "samples_us": [time + i % 5 for i in range(40)], "median_us": time + 2,
         "min_us": time, "p90_us": time + 4}
        for name, time in times.items()
    ]  # fmt: skip
    row = {
        "collective": "guidelines", "distribution": "same", "block": 10, "bytes": 160,
        "total_elements": 40, "largest_elements": 10, "algorithms": lines,
    }  # fmt: skip
    rules = [
        {"guideline": 1, "library": library, "left": f"{library} gather",
         "right": f"{library} gatherv", "equal_blocks_only": True}
        for library in ("native", "tutti")
    ]  # fmt: skip
    metadata = {"mpi": "MPICH 4", "ranks": "4"}
    return {"schema": "tutti-bench/1", "metadata": metadata, "rows": [row], "guidelines": rules}


def write_bench(tmp_path: Path, native_gather: float) -> str:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(bench_result(native_gather)))
    return str(path)


def test_check_marks_what_is_broken(command, tmp_path):
    shown = command("check", "--results", write_bench(tmp_path, 30.0))
    assert shown.status == 0  # the MPI breaks it, not Tutti
    assert "guideline (1) violated by native: same, block 10" in shown.out
    assert "32.0 30.0 !" in shown.out
    assert "none violated" in command("check", "--results", write_bench(tmp_path, 9.0)).out
    parsed = json.loads(command("check", "--results", write_bench(tmp_path, 30.0), "--json").out)
    assert [v["broken"] for v in parsed] == [True, False]


def test_bench_plots_what_was_measured(command, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "times.png"
    shown = command("bench", "--results", write_bench(tmp_path, 9.0), "--plot", str(picture))
    assert shown.status == 0 and picture.read_bytes().startswith(b"\x89PNG")
