/// The callers' buffers and Tutti's scratch, as regions with MPI datatypes.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "run/executor.hpp"
#include "run/mpi_call.hpp"

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

/// Is it faster that the root packs and unpacks blocks by itself than that the MPI does so through
/// an indexed datatype? So it is for small blocks which the order (`are_shuffled`) or the program's
/// displacements tear apart: docs/decisions/packing-small-blocks.md. `element` is the size of the
/// datatype in bytes. O(1) for equal blocks, else O(p).
[[nodiscard]] bool packing_pays(const RootBlocks& blocks, Bytes element, int p, bool are_shuffled);

/// Data of dense types is taken as bytes; other data is typed. It lands directly in the user's
/// buffer at the root, at any displacements: a run of blocks that is contiguous there is one
/// region, any other gets an indexed datatype for this call (Träff 2017, section 3).
class MpiBuffers final : public Buffers {
 public:
  /// Stretches of the root's buffer: displacement and number of elements.
  using Runs = std::vector<std::pair<MPI_Aint, MPI_Count>>;

  /// `runs` is memory to work in that is kept from call to call.
  MpiBuffers(const RootedCall& call, const Order& order, std::byte* scratch, Runs& runs)
      : call_(call), order_(order), scratch_(scratch), runs_(runs) {}
  ~MpiBuffers() override;
  MpiBuffers(const MpiBuffers&) = delete;
  MpiBuffers& operator=(const MpiBuffers&) = delete;

  int find(const Place& place, Region& region) override;
  /// Between scratch and dense blocks of the root, block by block.
  bool copy(const Place& from, const Place& to) override;

 private:
  int find_among_all(const Place& place, Region& region);
  void find_runs(const Blocks& blocks);
  void append_run(BlockRange positions);
  int indexed(MPI_Aint extent, Region& region);

  const RootedCall& call_;
  const Order& order_;
  std::byte* scratch_;
  Runs& runs_;
  std::vector<MPI_Datatype> made_;
};

}  // namespace tutti
