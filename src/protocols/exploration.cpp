/// Rounds, and medians of calls of similar size.
#include "protocols/exploration.hpp"

#include <algorithm>
#include <numeric>

#include "core/median.hpp"

namespace tutti {

namespace {

constexpr double min_gain = 1.1;
constexpr double max_loss = 2;
constexpr std::size_t min_calls = 2;

/// Adds to the outcome each candidate's time for the calls `alike`, given by their indices. False
/// if a candidate has too few of them.
bool weigh(std::span<const ExploredCall> calls, std::span<const std::size_t> alike,
           const Exploration& exploration, ExplorationOutcome& outcome) {
  std::array<std::vector<double>, Exploration::max_candidates> seconds;
  for (const std::size_t i : alike) {
    seconds[static_cast<std::size_t>(exploration.candidate_of(i))].push_back(calls[i].seconds);
  }
  for (std::size_t candidate = 0; candidate < seconds.size(); ++candidate) {
    if (exploration.candidates()[candidate] && seconds[candidate].size() < min_calls) return false;
  }
  for (std::size_t candidate = 0; candidate < seconds.size(); ++candidate) {
    if (!exploration.candidates()[candidate]) continue;
    outcome.seconds[candidate] +=
        static_cast<double>(alike.size()) * lower_median(seconds[candidate]);
  }
  return true;
}

/// True if `candidate` is faster than candidate 0 in each round, so that chance in one round does
/// not decide. Also true if the calls' sizes differ too much to compare rounds.
bool wins_each_round(std::span<const ExploredCall> calls, const Exploration& exploration,
                     std::size_t candidate) {
  std::array<std::vector<double>, Exploration::max_candidates> seconds;
  Bytes min_bytes = calls.front().bytes;
  Bytes max_bytes = min_bytes;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    seconds[static_cast<std::size_t>(exploration.candidate_of(i))].push_back(calls[i].seconds);
    min_bytes = std::min(min_bytes, calls[i].bytes);
    max_bytes = std::max(max_bytes, calls[i].bytes);
  }
  if (max_bytes > 2 * min_bytes) return true;
  constexpr std::size_t round = Exploration::calls_per_round;
  const std::size_t common = std::min(seconds[0].size(), seconds[candidate].size());
  for (std::size_t i = 0; i + round <= common; i += round) {
    const auto median = [&](const std::vector<double>& all) {
      return lower_median({all.begin() + static_cast<std::ptrdiff_t>(i),
                           all.begin() + static_cast<std::ptrdiff_t>(i + round)});
    };
    if (median(seconds[candidate]) >= median(seconds[0])) return false;
  }
  return true;
}

/// The fastest remaining candidate; of equal ones the first.
std::size_t fastest_of(const ExplorationOutcome& outcome,
                       const Exploration::Candidates& candidates) {
  std::size_t best = 0;
  while (!candidates[best]) ++best;
  for (std::size_t candidate = best; candidate < candidates.size(); ++candidate) {
    if (candidates[candidate] && outcome.seconds[candidate] < outcome.seconds[best])
      best = candidate;
  }
  return best;
}

}  // namespace

Exploration::Exploration(int candidates, bool are_new) {
  std::fill_n(candidates_.begin(), candidates, true);
  for (int candidate = 1; candidate < candidates && are_new; ++candidate)
    sequence_.push_back(candidate);
  uncounted_ = sequence_.size();
  add_round();
}

void Exploration::add_round() {
  for (int candidate = 0; candidate < max_candidates; ++candidate) {
    if (candidates_[static_cast<std::size_t>(candidate)]) {
      sequence_.insert(sequence_.end(), calls_per_round, candidate);
    }
  }
}

void Exploration::leave_out(const Candidates& slow) {
  is_judged_ = true;
  for (std::size_t candidate = 1; candidate < candidates_.size(); ++candidate)
    candidates_[candidate] = candidates_[candidate] && !slow[candidate];
  if (std::count(candidates_.begin(), candidates_.end(), true) > 1) add_round();
}

int Exploration::begin() {
  if (begun_ >= uncounted_) calls_.emplace_back();
  return sequence_[begun_++];
}

void Exploration::end(const ExploredCall& call) {
  if (!calls_.empty()) calls_.back() = call;
}

bool SamplingWindows::begin_call() {
  ++calls_;
  if (calls_ == next_) left_ = max_calls;
  if (left_ == 0) return false;
  if (--left_ == 0) end_window();
  return true;
}

void SamplingWindows::end_window() {
  left_ = 0;
  next_ = calls_ + std::max<std::uint64_t>(calls_between, calls_ / calls_for_each_before);
}

std::vector<ExploredCall> calls_of_all(std::span<const ExploredCall> by_rank, int ranks) {
  const std::size_t count = by_rank.size() / static_cast<std::size_t>(ranks);
  std::vector<ExploredCall> all(count);
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    ExploredCall& call = all[i % count];
    call.seconds = std::max(call.seconds, by_rank[i].seconds);
    call.bytes += by_rank[i].bytes;
  }
  return all;
}

ExplorationOutcome outcome_of(std::span<const ExploredCall> calls, const Exploration& exploration) {
  ExplorationOutcome outcome;
  std::vector<std::size_t> by_bytes(calls.size());
  std::iota(by_bytes.begin(), by_bytes.end(), std::size_t{0});
  const auto bytes = [&](std::size_t i) { return calls[i].bytes; };
  std::stable_sort(by_bytes.begin(), by_bytes.end(),
                   [&](std::size_t a, std::size_t b) { return bytes(a) < bytes(b); });
  bool are_all_weighed = true;
  for (auto first = by_bytes.begin(); first != by_bytes.end();) {
    const auto last = std::find_if(first, by_bytes.end(),
                                   [&](std::size_t i) { return bytes(i) > 2 * bytes(*first); });
    are_all_weighed = weigh(calls, {first, last}, exploration, outcome) && are_all_weighed;
    first = last;
  }
  const std::size_t best = fastest_of(outcome, exploration.candidates());
  const double min_seconds = outcome.seconds[best];
  if (min_seconds * min_gain < outcome.seconds[0] && wins_each_round(calls, exploration, best)) {
    outcome.candidate = static_cast<int>(best);
  }
  for (std::size_t candidate = 0; candidate < outcome.seconds.size(); ++candidate) {
    outcome.is_slow[candidate] =
        are_all_weighed && outcome.seconds[candidate] > max_loss * min_seconds;
  }
  return outcome;
}

}  // namespace tutti
