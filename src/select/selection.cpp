/// Selects what a setting asks for, and for one-sided collectives by the model.
#include "select/selection.hpp"

#include <algorithm>

#include "algorithms/problems.hpp"
#include "cost/simulate.hpp"
#include "select/tuning_candidates.hpp"

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
  if (setting.kind == Setting::Kind::native) return {std::nullopt, "requested"};
  std::string why_not;
  if (setting.kind == Setting::Kind::forced) {
    const Specification& asked = setting.specification;
    const std::string why = why_unfit(asked, setting.asks_for_hierarchical(), features);
    if (why.empty()) return {asked, "requested"};
    why_not = to_text(asked) + " was requested, but " + why;
  }
  const auto reason = [&](const char* usual) { return why_not.empty() ? usual : why_not; };
  if (features.p == 1) return {std::nullopt, reason("the communicator has a single rank")};
  if (features.reproducible) {
    return {specification_for(features.collective, "fixed"),
            reason("results must be reproducible")};
  }
  return {std::nullopt, reason("nothing is measured to be faster; float sums are not explored")};
}

double seconds_of(const Specification& specification, const Features& features, int p,
                  const Machine& machine) {
  const Call call{features.collective, 0,
                  std::vector<Bytes>(static_cast<std::size_t>(p), features.block)};
  const Problems problems(specification, call);
  const bool is_pipelined = specification.algorithm->takes("parts");
  constexpr long max_messages = 1 << 17;  // some 0.3 s
  if (is_pipelined && long{p} * problems.schedule(0).parts > max_messages) {
    Features of_p = features;
    of_p.p = p;
    return extrapolated_seconds(specification, of_p, machine);
  }
  return *price(problems.schedules(), machine, PriceModel::loggp);
}

/// The time of the tree of leaders, plus that of a leader that then serves its node.
double seconds_by_nodes(const Specification& specification, const Features& features,
                        const Machine& machine, const Nodes& nodes) {
  Machine inside = machine;
  inside.latency = machine.local_latency;
  inside.per_byte = machine.local_per_byte;
  inside.overhead = std::min(inside.overhead, inside.latency / 2);
  const auto linear = *tutti::specification(features.collective, "linear");
  return seconds_of(specification, features, nodes.count(), machine) +
         seconds_of(linear, features, nodes.most(), inside);
}

}  // namespace

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
  if (setting.kind == Setting::Kind::native) return {std::nullopt, "requested"};
  if (setting.kind == Setting::Kind::forced) return {setting.specification, "requested"};
  if (features.p == 1) return {std::nullopt, "the communicator has a single rank"};
  if (one_sided) return choose_one_sided(features, machine);
  return {std::nullopt, "no measurement shows a faster algorithm"};
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
    choice.candidates.push_back({to_text(candidate),
                                 seconds_of(candidate, features, features.p, machine),
                                 std::string(candidate.algorithm->summary)});
    if (!shares || !candidate.algorithm->takes("nodes")) continue;
    Specification by_nodes = candidate;
    by_nodes.parameters.nodes = true;
    choice.candidates.push_back({to_text(by_nodes),
                                 seconds_by_nodes(candidate, features, machine, *nodes),
                                 "the same among leaders of nodes"});
  }
  std::ranges::stable_sort(choice.candidates, {}, &Candidate::seconds);
  choice.specification = *specification(features.collective, choice.candidates.front().name);
  choice.reason = "fastest in the LogGP model with flushes and polling";
  return choice;
}

}  // namespace tutti
