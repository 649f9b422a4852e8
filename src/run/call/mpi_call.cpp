/// Turns arguments into sizes.
#include "run/call/mpi_call.hpp"

namespace tutti {

void find_sizes(const MpiCall& call, Rank rank, int p, CallSizes& sizes,
                std::optional<Bytes> element) {
  sizes.each = sizes.own = 0;
  for (auto* some : {&sizes.by_rank, &sizes.sent, &sizes.received}) some->clear();
  const auto bytes = [&](const CallSide& side, Rank of) {
    return side.blocks.count(of) * element.value_or(side.info_for(of).size);
  };
  const auto add_blocks = [&](const CallSide& side, std::vector<Bytes>& to) {
    for (Rank of = 0; of < p; ++of) to.push_back(bytes(side, of));
  };
  const Collective collective = call.collective;
  const bool irregular = is_irregular(collective);
  if (collective == Collective::barrier) return;
  if (is_gather_or_scatter(collective)) {
    sizes.own = call.own_bytes(rank);
    if (!irregular) sizes.each = sizes.own;
    if (irregular && rank == call.root) add_blocks(call.whole(), sizes.by_rank);
  } else if (!irregular) {
    sizes.each = bytes(call.receive, 0);
  } else if (block_kind(collective) == BlockKind::pairs) {
    add_blocks(call.contribution(), sizes.sent);
    add_blocks(call.receive, sizes.received);
  } else {
    add_blocks(call.receive, sizes.by_rank);
  }
}

}  // namespace tutti
