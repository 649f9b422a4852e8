/// Removes copies where inner calls can use a rank's own buffers.
#include <algorithm>
#include <optional>

#include "lowering/hierarchical_chunk.hpp"

namespace tutti {

namespace {

/// Bytes that a copy moves between a buffer and node memory.
struct Stretch {
  Bytes side = 0;
  Bytes node = 0;
  Bytes bytes = 0;
};

/// The copies of `kind`: whole blocks in sequence, the entire buffer (see hierarchical_chunk).
std::vector<Stretch> stretches_of(const HierarchicalPlan& plan, HierarchicalStepKind kind) {
  std::vector<Stretch> stretches;
  Bytes side = 0;
  for (const HierarchicalStep& step : plan.steps) {
    if (step.kind != kind) continue;
    stretches.push_back({side, step.at, step.bytes});
    side += step.bytes;
  }
  return stretches;
}

/// The offset in the buffer of the bytes [at, at + bytes) of node memory; none if they are
/// scattered.
std::optional<Bytes> side_of(const std::vector<Stretch>& stretches, Bytes at, Bytes bytes) {
  if (bytes == 0) return 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.node <= at && at + bytes <= stretch.node + stretch.bytes) {
      return stretch.side + at - stretch.node;
    }
  }
  return std::nullopt;
}

/// Does a call have displacements? Without them its blocks must be consecutive.
bool has_displacements(Collective collective) {
  return is_irregular(collective) && collective != Collective::reduce_scatter;
}

/// The inner buffer moved from node memory to the rank's buffer; none if it is scattered there.
std::optional<InnerBuffer> moved(const InnerBuffer& end, Collective collective,
                                 HierarchicalArea area, const std::vector<Stretch>& stretches) {
  InnerBuffer side = {area, 0, end.counts, {}};
  Bytes next = 0;
  for (std::size_t i = 0; i < end.counts.size(); ++i) {
    const auto at = side_of(stretches, end.at + end.displacements[i], end.counts[i]);
    if (!at) return std::nullopt;
    if (i == 0) side.at = next = has_displacements(collective) ? 0 : *at;
    const bool is_empty = end.counts[i] == 0;
    if (!has_displacements(collective) && !is_empty && *at != next) return std::nullopt;
    side.displacements.push_back(has_displacements(collective) ? *at : next - side.at);
    next += end.counts[i];
  }
  return side;
}

/// Moves one inner buffer of all calls to the rank's buffer, and removes the copies of `kind`. Does
/// nothing if a call would need a scattered buffer.
void use_side(HierarchicalPlan& plan, HierarchicalStepKind kind, InnerBuffer InnerCall::*which) {
  const std::vector<Stretch> stretches = stretches_of(plan, kind);
  const HierarchicalArea area =
      kind == HierarchicalStepKind::copy_in ? HierarchicalArea::send : HierarchicalArea::receive;
  std::vector<InnerBuffer> buffers;
  for (const InnerCall& call : plan.calls) {
    const auto end = moved(call.*which, call.collective, area, stretches);
    if (!end) return;
    buffers.push_back(*end);
  }
  std::erase_if(plan.steps, [kind](const HierarchicalStep& step) { return step.kind == kind; });
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    InnerCall& call = plan.calls[i];
    call.*which = buffers[i];
    if (call.collective == Collective::bcast) call.receive = call.send;
  }
}

/// Does the plan use no node memory?
bool is_apart(const HierarchicalPlan& plan) {
  const auto is_outside = [](const InnerBuffer& end) {
    return end.counts.empty() || end.area != HierarchicalArea::node;
  };
  return std::none_of(plan.steps.begin(), plan.steps.end(),
                      [](const HierarchicalStep& step) {
                        return step.kind == HierarchicalStepKind::copy_in ||
                               step.kind == HierarchicalStepKind::copy_out;
                      }) &&
         std::all_of(plan.calls.begin(), plan.calls.end(), [&](const InnerCall& call) {
           return is_outside(call.send) && is_outside(call.receive);
         });
}

}  // namespace

void use_sides(HierarchicalPlan& plan, const Nodes& nodes) {
  if (plan.calls.empty()) return;
  const bool is_alone = nodes.size(plan.node) == 1;
  const bool is_root = plan.rank == plan.root;
  const bool leads_alone = plan.leaders == 1 && is_root;
  const bool scatters =
      plan.collective == Collective::scatter || plan.collective == Collective::scatterv;
  if (plan.collective == Collective::bcast) {
    if (is_alone)
      use_side(plan, is_root ? HierarchicalStepKind::copy_in : HierarchicalStepKind::copy_out,
               &InnerCall::send);
  } else {
    if (is_alone || (leads_alone && scatters)) {
      use_side(plan, HierarchicalStepKind::copy_in, &InnerCall::send);
    }
    if (is_alone || (leads_alone && flows_to_root(plan.collective))) {
      use_side(plan, HierarchicalStepKind::copy_out, &InnerCall::receive);
    }
  }
  if (is_alone && is_apart(plan)) plan.memory = 0;
}

}  // namespace tutti
