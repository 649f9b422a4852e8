"""The environment: off, wrong values, other settings on other ranks; and programs without MPI."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from conftest import ALGORITHMS, FRONT, RAN, ROOT


@pytest.mark.parametrize("off", ["off", "No"])
def test_off_leaves_all_calls_to_the_mpi_and_reports_them(mpi, off):
    outcome = mpi.run(mpi.compile("gather.c"), settings=ALGORITHMS | {"TUTTI": off})
    outcome.check_correct()
    assert outcome.algorithms() and set(outcome.algorithms().values()) == {"native"}


@pytest.mark.parametrize("value", ["off", "on"])
def test_functions_for_one_group_refuse_two(mpi, value):
    binary = mpi.compile("two_groups.c", f"-I{ROOT}/include", FRONT)
    mpi.run(binary, settings={"TUTTI": value}, report=False).check_correct()


def test_verbose_tells_version_mpi_and_settings_in_one_line(mpi):
    settings = {"TUTTI_VERBOSE": "on", "TUTTI_GATHERV": "ordered_tree", "TUTTI_MEMORY": "1M"}
    outcome = mpi.run(mpi.compile("gather.c"), settings=settings, report=False)
    assert outcome.status == 0, outcome.err
    (line,) = (line for line in outcome.err.splitlines() if line.startswith("tutti "))
    name = {"mpich": "MPICH", "openmpi": "Open MPI v"}[mpi.name]
    assert re.match(rf"tutti [\d.]+ with {name}", line), line
    assert {"gather=auto", "gatherv=ordered_tree", "TUTTI_MEMORY=1M"} <= {*line.split()}, line


@pytest.mark.parametrize(("memory", "alltoall", "gather"), [
    ("64M", "pairwise: requested", "bine: requested"),
    ("1K", "native: pairwise would exceed TUTTI_MEMORY", "linear: bine would exceed TUTTI_MEMORY"),
])  # fmt: skip
def test_what_exceeds_the_memory_limit_is_named_with_what_ran_instead(mpi, memory, alltoall, gather):
    settings = {"TUTTI_ALLTOALL": "pairwise", "TUTTI_GATHER": "bine", "TUTTI_MEMORY": memory}
    outcome = mpi.run(mpi.compile("bounded.c"), settings=settings)
    outcome.check_correct()
    told = {line["collective"]: f"{line['algorithm']}: {line['reason']}" for line in outcome.report["calls"]}
    assert (told["alltoall"], told["gather"]) == (alltoall, gather)


def test_all_collectives_through_nodes_but_those_that_have_a_setting(mpi):
    settings = {"TUTTI_HIERARCHY": "hierarchical(leaders=2)", "TUTTI_NODE": "1,2", "TUTTI_SCATTER": "binomial",
                "TUTTI_GATHER": "auto:hierarchy=flat", "TUTTI_EXPLORE": "0"}
    outcome = mpi.run(mpi.compile("gather.c"), settings=settings)
    outcome.check_correct()
    through_nodes = "hierarchical(native,leaders=2)"
    ran = outcome.algorithms()
    assert {name: ran[name] for name in RAN} == dict.fromkeys(RAN, through_nodes) | {
        "scatter": "binomial", "gather": "native"
    }


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("TUTTI_GATHERV", "nonsense", "binomial"),
        ("TUTTI_SCATTER", "knomial:k=1", "at least 2"),
        ("TUTTI_GATHER", "hierarchical(BSBN)", "hierarchy=flat"),
        ("TUTTI", "perhaps", "off"),
        ("TUTTI_MACHINE", "/nowhere/machine", "built-in"),
        ("TUTTI_MACHINE", "/etc", "is a directory; expected built-in"),
        ("TUTTI_MACHINE", "/dev/null", "is a device; expected built-in"),
        ("TUTTI_MACHINE", "/dev/zero", "is a device; expected built-in"),
        ("TUTTI_MACHINE", "/bin/ls", "is larger than 65536 bytes; expected"),
        ("TUTTI_MACHINE", "/etc/passwd", "line such as"),
        ("TUTTI_DISTANCES", "/etc", "is a directory; expected a file that tutti map"),
        ("TUTTI_DISTANCES", "/dev/zero", "is a device; expected a file that tutti map"),
        ("TUTTI_GATHERV", "linear:", "key=value"),
    ],
)
def test_wrong_value(mpi, name, value, accepted):
    outcome = mpi.run(mpi.compile("gather.c"), settings={name: value})
    assert outcome.status != 0
    assert "correct" not in outcome.out.split()
    lines = [line for line in outcome.err.splitlines() if value in line]
    assert len(lines) == 1, outcome.err
    assert name in lines[0]
    assert accepted in lines[0]


@pytest.mark.parametrize("name", ["TUTTI_MACHINE", "TUTTI_DISTANCES", "TUTTI_REPORT"])
def test_a_pipe_is_not_waited_for(mpi, tmp_path, name):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome = mpi.run(mpi.compile("gather.c"), settings={name: str(pipe)}, report=False)
    assert outcome.status != 0
    (line,) = (line for line in outcome.err.splitlines() if str(pipe) in line)
    assert name in line and "is a pipe" in line


def test_a_report_goes_into_no_folder(mpi, tmp_path):
    settings = {"TUTTI_REPORT": str(tmp_path)}
    outcome = mpi.run(mpi.compile("gather.c"), settings=settings, report=False)
    assert outcome.status != 0
    (line,) = (line for line in outcome.err.splitlines() if str(tmp_path) in line)
    assert "TUTTI_REPORT" in line and "is a directory; expected none, -" in line


@pytest.mark.parametrize("content", ["nonsense\n", "latency 0.012\n", "a\0b"])
def test_a_bad_file_of_the_cache_is_passed_over(mpi, tmp_path, content):
    cached = tmp_path / "tutti" / "machine"
    cached.parent.mkdir()
    cached.write_text(content)
    outcome = mpi.run(mpi.compile("gather.c"), settings={"XDG_CACHE_HOME": str(tmp_path)})
    outcome.check_correct()
    (line,) = (line for line in outcome.err.splitlines() if str(cached) in line)
    assert "ignoring" in line and "using the built-in machine" in line


@pytest.mark.parametrize("settings", [
    {"TUTTI_GATHER": "nonsense"},
    {"TUTTI_GATHER": "nonsense", "TUTTI_DISTANCES": "/nowhere"},
    {"TUTTI_DISTANCES": "/nowhere"},
])  # fmt: skip
def test_an_error_is_said_once_for_all_communicators(mpi, settings):
    """Another communicator's rank 0 is another process."""
    outcome = mpi.run(mpi.compile("refused.c"), np=4, settings=settings, report=False)
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("refused") == 8
    assert outcome.err.count("invalid TUTTI_") == 1, outcome.err


def test_only_unknown_names_are_warned_of(mpi):
    settings = {"TUTTI_LIBRARY_DIR": "/nowhere", "TUTTI_BENCH_MPI": mpi.name, "TUTTI_GATHRE": "LIN",
                "TUTTI_LIBRARY": "/nowhere", "TUTTI_RMA_SCATTER": "linear",
                "TUTTI_RMA_GATHER": "linear", "TUTTI_RMA_REDUCE": "linear"}
    outcome = mpi.run(mpi.compile("gather.c"), settings=settings)
    assert outcome.status == 0, outcome.err
    (line,) = (line for line in outcome.err.splitlines() if "unknown setting" in line)
    assert "TUTTI_GATHRE" in line and "did you mean TUTTI_GATHER?" in line


def test_rank_0_decides_for_all(mpi):
    """The other ranks request another algorithm: without agreement this would hang."""
    script = 'test "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 || export TUTTI_GATHERV=linear; "$0"'
    outcome = mpi.run("sh", "-c", script, mpi.compile("gather.c"))
    outcome.check_correct()
    assert outcome.algorithms() == RAN


@pytest.mark.parametrize(
    "command", [["true"], [sys.executable, "-c", "print('here')"], ["sh", "-c", "exit 3"]]
)
def test_programs_without_mpi_are_not_touched(command):
    settings = os.environ | {"TUTTI_GATHERV": "nonsense", "TUTTI_REPORT": "-"}
    plain = subprocess.run(command, capture_output=True, text=True)
    preloaded = subprocess.run(
        command, capture_output=True, text=True, env=settings | {"LD_PRELOAD": str(FRONT)}
    )
    assert (preloaded.returncode, preloaded.stdout, preloaded.stderr) == (
        plain.returncode, plain.stdout, plain.stderr,
    )
