/// Operations that do not commute, and reproducibility.
#include "choose/reductions.hpp"

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

Choice choose_reduction(const Setting& setting, const Situation& situation) {
  if (setting.kind == Setting::Kind::native) return {std::nullopt, "native was asked for", {}};
  std::string reason;
  if (setting.kind == Setting::Kind::forced) {
    const Specification& asked = setting.specification;
    const bool fits = situation.commutative || !asked.algorithm->commutative;
    const bool is_steady =
        !situation.reproducible || (is_reproducible(asked) && !setting.asks_for_nodes());
    if (fits && is_steady) return {asked, "it was asked for", {}};
    reason =
        to_text(asked) + (fits ? " was asked for, which depends on arrivals, distances or nodes; "
                               : " was asked for, but the operation does not commute; ");
  }
  if (situation.p == 1) return {std::nullopt, reason + "one rank has nothing to exchange", {}};
  if (situation.reproducible) {
    return {fixed_reduction(situation.collective), reason + "results are to be reproducible", {}};
  }
  if (reason.empty()) return {std::nullopt, "the MPI's own keeps results as they were", {}};
  return {std::nullopt, reason + "the MPI's own takes any", {}};
}

}  // namespace tutti
