"""The files that tutti-bench writes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from installed import PREFIX, Mpi, environment, mpis


def bench(*words: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Runs a broadcast; `before`: what starts each rank."""
    mpi: Mpi = mpis()[0]
    command = (mpi.mpirun, "-n", "2", *before, PREFIX / "bin" / f"tutti-bench-{mpi.flavour}", "bcast",
               "--repetitions", "8", "--quiet", *words)  # fmt: skip
    return subprocess.run([str(word) for word in command], env=environment(), capture_output=True,
                          text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)  # fmt: skip


@pytest.mark.parametrize("option", ["--json", "--csv"])
def test_results_that_cannot_be_written_are_an_error(option):
    done = bench("--block", "2", option, "/dev/full")
    assert done.returncode == 2
    assert f"cannot write {option} /dev/full: No space left on device" in done.stderr


def test_results_may_be_written_to_the_output():
    done = bench("--block", "2", "--json", "/dev/stdout")
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"][0]["collective"] == "bcast"


def test_a_failure_leaves_the_rows_before_it_and_no_other_file(tmp_path):
    results = tmp_path / "results.json"
    for blocks in ("2", "4,8"):
        done = bench("--block", blocks, "--json", str(results))
        assert done.returncode == 0, done.stderr
        assert [row["block"] for row in json.loads(results.read_text())["rows"]] == [int(b) for b in blocks.split(",")]
    former = results.read_text()
    done = bench("--block", "2", "--algorithm", "nonsense", "--json", str(results))
    assert done.returncode == 2
    assert results.read_text() == former
    assert list(Path(tmp_path).iterdir()) == [results]


@pytest.mark.parametrize("option", ["--json", "--csv"])
def test_a_failure_between_rows_keeps_the_former_file_or_leaves_none(tmp_path, option):
    former, new = tmp_path / "former", tmp_path / "new"
    former.write_text("former")
    for file in (former, new):
        done = bench("--block", "2,3000000000", option, str(file))
        assert done.returncode == 2 and "end at 2147483647" in done.stderr
        assert "bcast" in Path(f"{file}.part").read_text()
    assert former.read_text() == "former"
    assert not new.exists()


def test_too_little_memory_is_named(tmp_path):
    errors = tmp_path / "errors"  # launchers may lose what aborted ranks have said
    before = ("prlimit", "--as=6000000000", "sh", "-c", f'exec "$@" 2>>{errors}', "sh")
    assert bench("--block", "2000000000", before=before).returncode != 0
    assert "not enough memory for the buffers of bcast" in errors.read_text()


def test_a_link_and_the_permissions_of_a_former_file_stay(tmp_path):
    target, link, private = tmp_path / "target.json", tmp_path / "link.json", tmp_path / "private.json"
    target.write_text("{}")
    link.symlink_to(target)
    private.touch(0o640)
    for file in (link, private):
        assert bench("--block", "2", "--json", str(file)).returncode == 0
    assert link.is_symlink() and json.loads(target.read_text())["rows"]
    assert private.stat().st_mode & 0o777 == 0o640 and json.loads(private.read_text())["rows"]
