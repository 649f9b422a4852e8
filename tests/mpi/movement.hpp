/// One call of a collective without a root's side, with its data, run and checked byte by byte.
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
/// The collective whose setting it follows.
[[nodiscard]] const char* setting_of(Motion motion);
[[nodiscard]] constexpr bool has_pairs(Motion motion) { return motion >= Motion::alltoall; }
[[nodiscard]] constexpr bool is_irregular(Motion motion) {
  return motion == Motion::allgatherv || motion >= Motion::alltoallv;
}

/// What all ranks of a communicator are to do together. What is not significant with MPI_IN_PLACE
/// is garbage.
struct Movement {
  Motion motion = Motion::bcast;
  MPI_Comm comm = MPI_COMM_WORLD;
  int root = 0;
  /// Of the vector; by rank; by rank that sends times the ranks plus rank that receives.
  std::vector<int> units = {};
  const Layout* sent = nullptr;      ///< the type at the sending side; of a bcast that of the root
  const Layout* received = nullptr;  ///< the type at the other side, of the same family
  BufferAssignment placement = BufferAssignment::contiguous;
  bool in_place = false;
  bool large = false;   ///< the _c form
  bool bottom = false;  ///< by MPI_BOTTOM and types of absolute addresses
  unsigned salt = 0;    ///< the same at all ranks, another for each call
};

[[nodiscard]] std::string to_text(const Movement& movement);

/// Makes the call; the text says what was wrong with its result at this rank, empty if nothing.
/// Calls no MPI function that waits, besides the one under test.
[[nodiscard]] std::string run(const Movement& movement, bool native);

/// Changes what the MPI itself gets wrong, for calls that it may run: MPICH before 4.2 over UCX
/// loses bytes of long messages whose fragments end within an element; Open MPI 4.1 takes the
/// displacements of a lone rank's MPI_Alltoallw for extents.
void native_fallback(Movement& movement, int p);

/// A movement of a communicator of p ranks with everything drawn from `random`, its sizes around
/// `scale` units.
[[nodiscard]] Movement draw(Motion motion, MPI_Comm comm, int p, int scale, std::mt19937& random);

}  // namespace tutti::test
