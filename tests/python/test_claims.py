"""bench/claims.py checks the lists of results against the samples."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed import ROOT

RESULTS = ROOT / "docs" / "results"
README = ROOT / "README.md"
PAGE = (RESULTS / "README.md").read_text()
LISTED = PAGE.partition("<!-- claims -->")[2].partition("<!-- /claims -->")[0]


def run(command, *arguments):
    script = [sys.executable, ROOT / "bench" / "claims.py", command, *arguments]
    return subprocess.run(script, capture_output=True, text=True, check=False)


def test_the_lists_have_the_figures_of_the_samples():
    ended = run("check", RESULTS, RESULTS / "README.md", README)
    assert ended.returncode == 0, ended.stderr


def test_the_page_of_claims_is_that_of_the_samples(tmp_path):
    page = Path(shutil.copy(RESULTS / "claims.md", tmp_path))
    assert run("page", RESULTS, page).returncode == 0
    assert page.read_text() == (RESULTS / "claims.md").read_text()


@pytest.mark.parametrize("figure", ["93 us", "takes 4.8 to 12 times", "463 times", "148 ms", "3.7 times", "150 ms"])
def test_a_changed_figure_is_found(figure, tmp_path):
    assert LISTED.count(figure) == 1
    page = tmp_path / "README.md"
    page.write_text(PAGE.replace(figure, re.sub(r"\d", "8", figure, count=1)))
    ended = run("check", RESULTS, page, README)
    assert ended.returncode == 1
    assert figure in ended.stderr


def test_a_figure_of_no_claim_is_found(tmp_path):
    page = tmp_path / "README.md"
    page.write_text(README.read_text().replace("<!-- /claims -->", "- 17 times faster\n<!-- /claims -->"))
    ended = run("check", RESULTS, RESULTS / "README.md", page)
    assert ended.returncode == 1
    assert "17 times faster" in ended.stderr


def test_samples_of_another_mpi_are_of_no_claim(tmp_path):
    folder = Path(shutil.copytree(RESULTS, tmp_path / "results"))
    document = json.loads((folder / "lab-rma-openmpi5-48x1.json").read_text())
    for line in document["rows"][-1]["algorithms"]:
        line["samples_us"] = [each if line["name"] == "native" else 9 * each for each in line["samples_us"]]
    (folder / "lab-rma-mpich5-48x1.json").write_text(json.dumps(document))
    ended = run("check", folder, folder / "README.md", README)
    assert ended.returncode == 0, ended.stderr


def test_a_changed_sample_is_found(tmp_path):
    folder = Path(shutil.copytree(RESULTS, tmp_path / "results"))
    samples = folder / "lab-rma-openmpi5-48x1.json"
    document = json.loads(samples.read_text())
    for line in document["rows"][-1]["algorithms"]:
        line["samples_us"] = [2 * each for each in line["samples_us"]]
    samples.write_text(json.dumps(document))
    ended = run("check", folder, folder / "README.md", README)
    assert ended.returncode == 1
    assert "in 300 ms" in ended.stderr


def test_hierarchical_samples_may_have_the_name_of_today(tmp_path):
    folder = Path(shutil.copytree(RESULTS, tmp_path / "results"))
    for path in folder.glob("lab-levels-*.json"):
        text = re.sub(r"native:level=node,leaders=(\d)", r"hierarchical(native,leaders=\1)", path.read_text())
        assert "hierarchical(native" in text
        path.write_text(text)
    assert run("page", folder, folder / "claims.md").returncode == 0
    assert (folder / "claims.md").read_text() == (RESULTS / "claims.md").read_text()
