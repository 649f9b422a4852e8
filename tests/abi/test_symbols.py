"""The preloaded library has every function of the C API, in C and Fortran."""

from __future__ import annotations

import re
import subprocess

from conftest import FRONT, INTERFACES, LIBRARIES, ROOT


def exported(library):
    """The exported functions of Tutti, except those shared by front and backend."""
    command = ["nm", "--dynamic", "--defined-only", "--format=posix", library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = {line.split()[0].split("@")[0] for line in lines if line.split()[1] == "T"}
    return {name for name in names if re.fullmatch(r"TUTTI_\w+|tutti_\w+_", name)}


def declared():
    """The names of the functions that tutti.h declares."""
    header = (ROOT / "include/tutti/tutti.h").read_text()
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    return set(re.findall(r"\b(TUTTI_\w+)\(", code)) - {"TUTTI_H"}


def test_front_has_what_the_header_declares():
    assert len(declared()) > 20
    assert {name for name in exported(FRONT) if name.startswith("TUTTI_")} == declared()


def test_fortran_has_what_the_header_says():
    """One-sided, shared and persistent functions, but those for large counts."""
    named = {name for name in declared() if re.match(r"TUTTI_(Rma|Arrival|Shared)_|\w+_(shared|init)$", name)}
    assert len(named) > 20
    assert {f"{name.lower()}_" for name in named} <= exported(FRONT)


def test_fortran_has_what_its_interfaces_declare():
    declared = re.findall(r"^ +subroutine (\w+)\(", INTERFACES.read_text(), re.MULTILINE)
    of_fortran = {name for name in exported(FRONT) if name.startswith("tutti_")}
    assert {f"{name}_" for name in declared} == of_fortran


def test_front_and_backends_have_the_same_functions(mpi):
    assert "tutti_arrival_edge_" in exported(FRONT)
    assert exported(LIBRARIES / f"libtutti-{mpi.name}.so") == exported(FRONT)
