"""bench/shared_results.py makes a page from results of tutti-bench."""

import json
import subprocess
import sys

from installed import ROOT


def line(name, median, held, kept=0, ratio=None, verdict="even"):
    parsed = {"median": ratio, "verdict": verdict} if ratio else None
    return {"name": name, "median_us": median, "ratio_to_native": parsed,
            "held_bytes_of_a_rank": held, "kept_bytes_of_a_rank": kept}  # fmt: skip


def page_of(file):
    """What the script prints for nodes of 4 ranks."""
    return subprocess.run(
        [sys.executable, ROOT / "bench" / "shared_results.py", file, "4"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_the_published_page_has_what_was_measured():
    results = ROOT / "docs" / "results"
    published = (results / "shared-results.md").read_text()
    assert page_of(results / "tutti-bench-shared-openmpi.json") == published


def test_the_page_has_times_memory_of_a_node_and_losses(tmp_path):
    mib = 1 << 20
    rows = [
        {"distribution": "read", "bytes": 8 * mib, "algorithms": [
            line("native", 4000, 8 * mib), line("read_only", 2000, 2 * mib, 2 * mib, 0.5, "faster")]},
        {"distribution": "written", "bytes": 8 * mib, "algorithms": [
            line("native", 4000, 8 * mib), line("copy_on_write", 8000, 10 * mib, 0, 2, "slower")]},
    ]  # fmt: skip
    metadata = {"ranks": "8", "library": "an MPI, of theirs", "repetitions": "3", "warmup": "1",
                "processor": "one",
                "cores of a node": "2"}  # fmt: skip
    file = tmp_path / "shared.json"
    file.write_text(json.dumps({"schema": "tutti-bench/1", "metadata": metadata, "rows": rows}))
    page = page_of(file)
    assert "| 8 MiB | 4 | 2 (0.50) |" in page
    assert "| 8 MiB | 32 MiB | 8 MiB (8 MiB) |" in page
    assert "- 8 MiB, all pages written: `copy_on_write` 2.00 times native" in page
    assert page.count("2.00 times native") == 1
