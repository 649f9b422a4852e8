"""The pages show commands that exist; references, manual pages and the site are made from them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import tutti
from installed import ROOT, cached, run
from tutti import cli
from typer.main import get_command

sys.path.insert(0, str(ROOT / "tools"))
import docs_site  # noqa: E402

PAGES = [
    page
    for pattern in ("README.md", "docs/*.md", "docs/howto/*.md", "docs/tutorial/*.md")
    for page in sorted(ROOT.glob(pattern))
]
FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SHELL, MIXED = ("sh", "bash"), ("", "console")
"""Languages of blocks with commands alone, and with output beside them."""
END = re.compile(r"[;|&<>]|\d?>.*|#.*")
"""A word that ends a command of the shell."""


def test_pip_never_looks_for_tutti_in_the_package_index():
    """Another project has that name there."""
    sources = [*(ROOT / "python").rglob("*.py"), *(ROOT / "python").glob("*/README.md"), *PAGES]
    advice = re.compile(r"pip3? install [^`&\n]*\btutti(?![-/\w])")
    assert not [file for file in sources if advice.search(file.read_text())]
    for name in ("lab", "reproduce"):
        project = (ROOT / "python" / name / "pyproject.toml").read_text()
        assert not re.search(r'^dependencies.*"tutti', project, re.MULTILINE)


def commands_of(page) -> list[list[str]]:
    """The words of every `tutti COMMAND ..` in a page's blocks of code."""
    found = []
    for fence in FENCE.finditer(page.read_text()):
        text = fence[2].replace("\\\n", " ")
        for line in text.splitlines():
            line = line.strip().removeprefix("$ ").split(" #")[0].split(" \\")[0]
            if fence[1] not in SHELL + MIXED:
                continue
            if fence[1] in MIXED and not line.startswith(("tutti ", "TUTTI_")):
                continue
            match = re.search(r"(?:^|[\s;])tutti\s+(?=[a-z-])", line)
            if match is None or line.startswith("#"):
                continue
            words = shlex.split(line[match.end() :], comments=True)
            end = next((i for i, word in enumerate(words) if END.fullmatch(word)), len(words))
            found.append(words[:end])
    return found


def options_of(words: list[str]) -> tuple[str, set[str], list[str]]:
    """The name of a command of the command line, the options that it has, and the words that it does
    not take."""
    root = get_command(cli.app)
    context = root.context_class(root)
    command = root.get_command(context, words[0])
    assert command is not None, f"tutti {words[0]}: no such command"
    while hasattr(command, "list_commands") and len(words) > 1:
        inner = command.get_command(context, words[1])
        if inner is None:
            break
        command, words = inner, words[1:]
    known = {name for parameter in command.params for name in parameter.opts}
    known |= {name for parameter in command.params for name in parameter.secondary_opts}
    own = words[1 : words.index("--")] if "--" in words else words[1:]
    parsed = command.make_context(words[0], own, resilient_parsing=True, ignore_unknown_options=True)
    return words[0], known | {"--help"}, parsed.args


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_in_code_exist(page):
    for words in commands_of(page):
        if words[0].startswith("-"):
            continue
        name, known, further = options_of(words)
        own = words[: words.index("--")] if "--" in words else words
        if name == "bench":
            continue  # what follows belongs to tutti-bench
        for word in own:
            if word.startswith("--"):
                assert word.split("=")[0] in known, f"{page.name}: tutti {' '.join(words)}: {word}"
        assert not further, f"{page.name}: tutti {' '.join(words)}: {further}"


def test_the_first_screen_of_the_readme():
    """What a visitor sees in a minute: a picture, three results with a loss, two commands."""
    text = (ROOT / "README.md").read_text()
    first = text.partition("## First program")[0]
    assert text.count("\n") <= 150
    assert len(re.findall(r"!\[|<img", text)) == 1
    results = re.findall(r"^- \*\*(.*?)\*\*", first, re.MULTILINE)
    assert len(results) == 3 and "Gain" in results and "Loss" in results
    install = [block for block in re.findall(r"```sh\n(.*?)```", first, re.DOTALL) if "pip" in block]
    assert [block.count("\n") for block in install] == [2]
    code = "".join(re.findall(r"```\w+\n(.*?)```", first, re.DOTALL))
    assert all(len(line) <= 80 for line in code.splitlines())


def test_the_list_of_pages_and_the_site_have_every_page():
    listed = (ROOT / "docs/README.md").read_text()
    assert listed.count("\n") < 40, "one screen"
    own = [page.relative_to(ROOT / "docs").as_posix() for page in PAGES if page.is_relative_to(ROOT / "docs")]
    assert not [page for page in own if page != "README.md" and f"]({page})" not in listed]
    places = [docs_site.place_of(page) for page in PAGES]
    assert len(set(places)) == len(places), "each has a place of its own"
    site = (ROOT / "mkdocs.yml").read_text()
    assert not [place for place in places if not re.search(rf"[-:] {place}$", site, re.MULTILINE)]


def test_the_algorithm_of_the_guide_compiles_with_its_line(tmp_path):
    """The line has the fields that the list has now."""
    guide = (ROOT / "docs/adding-an-algorithm.md").read_text()
    function, line, _ = re.findall(r"```cpp\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "algorithms").mkdir()
    # Found before the list of the sources.
    extended = (ROOT / "src/algorithms/list.inc").read_text() + line
    (tmp_path / "algorithms/list.inc").write_text(extended)
    (tmp_path / "star.cpp").write_text(function)
    for source in (tmp_path / "star.cpp", ROOT / "src/algorithms/algorithms.cpp"):
        run(cached("CMAKE_CXX_COMPILER"), "-std=c++20", "-fsyntax-only", "-Wall", "-Werror",
            "-I", tmp_path, "-I", ROOT / "src", "-I", ROOT / "include", source)  # fmt: skip


def test_the_pages_have_commands():
    assert sum(len(commands_of(page)) for page in PAGES) > 50


def test_the_rules_of_the_pages_are_valid():
    blocks = [match[2] for page in PAGES for match in FENCE.finditer(page.read_text())]
    found = [block for block in blocks if '"tutti-rules-1"' in block]
    assert len(found) > 1
    for text in found:
        rules = tutti._engine.rules_from_text(text, "page")
        assert rules.all and not rules.remarks, text


def test_the_c_reference_has_every_function():
    header = (ROOT / "include/tutti/tutti.h").read_text()
    reference = docs_site.c_reference(header)
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    for name in set(re.findall(r"\b(TUTTI_[A-Z]\w*)\(", code)):
        assert f"{name}(" in reference, name
    headings = re.findall(r"^## (.*)$", reference, re.MULTILINE)
    assert "Conventions" in headings and "TUTTI_Scan, TUTTI_Exscan" in headings
    assert "#if" not in reference and 'extern "C"' not in reference


def test_the_python_reference_has_what_is_exported():
    reference = docs_site.python_reference(ROOT / "python/tutti")
    for name in tutti.__all__:
        assert name == "__version__" or f"## tutti.{name}\n" in reference, name


def test_links_out_of_the_site_become_names(tmp_path):
    page = ROOT / "docs/architecture.md"
    text = docs_site.staged(page, "architecture.md")
    assert "](../src" not in text and "`src/core/types.hpp`" in text
    assert "](decisions/" in text


def test_files_of_the_tutorial_become_titles():
    """MkDocs takes a block for text if another word follows its language."""
    page = ROOT / "docs/tutorial/1-first-program.md"
    text = docs_site.staged(page, "tutorial/1-first-program.md")
    assert '```c title="irregular.c"\n#include <mpi.h>' in text and "```sh\n" in text
    for page in (ROOT / "docs").rglob("*.md"):
        text = docs_site.staged(page, page.relative_to(ROOT / "docs").as_posix())
        assert not re.search(r'^ *```\w+ +(?!title=")', text, re.MULTILINE), page


@pytest.fixture(scope="session")
def man(tmp_path_factory):
    """A folder of manual pages."""
    folder = tmp_path_factory.mktemp("man")
    run(sys.executable, ROOT / "tools/gen_man.py", folder)
    return folder


def test_manual_pages_have_every_command_and_setting(man):
    page = (man / "tutti.1").read_text()
    for setting in tutti.settings():
        assert f".TP\n\\fB{setting.name}\\fR\n" in page, setting.name
    for name, entry in cli.COMMANDS.items():
        assert entry.hidden or f".SS tutti {name}\n" in page, name


def test_the_manual_pages_on_the_site_have_no_macros(man):
    text = docs_site.commands_reference(man)
    assert "```text\ntutti run -- mpirun -n 16 ./app input.txt\n" in text
    assert not re.search(r"^\.[A-Z]{2}\b|\\f[BIR]", text, re.MULTILINE)


def test_the_site_is_built_without_broken_links():
    has_tools = (ROOT / "build/docs-venv/bin/mkdocs").exists()
    if not has_tools and "ALL_TESTS" not in os.environ:
        pytest.skip("no MkDocs in build/docs-venv: tools/docs.sh and ./test --all install it")
    done = subprocess.run([ROOT / "tools/docs.sh"], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (ROOT / "build/site/reference/c-api.html").is_file()


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
@pytest.mark.parametrize("name", ["tutti", "tutti-bench"])
def test_man_shows_the_pages(man, name):
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", man / f"{name}.1"],
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "SYNOPSIS" in done.stdout
