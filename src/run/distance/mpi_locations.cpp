/// Finds host names and the world's ranks.
#include "run/distance/mpi_locations.hpp"

#include <unistd.h>

#include <array>

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
  Rank rank = 0;
  int p = 1;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  int initialized = 0;
  mpi().Initialized(&initialized);
  world = 0;
  // Programs that only use sessions have no MPI_COMM_WORLD.
  if (initialized != 0) {
    mpi().Comm_rank(mpi().comm_world, &mine.world);
    mpi().Comm_size(mpi().comm_world, &world);
  }
  std::vector<Location> all(rank == 0 ? static_cast<std::size_t>(p) : 0);
  const int error =
      mpi().Gather(&mine, sizeof mine, mpi().byte, all.data(), sizeof mine, mpi().byte, 0, comm);
  locations.clear();
  for (const Location& location : all) locations.push_back({location.host.data(), location.world});
  return error;
}

}  // namespace tutti
