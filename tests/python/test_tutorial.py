"""The tutorial is correct: its commands run on its files, and their output matches.

A block with a file name after its language becomes that file; `sh` blocks are run by bash in
one folder for each page; a `text` block is the output of the `sh` block before it, where `...`
stands for anything.
"""

import os
import re
from dataclasses import dataclass

import pytest
from installed import BUILD, PREFIX, ROOT, mpis, run

PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
FENCE = re.compile(r"^```(\w+)(?: +([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    """One fenced block of a page."""

    language: str
    name: str | None
    text: str


def blocks_of(page) -> list[Block]:
    """The blocks of a page in order."""
    return [Block(*match.groups()) for match in FENCE.finditer(page.read_text())]


def matches(expected: str, output: str) -> bool:
    """Whether the output matches; `...` stands for any text."""
    parts = (re.escape(part) for part in expected.strip().split("..."))
    return re.fullmatch(".*".join(parts), output.strip(), re.DOTALL) is not None


@pytest.fixture(params=mpis() or [None], ids=str)
def tools(request, tmp_path):
    """A folder whose mpicc and mpirun are those of one MPI."""
    assert request.param, f"no build for an MPI in {BUILD}; run ./test, or set TUTTI_BUILD"
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ["mpicc", "mpirun"]:
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec {getattr(request.param, name)} "$@"\n')
        command.chmod(0o755)
    # The wheel of mpi4py asks for the name that MPICH's own installation gives its library.
    program = run("ldd", BUILD / "bin" / f"particles-{request.param}")
    for library in re.findall(r"=> (\S*/libmpich\.so\.12) ", program):
        (folder / "libmpi.so.12").symlink_to(library)
    return folder


def for_mpi4py(tools) -> dict[str, str]:
    """Settings by which the wheel of mpi4py takes the MPI of a folder of tools."""
    mpich = (tools / "libmpi.so.12").exists()
    found = f"{tools}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
    return {"MPI4PY_MPIABI": "mpich" if mpich else "openmpi", "LD_LIBRARY_PATH": found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page(page, tools, tmp_path, request):
    if "mpirun" not in page.read_text() and request.node.callspec.params["tools"] != mpis()[0]:
        pytest.skip("needs no MPI, so one run suffices")
    output = None
    for block in blocks_of(page):
        if block.language == "text":
            assert output is not None, f"{page}: output before any command"
            assert matches(block.text, output), f"{page} says\n{block.text}\nbut there was\n{output}"
        elif block.language == "sh":
            script = f"set -e\nexport PATH={tools}:$PATH\nexec 2>&1\n{block.text}"
            output = run("bash", "-c", script, cwd=tmp_path, COLUMNS="200", **for_mpi4py(tools))
        else:
            assert block.name, f"{page}: a block of {block.language} without a file name"
            (tmp_path / block.name).write_text(block.text)


def test_there_is_a_tutorial():
    assert len(PAGES) >= 3
    assert all("sh" in {block.language for block in blocks_of(page)} for page in PAGES)


def test_different_output_is_told_apart():
    assert matches("a\n...\nz\n", "a\nb\nc\nz\n")
    assert matches("n = ...", "n = 5")
    assert not matches("a\nb\n", "a\nc\n")
    assert not matches("a ... z", "a b c")


def test_the_command_is_the_installed_one():
    assert run("bash", "-c", "command -v tutti").strip() == str(PREFIX / "bin" / "tutti")
