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

/// Sets `rank` to this process's rank in MPI_COMM_WORLD. Programs that only use sessions have none.
int rank_in_world(MPI_Comm comm, Rank& rank, int& world) {
  int initialized = 0;
  mpi().Initialized(&initialized);
  world = 0;
  if (initialized == 0) return MPI_SUCCESS;
  MPI_Group own = mpi().group_null;
  MPI_Group all = mpi().group_null;
  int error = mpi().Comm_size(mpi().comm_world, &world);
  if (error == MPI_SUCCESS) error = mpi().Comm_group(comm, &own);
  if (error != MPI_SUCCESS) return error;
  error = mpi().Comm_group(mpi().comm_world, &all);
  if (error == MPI_SUCCESS) {
    Rank mine = 0;
    mpi().Comm_rank(comm, &mine);
    error = mpi().Group_translate_ranks(own, 1, &mine, all, &rank);
    if (rank == MPI_UNDEFINED) rank = no_rank;
    mpi().Group_free(&all);
  }
  mpi().Group_free(&own);
  return error;
}

}  // namespace

int gather_locations(MPI_Comm comm, std::vector<RankLocation>& locations, int& world) {
  Location mine;
  gethostname(mine.host.data(), mine.host.size() - 1);
  Rank rank = 0;
  int p = 1;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  if (const int error = rank_in_world(comm, mine.world, world)) return error;
  std::vector<Location> all(rank == 0 ? static_cast<std::size_t>(p) : 0);
  const int error =
      mpi().Gather(&mine, sizeof mine, mpi().byte, all.data(), sizeof mine, mpi().byte, 0, comm);
  locations.clear();
  for (const Location& location : all) locations.push_back({location.host.data(), location.world});
  return error;
}

}  // namespace tutti
