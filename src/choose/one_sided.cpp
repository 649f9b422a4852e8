/// Pricing one-sided collectives.
#include "choose/one_sided.hpp"

#include <algorithm>

#include "algorithms/problems.hpp"
#include "cost/pricing.hpp"

namespace tutti {

namespace {

struct Point {
  const char* specification;
  Bytes from;  ///< smaller vectors do not come into question
  const char* note;
};
constexpr Point points[] = {
    {"linear", 0, "the root reaches all windows itself"},
    {"binomial", 0, "ceil(log2 p) stages"},
    {"knomial:k=4", 0, "fewer stages, more children"},
    {"binary", 65536, "in parts down a binary tree"},
    {"chain", 262144, "in parts from rank to rank"},
};

}  // namespace

Choice choose_one_sided(const Situation& situation, const Machine& machine) {
  Choice choice;
  const Bytes bytes = situation.block.value_or(0);
  const Call call{situation.collective, situation.root,
                  std::vector<Bytes>(static_cast<std::size_t>(situation.p), bytes)};
  for (const Point& point : points) {
    if (bytes < point.from) continue;
    const auto candidate = specification(situation.collective, point.specification);
    if (!candidate) continue;  // only a vector of its own goes in parts
    const auto schedules = Problems(*candidate, call).schedules();
    choice.candidates.push_back(
        {point.specification, *price(schedules, machine, PriceModel::loggp), point.note});
  }
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  choice.specification = *specification(situation.collective, choice.candidates.front().name);
  choice.reason = "the fastest by LogGP with flushes and polling; only the root need know";
  return choice;
}

}  // namespace tutti
