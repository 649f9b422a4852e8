/// Records what the engine executes.
#include "cost/simulate.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tutti {

double Timeline::run_time() const {
  return *std::ranges::max_element(exits) - *std::ranges::min_element(arrivals);
}

double Timeline::elapsed() const {
  const double in_all = std::accumulate(exits.begin(), exits.end(), 0.0) -
                        std::accumulate(arrivals.begin(), arrivals.end(), 0.0);
  return in_all / static_cast<double>(exits.size());
}

double Timeline::spread() const {
  const auto [first, last] = std::ranges::minmax_element(arrivals);
  return *last - *first;
}

Result<Timeline> simulate(std::span<const Schedule> schedules, const Machine& machine,
                          std::span<const double> arrivals, const Links* links) {
  if (schedules.empty()) return Error{"no schedules; a simulation needs those of all ranks"};
  if (links != nullptr && index(links->size()) != schedules.size()) {
    return Error{"distances between " + std::to_string(links->size()) +
                 " ranks for the schedules of " + std::to_string(schedules.size())};
  }
  EngineModel engine{.service = EngineModel::Service::greedy,
                     .machine = machine,
                     .links = links,
                     .two_ports = has_two_ports(schedules.front().collective)};
  Timeline timeline;
  timeline.arrivals.assign(arrivals.begin(), arrivals.end());
  timeline.arrivals.resize(schedules.size(), 0);
  timeline.exits = timeline.arrivals;
  timeline.busy.assign(schedules.size(), 0);
  engine.early = *std::ranges::min_element(timeline.arrivals);
  const auto started = [&](const TimedMessage& message) {
    timeline.busy[index(message.from)] += message.seconds;
    timeline.busy[index(message.to)] += message.seconds;
    timeline.transfers.push_back(message);
  };
  const auto done = [&](Rank rank, double now) {
    timeline.exits[index(rank)] = std::max(timeline.exits[index(rank)], now);
  };
  if (const auto error = execute(schedules, engine, arrivals, {started, done})) return *error;
  return timeline;
}

Result<std::vector<Message>> messages(std::span<const Schedule> schedules) {
  const Collective collective =
      schedules.empty() ? Collective::gather : schedules.front().collective;
  const EngineModel rounds{
      .tie = flows_to_root(collective) ? EngineModel::Tie::receiver : EngineModel::Tie::sender,
      .machine = {.latency = 1, .per_byte = 0},
      .two_ports = has_two_ports(collective)};
  std::vector<Message> all;
  const auto error = execute(
      schedules, rounds, {}, {.started = [&](const TimedMessage& moved) {
        all.push_back({moved.from, moved.to, moved.bytes, static_cast<int>(moved.start) + 1});
      }});
  if (error) return *error;
  std::ranges::sort(all, {}, [](const Message& message) {
    return std::tuple(message.round, message.from, message.to);
  });
  return all;
}

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
