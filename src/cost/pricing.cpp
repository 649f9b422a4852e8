/// The last event of the engine.
#include "cost/pricing.hpp"

#include <algorithm>

#include "cost/engine.hpp"

namespace tutti {

Result<double> price(std::span<const Schedule> schedules, const Machine& machine, PriceModel model,
                     std::span<const double> arrivals) {
  EngineModel engine;
  engine.machine = machine;
  engine.overlaps = model == PriceModel::overlapped;
  engine.two_ports = !schedules.empty() && has_two_ports(schedules.front().collective);
  if (model == PriceModel::logp) engine.machine.per_byte = 0;
  if (model == PriceModel::logp || model == PriceModel::loggp) {
    engine.service = EngineModel::Service::eager;
  }
  double last = arrivals.empty() ? 0 : *std::ranges::max_element(arrivals);
  const auto error = execute(schedules, engine, arrivals,
                             {.done = [&](Rank, double now) { last = std::max(last, now); }});
  return error ? Result<double>(*error) : last;
}

}  // namespace tutti
