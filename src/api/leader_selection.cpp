/// Leaders by the model, agreed inside nodes.
#include "api/leader_selection.hpp"

#include "core/size_class.hpp"
#include "run/mpi/agree.hpp"

namespace tutti {

const Decision& LeaderSelection::resolve(const Decision& deferred, Collective collective,
                                         const BlockOfCall& block, int& error) {
  int leaders = 1;
  error = nodes_.take();
  if (error == MPI_SUCCESS) error = find(collective, block, leaders);
  const bool knows = block.common || !is_block_common(collective);
  if (error == MPI_SUCCESS) {
    error = communicator_.hierarchical().broadcast_selection(knows, leaders);
  }
  if (error != MPI_SUCCESS) {
    // This rank does not run the call, but the others count it.
    if (nodes_.are_open()) communicator_.hierarchical().skip();
    return deferred;
  }
  Decision& resolved = decisions_[{deferred.slot, leaders}];
  if (resolved.epoch != deferred.epoch) {
    resolved = deferred;
    resolved.deferred = DeferredLevel::none;
    resolved.level.leaders = leaders;
  }
  return resolved;
}

int LeaderSelection::find(Collective collective, const BlockOfCall& block, int& leaders) {
  constexpr int by_mean = -1;
  int& latest = latest_[collective];
  if (block.common) latest = class_of(*block.common);
  if (!is_block_common(collective)) latest = by_mean;
  int& known = leaders_[{collective, latest}];
  if (known == 0) {
    // Of the class, not of this call: a rank with invalid arguments knows no block.
    Bytes size = latest == by_mean ? 0 : largest_of(latest);
    if (latest == by_mean) {
      if (const int error = mean_block(collective, block, size)) return error;
    }
    known = best_leaders(collective, nodes_.shape(), size, communicator_.node_machine());
  }
  leaders = known;
  return MPI_SUCCESS;
}

int LeaderSelection::mean_block(Collective collective, const BlockOfCall& block, Bytes& mean) {
  Bytes sum = 0;
  const int error = sum_on_all(nodes_.comm(), block.own(), sum);
  const Bytes blocks = Bytes{communicator_.p()} *
                       (block_kind(collective) == BlockKind::pairs ? communicator_.p() : 1);
  mean = (sum + blocks - 1) / blocks;
  return error;
}

}  // namespace tutti
