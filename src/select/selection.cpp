/// Selects what a setting asks for, and for one-sided collectives by the model.
#include "select/selection.hpp"

#include <algorithm>

#include "select/tuning_candidates.hpp"

namespace tutti {

namespace {

Choice choose_reduction(const Setting& asked, const Features& features) {
  const bool is_automatic = asked.kind == Setting::Kind::automatic;
  const std::string why = why_unfit(asked, features);
  if (!is_automatic && why.empty()) return {asked, "requested"};
  const auto reason = [&](const char* usual) {
    return is_automatic ? usual : to_text(asked) + " was requested, but " + why;
  };
  if (features.p == 1) return {flat_native, reason("the communicator has a single rank")};
  if (features.reproducible && asked.kind != Setting::Kind::native) {
    const auto fixed = specification_for(features.collective, "fixed");
    return {{Setting::Kind::forced, *fixed, Level{}}, reason("results must be reproducible")};
  }
  // Hierarchical reductions cut vectors and combine them by the ranks' locations.
  Setting valid = asked;
  if (features.whole || features.reproducible) valid.level = Level{};
  if (is_automatic || !why_unfit(valid, features).empty()) {
    valid = {Setting::Kind::native, {}, valid.level};
  }
  return {valid, reason("nothing is measured to be faster; float sums are not explored")};
}

/// The time of the tree of leaders, plus that of a leader that then serves its node.
double seconds_by_nodes(const Specification& specification, const Features& features,
                        const Machine& machine, const Nodes& nodes) {
  Machine inside = machine;
  inside.latency = machine.local_latency;
  inside.per_byte = machine.local_per_byte;
  inside.overhead = std::min(inside.overhead, inside.latency / 2);
  const auto linear = *tutti::specification(features.collective, "linear");
  const auto of = [&](int p) { return Features{features.collective, p, features.block}; };
  return modelled_seconds(specification, of(nodes.count()), machine) +
         modelled_seconds(linear, of(nodes.most()), inside);
}

}  // namespace

std::string why_unfit(const Setting& asked, const Features& features) {
  const bool is_hierarchical = asked.asks_for_hierarchical();
  const bool is_forced = asked.kind == Setting::Kind::forced;
  const Specification& by = asked.specification;
  if (is_hierarchical && features.flat_only) return "the setting is hierarchy=flat";
  if (by.needs_distances() && !features.has_distances) {
    return "order=" + std::string(name_of(by.order)) +
           " needs measured distances: set TUTTI_DISTANCES to a file of tutti map --mpirun";
  }
  if (is_forced && by.uses_background() && !features.has_background) {
    return "TUTTI_BACKGROUND is off";
  }
  if (!reduces(features.collective) || is_one_sided(features.collective)) return "";
  if (is_forced && by.algorithm->commutative && !features.commutative) {
    return "the operation does not commute";
  }
  if (features.whole && (is_hierarchical || (is_forced && cuts_vectors(by)))) {
    return "it would split the vectors of a user-defined operation";
  }
  const bool by_arrival = is_forced && by.needs_arrivals();
  if (features.reproducible && (is_hierarchical || by_arrival || by.needs_distances())) {
    return "its results depend on arrivals, distances or nodes";
  }
  return "";
}

Choice choose(const Setting& setting, const Features& features, const Machine& machine) {
  const bool one_sided = is_one_sided(features.collective);
  Setting asked = setting;
  asked.level = setting.level.value_or(Level{});
  if (reduces(features.collective) && !one_sided) return choose_reduction(asked, features);
  if (asked.kind != Setting::Kind::automatic) return {asked, "requested"};
  if (features.p == 1) return {flat_native, "the communicator has a single rank"};
  if (one_sided) return choose_one_sided(features, machine);
  return {flat_native, "no measurement shows a faster algorithm"};
}

Choice choose_one_sided(const Features& features, const Machine& machine, const Nodes* nodes) {
  Choice choice;
  const bool shares = nodes != nullptr && nodes->count() < features.p;
  // A put and its flush would wait for the target's thread; gathers and reductions put nothing.
  const bool puts = features.collective == Collective::rma_bcast ||
                    features.collective == Collective::rma_scatter;
  const bool puts_wait = puts && machine.serving > 0;
  for (Specification& candidate : useful_specifications(features.collective, features.p)) {
    if (puts_wait && !candidate.algorithm->takes("carry")) continue;
    if (puts_wait) candidate.parameters.carry = all_carried;
    choice.candidates.push_back({to_text(candidate), modelled_seconds(candidate, features, machine),
                                 std::string(candidate.algorithm->summary)});
    if (!shares || !candidate.algorithm->takes("nodes")) continue;
    Specification by_nodes = candidate;
    by_nodes.parameters.nodes = true;
    choice.candidates.push_back({to_text(by_nodes),
                                 seconds_by_nodes(candidate, features, machine, *nodes),
                                 "the same among leaders of nodes"});
  }
  std::ranges::stable_sort(choice.candidates, {}, &Candidate::seconds);
  choice.setting = *setting(features.collective, choice.candidates.front().name);
  choice.reason = "fastest in the LogGP model with flushes and polling";
  return choice;
}

}  // namespace tutti
