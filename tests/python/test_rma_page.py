"""bench/lab_rma.py makes a page of what tutti-bench has written."""

import json
import subprocess
import sys

from installed import ROOT


def row(block, **medians):
    lines = [{"name": name, "median_us": median} for name, median in medians.items()]
    return {"block": block, "algorithms": lines}


def test_the_page_has_all_numbers_and_says_where_trees_pay(tmp_path):
    rows = [row(8, native=50, linear=100, paznikov=900, binomial=200),
            row(1024, native=60, linear=1500, paznikov=950, binomial=300),
            row(4096, native=70, linear=2500, paznikov=990, binomial=400)]  # fmt: skip
    metadata = {"ranks": "8", "nodes": "8", "library": "an MPI", "repetitions": "3",
                "load before": "0.10", "idle": "0.30 % of a core"}  # fmt: skip
    file = tmp_path / "lab-rma-openmpi-8.json"
    file.write_text(json.dumps({"metadata": metadata, "rows": rows}))
    page = subprocess.run(
        [sys.executable, ROOT / "bench" / "lab_rma.py", "page", tmp_path],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "| 4,096 | 0.070 | 2.500 | 0.990 | 0.400 |" in page
    assert "Idle: 0.30 % of a core." in page
    assert "`binomial` stays ahead of `linear` from: 1,024 bytes; of `paznikov` from: 8 bytes." in page
