/// How many leaders a call has that the user asked to run through node memory.
#pragma once

#include <map>
#include <tuple>
#include <utility>

#include "api/hierarchical_nodes.hpp"

namespace tutti {

/// The model's number of leaders for calls of hierarchical(..., leaders=auto), by collective and
/// size class.
class LeaderSelection {
 public:
  /// Both must outlive this.
  LeaderSelection(Communicator& communicator, HierarchicalNodes& nodes)
      : communicator_(communicator), nodes_(nodes) {}
  LeaderSelection(const LeaderSelection&) = delete;
  LeaderSelection& operator=(const LeaderSelection&) = delete;

  /// `deferred` with the leaders of the call that begins. Opens nodes at the first call. A rank
  /// whose arguments are invalid gets the selection from another rank of its node. Valid until a
  /// setting changes. Collective over the communicator. Sets `error` to an
  /// MPI error code.
  const Decision& resolve(const Decision& deferred, Collective collective, const BlockOfCall& block,
                          int& error);

 private:
  using Key = std::pair<Collective, int>;  ///< with the size class

  int find(Collective collective, const BlockOfCall& block, int& leaders);
  int mean_block(Collective collective, const BlockOfCall& block, Bytes& mean);

  Communicator& communicator_;
  HierarchicalNodes& nodes_;
  std::map<Collective, int> latest_;  ///< size class of this rank's latest call
  std::map<Key, int> leaders_;
  /// By the slot of the deferred decision and the number of leaders.
  std::map<std::pair<int, int>, Decision> decisions_;
};

}  // namespace tutti
