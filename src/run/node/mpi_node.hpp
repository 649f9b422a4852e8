/// The nodes of a communicator, and the memory of this rank's node.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/nodes.hpp"
#include "run/mpi/functions.hpp"
#include "run/node/memory.hpp"
#include "run/node/signals.hpp"

namespace tutti {

/// Settings of node memory, equal on all ranks of a communicator.
struct NodeSettings {
  std::optional<EmulatedNodes> emulated;
  Bytes memory = Bytes{64} << 20;  ///< limit for each node and communicator
};

/// Sets `nodes` to those of a communicator's ranks, by host name and boot, and emulated ones.
/// Creates no memory, so SharedNode::open may find that fewer ranks can share. Notes how many ranks
/// share processors if `comm` has all processes of the world. Collective: one allgather of 56 bytes
/// per rank. The result is equal on all ranks. Returns an MPI error code.
int guess_nodes(MPI_Comm comm, const NodeSettings& settings, Nodes& nodes);

/// What a rank tells the others of its node, which may read it after its signal. Zeroed at first.
struct RankWords {
  /// Numbers for each of some successive calls in turn: ranks may be calls ahead of one another if
  /// none waits.
  using ByCall = std::array<std::int64_t, 8>;
  /// The memory that the first rank of a node selects for a shared result.
  struct Order {
    std::int64_t index = -1;  ///< of the memory; negative: none available
    std::int64_t count = 0;   ///< number of memories from now on
    SegmentName name;
  };

  ByCall selections;
  ByCall sizes;
  std::int64_t exchanged;  ///< the last call for which it has written its sizes to node memory
  std::int64_t chunks;     ///< of the first rank, as are `lost` and all below `fault`
  std::int64_t fault;      ///< of acquiring the memory of a shared result
  std::int64_t acquired;   ///< the error class of acquiring it
  std::int64_t outcome;    ///< the error class of filling it
  std::int64_t lost;       ///< not 0: calls between nodes no longer match those of other nodes
  Order order;
};

/// The memory that the ranks of one node share for one communicator. A node is a set of ranks that
/// can open the same memory. Ranks of one system that cannot, as in separate containers, form nodes
/// of their own.
class SharedNode {
 public:
  /// Creates a segment on each node of several ranks; `nodes` are those that guess_nodes() found.
  /// Collective over `comm`, a duplicate that must return its errors and outlive the node: 2
  /// allgathers if all ranks of a system can open its memory. Returns an MPI error code.
  static int open(MPI_Comm comm, Nodes nodes, const NodeSettings& settings,
                  std::unique_ptr<SharedNode>& made);

  /// The nodes of the communicator, equal on all ranks.
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  [[nodiscard]] Rank rank() const { return rank_; }   ///< of this process
  [[nodiscard]] int ranks() const { return ranks_; }  ///< on this node
  [[nodiscard]] int local() const { return local_; }  ///< this rank's number on its node
  /// The kind of segment that the ranks of this node share.
  [[nodiscard]] NodeSegment::Kind kind() const { return kind_; }
  /// Bytes for data on each node; equal on all ranks.
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  /// The memory for data, page-aligned.
  [[nodiscard]] std::byte* data() const { return mapping_.data() + header_; }
  [[nodiscard]] RankWords& words(int local) const { return words_[local]; }
  [[nodiscard]] NodeSignal& signal(int local) const { return signals_[local]; }
  /// Waits until the signals of local ranks [first, last) reach `count`. Returns 0 or an MPI error
  /// code.
  int wait(int first, int last, NodeSignal::Count count);
  int wait(int local, NodeSignal::Count count) { return wait(local, local + 1, count); }

 private:
  SharedNode(MPI_Comm comm, Rank rank) : comm_(comm), rank_(rank) {}
  struct Attempt;
  int find(Nodes nodes, const NodeSettings& settings);
  int attempt(const Nodes& nodes, const NodeSettings& settings, NodeSegment::Kind kind,
              bool is_open, std::vector<Attempt>& attempts);
  int take(const Nodes& nodes, const std::vector<Attempt>& attempts);
  [[nodiscard]] std::unique_ptr<NodeSegment> make_segment(NodeSegment::Kind kind) const;
  void map_segment(const SegmentName& name, std::unique_ptr<NodeSegment>& segment);
  void map_private();

  MPI_Comm comm_;
  Rank rank_;
  Nodes nodes_;
  int ranks_ = 1;
  int local_ = 0;
  NodeSegment::Kind kind_ = NodeSegment::Kind::anonymous;
  Bytes capacity_ = 0;
  Bytes wanted_ = 0;  ///< bytes of the whole segment
  Bytes header_ = 0;  ///< before the data, in whole pages
  Mapping mapping_;
  NodeSignal* signals_ = nullptr;
  RankWords* words_ = nullptr;
};

}  // namespace tutti
