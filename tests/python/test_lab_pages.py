"""Scripts of bench/ write results into pages, below the hand-written text."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed import ROOT

RESULTS = ROOT / "docs" / "results"
PUBLISHED = {
    "compare_builds": ("builds.json", "builds.md"),
    "lab_selection": (".", "selection.md"),
    "lab_fft": ("lab-fft-openmpi-8.json", "fft.md"),
    "lab_grid": (".", "arrival-lab.md"),
    "lab_levels": (".", "levels-lab.md"),
    "lab_place": (".", "place-lab.md"),
    "lab_rma": (".", "rma-lab.md"),
    "referees": ("referees.json", "referees.md"),
    "simgrid_auto": ("simgrid-auto.json", "simgrid-auto.md"),
}


def write_page(script, measured, *page):
    command = [sys.executable, ROOT / "bench" / f"{script}.py", "page", measured, *page]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", PUBLISHED)
def test_published_pages_have_what_was_measured_and_keep_what_people_wrote(script, tmp_path):
    measured, name = PUBLISHED[script]
    page = Path(shutil.copy(RESULTS / name, tmp_path))
    ended = write_page(script, RESULTS / measured, page)
    assert ended.returncode == 0, ended.stderr
    assert page.read_text() == (RESULTS / name).read_text()


def test_the_page_of_one_machine_has_what_was_measured(tmp_path):
    for file in RESULTS.glob("tutti-bench-*.json"):
        shutil.copy(file, tmp_path)
    subprocess.run([sys.executable, ROOT / "bench" / "results.py", tmp_path], check=True)
    assert (tmp_path / "tutti-bench.md").read_text() == (RESULTS / "tutti-bench.md").read_text()


def test_noise_that_selects_leaders_does_not_enter_their_mean(tmp_path):
    def line(name, *samples):
        ratio = {"median": 1, "low": None, "high": None}
        return {"name": name, "samples_us": list(samples), "median_us": sum(samples) / len(samples), "ran": "",
                "ratio_to_native": ratio, "ratio_to_bound": 2}  # fmt: skip

    lines = [line("native", 100, 50, 100, 50), line("hierarchical(native,leaders=1)", 50, 100, 50, 100),
             line("native:level=node,leaders=2", 100, 50, 100, 50), line("auto", 100, 50, 100, 50)]  # fmt: skip
    row = {"bytes": 8, "bound_together_us": 60, "algorithms": lines}
    metadata = {"ranks": "4", "processor": "one", "cores of a node": "4", "library": "an MPI"}
    document = {"schema": "tutti-bench/1", "metadata": metadata, "rows": [row]}
    (tmp_path / "lab-levels-openmpi-2x2-allgather.json").write_text(json.dumps(document))
    page = write_page("lab_levels", tmp_path).stdout
    assert "| allgather | 2x2 | openmpi | 0.50 with 1 leader | 2 |" in page
    assert "| bytes | native, ms | native / bound | 1 leader | 2 leaders |" in page


@pytest.fixture
def measured_broadcasts(tmp_path):
    def row(block, **medians):
        lines = [{"name": name, "median_us": median} for name, median in medians.items()]
        return {"block": block, "algorithms": lines}

    rows = [row(8, native=50, linear=100, paznikov=900, binomial=200),
            row(1024, native=60, linear=1500, paznikov=950, binomial=300),
            row(4096, native=70, linear=2500, paznikov=990, binomial=400)]  # fmt: skip
    rows[-1]["algorithms"][-1] |= {"logp_us": 150, "loggp_us": 390}
    metadata = {"ranks": "8", "nodes": "8", "library": "an MPI", "repetitions": "3",
                "load before": "0.10", "idle": "0.30 % of a core"}  # fmt: skip
    document = {"schema": "tutti-bench/1", "metadata": metadata, "rows": rows}
    (tmp_path / "lab-rma-openmpi-8.json").write_text(json.dumps(document))
    return tmp_path


def test_broadcasts_have_all_numbers_and_say_where_trees_pay(measured_broadcasts):
    page = write_page("lab_rma", measured_broadcasts).stdout
    assert "| 4,096 | 0.07 | 2.50 | 0.99 | 0.40 (0.15, 0.39) |" in page
    assert "Idle: 0.30 % of a core." in page
    assert "`binomial` stays ahead of `linear` from: 1,024 bytes; of `paznikov` from: 8 bytes." in page


def test_old_numbers_go_and_the_text_above_the_marker_stays(measured_broadcasts, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# By hand\n\n<!-- Written by `page`: all that follows. -->\n\nold numbers\n")
    assert write_page("lab_rma", measured_broadcasts, page).returncode == 0
    assert page.read_text().startswith("# By hand\n\n<!-- Written by `page`")
    assert "| 4,096 |" in page.read_text()
    assert "old numbers" not in page.read_text()


def test_a_page_without_the_marker_is_left_alone(measured_broadcasts, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# By hand\n")
    ended = write_page("lab_rma", measured_broadcasts, page)
    assert ended.returncode != 0
    assert "no marker" in ended.stderr
    assert page.read_text() == "# By hand\n"
