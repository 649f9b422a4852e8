"""Distances: measuring and reordering from Python and Fortran, and a file that fits or does not."""

from __future__ import annotations

import json

import pytest
from conftest import FRONT, HERE, LIBRARIES, RANKS, ROOT


def file_of(path, ranks):
    """Writes distances between ranks on a line, in another order than the ranks."""
    place = [(ranks - rank) % ranks for rank in range(ranks)]
    matrix = [[10 * abs(place[a] - place[b]) for b in range(ranks)] for a in range(ranks)]
    measured = [{"bytes": 1, "matrix": matrix}]
    path.write_text(json.dumps({"schema": "tutti-distances-1", "unit": "us", "measured": measured}))
    return str(path)


@pytest.mark.parametrize("preload", [(FRONT,), ()], ids=["preloaded", "alone"])
def test_measured_and_reordered_from_python(mpi, tmp_path, preload):
    variables = {"TUTTI_LIBRARY_DIR": str(LIBRARIES), "PYTHONPATH": str(LIBRARIES.parent / "python")}
    outcome = mpi.run(mpi.python(), HERE / "programs/distances.py", tmp_path / "distances.json",
                      preload=preload, settings=variables, report=False)  # fmt: skip
    outcome.check_correct()


def test_reordered_from_fortran(mpi, tmp_path):
    example = ROOT / "examples/fortran/reorder.f90"
    program = mpi.compile(example, f"-L{LIBRARIES}", f"-ltutti-{mpi.name}", f"-Wl,-rpath,{LIBRARIES}",
                          output="reorder")  # fmt: skip
    outcome = mpi.run(program, tmp_path / "distances.json", preload=(), settings={}, report=False)
    outcome.check_correct()


def test_a_program_as_it_is_goes_by_a_file(mpi, tmp_path):
    settings = {
        "TUTTI_DISTANCES": file_of(tmp_path / "d.json", RANKS),
        "TUTTI_GATHERV": "binomial:order=distance",
    }
    outcome = mpi.run(mpi.compile("gather.c"), settings=settings)
    outcome.check_correct()
    assert "order=distance" in str(outcome.algorithms())


def test_a_file_of_other_ranks_is_named_and_left_alone(mpi, tmp_path):
    settings = {
        "TUTTI_DISTANCES": file_of(tmp_path / "d.json", RANKS + 1),
        "TUTTI_GATHERV": "binomial:order=distance",
    }
    outcome = mpi.run(mpi.compile("gather.c"), settings=settings)
    outcome.check_correct()
    assert outcome.err.count(f"those of {RANKS + 1} ranks") == 1


@pytest.mark.parametrize("distances", ["", "/nowhere/distances"])
def test_orders_by_distance_need_a_file(mpi, distances):
    settings = {"TUTTI_DISTANCES": distances, "TUTTI_GATHERV": "binomial:order=distance"}
    outcome = mpi.run(mpi.compile("gather.c"), np=2, settings=settings)
    assert outcome.status != 0
    assert "correct" not in outcome.out.split()
    assert "tutti map --mpirun" in outcome.err
