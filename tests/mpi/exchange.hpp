/// One call of a collective with its data, run and checked byte by byte at every rank.
#pragma once

#include <mpi.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "harness.hpp"
#include "layouts.hpp"

namespace tutti::test {

/// The layout of the blocks in the root's buffer.
enum class BlockLayout {
  contiguous,  ///< in rank order without gaps
  gaps,        ///< in rank order with gaps
  reversed,    ///< the last rank's first
  shuffled,    ///< any order, gaps, some displacements negative
};

/// The displacements of blocks with these counts of elements, in extents.
[[nodiscard]] std::vector<int> displacements(BlockLayout block_layout, unsigned salt,
                                             const std::vector<int>& counts);
/// Memory for such blocks.
[[nodiscard]] Image image_for(const Layout& layout, const std::vector<int>& counts,
                              const std::vector<int>& displs);
/// The fault of the memory; empty if it is as expected.
[[nodiscard]] std::string compare(const char* buffer, const Image& image);

/// One call by all ranks of a communicator. Arguments that are not significant at a rank are
/// garbage there.
struct Exchange {
  Kind kind = Kind::gatherv;
  MPI_Comm comm = MPI_COMM_WORLD;
  int root = 0;
  std::vector<int> units = {};      ///< by rank; all equal for gather and scatter
  const Layout* leaf = nullptr;     ///< the type of the block buffer
  const Layout* at_root = nullptr;  ///< the type of the root buffer, of the same family
  BlockLayout block_layout = BlockLayout::contiguous;
  bool in_place = false;  ///< MPI_IN_PLACE at the root
  bool large = false;     ///< the _c form, if there is one
  bool bottom = false;    ///< by MPI_BOTTOM and types of absolute addresses
  unsigned salt = 0;      ///< equal at all ranks, different in each call
};

/// The exchange in words.
[[nodiscard]] std::string to_text(const Exchange& exchange);

/// Makes the call, and no other MPI function that waits. The text is the fault of its result at
/// this rank; empty if there is none.
[[nodiscard]] std::string run(const Exchange& exchange, const Calls& calls);

/// Changes types that the MPI itself gets wrong: MPICH before 4.2 over UCX loses bytes of long
/// messages whose fragments end within an element (pmodels/mpich pull request 6796). For calls
/// that the MPI's own algorithm may run.
void native_fallback(Exchange& exchange);

/// Makes the call as a step of a case, and records a fault as a failure.
void check(Context& context, const Exchange& exchange);

/// A duplicate of MPI_COMM_WORLD, or of another, that returns errors; freed with its owner.
class OwnComm {
 public:
  explicit OwnComm(MPI_Comm of = MPI_COMM_WORLD);
  /// The part of MPI_COMM_WORLD that passes the same colour, by key.
  OwnComm(int colour, int key);
  ~OwnComm() { PMPI_Comm_free(&comm_); }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;

  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] int size() const;
  [[nodiscard]] int rank() const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Shapes of size vectors: all equal, none, some zero, one huge, random, and the distributions
/// of the literature on irregular gathers.
[[nodiscard]] const std::vector<std::string_view>& size_shapes();
/// The units of each of p ranks; equal on all ranks with equal arguments.
[[nodiscard]] std::vector<int> sizes(std::string_view shape, int p, std::mt19937& random);

/// An exchange with random parameters, except its sizes and root.
[[nodiscard]] Exchange draw(Kind kind, MPI_Comm comm, int root, std::vector<int> units,
                            std::mt19937& random);

}  // namespace tutti::test
