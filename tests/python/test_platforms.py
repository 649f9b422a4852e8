"""The papers' machines as platforms of SimGrid, and what limits a torus."""

from __future__ import annotations

import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from tutti.refusal import Refusal
from tutti.simgrid import platforms


def cluster(text: str) -> ElementTree.Element:
    return next(ElementTree.fromstring(platforms.platform(text).xml).iter("cluster"))


@pytest.mark.parametrize(("name", "sides", "ranks"), [
    ("xe6-64x32", "4,4,4", 2048),
    ("xe6-2048x32", "16,16,8", 65536),
    ("xe6-2744x24", "14,14,14", 65856),
])  # fmt: skip
def test_tori_of_the_papers_hold_their_ranks(name, sides, ranks):
    machine = platforms.platform(name)
    assert machine.cores is not None and machine.nodes * machine.cores == ranks
    torus = cluster(name)
    assert (torus.get("topology"), torus.get("topo_parameters")) == ("TORUS", sides)
    assert (torus.get("bw"), torus.get("limiter_link")) == ("4.7e+09Bps", "6e+09Bps")


def test_both_machines_of_two_switches_differ_in_their_trunk():
    slow, fast = (
        platforms.platform(name).xml for name in ("gbe30-two-switches", "gbe30-two-switches-10g")
    )
    assert '<link id="trunk" bandwidth="1.25e+08Bps"' in slow
    assert (
        slow.replace('"trunk" bandwidth="1.25e+08Bps"', '"trunk" bandwidth="1.25e+09Bps"') == fast
    )


def test_only_a_torus_has_a_limiter_and_only_if_given():
    assert cluster("torus:8").get("limiter_link") is None
    assert cluster("torus:8:limiter=1.5G").get("limiter_link") == "1.5e+09Bps"
    with pytest.raises(Refusal, match="limiter=fast: expected a positive number"):
        platforms.platform("torus:8:limiter=fast")
    with pytest.raises(Refusal, match="switch has no parameter 'limiter=6G'"):
        platforms.platform("switch:8:limiter=6G")


SENDS = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define BYTES 60000000
/* Rank 0 sends to its neighbours along two sides at the same time. */
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* data = malloc(BYTES);
  MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const double begin = MPI_Wtime();
  if (rank == 0) {
    MPI_Isend(data, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(data, BYTES, MPI_CHAR, 3, 0, MPI_COMM_WORLD, &both[1]);
  }
  if (rank == 1 || rank == 3) MPI_Irecv(data, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &both[0]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  if (rank == 0) printf("%.3f\n", 1e3 * (MPI_Wtime() - begin));
  free(data);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_the_links_of_a_node_share_the_limiter(command, tmp_path):
    (tmp_path / "sends.c").write_text(SENDS)
    subprocess.run(["smpicc", "sends.c", "-o", "sends"], cwd=tmp_path, check=True)

    def milliseconds(parameters: str) -> float:
        machine = f"torus:3x3x3:bandwidth=5G{parameters}"
        return float(
            command("simgrid", "--platform", machine, "--native", "--", str(tmp_path / "sends")).out
        )

    # 60 MB over each link: 12 ms. 120 MB at 6 GB/s: 20 ms, and 5 % for SimGrid's acknowledgements.
    assert milliseconds("") == pytest.approx(12, rel=0.06)
    assert milliseconds(",limiter=6G") == pytest.approx(20, rel=0.06)
