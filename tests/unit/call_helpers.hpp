/// What tests of schedules share: schedules of all ranks, from a specification in words.
#pragma once

#include <string_view>
#include <vector>

#include "algorithms/problems.hpp"
#include "core/order.hpp"

namespace tutti::testing_support {

/// The specification, which must be good.
inline Specification spec_of(Collective collective, std::string_view text) {
  return *specification(collective, text);
}

inline std::vector<Schedule> schedules_of(std::string_view text, const Call& call) {
  return Problems(spec_of(call.collective, text), call).schedules();
}

/// The same with an order that the list does not name, e.g. by arrival.
inline std::vector<Schedule> schedules_in_order(std::string_view text, const Call& call,
                                                const Order& order) {
  const Specification spec = spec_of(call.collective, text);
  std::vector<Schedule> all;
  for (Rank rank = 0; rank < call.p(); ++rank) {
    Problem problem;
    problem.collective = call.collective;
    problem.p = call.p();
    problem.rank = rank;
    problem.root = call.root;
    problem.order = order;
    problem.sizes = Sizes::all(call.sizes, order);
    problem.parameters = spec.parameters;
    all.push_back(spec.algorithm->schedule(problem));
  }
  return all;
}

}  // namespace tutti::testing_support
