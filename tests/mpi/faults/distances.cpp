/// Tests that rank 0 alone reads distances: those of the other ranks are no distances at all.
#include <tutti/tutti.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "api/distance_orders.hpp"
#include "faulty.hpp"

namespace {

/// Seconds until the alarm ends the test.
constexpr unsigned patience = 60;

/// Those of ranks on a line.
std::string on_a_line(int p) {
  std::string rows;
  for (int a = 0; a < p; ++a) {
    rows += a == 0 ? "[" : ", [";
    for (int b = 0; b < p; ++b) rows += (b == 0 ? "" : ", ") + std::to_string(std::abs(a - b));
    rows += "]";
  }
  return R"({"schema": "tutti-distances-1", "unit": "us", "measured": [{"bytes": 1, "matrix": [)" +
         rows + "]}]}";
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  watch(rank, patience);
  tutti::set_distances(rank == 0 ? on_a_line(p) : "these ranks need none");
  TUTTI_Algorithm_set("bcast", "binomial:order=distance", nullptr, nullptr);
  waits_in("a bcast by distance");
  int number = rank == 0 ? 5 : 0;
  const int called = TUTTI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string ran = tutti::test::last_run(MPI_COMM_WORLD, "bcast");
  waits_in("a communicator by distance");
  MPI_Comm made = MPI_COMM_NULL;
  const int reordered = TUTTI_Comm_reorder(MPI_COMM_WORLD, "allgather", &made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  const bool is_by_distance = ran.find("order=distance") != std::string::npos;
  if (!is_by_distance) std::printf("rank %d ran %s\n", rank, ran.c_str());
  MPI_Finalize();
  const bool is_right = called == MPI_SUCCESS && reordered == MPI_SUCCESS && number == 5;
  return is_right && is_by_distance ? EXIT_SUCCESS : EXIT_FAILURE;
}
