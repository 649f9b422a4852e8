/// Spares copies where an inner call can use a rank's own buffers.
#include <algorithm>
#include <numeric>

#include "passes/level_chunk.hpp"

namespace tutti {

namespace {

Bytes sum(const std::vector<Bytes>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Bytes{0});
}

/// Removes the only copy of that kind if it is of just the bytes of `end`, which then is the side
/// itself.
bool replace_copy(LevelPlan& plan, LevelKind kind, InnerEnd& end, LevelArea area) {
  const auto of_kind = [kind](const LevelStep& step) { return step.kind == kind; };
  const auto at = std::find_if(plan.steps.begin(), plan.steps.end(), of_kind);
  if (std::count_if(plan.steps.begin(), plan.steps.end(), of_kind) != 1 || at->offset != 0 ||
      at->at != end.at || at->bytes != sum(end.counts)) {
    return false;
  }
  plan.steps.erase(at);
  end.area = area;
  end.at = 0;
  return true;
}

}  // namespace

void use_sides(LevelPlan& plan, const Nodes& nodes) {
  if (plan.calls.size() != 1) return;
  InnerCall& call = plan.calls.front();
  const bool only_rank = nodes.size(plan.node) == 1;
  const bool leads_alone = plan.leaders == 1 && plan.rank == plan.root;
  const bool scatters =
      plan.collective == Collective::scatter || plan.collective == Collective::scatterv;
  if (plan.collective == Collective::bcast) {
    const bool sends = plan.rank == plan.root;
    if (only_rank && replace_copy(plan, sends ? LevelKind::copy_in : LevelKind::copy_out, call.send,
                                  sends ? LevelArea::send : LevelArea::receive)) {
      call.receive = call.send;
    }
    return;
  }
  if (only_rank || (leads_alone && scatters)) {
    replace_copy(plan, LevelKind::copy_in, call.send, LevelArea::send);
  }
  if (only_rank || (leads_alone && flows_to_root(plan.collective))) {
    replace_copy(plan, LevelKind::copy_out, call.receive, LevelArea::receive);
  }
}

}  // namespace tutti
