/// The nodes of a communicator, for calls that `auto` may run through node memory.
#pragma once

#include <optional>

#include "api/communicator.hpp"
#include "core/nodes.hpp"
#include "select/hierarchical.hpp"

namespace tutti {

/// The block range of calls with one selection; both ends are equal if ranks know no common block.
struct BlockRangeOfCalls {
  std::optional<Bytes> least;
  std::optional<Bytes> largest;
};

/// Guesses the nodes first, by one small allgather. Opens them when a call is to use them, if all
/// ranks can, for a limited number of communicators at a time. All functions that return an int are
/// collective, and return an MPI error code.
class HierarchicalNodes {
 public:
  /// `communicator` must outlive this.
  explicit HierarchicalNodes(Communicator& communicator) : communicator_(communicator) {}
  ~HierarchicalNodes();
  HierarchicalNodes(const HierarchicalNodes&) = delete;
  HierarchicalNodes& operator=(const HierarchicalNodes&) = delete;

  /// Are the nodes open, not only guessed?
  [[nodiscard]] bool are_open() const { return are_open_; }
  /// Sets `choice` to the model's choice. It is hierarchical only if both ends of the range gain
  /// and node memory holds a whole call; then opens the nodes.
  int open_for(Collective collective, const BlockRangeOfCalls& blocks, HierarchicalChoice& choice);
  /// Opens the nodes for calls that must use node memory.
  int take();
  /// Creates the communicators between nodes for `leaders` leaders; sets `ready` to whether all
  /// ranks could.
  int prepare(int leaders, bool& ready);
  /// The ranks of the largest node, once guessed.
  [[nodiscard]] int max_ranks() const { return nodes_->most(); }
  /// The selection features of a call, once nodes are guessed.
  [[nodiscard]] HierarchicalFeatures features(Collective collective,
                                              std::optional<Bytes> block) const;
  /// The communicator by which ranks agree on selections.
  [[nodiscard]] MPI_Comm comm() const;

 private:
  int guess();
  int open();
  [[nodiscard]] HierarchicalChoice choose(Collective collective,
                                          const BlockRangeOfCalls& blocks) const;
  [[nodiscard]] bool fits(Collective collective, Bytes block, int leaders) const;

  Communicator& communicator_;
  std::optional<Nodes> nodes_;
  bool are_open_ = false;
  Bytes capacity_ = 0;       ///< of each node, once open
  bool is_counted_ = false;  ///< towards the limit on communicators
  bool gave_up_ = false;
};

}  // namespace tutti
