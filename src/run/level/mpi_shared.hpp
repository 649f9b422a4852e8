/// Results that the ranks of a node share instead of each having a copy.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "run/level/mpi_level.hpp"

namespace tutti {

/// Memory of one result at one rank: a segment with a page for `held` before the data. Lives as
/// long as a rank holds the result, or may hold a later one in the same memory.
class SharedMemory {
 public:
  SharedMemory(NodeSegment segment, Mapping all)
      : segment_(std::move(segment)), all_(std::move(all)) {}

  [[nodiscard]] const SegmentName& name() const { return segment_.name(); }
  [[nodiscard]] Bytes capacity() const { return segment_.bytes() - page_bytes(); }
  /// For the one rank that writes the result.
  [[nodiscard]] std::byte* data() const { return all_.data() + page_bytes(); }
  /// How many ranks of the node have not released it.
  [[nodiscard]] std::atomic<int>& held() const {
    return *reinterpret_cast<std::atomic<int>*>(all_.data());
  }
  [[nodiscard]] Mapping view(SegmentView view) const { return segment_.map(view); }

 private:
  NodeSegment segment_;
  Mapping all_;
};

/// What one rank gives to a result.
struct SharedPart {
  Rank rank = 0;
  const std::byte* address = nullptr;  ///< null: nothing
  Bytes bytes = 0;
};

/// Fills the memory of a result, without any other: ranks copy what they give to where it belongs,
/// and the first of each node exchanges the nodes' parts in place. For allgathers and a bcast of
/// less than 2 GiB whose nodes are in rank order. Collective. Returns an MPI error code.
int fill_in_place(LevelRunner& levels, const LevelCall& call, const SharedPart& own,
                  const SharedMemory& memory);

/// The memory of one communicator's results on this node: as many pieces as are held at once, each
/// written again once all ranks have released it.
class SharedResults {
 public:
  /// Sets `memory` to memory that nobody of the node holds any more, and counts all its ranks as
  /// holders. Collective. MPI_ERR_NO_MEM on all ranks of the call where one cannot have it;
  /// MPI_ERR_OTHER where one has no `bytes`, as its arguments are bad.
  int acquire(LevelRunner& levels, std::optional<Bytes> bytes,
              std::shared_ptr<SharedMemory>& memory);

 private:
  struct Order;
  int choose(Bytes bytes, Order& order);
  Bytes provide(std::optional<Bytes> bytes, const SharedNode& node, Order& order) noexcept;
  Bytes follow(std::optional<Bytes> bytes, const Order& order) noexcept;
  [[nodiscard]] bool open(const Order& order, Bytes bytes);
  static int agree(LevelRunner& levels, PrivateComm* others, NodeFlag::Count told, Bytes& faults);

  std::vector<std::shared_ptr<SharedMemory>> memories_;  ///< alike on all ranks of the node
};

}  // namespace tutti
