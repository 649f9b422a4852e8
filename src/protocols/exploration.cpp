/// Turns, and medians of calls that are alike.
#include "protocols/exploration.hpp"

#include <algorithm>
#include <numeric>

#include "core/median.hpp"

namespace tutti {

namespace {

constexpr double least_gain = 1.1;
constexpr double most_loss = 2;
constexpr std::size_t least_calls = 2;

/// Adds to the outcome what calls that are alike, given by their numbers, say of each way. Returns
/// whether they do.
bool weigh(std::span<const TrialCall> calls, std::span<const std::size_t> alike, const Trial& trial,
           TrialOutcome& outcome) {
  std::array<std::vector<double>, Trial::most_ways> of;
  for (const std::size_t i : alike) {
    of[static_cast<std::size_t>(trial.way_of(i))].push_back(calls[i].seconds);
  }
  for (std::size_t way = 0; way < of.size(); ++way) {
    if (trial.ways()[way] && of[way].size() < least_calls) return false;
  }
  for (std::size_t way = 0; way < of.size(); ++way) {
    if (!trial.ways()[way]) continue;
    outcome.seconds[way] += static_cast<double>(alike.size()) * lower_median(of[way]);
  }
  return true;
}

/// Is `way` faster than the usual one in each turn, and not by the luck of one? Yes where that
/// cannot be told, as calls are unlike.
bool wins_each_turn(std::span<const TrialCall> calls, const Trial& trial, std::size_t way) {
  std::array<std::vector<double>, Trial::most_ways> of;
  Bytes least = calls.front().bytes;
  Bytes most = least;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    of[static_cast<std::size_t>(trial.way_of(i))].push_back(calls[i].seconds);
    least = std::min(least, calls[i].bytes);
    most = std::max(most, calls[i].bytes);
  }
  if (most > 2 * least) return true;
  constexpr std::size_t turn = Trial::calls_of_turn;
  for (std::size_t i = 0; i + turn <= std::min(of[0].size(), of[way].size()); i += turn) {
    const auto median = [&](const std::vector<double>& all) {
      return lower_median({all.begin() + static_cast<std::ptrdiff_t>(i),
                           all.begin() + static_cast<std::ptrdiff_t>(i + turn)});
    };
    if (median(of[way]) >= median(of[0])) return false;
  }
  return true;
}

/// The least of the ways that are left; any of equal ones.
std::size_t fastest_of(const TrialOutcome& outcome, const Trial::Ways& ways) {
  std::size_t best = 0;
  while (!ways[best]) ++best;
  for (std::size_t way = best; way < ways.size(); ++way) {
    if (ways[way] && outcome.seconds[way] < outcome.seconds[best]) best = way;
  }
  return best;
}

}  // namespace

Trial::Trial(int ways, bool are_new) {
  std::fill_n(ways_.begin(), ways, true);
  for (int way = 1; way < ways && are_new; ++way) sequence_.push_back(way);
  uncounted_ = sequence_.size();
  add_turn();
}

void Trial::add_turn() {
  for (int way = 0; way < most_ways; ++way) {
    if (ways_[static_cast<std::size_t>(way)]) {
      sequence_.insert(sequence_.end(), calls_of_turn, way);
    }
  }
}

void Trial::leave_out(const Ways& slow) {
  is_judged_ = true;
  for (std::size_t way = 1; way < ways_.size(); ++way) ways_[way] = ways_[way] && !slow[way];
  if (std::count(ways_.begin(), ways_.end(), true) > 1) add_turn();
}

int Trial::begin() {
  if (begun_ >= uncounted_) calls_.emplace_back();
  return sequence_[begun_++];
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
  next_ = calls_ + std::max<std::uint64_t>(calls_between, calls_ / calls_for_each_before);
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

TrialOutcome outcome_of(std::span<const TrialCall> calls, const Trial& trial) {
  TrialOutcome outcome;
  std::vector<std::size_t> by_bytes(calls.size());
  std::iota(by_bytes.begin(), by_bytes.end(), std::size_t{0});
  const auto bytes = [&](std::size_t i) { return calls[i].bytes; };
  std::stable_sort(by_bytes.begin(), by_bytes.end(),
                   [&](std::size_t a, std::size_t b) { return bytes(a) < bytes(b); });
  bool are_all_weighed = true;
  for (auto first = by_bytes.begin(); first != by_bytes.end();) {
    const auto last = std::find_if(first, by_bytes.end(),
                                   [&](std::size_t i) { return bytes(i) > 2 * bytes(*first); });
    are_all_weighed = weigh(calls, {first, last}, trial, outcome) && are_all_weighed;
    first = last;
  }
  const std::size_t best = fastest_of(outcome, trial.ways());
  const double least = outcome.seconds[best];
  if (least * least_gain < outcome.seconds[0] && wins_each_turn(calls, trial, best)) {
    outcome.way = static_cast<int>(best);
  }
  for (std::size_t way = 0; way < outcome.seconds.size(); ++way) {
    outcome.is_slow[way] = are_all_weighed && outcome.seconds[way] > most_loss * least;
  }
  return outcome;
}

}  // namespace tutti
