/// Selects the component that lowers a collective.
#include "lowering/lower.hpp"

#include "lowering/movement.hpp"
#include "lowering/reduction.hpp"

namespace tutti {

namespace {

/// The sizes of a reduction's blocks in the numbering of its contract.
std::vector<Bytes> block_sizes(const Schedule& schedule, const Problem& problem) {
  const bool by_rank = block_kind(schedule.collective) == BlockKind::ranks;
  std::vector<Bytes> sizes;
  for (BlockIndex block = 0; block < schedule.blocks(); ++block) {
    const BlockIndex at = by_rank ? problem.order.position_of(static_cast<Rank>(block)) : block;
    sizes.push_back(problem.sizes.of({at, at + 1}));
  }
  return sizes;
}

}  // namespace

BufferAssignment lower(const Schedule& schedule, const Problem& problem, Bytes own,
                       const BufferTraits& traits) {
  if (is_gather_or_scatter(schedule.collective)) {
    return assign_buffers(schedule, problem.position(), own, traits);
  }
  const bool in_parts = block_kind(schedule.collective) == BlockKind::parts;
  const Problem cut = in_parts ? problem.cut(schedule.parts) : problem;
  return reduces(schedule.collective)
             ? lower_reduction(schedule, cut.order, block_sizes(schedule, cut), traits)
             : lower_movement(schedule, cut, traits);
}

}  // namespace tutti
