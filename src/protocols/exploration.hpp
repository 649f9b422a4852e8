/// Candidates to run the same calls, tried in round on a program's own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// One call of a exploration, at one rank or of all of them.
struct ExploredCall {
  double seconds = 0;  ///< of all ranks: until the last one is done
  Bytes bytes = 0;     ///< what it moves, by which calls are compared with their like
};

/// Two candidates or more, of which candidate 0 is the usual one. Three calls of each candidate
/// follow one another; after such a round those are left out that took more than twice as long as
/// the fastest one, and the others have another round, if they are two or more. Where the
/// candidates are new each but candidate 0 runs once uncounted before, as what it needs is set up
/// then.
class Exploration {
 public:
  static constexpr int max_candidates = 5;
  static constexpr int calls_per_round = 3;
  using Candidates = std::array<bool, max_candidates>;

  explicit Exploration(int candidates, bool are_new = true);

  /// Is it time to leave candidates out? Nothing may begin before.
  [[nodiscard]] bool is_round_over() const { return !is_judged_ && begun_ == sequence_.size(); }
  /// Goes on without those, but with the usual candidate in any case, to which the others are held.
  void leave_out(const Candidates& slow);
  [[nodiscard]] bool is_over() const { return is_judged_ && begun_ == sequence_.size(); }
  /// The candidate of the call that begins now; not once a round or the exploration is over.
  int begin();
  /// What that call took at this rank.
  void end(const ExploredCall& call);
  /// Those that count, in their sequence.
  [[nodiscard]] const std::vector<ExploredCall>& calls() const { return calls_; }
  /// The candidate of counted call `i`.
  [[nodiscard]] int candidate_of(std::size_t i) const { return sequence_[uncounted_ + i]; }
  /// Those that have not been left out.
  [[nodiscard]] const Candidates& candidates() const { return candidates_; }

 private:
  void add_round();

  Candidates candidates_ = {};
  std::vector<int> sequence_;  ///< of all calls as far as it is known
  std::size_t uncounted_ = 0;
  std::size_t begun_ = 0;
  bool is_judged_ = false;
  std::vector<ExploredCall> calls_;
};

/// When explorations of one collective may begin and go on. Who has bad arguments does not know
/// which exploration a call belongs to, so ranks tell each other in a window, and nowhere else;
/// windows are the same on all ranks, as they go by the number of calls alone.
class SamplingWindows {
 public:
  static constexpr int calls_between = 128;        ///< at least
  static constexpr int calls_for_each_before = 8;  ///< one more for so many calls before
  static constexpr int max_calls = 256;

  /// Counts a call. Is it in a window? The first one is.
  bool begin_call();
  /// How many calls are outside windows before the next one begins; 0 in a window.
  [[nodiscard]] std::uint64_t calls_to_next() const { return left_ > 0 ? 0 : next_ - calls_ - 1; }
  /// Counts so many of these.
  void pass(std::uint64_t calls) { calls_ += calls; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// Is the call that has begun the last one of its window?
  [[nodiscard]] bool is_last() const { return left_ == 0; }
  /// Makes it so.
  void end_window();

 private:
  std::uint64_t calls_ = 0;
  std::uint64_t next_ = 1;  ///< the call that begins a window
  int left_ = 0;
};

/// The calls of a exploration from those of each rank, rank by rank: the longest times, and the
/// bytes of all ranks together.
[[nodiscard]] std::vector<ExploredCall> calls_of_all(std::span<const ExploredCall> by_rank,
                                                     int ranks);

/// What a exploration has shown.
struct ExplorationOutcome {
  int candidate = 0;  ///< to be taken from now on
  std::array<double, Exploration::max_candidates> seconds =
      {};  ///< for the same calls by each candidate
  Exploration::Candidates is_slow =
      {};  ///< took more than twice the least, where all calls were compared
};

/// The fastest candidate if it takes a tenth less than the usual one, and less in each round where
/// calls move alike; else the usual one; of those that were not left out. `calls` are the
/// exploration's, of all ranks. Calls that move alike (up to twice as much) are compared by the
/// median (the lower of two in the middle) of each candidate, and count by their number; calls of
/// which a candidate has not had two do not count.
[[nodiscard]] ExplorationOutcome outcome_of(std::span<const ExploredCall> calls,
                                            const Exploration& exploration);

}  // namespace tutti
