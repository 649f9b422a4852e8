"""The output of ./demo fits a terminal, and has the gain and its reason."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest
from installed import ROOT

spec = importlib.util.spec_from_file_location("demo_summary", ROOT / "tools/demo_summary.py")
demo_summary = importlib.util.module_from_spec(spec)
spec.loader.exec_module(demo_summary)


def call(collective, algorithm, reason, seconds=1e-3, explored=0):
    return {"collective": collective, "algorithm": algorithm, "reason": reason, "calls": 30,
            "explored": explored, "elapsed": {"sum": seconds}}  # fmt: skip


def report(seconds, *calls):
    return {"mpi": "Open MPI 4.1.4", "ranks": 32, "wall": seconds + 1,
            "seconds": {"mean": seconds}, "calls": list(calls)}  # fmt: skip


NATIVE = call("gatherv", "native", "fastest of 7 candidates measured")
TAKEN = [
    call("alltoall", "hierarchical(native,leaders=1)", "measured 3.1x faster " + "than it " * 20),
    call("alltoall", "bruck", "exploring", 1.0, explored=30),
    call("gather", "linear", "measured 1.5x faster", 0.5),
]


def lines_of(native, tutti, *calls):
    return demo_summary.summary("8 emulated nodes", [report(one, NATIVE) for one in native],
                                [report(one, *calls) for one in tutti], 12345)  # fmt: skip


@pytest.mark.parametrize(
    ("native", "tutti", "calls", "sentence"),
    [
        ([4.0, 4.4], [2.0, 2.2], TAKEN, "Collectives take 50 % less time under Tutti. Why:"),
        ([4.0, 2.1], [2.0, 2.2], TAKEN, "31 % less time under Tutti, though the ranges overlap. Why:"),
        ([2.0, 2.2], [4.0, 4.4], TAKEN, "A loss: collectives take 100 % longer under Tutti."),
        ([2.0, 2.2], [2.0, 2.2], TAKEN, "These runs show no difference, though Tutti replaced calls:"),
        ([2.0, 2.2], [2.0, 2.2], [NATIVE], "left the calls to the MPI. A gain needs several nodes"),
        ([4.0, 4.4], [2.0, 2.2], [NATIVE], "The difference is the machine's load."),
        ([4.0, 4.4], [2.0, 2.2], TAKEN[1:2], "Nothing is gained here"),
    ],
)
def test_the_closing_sentence(native, tutti, calls, sentence):
    assert sentence in " ".join(lines_of(native, tutti, *calls))


def test_the_summary_fits_a_terminal_and_names_the_reasons():
    lines = lines_of([4.0, 4.4], [2.0, 2.2], NATIVE, *TAKEN)
    assert len(lines) <= 30 and all(len(line) <= 80 for line in lines)
    assert "  gather: linear: measured 1.5x faster" in lines
    text = " ".join(lines)
    assert text.index("gather: linear") < text.index("alltoall: hierarchical"), "most time first"
    assert "bruck" not in text, "it was only explored"
    (row,) = [line.split() for line in lines if line.startswith("in collectives")]
    assert row[2:] == ["4.20", "(4.00..4.40)", "2.10", "(2.00..2.20)", "50", "%"]


def test_a_single_round_has_no_range():
    (row,) = [line.split() for line in lines_of([4.0], [2.0], *TAKEN) if line.startswith("in coll")]
    assert row[2:] == ["4.00", "2.00", "50", "%"]


@pytest.mark.parametrize(("cores", "ranks"), [(2, 2), (64, 4)])
@pytest.mark.parametrize("is_root", [True, False])
def test_the_next_command_is_one_that_the_launcher_accepts(cores, ranks, is_root):
    lines = demo_summary.next_steps(Path("/folder"), "Open MPI v4.1.4", cores, is_root)
    assert lines[:2] == ["", "Report: /folder/report.html"] and f"mpirun -n {ranks} ./your-program" in lines[2]
    assert ("OMPI_ALLOW_RUN_AS_ROOT=1" in lines[-1]) == is_root
    assert len(demo_summary.next_steps(Path("/folder"), "MPICH 4.0.2", cores, is_root)) == 3


def test_no_algorithm_is_forced():
    script = (ROOT / "demo").read_text()
    for name in ("TUTTI_MPI", "TUTTI_PYTHON", "TUTTI_SIMGRID", "TUTTI_BENCH", "TUTTI_FORTRAN_COMPILER"):
        script = script.replace(f"-D{name}=", "")
    assert "TUTTI_" not in script


def test_an_installation_of_the_user_stays_as_it_is():
    """One of pip serves all MPIs, and has tutti-bench; that of the demo does not."""
    script = (ROOT / "demo").read_text()
    assert '--prefix "$work"' in script and "$venv/bin/tutti" not in script
    (own,) = re.findall(r"^readonly work=\$root/(\S+)", script, re.MULTILINE)
    assert f": {own}/bin/tutti run" in demo_summary.next_steps(Path("/folder"), "MPICH 4.0.2", 2, False)[2]


@pytest.mark.parametrize("words", [["--ranks", "3"], ["--rounds", "3x"], ["--rounds", "0"], ["--rounds"]])
def test_wrong_options_show_the_usage(words):
    done = subprocess.run([ROOT / "demo", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "usage: ./demo [--rounds N] [--here]" in done.stderr
