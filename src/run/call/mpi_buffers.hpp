/// The caller's buffers and Tutti's scratch, as regions with MPI datatypes.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "run/call/mpi_call.hpp"
#include "run/mpi/types.hpp"
#include "run/plan/executor.hpp"

namespace tutti {

/// Packed memory, kept from call to call.
class Scratch {
 public:
  /// At least `bytes`, with undefined contents. Throws std::bad_alloc.
  std::byte* reserve(Bytes bytes);
  /// Frees the memory if it is too large to keep.
  void trim();
  /// Never frees the memory, because the MPI may still use it: the next call gets other memory.
  void leave();

 private:
  std::unique_ptr<std::byte[]> memory_;
  Bytes size_ = 0;
};

/// Copies in the host's memory of buffers that one call cannot use where they are, because they
/// have gaps, are in GPU memory, or would be overwritten. The MPI makes them.
class HostCopies : NotCopied {
 public:
  /// If in the end the memory `is_in_use`, by messages that are open, it is never freed.
  HostCopies(Transport& transport, std::function<bool()> is_in_use)
      : transport_(transport), is_in_use_(std::move(is_in_use)) {}
  ~HostCopies();

  /// Memory for copies, of zeros; null if there is none.
  [[nodiscard]] std::byte* reserve(Bytes bytes);
  /// Copies what the call sends. Returns an MPI error code.
  int send(const Region& users, const Region& copy);
  /// What the call receives, for finish().
  void receive(const Region& users, const Region& copy) { received_.push_back({users, copy}); }
  /// Copies the received data to the program's buffers. Returns an MPI error code.
  int finish();

 private:
  struct Received {
    Region users;
    Region copy;
  };

  Transport& transport_;
  std::function<bool()> is_in_use_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<Received> received_;
};

/// Largest block, in bytes, for which a copy costs less than an indexed datatype:
/// docs/decisions/packing-small-blocks.md.
inline constexpr Bytes packed_block = 256;

/// Is it faster if the root packs and unpacks blocks itself than if the MPI does so through an
/// indexed datatype? It is for small blocks that are scattered, by the order (`are_shuffled`) or by
/// the program's displacements: docs/decisions/packing-small-blocks.md. `element` is the size of
/// the datatype in bytes. O(1) for equal blocks, else O(p).
[[nodiscard]] bool packing_pays(const RankBlocks& blocks, Bytes element, int p, bool are_shuffled);

/// Has this side of a collective that moves data one block or vector, not one for or from each
/// rank?
[[nodiscard]] bool has_one_block(Collective collective, Area area);

/// The buffers of a call, except reductions. Data of contiguous types moves as bytes, other data
/// with its type, and arrives directly in the user's buffer, at any displacements. Area::send is
/// the send side, Area::receive the receive side.
class CallBuffers final : public Buffers {
 public:
  /// `iov` is working memory that is kept from call to call.
  CallBuffers(const MpiCall& call, const Order& order, std::byte* scratch, Iov& iov)
      : call_(call), order_(order), scratch_(scratch), iov_(iov) {}

  int find(const BufferRef& ref, Region& region) override;
  /// Copies between scratch and contiguous blocks, block by block.
  bool copy(const BufferRef& from, const BufferRef& to) override;

 private:
  [[nodiscard]] const CallSide& side(Area area) const {
    return area == Area::send ? call_.send : call_.receive;
  }
  /// The rank that a block of one side goes to or comes from.
  [[nodiscard]] Rank rank_of(BlockIndex block, Area area) const;
  /// The side of `ref`, with the type of its blocks; sets iov_ to their address ranges there.
  CallSide find_iov(const BufferRef& ref);
  int find_in(const CallSide& buffer, const BufferRef& ref, Region& region);

  const MpiCall& call_;
  const Order& order_;
  std::byte* scratch_;
  Iov& iov_;
  std::list<IndexedType> made_;
};

}  // namespace tutti
