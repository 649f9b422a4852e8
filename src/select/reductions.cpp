/// Operations that do not commute, and reproducibility.
#include "select/reductions.hpp"

namespace tutti {

Specification fixed_reduction(Collective collective) {
  const char* const name = collective == Collective::reduce      ? "knomial_ordered"
                           : collective == Collective::allreduce ? "reduce_bcast"
                                                                 : "linear";
  return *specification(collective, name);
}

bool is_reproducible(const Specification& specification) {
  return !specification.needs_arrivals() && !specification.needs_distances();
}

namespace {

/// Why a reduction cannot run as it was asked for; empty if it can.
std::string why_unfit(const Specification& asked, bool through_nodes, const Features& features) {
  if (!features.commutative && asked.algorithm->commutative) {
    return "but the operation does not commute";
  }
  if (features.whole && cuts_vectors(asked)) {
    return "which cuts vectors, but the operation is the program's own";
  }
  const bool is_steady = is_reproducible(asked) && !through_nodes;
  if (features.reproducible && !is_steady) return "which depends on arrivals, distances or nodes";
  return "";
}

}  // namespace

Choice choose_reduction(const Setting& setting, const Features& features) {
  if (setting.kind == Setting::Kind::native) return {std::nullopt, "native was asked for", {}};
  std::string reason;
  if (setting.kind == Setting::Kind::forced) {
    const Specification& asked = setting.specification;
    const std::string why = why_unfit(asked, setting.asks_for_hierarchical(), features);
    if (why.empty()) return {asked, "it was asked for", {}};
    reason = to_text(asked) + " was asked for, " + why + "; ";
  }
  if (features.p == 1) return {std::nullopt, reason + "one rank has nothing to exchange", {}};
  if (features.reproducible) {
    return {fixed_reduction(features.collective), reason + "results are to be reproducible", {}};
  }
  if (reason.empty()) return {std::nullopt, "the MPI's own keeps results as they were", {}};
  return {std::nullopt, reason + "the MPI's own takes any", {}};
}

}  // namespace tutti
