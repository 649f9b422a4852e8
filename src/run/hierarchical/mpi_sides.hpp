/// The buffers of a program as packed blocks that can be addressed.
#pragma once

#include <string>
#include <vector>

#include "run/call/mpi_call.hpp"
#include "run/hierarchical/mpi_hierarchical.hpp"

namespace tutti {

/// A run of elements in a buffer of the program.
struct TypedBlock {
  void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type{};
  TypeInfo info = {};
  bool keeps_gaps = false;  ///< is held as it lies in the program's buffer; `info.size` counts them

  [[nodiscard]] Bytes bytes() const { return count * info.size; }
};

/// Packed memory for sides of one call whose datatypes have gaps, or that lie in the memory of a
/// GPU: the MPI copies them. Those that are contiguous are used in place.
class SideMemory {
 public:
  explicit SideMemory(Transport& transport) : transport_(transport) {}

  /// A send side of `blocks` blocks of equal size, one after the other: all of `whole`. Returns an
  /// MPI error code, as all of these, and leaves `side` without memory then: MPI_ERR_BUFFER where
  /// there is none for bytes that are to move.
  int send(const TypedBlock& whole, int blocks, HierarchicalSide& side) {
    return hold_side(whole, blocks, true, side);
  }
  int send(const std::vector<TypedBlock>& blocks, HierarchicalSide& side) {
    return hold_side(blocks, true, side);
  }
  /// The same for a receive side, which finish() fills in.
  int receive(const TypedBlock& whole, int blocks, HierarchicalSide& side) {
    return hold_side(whole, blocks, false, side);
  }
  int receive(const std::vector<TypedBlock>& blocks, HierarchicalSide& side) {
    return hold_side(blocks, false, side);
  }
  /// Unpacks what the call has brought.
  int finish();
  /// A copy of a send side whose buffer is written before all of it is read.
  int part(HierarchicalSide& side, int blocks);

 private:
  struct Unpacked {
    TypedBlock block;
    std::byte* packed;
  };
  int hold_side(const TypedBlock& whole, int blocks, bool sends, HierarchicalSide& side);
  int hold_side(const std::vector<TypedBlock>& blocks, bool sends, HierarchicalSide& side);
  std::byte* more(Bytes bytes);
  int hold(const std::vector<TypedBlock>& blocks, bool sends, std::byte*& packed);

  Transport& transport_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<Unpacked> unpacked_;
};

/// Is each side of the call in one piece, and no more than inner calls can count
/// (max_node_memory)?
[[nodiscard]] bool can_be_ends(const HierarchicalCall& hierarchical);

/// A gather or scatter whose datatypes are known, for the nodes' level. Where `is_dummy` nothing of
/// its arguments but collective and root is read. Returns an MPI error code.
int describe(const GatherScatterCall& call, Rank rank, int p, bool is_dummy, SideMemory& memory,
             HierarchicalCall& hierarchical);

/// The same of any other collective. Sets `refused` to the reason where all ranks must run it flat:
/// reductions of derived types whose elements do not lie one behind the other.
int describe(const CollectiveCall& call, Rank rank, int p, bool is_dummy, SideMemory& memory,
             HierarchicalCall& hierarchical, std::string& refused);

}  // namespace tutti
