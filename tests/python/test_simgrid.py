"""Platforms, and programs in SimGrid; the latter need libsimgrid-dev and a build with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from xml.etree import ElementTree

import pytest
from installed import BUILD, ROOT
from tutti import Call, _engine
from tutti.refusal import Refusal
from tutti.simgrid import platforms, running

PROGRAMS = BUILD / "bin"
SCRIPT = ROOT / "bench" / "lab_selection.py"
needs_simgrid = pytest.mark.skipif(
    shutil.which("smpirun") is None or not (PROGRAMS / "tutti-test-simgrid").exists(),
    reason="SimGrid is not installed",
)


def clusters(text: str) -> list[ElementTree.Element]:
    document = ElementTree.fromstring(platforms.platform(text).xml)
    return list(document.iter("cluster"))


@pytest.mark.parametrize("text", list(platforms.MACHINES) + [
    "switch:8", "two-switches:9", "fat-tree:1024", "fat-tree:100:leaf=24,taper=4", "dragonfly:64",
    "dragonfly:100:groups=5,chassis=5,routers=2,per-router=2", "torus:4x4x8", "torus:60",
])  # fmt: skip
def test_a_platform_has_the_requested_nodes(text):
    made = platforms.platform(text)
    names = set()
    for cluster in clusters(text):
        first, last = map(int, cluster.get("radical").split("-"))
        names |= {f"{cluster.get('prefix')}{node}" for node in range(first, last + 1)}
    assert set(made.hosts(made.nodes * 3, 3)) <= names


def test_topologies_multiply_to_the_nodes_of_the_file():
    assert clusters("torus:60")[0].get("topo_parameters") == "5,4,3"
    assert clusters("torus:7")[0].get("topo_parameters") == "7,1,1"
    # 24 nodes on each of 5 leaves; taper 2 halves the links to the top.
    tree = clusters("fat-tree:100:leaf=24,taper=2")[0]
    assert tree.get("topo_parameters") == "2;24,5;1,12;1,1"
    assert tree.get("radical") == "0-119"
    fly = clusters("dragonfly:64")[0]
    assert fly.get("topo_parameters") == "4,1;2,1;4,1;2"


def test_two_switches_share_the_nodes_and_a_trunk():
    first, second = clusters("two-switches:9:trunk=1G,latency=2us")
    assert (first.get("radical"), second.get("radical")) == ("0-4", "5-8")
    text = platforms.platform("two-switches:9:trunk=1G,latency=2us").xml
    assert '<link id="trunk" bandwidth="1e+09Bps" latency="2e-06s"' in text


@pytest.mark.parametrize(("text", "expected"), [
    ("", "expected SHAPE:NODES"),
    ("ring:8", "expected SHAPE:NODES with a shape of switch, two-switches, fat-tree"),
    ("switch", "expected SHAPE:NODES"),
    ("switch:0", "switch=0: expected a whole number from 1"),
    ("switch:many", "switch=many: expected a whole number"),
    ("switch:8:taper=2", "switch has no parameter 'taper=2'; valid parameters: bandwidth"),
    ("switch:8:bandwidth", "switch has no parameter 'bandwidth'"),
    ("switch:8:bandwidth=fast", "bandwidth=fast: expected a positive number with K, M, G, T"),
    ("switch:8:latency=0us", "latency=0us: expected a positive number with ns, us, ms, s"),
    ("fat-tree:64:taper=0.5", "taper=0.5: expected at least 1"),
    ("dragonfly:64:groups=2", "2 groups of 2 chassis of 4 routers with 2 nodes each have 32 nodes"),
    ("torus:4x4", "expected a number of nodes or 3 sides"),
    ("torus:100x100x100", "expected at most 100,000 nodes"),
    ("two-switches:1", "expected at least 2 nodes"),
])  # fmt: skip
def test_bad_platforms_say_what_is_accepted(text, expected):
    with pytest.raises(Refusal) as refused:
        platforms.platform(text)
    assert expected in str(refused.value)


def test_more_ranks_than_a_platform_holds_are_refused():
    with pytest.raises(Refusal, match="9 ranks with --ppn 2 need 5 nodes; it has 4"):
        platforms.platform("switch:4").hosts(9, 2)


def test_the_command_writes_a_platform(command, tmp_path):
    file = tmp_path / "tree.xml"
    done = command("simgrid", "--platform", "fat-tree:64:taper=4", "--output", str(file))
    assert (done.status, done.out) == (0, "")
    assert "FAT_TREE" in file.read_text()
    both = command("simgrid", "--platform", "switch:2", "--output", str(file), "--", "./app")
    assert both.status == 2
    assert "runs nothing; omit ./app" in both.err
    for unused in (["--ppn", "2"], ["--native"], ["--cfg", "bad"]):
        done = command("simgrid", "--platform", "switch:2", "--output", str(file), *unused)
        assert done.status == 2 and f"--output {file} excludes {unused[0]}" in done.err


@pytest.mark.parametrize(("words", "expected"), [
    ((), "--platform is missing"),
    (("--platform", "switch:2"), "no program; e.g. tutti simgrid"),
    (("--platform", "switch:2", "--selector", "lam", "--", "./app"), "--selector lam: expected ompi"),
])  # fmt: skip
def test_bad_commands_say_what_is_accepted(command, words, expected):
    done = command("simgrid", *words)
    assert done.status == 2
    assert expected in done.err


@pytest.mark.parametrize(("words", "ranks", "ppn"), [
    (("fat-tree:64:taper=2", "--ppn", "16"), 1024, 16),
    (("gbe48",), 48, 1),
    (("vsc3-100x16",), 1600, 16),
    (("vsc3-100x16", "--ppn", "2", "--ranks", "5"), 5, 2),
])  # fmt: skip
def test_ranks_fill_the_nodes_unless_their_number_is_given(command, monkeypatch, words, ranks, ppn):
    jobs = []
    monkeypatch.setattr(running, "run", lambda job: jobs.append(job) or 7)
    assert command("simgrid", "--platform", *words, "--", "./app", "--ppn").status == 7
    (job,) = jobs
    assert (job.ranks, job.ppn, list(job.command)) == (ranks, ppn, ["./app", "--ppn"])


def settings_of(**changes) -> dict[str, str]:
    """SimGrid's settings for a program on 2 nodes."""
    job = running.Job(("app",), platforms.platform("switch:2"), 2, 1, **changes)
    words = running.options(job, Path("hosts"))
    given = [word.removeprefix("--cfg=") for word in words if word.startswith("--cfg=")]
    return dict(word.split(":", 1) for word in given)


def test_a_selector_chooses_for_the_mpis_own_collectives():
    assert settings_of()["smpi/coll-selector"] == "ompi"
    assert settings_of()["smpi/reduce_scatter"] == "mpich", "its own deadlocks"
    for selector in ("mpich", "mvapich2", "impi", "default"):
        given = settings_of(selector=selector)
        assert given["smpi/coll-selector"] == selector and "smpi/reduce_scatter" not in given


def test_given_settings_replace_those_of_the_command():
    assert settings_of()["smpi/simulate-computation"] == "no"
    given = settings_of(settings=("smpi/simulate-computation:yes", "smpi/other:1:2"))
    assert (given["smpi/simulate-computation"], given["smpi/other"]) == ("yes", "1:2")
    for wrong in ("smpi/np", "Smpi/np:2", ":2"):
        with pytest.raises(Refusal, match=f"--cfg {wrong}: expected KEY:VALUE"):
            settings_of(settings=(wrong,))


@pytest.mark.parametrize(("script", "limit", "text"), [
    ("echo first >&2; echo last >&2; exit 3", 60, "app on switch:2: status 3: last"),
    ("exec sleep 60", 0.1, "app on switch:2: not done after 0 s"),
])  # fmt: skip
def test_a_program_without_a_result_is_named(monkeypatch, tmp_path, script, limit, text):
    monkeypatch.setattr(running, "command_of", lambda job, folder: (["sh", "-c", script], {}))
    monkeypatch.setattr(running.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(Refusal) as refused:
        running.output(running.Job(("app",), platforms.platform("switch:2"), 2, 1), timeout=limit)
    assert str(refused.value) == text
    assert not list(tmp_path.iterdir())


def test_a_signal_to_end_reaches_the_simulator(monkeypatch, tmp_path):
    script = "trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.02; done"
    monkeypatch.setattr(running, "command_of", lambda job, folder: (["sh", "-c", script], {}))
    monkeypatch.setattr(running.tempfile, "tempdir", str(tmp_path))
    job = running.Job(("app",), platforms.platform("switch:2"), 2, 1)
    assert running.run(job) == 9
    assert not list(tmp_path.iterdir())


def test_the_signal_that_ended_a_simulation_is_named(monkeypatch, capfd):
    monkeypatch.setattr(running, "command_of", lambda job, folder: (["sh", "-c", "kill -FPE $$"], {}))
    job = running.Job(("./app",), platforms.platform("switch:2"), 2, 1)
    assert running.run(job) == 136
    assert capfd.readouterr().err == "tutti: ./app: status 136: SIGFPE (Floating point exception)\n"
    with pytest.raises(Refusal, match=r"^./app on switch:2: status 136: SIGFPE \(Floating"):
        running.output(job)


@needs_simgrid
def test_programs_of_another_mpi_are_refused(command):
    done = command("simgrid", "--platform", "switch:2", "--", "/bin/true")
    assert done.status == 2
    assert "/bin/true is not a program for SimGrid; compile it with smpicc" in done.err


@needs_simgrid
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


@needs_simgrid
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


@needs_simgrid
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


@needs_simgrid
def test_requests_tested_in_vain_together_complete_in_any_way(command, tmp_path):
    source = ROOT / "tests" / "simgrid" / "requests.c"
    subprocess.run(["smpicc", str(source), "-o", "requests"], cwd=tmp_path, check=True)
    done = command("simgrid", "--platform", "switch:2", "--", str(tmp_path / "requests"))
    assert (done.status, done.out) == (0, "18 of 18\n")


@needs_simgrid
@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_collectives_without_data_return_on_any_number_of_ranks(command, tmp_path, ranks):
    source = ROOT / "tests" / "simgrid" / "empty.c"
    subprocess.run(["smpicc", str(source), "-o", "empty"], cwd=tmp_path, check=True)
    done = command("simgrid", "--platform", f"switch:{ranks}", "--", str(tmp_path / "empty"))
    assert (done.status, done.out) == (0, f"{ranks} of {ranks}\n")


@needs_simgrid
def test_the_mpi_alone_is_measured_on_two_ranks(command):
    done = command("simgrid", "--platform", "switch:2", "--", "tutti-bench", "bcast", "--block", "100",
                   "--repetitions", "3", "--algorithm", "native")  # fmt: skip
    assert done.status == 0


@needs_simgrid
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


@needs_simgrid
def test_all_collectives_move_the_right_data():
    passed, failed = checked(48, 8)
    assert failed == 0
    assert passed > 100


def callable_names(collective: str) -> list[str]:
    """All that a call can run. SimGrid's own scans crash with more than 255 ranks."""
    names = []
    if collective not in ("scan", "exscan"):
        names = ["native", "auto", "hierarchical(native,leaders=1)",
                 "hierarchical(native,leaders=4)", "hierarchical(linear)"]  # fmt: skip
    return names + [one.name for one in _engine.algorithms() if one.collective == collective]


@needs_simgrid
@pytest.mark.skipif("ALL_TESTS" not in os.environ, reason="./test --all")
@pytest.mark.parametrize(("collective", "name"), [
    (collective, name) for collective in _engine.collectives() if not collective.startswith("rma_")
    for name in callable_names(collective)
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


@needs_simgrid
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


@needs_simgrid
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


@needs_simgrid
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


@needs_simgrid
def test_auto_finds_the_fastest_where_nothing_is_noisy(tmp_path):
    """At most 5 % longer than the fastest, after 500 calls of each of 3 sizes, with default settings."""
    words = (sys.executable, SCRIPT, "measure", tmp_path, "--shape", "4x1", "--label", "gbe",
             "--platform", "switch:bandwidth=125M,latency=13.5us,overhead=2us",
             "--collective", "allgather", "--repetitions", "7")  # fmt: skip
    subprocess.run(words, check=True, capture_output=True, timeout=300)
    document = json.loads((tmp_path / "selection-gbe-4x1-allgather.json").read_text())
    for row in document["rows"]:
        times = {line["name"]: line["median_us"] for line in row["algorithms"]}
        assert times.pop("auto") <= min(times.values()) / 0.95
