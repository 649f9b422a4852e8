"""The checks of the source find planted faults."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(name):
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


check_layers = load("check_layers")
check_words = load("check_words")
check_symbols = load("check_symbols")
gen_docs = load("gen_docs")


def plant(root, path, text):
    """Puts one file into a small source tree."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def found(root):
    """The violations in a tree, as text."""
    return [str(violation) for violation in check_layers.check_tree(root)]


def test_the_tree_keeps_its_layers():
    assert found(ROOT) == []


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("src/core/a.hpp", '#include "schedule/schedule.hpp"\n', "may not include schedule"),
        ("src/shapes/a.hpp", '\n#include "orders/orders.hpp"\n', "a.hpp:2: src/shapes/ may not"),
        ("src/verify/a.cpp", "#include <algorithms/algorithms.hpp>\n", "may not include algorithms"),
        ("src/sweep/a.cpp", "#include <mpi.h>\n", "may not include mpi.h"),
        ("intercept/a.c", '#include "verify/program.hpp"\n', "may not include verify"),
        ("src/select/a.cpp", 'const auto a = f(std::getenv("A"));\n', "uses the environment"),
        ("src/cost/a.cpp", "#include <chrono>\n", "uses a clock"),
        ("src/sweep/a.cpp", "void f() { std::ofstream file; }\n", "uses a file"),
        ("src/sweep/a.cpp", 'void f() { printf("a"); }\n', "uses the output"),
        ("src/lowering/a.cpp", "void f() { exit(1); }\n", "uses the process"),
        ("src/orders/a.cpp", "int f() { return rand(); }\n", "uses a random device"),
        ("src/run/../core/a.cpp", "thread_local int n;\n", "uses a thread"),
        ("src/core/a.cpp", "static int calls = 0;\n", "keeps state: static int calls"),
        ("src/core/a.cpp", "int f() {\n  static std::vector<int> seen;\n}\n", "a.cpp:2: "),
        ("src/core/a.cpp", "std::map<int, int> cache;\n", "keeps state: std::map"),
        ("src/core/a.cpp", "int calls{0};\n", "keeps state: int calls"),
        ("src/misc/a.cpp", "\n", "src/misc:1: has no line"),
        ("src/run/call/a.cpp", '#include "run/hierarchical/mpi_hierarchical.hpp"\n', "may not include run/hierarchical"),
        ("src/run/clock.cpp", '#include "run/call/mpi_call.hpp"\n', "may not include run/call"),
        ("src/run/misc/a.cpp", "\n", "src/run/misc/ has no line"),
    ],
)
def test_a_planted_violation_is_found(tmp_path, path, text, message):
    (tmp_path / "src").mkdir()
    plant(tmp_path, path, text)
    violations = found(tmp_path)
    assert len(violations) == 1
    assert message in violations[0]


@pytest.mark.parametrize(
    "text",
    [
        '#include "core/types.hpp"\n#include <vector>\n',
        "// int getenv() and #include <mpi.h> in a comment\n",
        '/* #include <mpi.h>\n*/ constexpr auto text = "std::getenv(";\n',
        "static constexpr int limit = 3;\ninline constexpr int other = 4;\n",
        "constexpr const char* names[] = {\n",
        "static Order identity(int p) { return Order(p); }\n",
        "using Rank = int;\nstruct Error {\n  int code = 0;\n};\n",
        "int f(int a) {\n  int b = a;\n  return b;\n}\n",
        "snprintf(text, sizeof text, \"%d\", 1);\n",
    ],
)
def test_pure_source_is_left_alone(tmp_path, text):
    plant(tmp_path, "src/schedule/a.cpp", text)
    assert found(tmp_path) == []


def test_an_algorithm_outside_the_list_is_found(tmp_path):
    shutil.copytree(ROOT / "src" / "algorithms", tmp_path / "src" / "algorithms")
    assert found(tmp_path) == []
    plant(tmp_path, "src/algorithms/gather/star.cpp", "Schedule star(const Problem& problem) {\n}\n")
    assert found(tmp_path) == [
        "src/algorithms/gather/star.cpp:1: defines no algorithm that src/algorithms/list.inc lists"
    ]


def test_a_line_of_the_list_without_its_file_is_found(tmp_path):
    shutil.copytree(ROOT / "src" / "algorithms", tmp_path / "src" / "algorithms")
    (tmp_path / "src/algorithms/allgather/broadcasts.cpp").unlink()
    assert all("allgather_broadcasts is defined in no file" in text for text in found(tmp_path))
    assert len(found(tmp_path)) == 1


def test_the_script_fails_with_one_line_for_each_violation(tmp_path):
    plant(tmp_path, "src/core/a.hpp", "#include <mpi.h>\n")
    script = ROOT / "tools" / "check_layers.py"
    run = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.splitlines()[0].startswith("src/core/a.hpp:1: src/core/ may not include mpi.h")


def library(tmp_path, source, *options):
    """A shared library made from C source."""
    code, result = tmp_path / "a.c", tmp_path / "liba.so"
    code.write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", result, code, *options], check=True)
    return result


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("int MPI_Barrier(void) { return 0; }\nint helper(void) { return 0; }\n", "exports helper"),
        ("static int nothing;\nint get(void);\n", "exports nothing"),
        (
            "extern int ompi_mpi_comm_world;\nint *MPI_Init(void) { return &ompi_mpi_comm_world; }\n",
            "leaves ompi_mpi_comm_world undefined",
        ),
        ("int PMPI_Init(void);\nint MPI_Init(void) { return PMPI_Init(); }\n", "leaves PMPI_Init"),
    ],
)
def test_a_library_that_shows_or_needs_too_much_is_found(tmp_path, source, message):
    violations = check_symbols.violations(library(tmp_path, source))
    assert any(message in text for text in violations)


def test_a_library_that_needs_the_cplusplus_library_is_found(tmp_path):
    made = library(
        tmp_path, "int MPI_Init(void) { return 0; }\n", "-Wl,--no-as-needed", "-lstdc++"
    )
    assert any("needs libstdc++.so" in text for text in check_symbols.violations(made))


def test_a_library_of_mpi_functions_passes(tmp_path):
    names = ["MPI_Gather", "PMPI_Gather_c", "mpi_gather_", "MPI_GATHER", "TUTTI_Gather",
             "tutti_backend_for"]  # fmt: skip
    source = "".join(f"int {name}(void) {{ return 0; }}\n" for name in names)
    assert check_symbols.violations(library(tmp_path, source)) == []


def test_generated_documentation_is_checked(tmp_path):
    for name in ["src/algorithms", "src/core", "src/schedule", "src/select", "docs/generated"]:
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "README.md", tmp_path)
    for name in ("architecture.md", "tuning.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs")
    command = [sys.executable, ROOT / "tools" / "gen_docs.py", "--root", tmp_path]
    check = [*command, "--check"]
    assert subprocess.run(check).returncode == 0

    registry = tmp_path / "src/algorithms/list.inc"
    registry.write_text(registry.read_text().replace("binomial tree", "tree with two branches"))
    run = subprocess.run(check, capture_output=True, text=True)
    assert run.returncode == 1
    assert "docs/generated/algorithms.md is out of date" in run.stderr

    assert subprocess.run(command, capture_output=True).returncode == 0
    assert subprocess.run(check).returncode == 0
    assert "tree with two branches" in (tmp_path / "README.md").read_text()


def test_entries_join_literals_and_keep_commas_inside_them():
    text = 'A(x, "one, " // not this, nor that\n  "two", f(1))\nA(y, "", z)\n'
    assert list(gen_docs.entries(text, "A")) == [["x", "one, two", "f(1)"], ["y", "", "z"]]


def test_packages_are_installed_once_and_again_after_their_list_changed(tmp_path):
    """pip, here a script that notes its arguments, needs the network."""
    for name in ("tools", ".venv/bin"):
        (tmp_path / name).mkdir(parents=True)
    lists = [tmp_path / "tools" / name for name in ("requirements-command.txt", "requirements.txt")]
    for file in lists:
        file.write_text("typer>=0.12\n")
    python = tmp_path / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    python.chmod(0o755)

    def calls() -> int:
        command = ["bash", "-c", f"source {ROOT}/tools/prepare.sh; prepare_python test"]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
        return len((tmp_path / "calls").read_text().splitlines())

    assert [calls(), calls()] == [2, 2]
    lists[1].write_text("typer>=0.13\n")
    assert [calls(), calls()] == [3, 3]


def test_the_tree_has_the_fields_words():
    assert check_words.violations(ROOT) == []


@pytest.mark.parametrize(
    ("path", "text", "word"),
    [
        ("src/api/a.hpp", "/// Its lateness.\n", "lateness"),
        ("include/tutti/a.h", "int most_ranks;\n", "most_ranks"),
        ("python/tutti/a.py", "\nwhy = 'it was asked for'\n", "it was asked for"),
        ("docs/a.md", "Set `TUTTI_LEVEL=node`.\n", "TUTTI_LEVEL"),
        ("bench/a.py", "'slower by more than a twentieth'\n", "more than a twentieth"),
        ("docs/results/a.md", "A ticket.\n<!-- Written by `page`: all -->\na lease\n", "ticket"),
    ],
)
def test_a_planted_private_word_is_found(tmp_path, path, text, word):
    plant(tmp_path, path, text)
    (violation,) = check_words.violations(tmp_path)
    assert violation.startswith(f"{path}:") and f"'{word}': write " in violation


@pytest.mark.parametrize("words", [["--fast", "--all"], ["--all", "x"], ["--slow"]])
def test_words_that_the_tests_do_not_know_are_refused(tmp_path, words):
    shutil.copy(ROOT / "test", tmp_path)
    plant(tmp_path, "tools/prepare.sh", 'fail() { echo "$1"; exit 3; }\nprepare_packages() { exit 0; }\n')
    ended = subprocess.run([tmp_path / "test", *words], capture_output=True, text=True, check=False, timeout=20)
    assert (ended.returncode, ended.stdout) == (3, "usage: ./test [--fast|--all]\n")
