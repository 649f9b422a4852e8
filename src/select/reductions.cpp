/// Selects reductions by commutativity and reproducibility.
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

/// The reason why the requested reduction cannot run; empty if it can.
std::string why_unfit(const Specification& asked, bool through_nodes, const Features& features) {
  if (!features.commutative && asked.algorithm->commutative) {
    return "the operation does not commute";
  }
  if (features.whole && cuts_vectors(asked)) {
    return "it would split the vectors of a user-defined operation";
  }
  const bool is_steady = is_reproducible(asked) && !through_nodes;
  if (features.reproducible && !is_steady)
    return "its results depend on arrivals, distances or nodes";
  return "";
}

}  // namespace

Choice choose_reduction(const Setting& setting, const Features& features) {
  if (setting.kind == Setting::Kind::native) return {std::nullopt, "requested", {}};
  std::string why_not;
  if (setting.kind == Setting::Kind::forced) {
    const Specification& asked = setting.specification;
    const std::string why = why_unfit(asked, setting.asks_for_hierarchical(), features);
    if (why.empty()) return {asked, "requested", {}};
    why_not = to_text(asked) + " was requested, but " + why;
  }
  const auto reason = [&](const char* usual) { return why_not.empty() ? usual : why_not; };
  if (features.p == 1) return {std::nullopt, reason("the communicator has a single rank"), {}};
  if (features.reproducible) {
    return {fixed_reduction(features.collective), reason("results must be reproducible"), {}};
  }
  return {
      std::nullopt, reason("nothing is measured to be faster; float sums are not explored"), {}};
}

}  // namespace tutti
