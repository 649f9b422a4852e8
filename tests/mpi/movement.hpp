/// One bcast, allgather(v), alltoall(v, w) or barrier with its data, run and checked byte by byte.
#pragma once

#include <mpi.h>

#include <random>
#include <string>
#include <vector>

#include "exchange.hpp"

namespace tutti::test {

enum class Motion { bcast, allgather, allgatherv, alltoall, alltoallv, alltoallw };
inline constexpr Motion all_motions[] = {Motion::bcast,    Motion::allgather, Motion::allgatherv,
                                         Motion::alltoall, Motion::alltoallv, Motion::alltoallw};

[[nodiscard]] const char* name_of(Motion motion);
/// The collective whose setting applies to it.
[[nodiscard]] const char* setting_of(Motion motion);
[[nodiscard]] constexpr bool has_pairs(Motion motion) { return motion >= Motion::alltoall; }
[[nodiscard]] constexpr bool is_irregular(Motion motion) {
  return motion == Motion::allgatherv || motion >= Motion::alltoallv;
}

/// One call by all ranks of a communicator. Arguments that MPI_IN_PLACE makes insignificant are
/// garbage.
struct Movement {
  Motion motion = Motion::bcast;
  MPI_Comm comm = MPI_COMM_WORLD;
  int root = 0;
  /// Of the vector; by rank; by rank that sends times the ranks plus rank that receives.
  std::vector<int> units = {};
  const Layout* sent = nullptr;      ///< the type at the sending side; of a bcast that of the root
  const Layout* received = nullptr;  ///< the type at the other side, of the same family
  BlockLayout block_layout = BlockLayout::contiguous;
  bool in_place = false;
  bool large = false;   ///< the _c form
  bool bottom = false;  ///< by MPI_BOTTOM and types of absolute addresses
  unsigned salt = 0;    ///< equal at all ranks, different in each call
};

[[nodiscard]] std::string to_text(const Movement& movement);

/// Makes the call, and no other MPI function that waits. The text is the fault of its result at
/// this rank; empty if there is none.
[[nodiscard]] std::string run(const Movement& movement, bool native);

/// Avoids faults of the MPI itself, for calls that it may run: MPICH before 4.2 over UCX loses
/// bytes of long messages whose fragments end within an element; Open MPI 4.1 interprets the
/// displacements of a single rank's MPI_Alltoallw as extents.
void native_fallback(Movement& movement, int p);

/// A random movement of a communicator of p ranks, with sizes around `scale` units.
[[nodiscard]] Movement draw(Motion motion, MPI_Comm comm, int p, int scale, std::mt19937& random);

}  // namespace tutti::test
