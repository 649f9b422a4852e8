/// The nodes of a communicator, for calls that `auto` may run through node memory.
#pragma once

#include <optional>

#include "api/communicator.hpp"
#include "api/limited.hpp"
#include "core/nodes.hpp"
#include "select/selection.hpp"

namespace tutti {

/// Guesses the nodes first, by one small allgather. Opens them when a call is to use them, if all
/// ranks can, for a limited number of communicators at a time. All functions that return an int are
/// collective, and return an MPI error code.
class HierarchicalNodes : NotCopied {
 public:
  /// `communicator` must outlive this.
  explicit HierarchicalNodes(Communicator& communicator) : communicator_(communicator) {}

  /// Are the nodes open, not only guessed?
  [[nodiscard]] bool are_open() const { return are_open_; }
  /// Guesses the nodes, the first time.
  int guess();
  /// What guess() found; once open, the nodes themselves.
  [[nodiscard]] const Nodes& guessed() const { return *nodes_; }
  /// Creates what calls of a level need. Flat: see open_flat(). Hierarchical: opens the nodes and
  /// creates what the leaders need, where ranks share nodes, and sets `ready` to whether all ranks
  /// could, and node memory holds calls with blocks of `block` bytes, whole or in chunks.
  int open_for(Collective collective, Bytes block, const Level& level, bool& ready);
  /// Creates Tutti's duplicate of the communicator, which flat algorithms run on, for a limited
  /// number of communicators at a time; sets `ready` to whether all ranks could.
  int open_flat(bool& ready);
  /// Has open_for() anything to create? Local.
  [[nodiscard]] bool needs(const Level& level) const;
  /// What is common to calls of a collective with such blocks; each rank is alone on its node until
  /// nodes are guessed.
  [[nodiscard]] Features features(Collective collective, Bytes block = 0) const;
  /// The same by the nodes that guess() found, though others may be open by now: the keys of what
  /// is kept from one run to the next, which looks for them before it opens any.
  [[nodiscard]] Features kept_features(Collective collective, Bytes block = 0) const;

 private:
  int open();
  int prepare(int leaders, bool& ready);
  [[nodiscard]] bool fits(Collective collective, Bytes block, int leaders) const;

  Communicator& communicator_;
  std::optional<Nodes> nodes_;
  int guessed_count_ = 0;  ///< nodes, once guessed
  int guessed_most_ = 0;   ///< ranks of the largest of them
  Limited<struct OpenedNodes, 64> opened_;
  Limited<struct FlatDuplicate, 256> duplicate_;
  bool are_open_ = false;
  std::optional<bool> flat_ready_;  ///< what open_flat() found
  bool gave_up_ = false;
};

}  // namespace tutti
