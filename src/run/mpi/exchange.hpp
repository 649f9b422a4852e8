/// The ranks of a communicator, and collectives on plain data.
#pragma once

#include <vector>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

[[nodiscard]] inline Rank rank_in(MPI_Comm comm) {
  Rank rank = 0;
  mpi().Comm_rank(comm, &rank);
  return rank;
}
[[nodiscard]] inline int size_of(MPI_Comm comm) {
  int p = 0;
  mpi().Comm_size(comm, &p);
  return p;
}
/// Is there an MPI_COMM_WORLD? Not in programs that use sessions alone.
[[nodiscard]] inline bool has_world() {
  int initialized = 0;
  mpi().Initialized(&initialized);
  return initialized != 0;
}

// All are collective and return an MPI error code.

/// Sets `all` to `mine` of each rank.
template <class Plain>
int gather_at_all(const Plain& mine, std::vector<Plain>& all, MPI_Comm comm) {
  all.resize(index(size_of(comm)));
  return mpi().Allgather(&mine, sizeof mine, mpi().byte, all.data(), sizeof mine, mpi().byte, comm);
}
/// The same at rank 0; at all other ranks `all` becomes empty.
template <class Plain>
int gather_at_first(const Plain& mine, std::vector<Plain>& all, MPI_Comm comm) {
  all.resize(rank_in(comm) == 0 ? index(size_of(comm)) : 0);
  return mpi().Gather(&mine, sizeof mine, mpi().byte, all.data(), sizeof mine, mpi().byte, 0, comm);
}
/// Sets `value` to that of rank 0.
template <class Plain>
int take_from_first(Plain& value, MPI_Comm comm) {
  return mpi().Bcast(&value, sizeof value, mpi().byte, 0, comm);
}

}  // namespace tutti
