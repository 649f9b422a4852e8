/// Results that the ranks of a node share instead of each having a copy.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "run/hierarchical/held_results.hpp"
#include "run/hierarchical/mpi_hierarchical.hpp"

namespace tutti {

/// What one rank gives to a result.
struct SharedPart {
  Rank rank = 0;
  const std::byte* address = nullptr;  ///< null: nothing
  Bytes bytes = 0;
};

/// Fills the memory of a result, without any other: ranks copy what they give to where it belongs,
/// and the first of each node exchanges the nodes' parts in place. For a bcast, and for allgathers
/// of less than 2 GiB whose nodes are in rank order. Collective. Returns an MPI error code.
int fill_in_place(HierarchicalRunner& levels, const HierarchicalProblem& call,
                  const SharedPart& own, const SharedMemory& memory);

/// Of a result that is filled by other means: all ranks of the node have the error of the first
/// one. Collective. Returns an MPI error code.
int share_outcome(HierarchicalRunner& levels, int error);

/// A result of this rank's, which is released unless the program gets it.
struct ReleaseResult {
  void operator()(void* address) const { HeldResults::all().release(address); }
};
struct SharedResult {
  std::shared_ptr<SharedMemory> memory;
  std::unique_ptr<void, ReleaseResult> address;
};

/// What a rank asks for.
struct SharedRequest {
  std::optional<Bytes> bytes;  ///< none where its arguments are bad
  SegmentView view = SegmentView::read_only;
  Bytes kept = 0;  ///< of the communicator's memory on a node, while nobody holds it
};

/// The memory of one communicator's results on this node: as many pieces as are held at once, each
/// written again once all ranks have released it.
class SharedResults {
 public:
  /// Sets `result` to one in memory that nobody of the node holds any more, and counts all its
  /// ranks as holders. Collective. MPI_ERR_NO_MEM on all ranks of the call where one cannot have
  /// it; MPI_ERR_OTHER where the arguments of one are bad.
  int acquire(HierarchicalRunner& levels, const SharedRequest& wanted, SharedResult& result);

 private:
  struct Order;
  struct Faults;
  int choose(const SharedRequest& wanted, const SharedNode& node, Order& order);
  [[nodiscard]] Bytes kept_of(std::size_t index, Bytes most) const;
  Bytes provide(const SharedRequest& wanted, const SharedNode& node, Order& order,
                void*& address) noexcept;
  Bytes follow(const SharedRequest& wanted, const Order& order, void*& address) noexcept;
  [[nodiscard]] bool open(const Order& order, Bytes bytes);
  static int agree(HierarchicalRunner& levels, PrivateComm* others, SharedMemory* memory,
                   Faults& faults);
  void settle(const Order& order, const Faults& faults);

  std::vector<std::shared_ptr<SharedMemory>> memories_;  ///< alike on all ranks of the node
};

}  // namespace tutti
