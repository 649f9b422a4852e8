"""`tutti check` and `tutti bench` read results of tutti-bench."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tutti import bench


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
    metadata = {"library": "MPICH 4", "ranks": "4"}
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


def test_check_fails_if_tutti_breaks_a_guideline(command, tmp_path):
    result = bench_result(9.0)
    (own,) = (line for line in result["rows"][0]["algorithms"] if line["name"] == "tutti gather")
    own["samples_us"] = [30.0 + i % 5 for i in range(40)]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(result))
    shown = command("check", "--results", str(path))
    assert shown.status == 1
    assert "guideline (1) violated by tutti: same, block 10" in shown.out
    assert command("check", "--results", str(path), "--json").status == 1


def test_check_lets_tutti_explore_without_what_other_programs_learned(command, monkeypatch):
    asked, words = {}, []

    def measure(mpirun, arguments, settings):
        asked.update(settings)
        words.extend(arguments)
        return bench_result(9.0)

    monkeypatch.setattr(bench, "measure", measure)
    assert command("check", "--mpirun", "mpirun -n 4").status == 0
    assert asked["TUTTI_LEARN"] == "run" and "TUTTI_EXPLORE" not in asked
    assert words[-2:] == ["--settle", "500"]


def test_a_distribution_is_no_markup(command, tmp_path):
    result = bench_result(9.0)
    result["rows"][0]["distribution"] = "[/same]"
    (tmp_path / "bench.json").write_text(json.dumps(result))
    assert "[/same]" in command("check", "--results", str(tmp_path / "bench.json")).out


def test_the_tables_of_check_fit_a_terminal(command, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = command("check", "--results", write_bench(tmp_path, 30.0)).out.splitlines()
    (mpi,) = (line.split() for line in lines if "MPI_Gatherv" in line)
    (own,) = (line.split() for line in lines if "TUTTI_Gatherv" in line)
    assert mpi == ["problem", "m", "m'", "MPI_Gather", "Guideline", "(2)", "MPI_Gatherv"]
    assert own == ["problem", "m", "m'", "TUTTI_Gather", "Tutti's", "(2)", "TUTTI_Gatherv"]
    assert max(map(len, lines)) <= 80


NEEDED = 'a measurement needs 2 or more, as in "mpirun -n 8"'


@pytest.mark.parametrize("ranks", ["1", "2"])
@pytest.mark.parametrize("words", [["check"], ["bench", "--json", "gather"], ["tune"]])
def test_one_rank_measures_nothing(command, installed, tmp_path, monkeypatch, words, ranks):
    result = bench_result(9.0)
    result["metadata"] |= {"ranks": ranks, "nodes": "1", "ranks of a node": ranks,
                           "processor": "P", "cores of a node": "2", "network": "unknown"}  # fmt: skip
    (tmp_path / "result.json").write_text(json.dumps(result))
    program = installed / "bin/tutti-bench"
    program.write_text(f"""#!/bin/sh
until [ "$1" = --json ]; do shift; done
cp {tmp_path}/result.json "$2"
""")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    shown = command(words[0], "--mpirun", "env", *words[1:])
    assert (f"--mpirun starts 1 rank of MPICH 4; {NEEDED}" in shown.err) == (ranks == "1")


@pytest.fixture
def bench_of_two(installed, tmp_path):
    """A tutti-bench that takes the last of several files for its results, and has 2 ranks."""
    result = bench_result(9.0)
    result["metadata"]["ranks"] = "2"
    (tmp_path / "result.json").write_text(json.dumps(result))
    program = installed / "bin/tutti-bench"
    program.write_text(f"""#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in --json) file=$2 ;; --json=*) file=${{1#*=}} ;; esac
  shift
done
cp {tmp_path}/result.json "$file"
""")
    program.chmod(0o755)


@pytest.mark.parametrize("words", [["--json", "mine.json"], ["--json", "other.json", "--json=mine.json"]])
@pytest.mark.parametrize("wanted", [["--json"], ["--plot", "times.png"]])
def test_bench_writes_the_users_file_too(command, bench_of_two, tmp_path, monkeypatch, words, wanted):
    if "--plot" in wanted:
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    shown = command("bench", "--mpirun", "env", *wanted, "gather", *words)
    assert shown.status == 0, shown.err
    assert (tmp_path / "mine.json").read_text() == (tmp_path / "result.json").read_text()
    assert not (tmp_path / "other.json").exists()
    assert (tmp_path / "times.png").exists() == ("--plot" in wanted)


def test_bench_refuses_a_file_that_cannot_be_written_before_it_measures(command, installed, tmp_path):
    program = installed / "bin/tutti-bench"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/measured\n")
    program.chmod(0o755)
    file = tmp_path / "no folder/mine.json"
    shown = command("bench", "--mpirun", "env", "--json", "gather", "--json", str(file))
    assert shown.status == 2
    assert f"--json {file}: no directory {file.parent}" in shown.err
    assert not (tmp_path / "measured").exists()


def test_bench_leaves_other_files_and_links(command, bench_of_two, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine, link, part = tmp_path / "mine.json", tmp_path / "link.json", tmp_path / "link.json.part"
    mine.write_text("former")
    link.symlink_to(mine)
    part.write_text("of an interrupted run")
    words = ("bench", "--mpirun", "env", "--json", "gather", "--json", "link.json")
    assert command(*words).status == 0
    assert link.is_symlink() and mine.read_text() == (tmp_path / "result.json").read_text()
    assert part.read_text() == "of an interrupted run"


def test_a_failed_bench_keeps_the_former_file(command, installed, tmp_path):
    program = installed / "bin/tutti-bench"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    mine, link = tmp_path / "mine.json", tmp_path / "link.json"
    mine.write_text("former")
    link.symlink_to(mine)
    for file in (mine, link):
        shown = command("bench", "--mpirun", "env LONG=1", "--json", "gather", "--json", str(file))
        assert shown.status == 2
        assert shown.err == "tutti: tutti-bench gather .. under env LONG=1: exit status 3\n"
        assert mine.read_text() == "former"


def test_bench_writes_to_a_pipe(command, bench_of_two, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert command("bench", "--mpirun", "env", "--json", "gather", "--json", str(pipe)).status == 0
    assert os.read(reading, 1 << 16).decode() == (tmp_path / "result.json").read_text()
    os.close(reading)


def test_bench_plots_what_was_measured(command, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "times.png"
    shown = command("bench", "--results", write_bench(tmp_path, 9.0), "--plot", str(picture))
    assert shown.status == 0 and picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"guidelines": None}, "guidelines: expected a list"),
        ({"metadata": None}, "metadata: expected an object"),
        ({"rows": [{}]}, "rows[0].distribution: expected a text"),
        ({"rows": [{**bench_result(9.0)["rows"][0], "algorithms": []}]},
         "rows[0].algorithms: no times of native gather"),
    ],
)  # fmt: skip
def test_check_refuses_other_results(command, tmp_path, change, fault):
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({**bench_result(9.0), **change}))
    refused = command("check", "--results", str(path))
    assert refused.status == 2
    assert refused.err == f"tutti: {path}: expected results of tutti-bench guidelines: {fault}\n"


def test_bench_refuses_to_plot_other_results(command, tmp_path):
    path, picture = tmp_path / "bench.json", tmp_path / "times.svg"
    path.write_text(json.dumps({**bench_result(9.0), "rows": [{}]}))
    refused = command("bench", "--results", str(path), "--plot", str(picture))
    assert refused.status == 2 and not picture.exists()
    assert "results that cannot be plotted: rows[0].collective: expected a text" in refused.err


def test_a_plot_names_the_mpi(command, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "times.svg"
    command("bench", "--results", write_bench(tmp_path, 9.0), "--plot", str(picture))
    assert "MPICH 4" in picture.read_text()


@pytest.mark.parametrize(
    ("collective", "where"),
    [("guidelines", "at the root"), ("bcast", "at the root"), ("allreduce", "at each rank"), ("alltoallv", "at each rank")],
)
def test_a_plot_says_where_the_bytes_are(command, tmp_path, collective, where):
    pytest.importorskip("matplotlib")
    result = bench_result(9.0)
    result["rows"][0]["collective"] = collective
    path, picture = tmp_path / "bench.json", tmp_path / "times.svg"
    path.write_text(json.dumps(result))
    command("bench", "--results", str(path), "--plot", str(picture))
    assert f"bytes {where}<" in picture.read_text()
