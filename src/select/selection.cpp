/// Selects what a setting asks for.
#include "select/selection.hpp"

#include "select/one_sided.hpp"

namespace tutti {

namespace {

/// The reason why the requested reduction cannot run; empty if it can.
std::string why_unfit(const Specification& asked, bool through_nodes, const Features& features) {
  if (!features.commutative && asked.algorithm->commutative) {
    return "the operation does not commute";
  }
  if (features.whole && cuts_vectors(asked)) {
    return "it would split the vectors of a user-defined operation";
  }
  if (features.reproducible &&
      (asked.needs_arrivals() || asked.needs_distances() || through_nodes)) {
    return "its results depend on arrivals, distances or nodes";
  }
  return "";
}

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

}  // namespace

Specification fixed_reduction(Collective collective) {
  const char* const name = collective == Collective::reduce      ? "knomial_ordered"
                           : collective == Collective::allreduce ? "reduce_bcast"
                                                                 : "linear";
  return *specification(collective, name);
}

std::string out_of_reach(const Setting& setting, bool has_distances) {
  const bool needed =
      setting.kind == Setting::Kind::forced && setting.specification.needs_distances();
  if (!needed || has_distances) return "";
  return "order=" + std::string(name_of(setting.specification.order)) +
         " needs measured distances: set TUTTI_DISTANCES to a file of tutti map --mpirun";
}

Choice choose(const Setting& setting, const Features& features, const Machine& machine) {
  const bool one_sided = is_one_sided(features.collective);
  if (reduces(features.collective) && !one_sided) return choose_reduction(setting, features);
  if (setting.kind == Setting::Kind::native) return {std::nullopt, "requested", {}};
  if (setting.kind == Setting::Kind::forced) return {setting.specification, "requested", {}};
  if (features.p == 1) return {std::nullopt, "the communicator has a single rank", {}};
  if (one_sided) return choose_one_sided(features, {machine});
  return {std::nullopt, "no measurement shows a faster algorithm", {}};
}

}  // namespace tutti
