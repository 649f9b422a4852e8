/// Adds up the time for knowledge and the simulated time of schedules.
#include "sweep/simulated.hpp"

#include <algorithm>

#include "protocols/growth.hpp"

namespace tutti {

int knowledge_rounds(const Specification& specification, int p) {
  const auto levels = [&](int ports) {
    Growth growth{p, 0, {}, 0};
    growth.parameters.ports = ports;
    return growth.levels();
  };
  switch (specification.knowledge()) {
    case Knowledge::nothing:
      return 0;
    case Knowledge::subtree_sizes:
    case Knowledge::all_sizes:
      return levels(1);
    case Knowledge::tree_neighbours:
      break;
  }
  const Parameters& parameters = specification.parameters;
  const int rounds = levels(parameters.ports);
  const bool promotes = parameters.promote && parameters.threshold < 0;
  return std::max(2 * rounds - 1, 0) + (promotes ? rounds : 0);
}

SimulatedSeconds simulated_seconds(const Specification& specification, Call call,
                                   const Machine& machine) {
  call.half_performance_length = machine.half_performance_length();
  Network network = Network::of(machine);
  network.ports = specification.algorithm->takes("ports") ? specification.parameters.ports : 1;
  const auto schedules = Problems(specification, call).schedules();
  const Result<Timeline> timeline = simulate(schedules, network);
  return {knowledge_rounds(specification, call.p()) * machine.latency, timeline->run_time()};
}

}  // namespace tutti
