/// Finds host names and the world's ranks.
#include "run/distance/mpi_locations.hpp"

#include <unistd.h>

#include <array>

#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

struct Location {
  std::array<char, 252> host{};
  Rank world = no_rank;
};

}  // namespace

int gather_locations(MPI_Comm comm, std::vector<RankLocation>& locations, int& world) {
  Location mine;
  gethostname(mine.host.data(), mine.host.size() - 1);
  world = 0;
  if (has_world()) {
    mine.world = rank_in(mpi().comm_world);
    world = size_of(mpi().comm_world);
  }
  std::vector<Location> all;
  const int error = gather_at_first(mine, all, comm);
  locations.clear();
  for (const Location& location : all) locations.push_back({location.host.data(), location.world});
  return error;
}

}  // namespace tutti
