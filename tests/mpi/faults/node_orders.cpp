/// Tests that between nodes the root first serves the node whose ranks gave their progress hints
/// first.
#include <tutti/tutti.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "faulty.hpp"

namespace {

/// Seconds until the alarm ends the test.
constexpr unsigned patience = 120;
/// Nodes of one, two and two ranks.
constexpr const char* emulated = "1,2,2";
constexpr int nodes = 3;

/// The node to which this rank has sent first in a call, if any.
constexpr int nobody = -1;
int served_first = nobody;

int noting_isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  if (size == nodes && served_first == nobody) served_first = peer;
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

/// Blocks of rank + 1 numbers.
struct Blocks {
  explicit Blocks(int p) : counts(static_cast<std::size_t>(p)), places(counts.size()) {
    std::iota(counts.begin(), counts.end(), 1);
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    for (const int count : counts) {
      for (int i = 0; i < count; ++i) all.push_back(count * 100 + i);
    }
  }
  std::vector<int> counts;
  std::vector<int> places;
  std::vector<int> all;
};

/// Makes one call with root 0. Is the data right?
bool call_once(const std::string& collective, int rank, int p, MPI_Comm comm) {
  const Blocks blocks(p);
  const auto at = static_cast<std::size_t>(rank);
  const int own = blocks.counts[at];
  const std::vector<int> mine(blocks.all.begin() + blocks.places[at],
                              blocks.all.begin() + blocks.places[at] + own);
  std::vector<int> result(blocks.all.size());
  if (collective == "gatherv") {
    TUTTI_Gatherv(mine.data(), own, MPI_INT, result.data(), blocks.counts.data(),
                  blocks.places.data(), MPI_INT, 0, comm);
    return rank != 0 || result == blocks.all;
  }
  if (collective == "scatterv") {
    result.resize(mine.size());
    TUTTI_Scatterv(blocks.all.data(), blocks.counts.data(), blocks.places.data(), MPI_INT,
                   result.data(), own, MPI_INT, 0, comm);
    return result == mine;
  }
  if (rank == 0) result = blocks.all;
  TUTTI_Bcast(result.data(), static_cast<int>(result.size()), MPI_INT, 0, comm);
  return result == blocks.all;
}

/// Makes calls before which the ranks of node `early` give progress hints, then those of the
/// others. Is `early` first in most calls? Ignores the first calls, in which arrivals are unknown.
/// A hint may come too late for its call, but not in most calls.
bool serves_first(const std::string& collective, const std::string& specification, int early,
                  int rank, int p) {
  waits_in((collective + " by " + specification).c_str());
  constexpr int warm_up = 4;
  constexpr int calls = 8;
  if (TUTTI_Algorithm_set(collective.c_str(), specification.c_str(), nullptr, nullptr)) {
    return false;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  bool well = TUTTI_Arrival_init(comm, 1) == MPI_SUCCESS;
  const bool is_early = (rank + 1) / 2 == early;
  int hits = 0;
  for (int call = -warm_up; call < calls; ++call) {
    if (is_early) TUTTI_Arrival_edge(comm);
    PMPI_Barrier(MPI_COMM_WORLD);
    usleep(2000);
    if (!is_early) TUTTI_Arrival_edge(comm);
    PMPI_Barrier(MPI_COMM_WORLD);
    served_first = nobody;
    well = call_once(collective, rank, p, comm) && well;
    hits += call >= 0 && served_first == early ? 1 : 0;
  }
  TUTTI_Algorithm_set(collective.c_str(), "auto", nullptr, nullptr);
  std::array<int, 2> all = {rank == 0 ? hits : 0, well ? 0 : 1};
  PMPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  if (all[1] == 0 && 2 * all[0] > calls) return true;
  if (rank == 0) {
    std::printf("%s by %s: node %d was served first in %d of %d calls, %d ranks without data\n",
                collective.c_str(), specification.c_str(), early, all[0], calls, all[1]);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  watch(rank, patience);
  setenv("TUTTI_NODE", emulated, 1);
  const tutti::test::Faulty functions([](tutti::MpiFunctions& all) { all.Isend = noting_isend; });
  int passed = 0;
  int failed = 0;
  constexpr std::array<std::array<const char*, 2>, 3> forced = {
      {{"gatherv", "linear_sync:order=arrival"},
       {"scatterv", "linear_sequence:order=arrival"},
       {"bcast", "earliest:"}}};
  for (const auto& [collective, algorithm] : forced) {
    for (const char* leaders : {"1", "2"}) {
      const std::string separator = std::string(algorithm).ends_with(':') ? "" : ",";
      const std::string specification = algorithm + separator + "level=node,leaders=" + leaders;
      for (const int early : {1, 2}) {
        ++(serves_first(collective, specification, early, rank, p) ? passed : failed);
      }
    }
  }
  if (rank == 0) std::printf("%d passed, %d failed\n", passed, failed);
  MPI_Finalize();
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
