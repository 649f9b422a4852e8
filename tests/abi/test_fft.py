"""The parallel FFT of the examples is right with every gather, for even and uneven parts."""

from __future__ import annotations

import pytest
from conftest import ROOT

FFT = ROOT / "examples/fft/fft.c"
OPTIONS = ("-std=gnu11", "-fopenmp", "-lfftw3f", "-lm")


@pytest.mark.parametrize(
    ("np", "collective", "algorithm"),
    [
        (2, "gather", "linear"), (3, "gatherv", "linear_sync"), (4, "gather", "binomial"),
        (2, "gather", "LIN"), (3, "gatherv", "SLS"), (4, "gather", "SBN"),
    ],
)  # fmt: skip
def test_spectrum(mpi, np, collective, algorithm):
    settings = {"OMP_NUM_THREADS": "1", f"TUTTI_{collective.upper()}": algorithm}
    # A spinning MPI takes a slice of the scheduler for each message of more ranks than cores.
    iterations = 4 if mpi.name == "mpich" and np > 2 else 20
    outcome = mpi.run(mpi.compile(FFT, *OPTIONS, output="fft"), "-i", iterations, "-n", 4096,
                      np=np, settings=settings)
    assert outcome.status == 0, outcome.err
    assert "right" in outcome.out.split()
    assert collective in outcome.algorithms()
    assert outcome.algorithms()[collective] != "native"


def test_edges_reach_the_preloaded_library(mpi):
    """The weak symbols are found: nothing else makes the library expect arrivals here."""
    settings = {"OMP_NUM_THREADS": "1", "TUTTI_GATHER": "SBN"}
    outcome = mpi.run(mpi.compile(FFT, *OPTIONS, output="fft"), "-i", 20, "-n", 4096,
                      np=2, settings=settings)
    assert outcome.status == 0, outcome.err
    (gather,) = (call for call in outcome.report["calls"] if call["collective"] == "gather")
    assert gather["pattern"]["ahead"] is not None


def test_too_few_samples_are_refused(mpi):
    outcome = mpi.run(mpi.compile(FFT, *OPTIONS, output="fft"), "-n", 7, np=2, settings={})
    assert outcome.status != 0
    assert "-n 7: expected a power of 2 from 2 to 2^30" in outcome.err
