#!/usr/bin/env python3
"""Generates include/tutti/tutti.f90, the interfaces of the functions in src/api/fortran.cpp.

The kinds of arguments come from fortran.cpp and collectives.inc, their names and the constants from
tutti.h.

    tools/gen_fortran.py           writes the module if it is outdated
    tools/gen_fortran.py --check   writes nothing; exit status 1 if the module is outdated
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from gen_docs import entries  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
MODULE = ROOT / "include/tutti/tutti.f90"

INTEGER = "integer(c_int)"
BUFFER = "type(*), dimension(*)"
TYPES = {
    "In": f"{BUFFER}, intent(in)",
    **dict.fromkeys(["Out", "Data"], BUFFER),
    **dict.fromkeys(["Count", "Root", "Comm", "Type", "Op", "Win", "Window", "Mode"], f"{INTEGER}, intent(in)"),
    **dict.fromkeys(["Counts", "Displacements"], f"{INTEGER}, dimension(*), intent(in)"),
    "Fraction": "real(c_double), intent(in)",
    "Displacement": "integer(c_intptr_t), intent(in)",
    "Number": "integer(c_long_long), intent(in)",
    "Numbers": "integer(c_long_long), intent(out)",
    "Integer": f"{INTEGER}, intent(inout)",
    "Result": "type(c_ptr), intent(out)",
    "Held": "type(c_ptr), intent(in)",
    "Request": "integer(c_intptr_t), intent(inout)",
    "const char*": "character(len=*), intent(in)",
    "MPI_Fint*": f"{INTEGER}, intent(out)",
}
"""The declaration of an argument of each kind."""

DIRECTIVES = ["!GCC$ ATTRIBUTES NO_ARG_CHECK ::", "!DEC$ ATTRIBUTES NO_ARG_CHECK ::", "!DIR$ IGNORE_TKR"]
"""By these a compiler accepts buffers of any type and rank, and passes their addresses."""

HEAD = """\
! The Fortran interfaces of Tutti. Written by tools/gen_fortran.py; change what that reads instead.
!
!     mpifort -o program tutti.f90 program.f90 -ltutti-mpich     (or -ltutti-openmpi; before the MPI)
!
! The module serves mpif.h, `use mpi` and `use mpi_f08`, where a handle is passed as comm%MPI_VAL.
! tutti.h documents the functions.
module tutti
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_intptr_t, c_long_long, c_ptr
  implicit none
  private :: c_double, c_int, c_intptr_t, c_long_long, c_ptr

"""


@dataclass(frozen=True)
class Function:
    """A subroutine, with the names and kinds of its arguments before `ierror`."""

    name: str
    arguments: list[tuple[str, str]]

    @property
    def outlasts_call(self) -> bool:
        """Whether its buffers and arrays are in use after its return."""
        return self.name.endswith("_init") or ("request", "Integer") in self.arguments

    def declarations(self) -> dict[str, list[str]]:
        """The names of the arguments by their declaration."""
        found: dict[str, list[str]] = {}
        for name, kind in [*self.arguments, ("ierror", "MPI_Fint*")]:
            declared = TYPES[kind]
            if self.outlasts_call and "dimension" in declared:
                declared += ", asynchronous"
            found.setdefault(declared, []).append(name)
        return found

    def interface(self) -> str:
        """The interface as text."""
        names = ", ".join([*(name for name, _ in self.arguments), "ierror"])
        opening = f"    subroutine {self.name}("
        wrapped = textwrap.wrap(names + ")", 98 - len(opening))
        lines = [opening + (" &\n" + " " * len(opening)).join(wrapped), "      import"]
        for declared, declared_names in self.declarations().items():
            listed = ", ".join(declared_names)
            if declared.startswith(BUFFER):
                lines += [f"      {directive} {listed}" for directive in DIRECTIVES]
            lines.append(f"      {declared} :: {listed}")
        return "\n".join([*lines, "    end subroutine"]) + "\n"


def parameters_in_c() -> dict[str, list[str]]:
    """The names of the parameters of each function in tutti.h."""
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "include/tutti/tutti.h").read_text(), flags=re.DOTALL)
    return {
        name.lower(): re.findall(r"(\w+)(?:\[\])?(?:,|$)", parameters)
        for name, parameters in re.findall(r"\bint (TUTTI_\w+)\((.*?)\);", header, re.DOTALL)
    }


def functions() -> list[Function]:
    """All functions for Fortran."""
    source = (ROOT / "src/api/fortran.cpp").read_text()
    collectives = (ROOT / "src/core/collectives.inc").read_text()
    kinds = {f"tutti_{name}": listed.strip("()").split(",")
             for name, _, _, listed in entries(source, "TUTTI_FORTRAN")}  # fmt: skip
    for name, *_, listed in entries(collectives, "TUTTI_PERSISTENT_COLLECTIVE"):
        kinds[f"tutti_{name}_init"] = [*listed.strip("()").split(","), "Request"]
    for name, listed in re.findall(r"^void (tutti_\w+)_\((.*?), MPI_Fint\* error", source, re.M | re.S):
        kinds[name] = [parameter.strip().rpartition(" ")[0] for parameter in listed.split(",")]
    names = parameters_in_c()
    return [Function(name, list(zip(names[name], of, strict=True))) for name, of in kinds.items()]


def constants() -> str:
    """The declarations of the header's constants."""
    header = (ROOT / "include/tutti/tutti.h").read_text()
    found = re.findall(r"^#define (TUTTI_\w+) (\(\(TUTTI_Request\))?(\d+)", header, re.MULTILINE)
    return "".join(
        f"  integer({'c_intptr_t' if is_request else 'c_int'}), parameter :: {name} = {value}\n"
        for name, is_request, value in found
    )


def module() -> str:
    """The module as text."""
    interfaces = "\n".join(function.interface() for function in functions())
    return f"{HEAD}{constants()}\n  interface\n{interfaces}  end interface\nend module\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    text = module()
    if MODULE.exists() and MODULE.read_text() == text:
        return 0
    if check:
        print(f"{MODULE.relative_to(ROOT)} is outdated; run tools/gen_fortran.py", file=sys.stderr)
        return 1
    MODULE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
