/// The arguments of calls of all collectives.
#include "bench/mpi_calls.hpp"

namespace tutti::bench {

namespace {
/// The number of blocks that a rank holds, as `by` of collectives.inc says.
int blocks_held(Collective collective, Holders by, int p, bool is_root) {
  if (block_kind(collective) == BlockKind::pairs) return p;
  if (block_kind(collective) != BlockKind::ranks) return 1;
  return by == Holders::all || (by == Holders::root && is_root) ? p : 1;
}
}  // namespace

int blocks_sent(Collective collective, int p, Rank rank, bool any_root) {
  return blocks_held(collective, properties_of(collective).before, p, any_root || rank == 0);
}

int blocks_received(Collective collective, int p, Rank rank, bool any_root) {
  return blocks_held(collective, properties_of(collective).after, p, any_root || rank == 0);
}

CallBuffers::CallBuffers(Collective collective, int p, int ints, Rank rank, bool any_root)
    : sent(static_cast<std::size_t>(blocks_sent(collective, p, rank, any_root)) *
               static_cast<std::size_t>(ints),
           1),
      received(static_cast<std::size_t>(blocks_received(collective, p, rank, any_root)) *
               static_cast<std::size_t>(ints)),
      counts(static_cast<std::size_t>(p), ints) {
  for (int at = 0; at < p; ++at) displacements.push_back(at * ints);
}

std::function<void(Rank)> call_of(Collective collective, const Functions& by, CallBuffers& at) {
  MpiCall call;
  call.collective = collective;
  call.send = side_of(collective, at.sent.data(), MPI_INT, at.counts, at.displacements);
  call.receive = side_of(collective, at.received.data(), MPI_INT, at.counts, at.displacements);
  call.op = MPI_SUM;
  call.comm = at.comm;
  return [=](Rank root) mutable {
    call.root = root;
    apply(by, call);
  };
}

}  // namespace tutti::bench
