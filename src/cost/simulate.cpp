/// Records what the engine executes.
#include "cost/simulate.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tutti {

namespace {

/// Replaces notifications by requests in windows, which a rank makes one after the other:
///
///     notify 2 [0,1) 4096        put 2 [0,0) 0         the description
///                                flush 2
///                                notify 2 [0,1) 4096   the flag
///                                flush 2
///
/// Each flush is followed by a wait. A description that a schedule puts with the data is left out,
/// because the request has it. The counter of completions needs none; nothing waits for its flush.
class RequestsInWindows {
 public:
  Schedule of(const Schedule& schedule) {
    made_ = schedule;
    made_.steps.clear();
    for (const Step& step : schedule.steps) {
      first_.push_back(next());
      add(step);
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] StepId next() const { return static_cast<StepId>(made_.steps.size()); }
  /// The new number of the earlier step `id`, or of its first one; of the current step's end.
  [[nodiscard]] StepId moved(StepId id) const {
    return index(id) < first_.size() ? first_[index(id)] : next();
  }

  void add(Step step) {
    step.first = moved(step.first);
    step.last = moved(step.last);
    if (step.after >= 0) step.after = moved(step.after + 1) - 1;
    const bool is_empty = step.blocks.range.empty();
    const bool requests = step.kind == StepKind::notify && !(is_empty && step.peer == made_.root);
    if (requests) {
      made_.steps.push_back(
          {.kind = StepKind::put, .runner = step.runner, .peer = step.peer, .after = step.after});
      flush(step);
    }
    if (step.kind == StepKind::put && is_empty) {
      step.kind = StepKind::copy;
      step.peer = no_rank;
    }
    made_.steps.push_back(step);
    if (requests) flush(step);
  }

  void flush(const Step& request) {
    const StepId flush = next();
    made_.steps.push_back(
        {.kind = StepKind::flush, .runner = request.runner, .peer = request.peer});
    made_.steps.push_back({.kind = StepKind::wait, .first = flush, .last = flush + 1});
  }

  Schedule made_;
  std::vector<StepId> first_;  ///< by step of the original: its first one
};

}  // namespace

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
                     std::span<const double> arrivals, Notifications notifications) {
  EngineModel engine;
  std::vector<Schedule> requests;
  engine.machine = machine;
  engine.overlaps = model == PriceModel::overlapped;
  engine.two_ports = !schedules.empty() && has_two_ports(schedules.front().collective);
  if (model == PriceModel::logp) engine.machine.per_byte = 0;
  if (model == PriceModel::logp || model == PriceModel::loggp) {
    engine.service = EngineModel::Service::eager;
    if (notifications == Notifications::windows) {
      for (const Schedule& schedule : schedules) {
        requests.push_back(RequestsInWindows().of(schedule));
      }
      schedules = requests;
    }
  }
  double last = arrivals.empty() ? 0 : *std::ranges::max_element(arrivals);
  const auto error = execute(schedules, engine, arrivals,
                             {.done = [&](Rank, double now) { last = std::max(last, now); }});
  return error ? Result<double>(*error) : last;
}

}  // namespace tutti
