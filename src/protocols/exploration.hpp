/// Times candidates in rounds on the program's own calls, to select the fastest.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// One call of an exploration, at one rank or at all ranks.
struct ExploredCall {
  double seconds = 0;  ///< of all ranks: until the last one exits
  Bytes bytes = 0;     ///< the bytes it moves; only calls of similar size are compared
};

/// Explores 2 or more candidates; candidate 0 is the default. In a round each candidate runs 3
/// calls in succession. The caller then leaves out those that took more than twice as long as the
/// fastest one; if at least 2 remain they have a second round. With `are_new`, each candidate but
/// candidate 0 first runs one uncounted call, in which it sets itself up.
class Exploration {
 public:
  static constexpr int max_candidates = 5;
  static constexpr int calls_per_round = 3;
  using Candidates = std::array<bool, max_candidates>;

  explicit Exploration(int candidates, bool are_new = true);

  /// True after the first round: leave_out() must come before the next begin().
  [[nodiscard]] bool is_round_over() const { return !is_judged_ && begun_ == sequence_.size(); }
  /// Continues without the `slow` candidates. Candidate 0 always stays, for comparison.
  void leave_out(const Candidates& slow);
  [[nodiscard]] bool is_over() const { return is_judged_ && begun_ == sequence_.size(); }
  /// The candidate of the call that begins now. Neither is_round_over() nor is_over().
  int begin();
  /// Records the time of that call at this rank, and the bytes it moved.
  void end(const ExploredCall& call);
  /// The calls that count, in sequence.
  [[nodiscard]] const std::vector<ExploredCall>& calls() const { return calls_; }
  /// The candidate of counted call `i`.
  [[nodiscard]] int candidate_of(std::size_t i) const { return sequence_[uncounted_ + i]; }
  /// The candidates that have not been left out.
  [[nodiscard]] const Candidates& candidates() const { return candidates_; }

 private:
  void add_round();

  Candidates candidates_ = {};
  std::vector<int> sequence_;  ///< the candidate of each call of the rounds added so far
  std::size_t uncounted_ = 0;
  std::size_t begun_ = 0;
  bool is_judged_ = false;
  std::vector<ExploredCall> calls_;
};

/// The calls of one collective in which explorations may begin or continue. A rank with invalid
/// arguments does not know the exploration of a call, so ranks exchange it, but only in windows.
/// Windows depend on the number of calls alone: they are alike on all ranks.
class SamplingWindows {
 public:
  /// Calls between windows: at least this number, or the calls so far / `calls_for_each_before`.
  static constexpr int calls_between = 128;
  static constexpr int calls_for_each_before = 8;
  static constexpr int max_calls = 256;  ///< in a window

  /// Counts a call. True if it is in a window; the first call is.
  bool begin_call();
  /// The number of calls before the next window; 0 in a window.
  [[nodiscard]] std::uint64_t calls_to_next() const { return left_ > 0 ? 0 : next_ - calls_ - 1; }
  /// Counts `calls` calls before the next window at once.
  void pass(std::uint64_t calls) { calls_ += calls; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// True if the call that has begun is the last one of its window.
  [[nodiscard]] bool is_last() const { return left_ == 0; }
  /// Makes the call that has begun the last one of its window.
  void end_window();

 private:
  std::uint64_t calls_ = 0;
  std::uint64_t next_ = 1;  ///< the first call of the next window
  int left_ = 0;            ///< further calls of this window
};

/// Merges the calls of all ranks, given rank by rank: the longest time and the sum of the bytes.
[[nodiscard]] std::vector<ExploredCall> calls_of_all(std::span<const ExploredCall> by_rank,
                                                     int ranks);

/// The result of an exploration.
struct ExplorationOutcome {
  int candidate = 0;  ///< the selected one
  /// By candidate: seconds for the same calls.
  std::array<double, Exploration::max_candidates> seconds = {};
  /// Took more than twice the shortest time; false for all if some calls were not compared.
  Exploration::Candidates is_slow = {};
};

/// Evaluates the exploration's `calls`, merged over all ranks. Selects the fastest remaining
/// candidate if candidate 0 takes more than 1.1 times as long and, where all calls are of similar
/// size (within a factor of 2), is slower in each round. Otherwise selects candidate 0. Calls of
/// similar size form a group, in which each candidate has the median of its calls (the lower of the
/// middle two) times the group's number of calls. A group in which a candidate has fewer than 2
/// calls does not count.
[[nodiscard]] ExplorationOutcome outcome_of(std::span<const ExploredCall> calls,
                                            const Exploration& exploration);

}  // namespace tutti
