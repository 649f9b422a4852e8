/// Prices the candidates for one-sided collectives.
#include "select/one_sided.hpp"

#include <algorithm>

#include "algorithms/problems.hpp"
#include "cost/pricing.hpp"

namespace tutti {

namespace {

double seconds_of(const Specification& specification, const Features& features, int p,
                  const Machine& machine) {
  const Call call{features.collective, features.root < p ? features.root : 0,
                  std::vector<Bytes>(static_cast<std::size_t>(p), features.block)};
  return *price(Problems(specification, call).schedules(), machine, PriceModel::loggp);
}

/// The time of the tree of leaders, plus that of a leader that then serves its node.
double seconds_by_nodes(const Specification& specification, const Features& features,
                        const OneSidedMachine& machine) {
  Machine inside = machine.between;
  inside.latency = machine.node.local_latency;
  inside.per_byte = machine.node.local_per_byte;
  inside.overhead = std::min(inside.overhead, inside.latency / 2);
  const auto linear = *tutti::specification(features.collective, "linear");
  return seconds_of(specification, features, machine.nodes->count(), machine.between) +
         seconds_of(linear, features, machine.nodes->most(), inside);
}

}  // namespace

Choice choose_one_sided(const Features& features, const OneSidedMachine& machine) {
  Choice choice;
  const bool shares = machine.nodes != nullptr && machine.nodes->count() < features.p;
  // A put and its flush would wait for the target's thread; gathers and reductions put nothing.
  const bool puts = features.collective == Collective::rma_bcast ||
                    features.collective == Collective::rma_scatter;
  const bool puts_wait = puts && machine.between.serving > 0;
  for (Specification& candidate : useful_specifications(features.collective, features.p)) {
    if (puts_wait && !candidate.algorithm->takes("carry")) continue;
    if (puts_wait) candidate.parameters.carry = all_carried;
    choice.candidates.push_back({to_text(candidate),
                                 seconds_of(candidate, features, features.p, machine.between),
                                 std::string(candidate.algorithm->summary)});
    if (!shares || !candidate.algorithm->takes("nodes")) continue;
    Specification by_nodes = candidate;
    by_nodes.parameters.nodes = true;
    choice.candidates.push_back({to_text(by_nodes), seconds_by_nodes(candidate, features, machine),
                                 "the same among leaders of nodes"});
  }
  std::ranges::stable_sort(choice.candidates, {}, &Candidate::seconds);
  choice.specification = *specification(features.collective, choice.candidates.front().name);
  choice.reason = "fastest in the LogGP model with flushes and polling";
  return choice;
}

}  // namespace tutti
