"""What a run has learned is where the next one starts."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import time

import pytest
from conftest import FRONT, ROOT, SECONDS
from test_faults import of_all_processes

CALLS = 300
WINDOW = 12  # the calls before ranks know what they measured
RANKS = 2  # of which most machines have a core for each
KEPT = " (kept, "
VERSION = re.search(r"VERSION (\S+) LANGUAGES", (ROOT / "CMakeLists.txt").read_text())[1]
LEARNED = [f"learned-{VERSION}.json", f"learned-{VERSION}.json.lock"]
pytestmark = pytest.mark.alone


@pytest.fixture
def slow(mpi):
    """A library that makes the MPI's own allgather slow, so that others are faster beyond doubt."""
    return mpi.compile("slow.c", "-shared", "-fPIC", output="slow.so")


def settings_of(cache, **more):
    """Much exploration, because few calls are to suffice."""
    return {"XDG_CACHE_HOME": str(cache), "TUTTI_LEARN": "keep", "TUTTI_EXPLORE": "0.5"} | more


def run(mpi, slow, cache, calls=CALLS, **more):
    outcome = mpi.run(
        mpi.compile("learn.c"), str(calls), np=RANKS, preload=(FRONT, slow),
        settings=settings_of(cache, **more),
    )  # fmt: skip
    outcome.check_correct()
    return outcome


def told(outcome):
    """The reasons of all allgathers, by algorithm."""
    found = {}
    for line in outcome.report["calls"]:
        if line["collective"] == "allgather":
            found.setdefault(line["algorithm"], set()).add(line["reason"])
    return found


def is_open_elsewhere(file):
    """Has another process opened it?"""
    opened = of_all_processes(lambda folder: {os.readlink(each) for each in (folder / "fd").iterdir()})
    return any(str(file) in files for pid, files in opened.items() if pid != os.getpid())


def kept(cache):
    return json.loads((cache / "tutti" / LEARNED[0]).read_text())["rules"]


def test_the_next_run_starts_from_it(mpi, slow, tmp_path):
    first = run(mpi, slow, tmp_path)
    assert len(told(first)) > 2, "it explored"
    (rule,) = kept(tmp_path)
    assert (rule["collective"], rule["p"], rule["bytes"]) == ("allgather", "2", "33..64")
    assert rule["mpi"] == mpi.name
    assert rule["evidence"]["native_us"] > rule["evidence"]["choice_us"]
    assert KEPT not in str(told(first))
    second = told(run(mpi, slow, tmp_path, calls=WINDOW))
    assert set(second) == {rule["use"]}, "from the first call on"
    (reason,) = second[rule["use"]]
    assert reason.startswith("measured ") and KEPT in reason
    assert kept(tmp_path) == [rule], "nothing new was measured"
    run(mpi, slow, tmp_path)
    assert len(kept(tmp_path)) == 1


def test_it_is_kept_in_the_cache_folder_that_is_named(mpi, slow, tmp_path):
    run(mpi, slow, tmp_path, TUTTI_CACHE_DIR=f"{tmp_path}/made/")
    assert sorted(file.name for file in (tmp_path / "made").iterdir()) == LEARNED
    assert not (tmp_path / "tutti").exists()


def test_a_report_counts_what_kept_times_save(mpi, slow, tmp_path):
    """Before this run has measured any."""
    run(mpi, slow, tmp_path)
    (rule,) = kept(tmp_path)
    (case,) = run(mpi, slow, tmp_path, calls=WINDOW).report["tuning"]["cases"]
    gain = rule["evidence"]["native_us"] - rule["evidence"]["choice_us"]
    assert case["evidence"].startswith("kept from an earlier run, ")
    assert case["saved"] == pytest.approx(WINDOW * gain * 1e-6, rel=1e-3) and gain > 0
    intervals = [rule["evidence"].get(f"{name}_interval_us") for name in ("native", "choice")]
    assert (case["saved_interval"] is not None) == all(intervals)


def test_a_file_of_another_version_stays(mpi, slow, tmp_path):
    other = tmp_path / "tutti/learned-0.0.json"
    other.parent.mkdir()
    other.write_text("of an algorithm that this version lacks")
    assert "tutti" not in run(mpi, slow, tmp_path).err
    assert other.read_text() == "of an algorithm that this version lacks" and len(kept(tmp_path)) == 1


def test_the_mpis_own_is_kept_too(mpi, slow, tmp_path):
    """Without the slow library nothing is so much faster, but the file says so: it is settled."""
    run(mpi, slow, tmp_path)
    file = tmp_path / "tutti" / LEARNED[0]
    content = json.loads(file.read_text())
    content["rules"][0]["use"] = "native"
    content["rules"][0]["evidence"]["choice_us"] = content["rules"][0]["evidence"]["native_us"]
    file.write_text(json.dumps(content))
    ran = told(run(mpi, slow, tmp_path, calls=WINDOW))
    assert list(ran) == ["native"] and KEPT in str(ran)


def test_what_was_learned_before_a_setting_is_kept(mpi, slow, tmp_path):
    """A setting that permits other candidates begins with another tuner."""
    then = '-DTHEN="auto:hierarchy=flat"'
    program = mpi.compile("learn.c", then, f"-I{ROOT}/include", FRONT, output="learn_then")
    outcome = mpi.run(
        program, str(CALLS), np=RANKS, preload=(FRONT, slow), settings=settings_of(tmp_path)
    )
    outcome.check_correct()
    assert [rule["bytes"] for rule in kept(tmp_path)] == ["33..64"]
    assert [case["calls"] for case in outcome.report["tuning"]["cases"]] == [CALLS], "each counts its own"


def test_of_two_entries_for_one_class_the_first_counts(mpi, slow, tmp_path):
    """Joined by hand; no tuner writes them."""
    run(mpi, slow, tmp_path)
    file = tmp_path / "tutti" / LEARNED[0]
    (rule,) = kept(tmp_path)
    other = rule | {"use": "native"}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"rules": [rule, other]}))
    outcome = run(mpi, slow, tmp_path, calls=WINDOW)
    assert set(told(outcome)) == {rule["use"]}
    (case,) = outcome.report["tuning"]["cases"]
    assert [candidate["name"] for candidate in case["candidates"]] == ["native", rule["use"]]


def test_nodes_make_another_job(mpi, slow, tmp_path):
    run(mpi, slow, tmp_path)
    other = told(run(mpi, slow, tmp_path, TUTTI_NODE="1"))
    assert KEPT not in str(other) and len(other) > 2
    first, second = kept(tmp_path)
    assert (first["nodes"], first["ranks_per_node"]) == ("1", "2")
    assert (second["nodes"], second["ranks_per_node"]) == ("2", "1")
    assert second["network"] == "emulated 1"


@pytest.mark.parametrize("mode", ["run", "off"])
def test_nothing_is_kept_unless_asked(mpi, slow, tmp_path, mode):
    outcome = run(mpi, slow, tmp_path, TUTTI_LEARN=mode)
    assert not (tmp_path / "tutti").exists()
    assert (set(told(outcome)) == {"native"}) == (mode == "off")


@pytest.mark.parametrize("text", ["", "{", '{"schema": "tutti-rules-2", "rules": []}', "\0"])
def test_an_invalid_file_is_replaced(mpi, slow, tmp_path, text):
    file = tmp_path / "tutti" / LEARNED[0]
    file.parent.mkdir()
    file.write_text(text)
    outcome = run(mpi, slow, tmp_path)
    (line,) = [line for line in outcome.err.splitlines() if "tutti" in line]
    assert line.startswith(f"tutti: {file} is ignored, and replaced at the end: ")
    assert len(kept(tmp_path)) == 1
    assert "tutti" not in run(mpi, slow, tmp_path, calls=WINDOW).err


def test_a_folder_that_cannot_be_written_is_one_line(mpi, slow, tmp_path):
    cache = tmp_path / "cache"
    cache.write_text("a file")
    outcome = run(mpi, slow, cache)
    (line,) = [line for line in outcome.err.splitlines() if "tutti" in line]
    assert line == (
        "tutti: what this run learned is not kept: "
        f"{cache}/tutti/{LEARNED[0]} cannot be written: Not a directory"
    )


@pytest.mark.parametrize(
    ("name", "mode"), [("cache", "keep"), ("none/cache", "keep"), ("none/cache", "run")]
)
def test_a_cache_folder_that_cannot_be_made_is_one_line_if_anything_is_kept(mpi, slow, tmp_path, name, mode):
    (tmp_path / "cache").write_text("a file")
    folder = tmp_path / name
    outcome = run(mpi, slow, tmp_path, TUTTI_CACHE_DIR=str(folder), TUTTI_LEARN=mode)
    lines = [line for line in outcome.err.splitlines() if "tutti" in line]
    assert lines == [
        f"tutti: TUTTI_CACHE_DIR={folder} cannot be used, so nothing is kept: "
        "expected a folder, or one to be made in a folder"
    ] * (mode == "keep")
    assert [file.name for file in tmp_path.iterdir()] == ["cache"]


def test_jobs_that_end_together_leave_a_whole_file(mpi, slow, tmp_path):
    """The file has what they learned; on a busy machine not every kind of them learns."""
    program = mpi.compile("learn.c")
    jobs = []
    for nodes in ("none", "1", "none", "1"):
        line, environment = mpi.launch(
            program, str(CALLS), np=RANKS, preload=(FRONT, slow),
            settings=settings_of(tmp_path, TUTTI_NODE=nodes),
        )  # fmt: skip
        jobs.append(subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True))
    for job in jobs:
        out, _ = job.communicate(timeout=SECONDS)
        assert job.returncode == 0 and "correct" in out.split()
    assert 1 <= len(kept(tmp_path)) <= 2
    assert sorted(file.name for file in (tmp_path / "tutti").iterdir()) == LEARNED


def test_a_job_that_ends_waits_for_one_that_writes(mpi, slow, tmp_path):
    run(mpi, slow, tmp_path / "other")
    learned = (tmp_path / "other/tutti" / LEARNED[0]).read_text()
    file = tmp_path / "tutti" / LEARNED[0]
    file.parent.mkdir()
    line, environment = mpi.launch(
        mpi.compile("learn.c"), str(CALLS), np=RANKS, preload=(FRONT, slow),
        settings=settings_of(tmp_path, TUTTI_NODE="1"),
    )  # fmt: skip
    lock = file.with_name(LEARNED[1])
    job = None
    try:
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            job = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True)
            end = time.monotonic() + SECONDS
            while not is_open_elsewhere(lock):
                assert job.poll() is None, "it waits"
                assert time.monotonic() < end, "it comes to its end"
                time.sleep(0.05)
            file.write_text(learned)
        job.communicate(timeout=SECONDS)
        assert job.returncode == 0
        assert len(kept(tmp_path)) == 2
    finally:
        if job is not None and job.poll() is None:
            job.kill()
            job.wait()


def test_a_wrong_setting_names_what_is_accepted(mpi, tmp_path):
    outcome = mpi.run(mpi.compile("learn.c"), "1", settings={"TUTTI_LEARN": "kee"})
    assert "tutti: invalid TUTTI_LEARN=kee: expected off, run or keep; did you mean keep?" in outcome.err
