/// The arguments of calls of all collectives.
#include "bench/mpi_calls.hpp"

#include <numeric>
#include <utility>

namespace tutti::bench {

namespace {
/// The number of blocks that a rank holds, as `by` of collectives.inc says.
int blocks_held(Collective collective, Holders by, int p, bool is_root) {
  if (block_kind(collective) == BlockKind::pairs) return p;
  if (block_kind(collective) != BlockKind::ranks) return 1;
  return by == Holders::all || (by == Holders::root && is_root) ? p : 1;
}

/// One side of a call. Functions that move a rank's own block take its count alone.
CallSide side(Collective collective, Holders by, std::vector<int>& data, const CallBuffers& at) {
  CallSide made = side_of(collective, data.data(), MPI_INT, at.counts, at.displacements);
  const bool is_own = block_kind(collective) == BlockKind::ranks && by == Holders::own;
  if (is_own && !reduces(collective)) made.blocks = RankBlocks(at.own_count);
  return made;
}
}  // namespace

int blocks_sent(Collective collective, int p, Rank rank, bool any_root) {
  return blocks_held(collective, properties_of(collective).before, p, any_root || rank == 0);
}

int blocks_received(Collective collective, int p, Rank rank, bool any_root) {
  return blocks_held(collective, properties_of(collective).after, p, any_root || rank == 0);
}

CallBuffers::CallBuffers(Collective collective, std::vector<int> ints, Rank rank, bool any_root)
    : counts(std::move(ints)), displacements(counts.size()), own_count(counts[index(rank)]) {
  const auto p = static_cast<int>(counts.size());
  const auto size_of = [&](int blocks) {
    return blocks == p ? std::accumulate(counts.begin(), counts.end(), std::size_t{0})
                       : static_cast<std::size_t>(own_count);
  };
  sent.assign(size_of(blocks_sent(collective, p, rank, any_root)), 1);
  received.resize(size_of(blocks_received(collective, p, rank, any_root)));
  if (!is_irregular(collective)) return;
  std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), 0);
}

std::function<void(Rank)> call_of(Collective collective, const Functions& by, CallBuffers& at) {
  MpiCall call;
  call.collective = collective;
  call.send = side(collective, properties_of(collective).before, at.sent, at);
  call.receive = side(collective, properties_of(collective).after, at.received, at);
  call.op = MPI_SUM;
  call.comm = at.comm;
  return [=](Rank root) mutable {
    call.root = root;
    apply(by, call);
  };
}

}  // namespace tutti::bench
