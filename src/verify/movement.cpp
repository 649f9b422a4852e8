/// Checks collectives that only move blocks: each rank's bytes, from the start and by receives.
#include <algorithm>
#include <limits>

#include "core/index.hpp"
#include "verify/verify.hpp"

namespace tutti {

namespace {

constexpr StepId after_all = std::numeric_limits<StepId>::max();

}  // namespace

/// Collects the bytes that a rank holds from the start or receives, ascending.
void Verifier::collect_holdings(const Schedule& schedule) {
  holdings_.clear();
  const BlockSeries brought = contract_.before(schedule.rank);
  for (Block i = 0; i < brought.count; ++i) {
    const Interval bytes = interval_of(brought[i]);
    if (bytes.begin < bytes.end) holdings_.push_back({bytes, -1});
  }
  for (StepId step = 0; step < graph_.steps(schedule.rank); ++step) {
    const StepKind kind = schedule.steps[index(step)].kind;
    if (kind != StepKind::recv && kind != StepKind::await) continue;
    for (const Interval& part : parts(graph_.node(schedule.rank, step))) {
      holdings_.push_back({part, step});
    }
  }
  std::sort(holdings_.begin(), holdings_.end(), [](const Holding& a, const Holding& b) {
    return std::pair(a.bytes.begin, a.step) < std::pair(b.bytes.begin, b.step);
  });
}

std::optional<Fault> Verifier::check_rank(const Schedule& schedule) const {
  for (std::size_t i = 1; i < holdings_.size(); ++i) {
    const Holding& before = holdings_[i - 1];
    const Holding& after = holdings_[i];
    if (after.bytes.begin >= before.bytes.end) continue;
    const StepId first = std::min(before.step, after.step);
    return fault(schedule.rank, std::max(before.step, after.step), block_at(after.bytes.begin),
                 first < 0 ? "receives what the rank holds from the start"
                           : "receives what step " + std::to_string(first) + " has received");
  }
  for (StepId step = 0; step < graph_.steps(schedule.rank); ++step) {
    if (auto found = check_read(schedule, step)) return found;
  }
  return std::nullopt;
}

std::optional<Fault> Verifier::check_read(const Schedule& schedule, StepId step) const {
  const StepKind kind = schedule.steps[index(step)].kind;
  if (kind != StepKind::send && kind != StepKind::copy && kind != StepKind::put &&
      kind != StepKind::notify) {
    return std::nullopt;
  }
  for (const Interval& part : parts(graph_.node(schedule.rank, step))) {
    if (const auto byte = first_missing(part, step)) {
      return fault(schedule.rank, step, block_at(*byte),
                   "reads what the rank does not hold and no earlier step has received");
    }
    if (schedule.steps[index(step)].runner == Runner::caller) continue;
    if (is_one_sided(contract_.collective)) continue;  // windows hold their data from the start
    if (const auto byte = first_brought(part)) {
      return fault(schedule.rank, step, block_at(*byte),
                   "runs in the background, but reads what the rank brings when it arrives");
    }
  }
  return std::nullopt;
}

std::optional<Bytes> Verifier::first_missing(Interval wanted, StepId reader) const {
  auto at = std::partition_point(holdings_.begin(), holdings_.end(), [&](const Holding& holding) {
    return holding.bytes.end <= wanted.begin;
  });
  for (Bytes byte = wanted.begin; byte < wanted.end; byte = at++->bytes.end) {
    if (at == holdings_.end() || at->bytes.begin > byte || at->step > reader) return byte;
  }
  return std::nullopt;
}

std::optional<Bytes> Verifier::first_brought(Interval wanted) const {
  for (const Holding& holding : holdings_) {
    const Bytes begin = std::max(holding.bytes.begin, wanted.begin);
    if (holding.step < 0 && begin < std::min(holding.bytes.end, wanted.end)) return begin;
  }
  return std::nullopt;
}

std::optional<Fault> Verifier::check_wanted(Rank rank) const {
  const BlockSeries wanted = contract_.after(rank);
  for (Block i = 0; i < wanted.count; ++i) {
    const Block block = wanted[i];
    const auto missing = first_missing(interval_of(block), after_all);
    if (!missing) continue;
    return fault(rank, -1, block,
                 "byte " + std::to_string(*missing - interval_of(block).begin) +
                     " of the block never reaches the rank");
  }
  return std::nullopt;
}

}  // namespace tutti
