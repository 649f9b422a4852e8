/// Provides results that the ranks of a node share, instead of a copy for each rank.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "run/hierarchical/held_results.hpp"
#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/process.hpp"

namespace tutti {

/// Where ranks write a result of less than 2 GiB in place, in bytes; for nodes in rank order.
struct ResultParts {
  Bytes own = 0;            ///< before this rank's contribution
  std::vector<int> counts;  ///< by node; empty for vectors, as are the displacements
  std::vector<int> displacements;
};
[[nodiscard]] ResultParts parts_of(const HierarchicalProblem& call, const Nodes& nodes, Rank rank);

/// Fills a result without other memory: each rank copies its contribution, `own`, behind those of
/// the ranks before it, and the first ranks of the nodes exchange the nodes' parts in place. In a
/// bcast only the root passes memory. For bcast, and for allgathers of less than 2 GiB on nodes in
/// rank order. Allocates nothing: no rank leaves while others wait for it. Collective over the
/// communicator. Returns an MPI error code.
int fill_in_place(HierarchicalRunner& runner, const HierarchicalProblem& call,
                  const ResultParts& parts, const HierarchicalSide& own,
                  const SharedMemory& memory);

/// Gives all ranks of the node the error of the first one, for a result filled by other means.
/// Collective over the node; each rank keeps an error of its own that comes later. Returns an MPI
/// error code.
int share_outcome(HierarchicalRunner& runner, int error);

/// Releases a result of this rank. The program gets one by address.release(); TUTTI_Shared_free
/// ends that one.
struct ReleaseResult {
  void operator()(void* address) const { of_process<HeldResults>().release(address); }
};
struct SharedResult {
  std::shared_ptr<SharedMemory> memory;
  std::unique_ptr<void, ReleaseResult> address;
};

/// The request of one rank.
struct SharedRequest {
  std::optional<Bytes> bytes;  ///< none if its arguments are invalid
  SegmentView view = SegmentView::read_only;
  Bytes kept = 0;  ///< limit on the communicator's memory that no rank of a node holds
};

/// The memory of one communicator's results on this node: a segment for each result held at once,
/// reused after all ranks have released it.
class SharedResults {
 public:
  /// Sets `result` to memory that no rank of the node holds, and counts all its ranks as holders.
  /// Collective over the communicator. MPI_ERR_NO_MEM on all ranks of the call if one gets no
  /// memory; MPI_ERR_OTHER if one has invalid arguments.
  int acquire(HierarchicalRunner& runner, const SharedRequest& wanted, SharedResult& result);

 private:
  using Order = RankWords::Order;
  [[nodiscard]] bool choose(const SharedRequest& wanted, const SharedNode& node, Order& order);
  [[nodiscard]] Bytes kept_of(std::size_t at, Bytes most) const;
  Bytes take(const SharedRequest& wanted, const SharedNode& node, Order& order,
             void*& address) noexcept;
  [[nodiscard]] bool open(const Order& order, Bytes bytes);
  int agree(HierarchicalRunner& runner, PrivateComm* others, const Order& order);

  std::vector<std::shared_ptr<SharedMemory>> memories_;  ///< equal on all ranks of the node
};

}  // namespace tutti
