/// Turns, and medians of calls that are alike.
#include "knowledge/trial.hpp"

#include <algorithm>
#include <numeric>

#include "core/median.hpp"

namespace tutti {

namespace {

constexpr double least_gain = 1.1;
constexpr std::size_t least_calls = 2;

/// Adds to the outcome what calls that are alike, given by their numbers, say of each way.
void weigh(std::span<const TrialCall> calls, std::span<const int> alike, int ways,
           TrialOutcome& outcome) {
  std::array<std::vector<double>, Trial::most_ways> of;
  for (const int i : alike) {
    of[static_cast<std::size_t>(Trial::way_of(i, ways))].push_back(
        calls[static_cast<std::size_t>(i)].seconds);
  }
  const auto end = of.begin() + ways;
  const auto is_rare = [](const std::vector<double>& one) { return one.size() < least_calls; };
  if (std::any_of(of.begin(), end, is_rare)) return;
  for (std::size_t way = 0; way < static_cast<std::size_t>(ways); ++way) {
    outcome.seconds[way] += static_cast<double>(alike.size()) * lower_median(of[way]);
  }
}

}  // namespace

int Trial::begin() {
  const int call = begun_++;
  if (call < uncounted()) return call + 1;
  calls_.emplace_back();
  return way_of(call - uncounted(), ways_);
}

void Trial::end(const TrialCall& call) {
  if (!calls_.empty()) calls_.back() = call;
}

bool TrialWindows::begin_call() {
  ++calls_;
  if (calls_ == next_) left_ = most_calls;
  if (left_ == 0) return false;
  if (--left_ == 0) close();
  return true;
}

void TrialWindows::close() {
  left_ = 0;
  next_ = calls_ + calls_between;
}

std::vector<TrialCall> calls_of_all(std::span<const TrialCall> by_rank, int ranks) {
  const std::size_t count = by_rank.size() / static_cast<std::size_t>(ranks);
  std::vector<TrialCall> all(count);
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    TrialCall& call = all[i % count];
    call.seconds = std::max(call.seconds, by_rank[i].seconds);
    call.bytes += by_rank[i].bytes;
  }
  return all;
}

TrialOutcome outcome_of(std::span<const TrialCall> calls, int ways) {
  TrialOutcome outcome;
  std::vector<int> by_bytes(calls.size());
  std::iota(by_bytes.begin(), by_bytes.end(), 0);
  const auto bytes = [&](int i) { return calls[static_cast<std::size_t>(i)].bytes; };
  std::stable_sort(by_bytes.begin(), by_bytes.end(),
                   [&](int a, int b) { return bytes(a) < bytes(b); });
  for (auto first = by_bytes.begin(); first != by_bytes.end();) {
    const auto last =
        std::find_if(first, by_bytes.end(), [&](int i) { return bytes(i) > 2 * bytes(*first); });
    weigh(calls, {first, last}, ways, outcome);
    first = last;
  }
  const auto end = outcome.seconds.begin() + ways;
  const auto best = std::min_element(outcome.seconds.begin(), end);
  if (*best * least_gain < outcome.seconds[0]) {
    outcome.way = static_cast<int>(best - outcome.seconds.begin());
  }
  return outcome;
}

}  // namespace tutti
