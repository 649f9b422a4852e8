"""Tables break no word, completion knows values, and a missing report has its reason."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from tutti import cli, unseen
from tutti.console import Refusal, console, duration, microseconds, table, write
from tutti.measured_crossovers import crossings_of

WORDS = ("hierarchical(linear_sequence,leaders=2)", "measured 1.31x faster than the MPI's own")


def lines(listing, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(listing)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def listing():
    made = table("collective", "site", "seconds", "algorithm", "reason", right=("seconds",))
    made.add_row("reduce_scatter_block", "app: exchange_all+0x97", "1.25", *WORDS)
    made.add_row("bcast", "app: main+0x1", "0.5", "native", "exploring")
    return made


@pytest.mark.parametrize("width", [200, 132, 100, 80, 60])
def test_tables_break_no_word(width):
    shown = lines(listing(), width)
    text = " ".join(" ".join(shown).split())
    assert all(len(line) <= width for line in shown)
    for word in (WORDS[0], "reduce_scatter_block", "exchange_all+0x97", "1.25"):
        assert word in text, word


def test_a_table_that_fits_is_a_table():
    assert len(lines(listing(), 200)) == 3


def test_columns_that_do_not_fit_are_below_their_row():
    assert lines(listing(), 60)[:4] == [
        "collective            site                    seconds",
        "reduce_scatter_block  app: exchange_all+0x97     1.25",
        "   algorithm: hierarchical(linear_sequence,leaders=2);",
        "   reason: measured 1.31x faster than the MPI's own",
    ]
    assert len(lines(listing(), 20)[1].split()) == 1, "the first column has a line of its own"


def test_durations_have_a_sign_and_the_same_unit_below_0():
    for seconds, text in ((1.5, "1.50 s"), (0.01234, "12.3 ms"), (3e-4, "300 us")):
        assert duration(seconds) == text and duration(-seconds) == f"-{text}"


def test_microseconds_have_three_digits_or_all_before_the_point():
    shown = [microseconds(value * 1e-6) for value in (0.0012, 12.345, 999.4, 999.5, 999.99, 1234.5)]
    assert shown == ["0.0012 us", "12.3 us", "999 us", "1,000 us", "1,000 us", "1,234 us"]


def test_a_file_is_replaced_as_a_whole(tmp_path, monkeypatch):
    file, link, loop = tmp_path / "rules", tmp_path / "link", tmp_path / "loop"
    file.write_text("old")
    file.chmod(0o640)
    before = file.stat().st_ino
    write(file, "new", "--output")
    assert file.read_text() == "new" and file.stat().st_ino != before
    assert file.stat().st_mode & 0o777 == 0o640
    link.symlink_to(file)
    write(link, "linked", "--output")
    assert file.read_text() == "linked" and link.is_symlink()
    loop.symlink_to(loop)
    with pytest.raises(Refusal, match=r"--output .*loop: Too many levels"):
        write(loop, "", "--output")
    reading, writing = os.pipe()
    write(Path(f"/dev/fd/{writing}"), "piped", "--output")
    assert os.read(reading, 100) == b"piped"
    os.close(reading)
    os.close(writing)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Refusal, match="No space left"):
        write(file, "lost", "--output")
    assert file.read_text() == "linked"
    assert {one.name for one in tmp_path.iterdir()} == {"rules", "link", "loop"}


def test_output_without_a_terminal_has_80_columns(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError))
    console().print(listing())
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize(
    "words",
    [["list"], ["info"], ["explain", "gatherv", "--ranks", "8"], ["simulate", "gatherv", "--ranks", "8"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_commands_keep_names_whole_at_80_columns(command, installed, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    out = command(*words).out
    assert max(map(len, out.splitlines())) <= 80
    for name in re.findall(r"\S*linear_seq\S*", out):
        assert "linear_sequence" in name, name


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tutti ru", {"run", "rules"}),
        ("tutti run --gatherv ordered", {"ordered_tree"}),
        ("tutti run --verbose o", {"on", "off"}),
        ("tutti verify --max", {"--max-ranks"}),
    ],
)
def test_a_shell_completes_commands_and_values(monkeypatch, capfd, words, expected):
    monkeypatch.setenv("_TUTTI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        cli.main([])
    assert set(capfd.readouterr().out.split()) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(command, shell):
    shown = command("completion", shell)
    assert shown.status == 0 and f"_TUTTI_COMPLETE=complete_{shell}" in shown.out


def test_another_shell_is_refused(command):
    shown = command("completion", "tcsh")
    assert shown.status == 2 and "valid shells: bash, zsh, fish" in shown.err


@pytest.fixture
def programs(tmp_path):
    """A static and a dynamic program without MPI."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("needs a C compiler")
    source = tmp_path / "app.c"
    source.write_text("int main(void) { return 0; }\n")
    built = {"static": tmp_path / "static", "dynamic": tmp_path / "dynamic"}
    for name, program in built.items():
        options = ["-static"] if name == "static" else []
        done = subprocess.run([cc, *options, "-o", program, source], capture_output=True)
        if done.returncode != 0:
            pytest.skip(f"the compiler makes no {name} programs")
    return built


def test_a_missing_report_has_its_reason(programs):
    static, dynamic = str(programs["static"]), str(programs["dynamic"])
    assert "linked statically" in unseen.why(["mpirun", "-n", "2", static])
    assert unseen.why(["mpirun", "-n", "2", dynamic]) == f"{dynamic} is not linked to an MPI"
    for program, reason in (("no-such-program", "tutti doctor"), (sys.executable, "mpi4py")):
        why = unseen.why(["mpirun", "-n", "2", program])
        assert reason in why and "rank 0 could not write the report" in why


def test_a_long_script_in_a_command_is_no_file(command, installed):
    script = "pass\n" * 1000
    assert command("run", "--json", "--", sys.executable, "-c", script).status == 0


def test_run_says_at_once_that_a_program_is_static(command, installed, programs, tmp_path):
    report = tmp_path / "run.json"
    shown = command("run", "--report", str(report), "--", str(programs["static"]))
    assert "is linked statically: nothing can be preloaded" in shown.err
    assert f"--report {report}: no report was written" in shown.err


@pytest.mark.parametrize(
    ("version", "soname", "expected"),
    [
        ("mpirun (Open MPI) 4.1.4", "libmpich.so.12", "is linked to MPICH or Intel MPI, but mpirun"),
        ("HYDRA build details: Version: 4.0.2", "libmpi.so.40", "is linked to Open MPI, but mpirun"),
        ("mpirun (Open MPI) 4.1.4", "libmpi_cray.so.12", "is linked to MPICH or Intel MPI, but mpirun"),
        ("mpirun (Open MPI) 4.1.4", "libmpi_gnu_123.so.12", "is linked to MPICH or Intel MPI, but mpirun"),
        ("mpirun (Open MPI) 4.1.4", "libmpi.so.40", ""),
        ("mpirun (Open MPI) 4.1.4", "libmpi_abi.so.0", ""),
        ("of a vendor", "libmpi.so.40", ""),
    ],
)
def test_a_launcher_of_another_mpi_is_noted(programs, monkeypatch, version, soname, expected):
    monkeypatch.setattr(unseen, "libraries_of", lambda program: f"{soname} => /lib/{soname}")
    command = ["mpirun", "-n", "2", str(programs["dynamic"])]
    found = unseen.notes(command, lambda launcher: version)
    assert [expected in note for note in found] == ([True] if expected else [])


@pytest.mark.parametrize(
    ("version", "soname", "backends", "expected"),
    [
        ("HYDRA build details: Version: 4.0.2", "libc.so.6", ["openmpi"], ""),
        ("HYDRA build details: Version: 4.0.2", "libc.so.6", ["mpich"], ""),
        ("HYDRA build details: Version: 4.0.2", "libc.so.6", ["openmpi", "mpiabi"], ""),
        ("HYDRA build details: Version: 4.0.2", "libmpi.so.40", ["openmpi"], ""),
        ("of a vendor", "libmpi.so.40", ["mpich"], "Open MPI"),
        ("of a vendor", "libmpi_amd.so.12", ["openmpi"], "MPICH or Intel MPI"),
        ("of a vendor", "libc.so.6", ["openmpi"], ""),
    ],
)
def test_a_command_whose_mpi_has_no_backend_is_known(
    programs, monkeypatch, version, soname, backends, expected
):
    monkeypatch.setattr(unseen, "libraries_of", lambda program: f"{soname} => /lib/{soname}")
    command = ["mpirun", "-n", "2", str(programs["dynamic"])]
    assert unseen.without_backend(command, backends, lambda launcher: version) == expected


@pytest.mark.parametrize(("backends", "expected"), [(["openmpi"], "MPICH or Intel MPI"), (["mpich"], "")])
def test_python_loads_the_mpi_of_its_launcher(monkeypatch, backends, expected):
    monkeypatch.setattr(unseen, "libraries_of", lambda program: "libc.so.6 => /lib/libc.so.6")
    version = "HYDRA build details: Version: 4.0.2"
    command = ["mpirun", "-n", "2", sys.executable, "app.py"]
    assert unseen.without_backend(command, backends, lambda launcher: version) == expected


def case(collective, low, high, calls, **medians):
    candidates = [{"name": name, "median": time} for name, time in medians.items()]
    return {"collective": collective, "ranks": 8, "bytes": [low, high], "calls": calls,
            "candidates": candidates}  # fmt: skip


def test_crossovers_are_where_another_candidate_is_the_fastest():
    cases = [
        case("bcast", 65, 128, 10, native=4e-6, ring=5e-6),
        case("bcast", 1, 64, 10, native=2e-6, ring=3e-6, chain=None),
        case("bcast", 129, 256, 10, native=9e-6, ring=3e-6),
        case("bcast", 129, 256, 2, native=1e-6, ring=3e-6),
        case("gather", 1, 64, 10, native=2e-6, ring=1e-6),
        case("gather", 65, 128, 10, native=2e-6),
    ]
    (crossing,) = crossings_of(cases)
    assert (crossing.collective, crossing.ranks, crossing.top) == ("bcast", 8, pytest.approx(3.0))
    assert [step.fastest for step in crossing.steps] == ["native", "native", "ring"]
    assert [step.changes for step in crossing.steps] == [False, False, True]
