"""Programs in SimGrid; they need libsimgrid-dev, and a build that has found it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest
from installed import BUILD, ROOT
from reproducing import needs_simgrid
from tutti import Call, _engine
from tutti.simgrid import platforms, running

PROGRAMS = BUILD / "bin"
SCRIPT = ROOT / "bench" / "lab_selection.py"
pytestmark = needs_simgrid


def test_the_build_has_found_simgrid():
    assert (PROGRAMS / "tutti-test-simgrid").exists()


def test_programs_of_another_mpi_are_refused(command):
    done = command("simgrid", "--platform", "switch:2", "--", "/bin/true")
    assert done.status == 2
    assert "/bin/true is not a program for SimGrid; compile it with smpicc" in done.err


def test_ranks_that_fail_say_why_and_no_more(command):
    words = ("tutti-bench", "alltoall", "--distribution", "same")
    done = command("simgrid", "--platform", "switch:2", "--", *words)
    assert done.status != 0
    assert done.err.startswith("tutti-bench: alltoall has no option '--distribution'")
    assert len(done.err.splitlines()) == 1


APP = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static int calls; /* each rank has its own */
int main(int argc, char** argv) {
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ++calls;
  MPI_Allreduce(&calls, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d of %d, argument %s\n", sum, size, argv[1]);
  MPI_Finalize();
  return rank == 0 && argc > 2 ? 3 : 0;
}
"""


def test_an_unmodified_program_runs_under_tutti(command, tmp_path):
    (tmp_path / "app.c").write_text(APP)
    subprocess.run(["smpicc", "app.c", "-o", "app"], cwd=tmp_path, check=True)
    report = tmp_path / "report.json"
    os.environ["TUTTI_REPORT"] = str(report)
    try:
        done = command("simgrid", "--platform", "torus:2x2x2", "--ppn", "2", "--",
                       str(tmp_path / "app"), "a b")  # fmt: skip
    finally:
        del os.environ["TUTTI_REPORT"]
    assert (done.status, done.out) == (0, "16 of 16, argument a b\n")
    assert '"allreduce"' in report.read_text()
    native = command("simgrid", "--platform", "switch:3", "--native", "--",
                     str(tmp_path / "app"), "x")  # fmt: skip
    assert (native.status, native.out) == (0, "3 of 3, argument x\n")


MAPPED = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  int rank;
  char line[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  FILE* maps = fopen("/proc/self/maps", "r");
  while (rank == 0 && fgets(line, sizeof line, maps)) {
    if (strstr(line, "(deleted)")) fputs(strchr(line, '/'), stdout);
  }
  fclose(maps);
  MPI_Finalize();
  return 0;
}
"""


def test_copies_of_programs_and_libraries_are_in_the_folder_of_the_job(command, tmp_path, monkeypatch):
    """So that the end of the job removes them, if a signal ends the simulation at any time."""
    (tmp_path / "mapped.c").write_text(MAPPED)
    subprocess.run(["smpicc", "mapped.c", "-o", "mapped"], cwd=tmp_path, check=True)
    monkeypatch.setattr(running.tempfile, "tempdir", str(tmp_path))
    done = command("simgrid", "--platform", "switch:2", "--", str(tmp_path / "mapped"))
    files = {Path(line.removesuffix(" (deleted)")) for line in done.out.splitlines()}
    assert done.status == 0 and sum(file.name.startswith("tutti-rank-") for file in files) == 2
    assert len(files) >= 4
    assert all(file.parent.name.startswith("tutti-simgrid-") for file in files)


def test_requests_tested_in_vain_together_complete_in_any_way(command, tmp_path):
    source = ROOT / "tests" / "simgrid" / "requests.c"
    subprocess.run(["smpicc", str(source), "-o", "requests"], cwd=tmp_path, check=True)
    done = command("simgrid", "--platform", "switch:2", "--", str(tmp_path / "requests"))
    assert (done.status, done.out) == (0, "18 of 18\n")


@pytest.mark.parametrize(("mode", "status", "printed", "lines"), [
    ("die", 2, "", 2),
    ("return", 0, "error, 0 handled\n", 1),
    ("handle", 0, "error, 1 handled\n", 1),
    ("apart", 2, "error, 0 handled\n", 2),
    ("abort 5", 5, "", 0),
    ("abort 300", 44, "", 0),
    ("abort 256", 1, "", 0),
])  # fmt: skip
def test_an_error_ends_what_the_handler_says_with_a_status(
    command, tmp_path, monkeypatch, mode, status, printed, lines
):
    """SimGrid's MPI_Abort alone returns 0, and its predefined handlers end with SIGSEGV. Apart: only rank 0
    has set that errors return."""
    source = ROOT / "tests" / "simgrid" / "errors.c"
    subprocess.run(["smpicc", str(source), "-o", "errors"], cwd=tmp_path, check=True)
    words = mode.split()
    if words[0] != "abort":
        monkeypatch.setenv("TUTTI_MEMORY", "1")
    done = command("simgrid", "--platform", "switch:2", "--", str(tmp_path / "errors"), *words)
    assert (done.status, done.out) == (status, f"{words[0]}\n{printed}")
    first = "tutti: invalid TUTTI_MEMORY=1: expected none, or at least 1K bytes\n"
    assert done.err.startswith(first if lines else "") and len(done.err.splitlines()) == lines


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_collectives_without_data_return_on_any_number_of_ranks(command, tmp_path, ranks):
    source = ROOT / "tests" / "simgrid" / "empty.c"
    subprocess.run(["smpicc", str(source), "-o", "empty"], cwd=tmp_path, check=True)
    done = command("simgrid", "--platform", f"switch:{ranks}", "--", str(tmp_path / "empty"))
    assert (done.status, done.out) == (0, f"{ranks} of {ranks}\n")


def test_the_mpi_alone_is_measured_on_two_ranks(command):
    done = command("simgrid", "--platform", "switch:2", "--", "tutti-bench", "bcast", "--block", "100",
                   "--repetitions", "3", "--algorithm", "native")  # fmt: skip
    assert done.status == 0


def test_ranks_numbered_by_distance_are_measured(command, tmp_path):
    done = command("simgrid", "--platform", "switch:4", "--", "tutti-bench", "allgather", "--block", "2",
                   "--repetitions", "3", "--algorithm", "native", "--algorithm", "native:reordered",
                   "--json", str(tmp_path / "found.json"))  # fmt: skip
    assert done.status == 0
    [row] = json.loads((tmp_path / "found.json").read_text())["rows"]
    assert [line["name"] for line in row["algorithms"]] == ["native", "native:reordered"]
    assert row["algorithms"][1]["ratio_to_native"]["verdict"] == "unknown"  # by 3 calls


def checked(ranks: int, ppn: int, *arguments: str, settings: tuple[str, ...] = ()) -> list[int]:
    """The numbers of passed and failed algorithms."""
    machine = platforms.platform("fat-tree:64:leaf=8,taper=2")
    command = (str(PROGRAMS / "tutti-test-simgrid"), *arguments)
    job = running.Job(command, machine, ranks, ppn, settings=settings)
    last = running.output(job, timeout=1200).splitlines()[-1]
    return [int(part.split()[0]) for part in last.split(", ")]


def test_all_collectives_move_the_right_data():
    passed, failed = checked(48, 8)
    assert failed == 0
    assert passed > 100


def callable_names(collective: str) -> list[str]:
    """All that a call can run. SimGrid's own scans crash with more than 255 ranks."""
    listed = [one.name for one in _engine.algorithms() if one.collective == collective]
    if collective in ("scan", "exscan"):
        return listed
    between_nodes = ["native,leaders=1", "native,leaders=4"] + ["linear"] * ("linear" in listed)
    return ["native", "auto", *(f"hierarchical({name})" for name in between_nodes), *listed]


@pytest.mark.parametrize(("collective", "name"), [
    (collective, name) for collective in _engine.collectives() if not collective.startswith("rma_")
    for name in callable_names(collective)
] if "ALL_TESTS" in os.environ else [
    pytest.param("every", "every", marks=pytest.mark.skip(reason="./test --all")),
])  # fmt: skip
def test_collectives_move_the_right_data_on_many_ranks(collective, name):
    """Calls that differ in root, sizes and layout; one of an exchange of all with all. At the end
    of each message SimGrid searches the list of all that no send waits for, which takes O(p^4)
    steps if each rank sends to each at once: here every send waits."""
    listed = name in [one.name for one in _engine.algorithms() if one.collective == collective]
    has_many = listed and len(Call(collective, [4] * 208, 0, name).messages()) > 32 * 208
    every_send_waits = ("smpi/send-is-detached-thresh:0",)
    calls = "1" if has_many else "3"
    assert checked(560, 16, collective, calls, name, settings=every_send_waits) == [1, 0]


def test_simulated_times_are_those_of_the_platform():
    """A scatter of 4 blocks of 1 MB over links of 1 GB/s: the root's link carries 3 of them, 3 ms;
    ranks of the root's node have theirs by memory of 10 GB/s."""
    text = "switch:4:bandwidth=1G,latency=1us,overhead=1us,memory-bandwidth=10G,memory-latency=1us"
    job = running.Job(
        ("tutti-bench", "scatter", "--block", "250000", "--algorithm", "native,linear", "--root",
         "first", "--repetitions", "3", "--warmup", "1"),
        platforms.platform(text), 4, 1,
    )  # fmt: skip
    text = running.output(job)
    rows = [line.split() for line in text.splitlines() if "linear" in line.split()]
    minimum = float(rows[-1][4].replace(",", ""))
    assert 3000 <= minimum <= 3000 * 1.05
    assert "# clock error: 0.000000 us" in text, "ranks have one clock"


def test_times_of_calls_in_a_row_are_those_of_one(command, tmp_path):
    """A rank computes 20 ms before each of 4 broadcasts, so each takes 20 ms and a little more."""
    done = command("simgrid", "--platform", "switch:4", "--", "tutti-bench", "bcast", "--block", "100",
                   "--calls", "4", "--delay", "one-late:20ms", "--compute", "0ms", "--edge", "0",
                   "--algorithm", "native", "--algorithm", "chain", "--repetitions", "3",
                   "--json", str(tmp_path / "found.json"))  # fmt: skip
    assert done.status == 0
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["metadata"]["calls of a repetition"] == "4"
    assert found["metadata"]["calls"] == "plain"
    [row] = found["rows"]
    for line in row["algorithms"]:
        assert line["arrival_spread_median_us"] == pytest.approx(20_000, rel=0.01)
        assert all(20_000 <= time <= 21_000 for time in line["samples_us"])
        assert all(0 <= time <= 1_000 for time in line["after_last_arrival_us"])


def test_node_memory_takes_the_time_of_two_copies():
    """A broadcast of 1 MB in a node of 10 GB/s: the root copies it in, the others copy it out."""
    text = "switch:4:memory-bandwidth=10G,memory-latency=1us"
    job = running.Job(
        ("tutti-bench", "bcast", "--bytes", "1000000", "--algorithm", "native,native:level=node",
         "--root", "first", "--repetitions", "3", "--warmup", "1"),
        platforms.platform(text), 4, 4,
    )  # fmt: skip
    rows = [line.split() for line in running.output(job).splitlines() if "native:level=node" in line]
    minimum = float(rows[-1][4].replace(",", ""))
    assert 200 <= minimum <= 200 * 1.05


def test_small_moves_in_node_memory_take_the_time_of_their_bytes(tmp_path):
    """An exchange of 4 B of all with all in a node of 64: each rank copies 256 B in, and 64 times 4 B
    out. At 5 GB/s each of these takes less than SimGrid's precision, and all take 51 ns."""
    shortest = []
    for bandwidth in ("5G", "5000G"):
        file = tmp_path / f"{bandwidth}.json"
        text = f"switch:1:memory-bandwidth={bandwidth},memory-latency=1us"
        job = running.Job(
            ("tutti-bench", "alltoall", "--block", "1", "--algorithm", "native:level=node",
             "--repetitions", "5", "--warmup", "1", "--json", str(file)),
            platforms.platform(text), 64, 64,
        )  # fmt: skip
        running.output(job)
        shortest.append(min(json.loads(file.read_text())["rows"][0]["algorithms"][0]["samples_us"]))
    assert shortest[0] - shortest[1] == pytest.approx(2 * 256 / 5e3, abs=0.005)


def test_hierarchical_calls_do_not_slow_down(tmp_path):
    file = tmp_path / "result.json"
    job = running.Job(
        ("tutti-bench", "allreduce", "--bytes", "512", "--algorithm", "hierarchical(native,leaders=1)",
         "--repetitions", "200", "--warmup", "1", "--json", str(file)),
        platforms.platform("switch:8"), 32, 4,
    )  # fmt: skip
    running.output(job)
    samples = json.loads(file.read_text())["rows"][0]["algorithms"][0]["samples_us"]
    assert median(samples[150:]) == pytest.approx(median(samples[:50]), rel=0.02)


def test_auto_finds_the_fastest_where_nothing_is_noisy(tmp_path):
    """At most 5 % longer than the fastest, after 500 calls of each of 3 sizes, with default settings."""
    words = (sys.executable, SCRIPT, "measure", tmp_path, "--shape", "4x1", "--label", "gbe",
             "--platform", "switch:bandwidth=125M,latency=13.5us,overhead=2us",
             "--collective", "allgather", "--repetitions", "7")  # fmt: skip
    subprocess.run(words, check=True, capture_output=True, timeout=300)
    rows = json.loads((tmp_path / "selection-gbe-4x1-allgather.json").read_text())["rows"]
    assert len(rows) == 3
    for row in rows:
        times = {line["name"]: line["median_us"] for line in row["algorithms"]}
        assert times.pop("auto") <= min(times.values()) / 0.95
