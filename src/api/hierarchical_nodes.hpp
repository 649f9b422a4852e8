/// The nodes of a communicator as far as calls need them that nobody asked to go through nodes.
#pragma once

#include <optional>

#include "api/communicator.hpp"
#include "core/nodes.hpp"
#include "select/hierarchical.hpp"

namespace tutti {

/// Of calls that are decided alike; the same twice where ranks do not know their own.
struct BlockRangeOfCalls {
  std::optional<Bytes> least;
  std::optional<Bytes> largest;
};

/// First guessed, at the cost of one small allgather, then opened where a call is to use them, if
/// all ranks can, for a limited number of communicators at a time. All functions that return an int
/// are collective, and return an MPI error code.
class HierarchicalNodes {
 public:
  /// `communicator` must outlive this.
  explicit HierarchicalNodes(Communicator& communicator) : communicator_(communicator) {}
  ~HierarchicalNodes();
  HierarchicalNodes(const HierarchicalNodes&) = delete;
  HierarchicalNodes& operator=(const HierarchicalNodes&) = delete;

  /// Are they those that share memory?
  [[nodiscard]] bool are_open() const { return are_open_; }
  /// Sets `choice` to what the model finds for such calls, where it promises a gain at both ends of
  /// the range and node memory would hold them at once. Opens nodes where it is to go through them.
  int open_for(Collective collective, const BlockRangeOfCalls& blocks, HierarchicalChoice& choice);
  /// Opens nodes, without an error if some rank cannot; sets `open` to whether they are.
  int try_open(bool& open);
  /// Those of calls that are to go through nodes in any case.
  int take();
  /// Makes what so many leaders need between nodes; sets `ready` to whether all ranks could.
  int prepare(int leaders, bool& ready);
  /// Of the largest node, once they are guessed.
  [[nodiscard]] int max_ranks() const { return nodes_->most(); }
  /// What the model goes by, once they are guessed.
  [[nodiscard]] HierarchicalFeatures features(Collective collective,
                                              std::optional<Bytes> block) const;
  /// For what ranks tell each other about calls.
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
  Bytes capacity_ = 0;       ///< of each, once they are
  bool is_counted_ = false;  ///< among those opened without being asked to
  bool gave_up_ = false;
};

}  // namespace tutti
