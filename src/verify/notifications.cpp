/// Checks that blocks have arrived before their notification; puts and notifications are unordered.
#include <algorithm>

#include "core/index.hpp"
#include "verify/verify.hpp"

namespace tutti {

namespace {

/// By step of one rank, the earlier steps of the rank that it needs.
std::vector<std::vector<StepId>> needs_of(const StepGraph& graph, const Schedule& schedule) {
  const StepId steps = graph.steps(schedule.rank);
  std::vector<std::vector<StepId>> needs(index(steps));
  StepId last_wait = -1;
  for (StepId step = 0; step < steps; ++step) {
    if (last_wait >= 0) needs[index(step)].push_back(last_wait);
    graph.for_each_reader(graph.node(schedule.rank, step), [&](StepGraph::Node reader) {
      needs[index(graph.step_of(reader))].push_back(step);
    });
    const Step& at = schedule.steps[index(step)];
    if (at.kind != StepKind::wait) continue;
    for (StepId named = at.first; named < std::min(at.last, step); ++named) {
      needs[index(step)].push_back(named);
    }
    last_wait = step;
  }
  return needs;
}

/// The steps that have completed, at any timing, before `step` starts.
std::vector<bool> done_before(StepId step, const std::vector<std::vector<StepId>>& needs) {
  std::vector<bool> done(needs.size(), false);
  std::vector<StepId> pending = {step};
  while (!pending.empty()) {
    const StepId at = pending.back();
    pending.pop_back();
    for (const StepId need : needs[index(at)]) {
      if (done[index(need)]) continue;
      done[index(need)] = true;
      pending.push_back(need);
    }
  }
  return done;
}

/// True if the rank may act: it is the root, or has received a notification.
bool is_notified(const Schedule& schedule, StepId step, const std::vector<bool>& is_done) {
  if (schedule.rank == schedule.root) return true;
  const auto first = std::find_if(schedule.steps.begin(), schedule.steps.end(),
                                  [](const Step& at) { return at.kind == StepKind::await; });
  const auto id = static_cast<StepId>(first - schedule.steps.begin());
  return id < step && is_done[index(id)];
}

}  // namespace

/// A flush needs the puts before it. So a put has arrived before a notification if a flush of the
/// same peer needs it and is done before the notification.
std::optional<Fault> Verifier::check_notifications(const Schedule& schedule) const {
  const auto notifies = [](const Step& step) { return step.kind == StepKind::notify; };
  if (std::none_of(schedule.steps.begin(), schedule.steps.end(), notifies)) return std::nullopt;
  const auto needs = needs_of(graph_, schedule);
  for (StepId step = 0; step < graph_.steps(schedule.rank); ++step) {
    if (!notifies(schedule.steps[index(step)])) continue;
    if (auto found = check_notified(schedule, step, done_before(step, needs))) return found;
  }
  return std::nullopt;
}

std::optional<Fault> Verifier::check_notified(const Schedule& schedule, StepId notify,
                                              const std::vector<bool>& is_done) const {
  const Step& notification = schedule.steps[index(notify)];
  if (!is_notified(schedule, notify, is_done)) {
    return fault(schedule.rank, notify, no_rank,
                 "may run before its rank has been notified of the operation");
  }
  const auto reaches = [&](const Step& step) { return step.peer == notification.peer; };
  StepId flushed = 0;  // puts before it have arrived
  for (StepId step = 0; step < notify; ++step) {
    const Step& at = schedule.steps[index(step)];
    if (at.kind == StepKind::flush && reaches(at) && is_done[index(step)]) flushed = step;
  }
  if (notification.blocks.range.empty() && notification.peer == schedule.root) {
    for (StepId step = 0; step < notify; ++step) {
      if (schedule.steps[index(step)].kind != StepKind::await || is_done[index(step)]) continue;
      return fault(schedule.rank, notify, no_rank,
                   "reports its rank done before step " + std::to_string(step));
    }
  }
  std::vector<Interval> there;
  for (StepId step = 0; step < notify; ++step) {
    const Step& at = schedule.steps[index(step)];
    if (at.kind != StepKind::put || !reaches(at)) continue;
    if (step < flushed) {
      for (const Interval& part : parts(graph_.node(schedule.rank, step))) there.push_back(part);
    } else if (at.bytes == 0) {
      return fault(schedule.rank, notify, no_rank,
                   "may overtake the description put in step " + std::to_string(step) +
                       ": no flush that it needs comes between them");
    }
  }
  if (notification.carries) return std::nullopt;
  std::sort(there.begin(), there.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (const Interval& part : parts(graph_.node(schedule.rank, notify))) {
    Bytes byte = part.begin;
    for (const Interval& put : there) {
      if (put.begin <= byte) byte = std::max(byte, put.end);
    }
    if (byte >= part.end) continue;
    return fault(
        schedule.rank, notify, block_at(byte),
        "notifies rank " + std::to_string(notification.peer) +
            " of bytes that may not have arrived: no step that it needs has flushed a put of them");
  }
  return std::nullopt;
}

}  // namespace tutti
