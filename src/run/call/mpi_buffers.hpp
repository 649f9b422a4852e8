/// The callers' buffers and Tutti's scratch, as regions with MPI datatypes.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "run/call/mpi_blocks.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// Packed memory that is kept from call to call.
class Scratch {
 public:
  /// At least `bytes`, with undefined contents. Throws std::bad_alloc.
  std::byte* reserve(Bytes bytes);
  /// Gives back what is larger than is worth keeping.
  void trim();

 private:
  std::unique_ptr<std::byte[]> memory_;
  Bytes size_ = 0;
};

/// Bytes of a block up to which copying it takes less than what an indexed datatype costs for it:
/// docs/decisions/packing-small-blocks.md.
inline constexpr Bytes packed_block = 256;

/// Is it faster that the root packs and unpacks blocks by itself than that the MPI does so through
/// an indexed datatype? So it is for small blocks which the order (`are_shuffled`) or the program's
/// displacements tear apart: docs/decisions/packing-small-blocks.md. `element` is the size of the
/// datatype in bytes. O(1) for equal blocks, else O(p).
[[nodiscard]] bool packing_pays(const RankBlocks& blocks, Bytes element, int p, bool are_shuffled);

/// The buffers of a gather or scatter. Data of dense types is taken as bytes; other data is typed.
/// It lands directly in the user's buffer at the root, at any displacements.
class MpiBuffers final : public Buffers {
 public:
  /// `runs` is memory to work in that is kept from call to call.
  MpiBuffers(const RootedCall& call, const Order& order, std::byte* scratch, Runs& runs)
      : call_(call), order_(order), scratch_(scratch), runs_(runs) {}

  int find(const Place& place, Region& region) override;
  /// Between scratch and dense blocks of the root, block by block.
  bool copy(const Place& from, const Place& to) override;

 private:
  /// Sets the runs to the blocks at these positions of the root's buffer.
  void find_runs(const Blocks& blocks);
  [[nodiscard]] TypedBuffer all() const { return {call_.all, call_.all_type, call_.all_info}; }

  const RootedCall& call_;
  const Order& order_;
  std::byte* scratch_;
  Runs& runs_;
  MadeTypes made_;
};

}  // namespace tutti
