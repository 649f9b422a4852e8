/// The ranks of a communicator, collectives on plain data, and messages of bytes whose ranks wait
/// without keeping their core.
#pragma once

#include <chrono>
#include <cstddef>
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

// Each tests, and yields or sleeps between tests: the MPI's own wait may never release a core that
// another rank needs, and takes 20 times as long where ranks outnumber cores. Each returns an MPI
// error code.

int wait_yielding(MPI_Request& request, std::chrono::microseconds sleep = {});
int send_yielding(const void* data, std::size_t bytes, Rank to, int tag, MPI_Comm comm);
int receive_yielding(void* data, std::size_t bytes, Rank from, int tag, MPI_Comm comm,
                     std::chrono::microseconds sleep = {});

}  // namespace tutti
