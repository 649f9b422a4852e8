/// What is known of the candidates for calls of one collective and size class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "select/call_samples.hpp"

namespace tutti {

/// What became of a candidate.
enum class CandidateState : std::uint8_t {
  selected,
  unexplored,   ///< no call ran it
  unable,       ///< it cannot run on some rank
  slower,       ///< its median is not below that of the selected one
  dropped,      ///< its earlier calls showed no gain
  few_calls,    ///< too few calls were measured to select it
  small_gain,   ///< its gain is below 3 %
  unconfirmed,  ///< the rank test does not support its gain twice
  unfair,       ///< some rank would pay for its gain
  uneven,       ///< some of its calls take much longer
};
/// In a word or two, such as "slower".
[[nodiscard]] std::string_view name_of(CandidateState state);
/// Why a candidate of that state is not selected, such as "its gain is below 3 %".
[[nodiscard]] std::string_view explanation_of(CandidateState state);

/// What was measured of a candidate.
struct CandidateEvidence {
  CandidateState state = CandidateState::unexplored;
  int calls = 0;           ///< whose times count; those of the former race if this one has too few
  Nanoseconds median = 0;  ///< if there are any
  std::optional<MedianInterval> interval;
};

/// A measurement by which a case has selected a candidate, in this run or in an earlier one.
struct TuningEvidence {
  int candidate = 0;
  Nanoseconds native = 0;  ///< median time of the MPI's own
  Nanoseconds choice = 0;  ///< median time of the candidate
  int calls = 0;           ///< of the candidate
  std::string date;        ///< of the earlier run; empty: measured in this run
  std::optional<MedianInterval> native_interval = {};
  std::optional<MedianInterval> choice_interval = {};
};

/// Which candidate calls explore, and in how many of them at most.
struct Exploration {
  int candidate = -1;  ///< -1: none
  int calls = 0;
  Nanoseconds loss = 0;  ///< expected, of all these calls
  bool is_paid = true;   ///< the allowance holds it
  bool is_new = false;   ///< the candidate was never measured

  /// May it lose what nobody expects, or what is not paid?
  [[nodiscard]] bool may_overdraw() const { return is_new || !is_paid; }
};

/// What calls may lose.
struct Allowance {
  Nanoseconds of_new = 0;  ///< that explore what was never measured
  Nanoseconds of_known = 0;
  bool may_compare = true;  ///< what is selected with the MPI's own
  /// Of candidates only those measured to be no slower explore, in one call of a window.
  bool is_used_up = false;
};

/// Compares candidates, of which 0 is the MPI's own, by the times of calls that all ranks agree on.
///
/// The candidate that was measured to be fastest is explored next if it is faster than the selected
/// one, else one that was never measured, in the sequence of their numbers, else the fastest of the
/// others. It is selected where medians and rank tests show a gain twice, over the selected one and
/// over the MPI's own: in calls that found it, and in others that are measured for this comparison
/// only. No rank may pay for the gain of others, and the mean without outliers must be lower too.
/// With no candidate left, and 16 calls of the selected one, the case is settled, until calls take
/// another time or 8 times as many have passed. docs/selection.md has all rules and numbers.
///
/// Calls of one case may differ in size in irregular collectives. There medians and tests compare
/// times in units of what the MPI's own takes for calls of that size, and the means count the time
/// that a call saves (see NativeOfSizes).
class TuningCase {
 public:
  /// Only with the MPI's own.
  TuningCase() : candidates_(1) {}
  /// From now on there are so many candidates, at least 1; those that there were keep their
  /// numbers.
  void set_candidates(int count) {
    candidates_.resize(static_cast<std::size_t>(count));
    has_candidates_ = true;
  }
  [[nodiscard]] bool has_candidates() const { return has_candidates_; }
  /// There may be further candidates: the race goes on once they are set.
  void list_again() { has_candidates_ = is_settled_ = is_kept_ = awaits_budget_ = false; }
  [[nodiscard]] int candidates() const { return static_cast<int>(candidates_.size()); }

  /// Begins with the selection of an earlier run, as if the case had settled on it now. Call it
  /// before any other function.
  void start_from(const TuningEvidence& kept);
  /// The latest measurement that supports the selection; none if there is none, or if the MPI's own
  /// has become faster since.
  [[nodiscard]] const std::optional<TuningEvidence>& evidence() const { return evidence_; }
  [[nodiscard]] int selected() const { return selected_; }
  [[nodiscard]] const Exploration& exploration() const { return exploration_; }
  [[nodiscard]] bool is_settled() const { return is_settled_; }
  /// What a call of the MPI's own takes beyond one of the selected candidate.
  [[nodiscard]] Nanoseconds comparison() const {
    return std::max<Nanoseconds>(0, native_median_ - median_of(selected_));
  }
  /// Does a race wait for calls of the MPI's own or of the selected candidate?
  [[nodiscard]] bool needs_calls() const;
  /// Adds a call that ran `candidate`. `size`: the class of its bytes, if calls of the case may
  /// differ in it; the first calls of the MPI's own of each size only show what it takes. Returns
  /// what an explored call lost; 0 for all others. O(1).
  CallLoss add(int candidate, const SampledTimes& times, std::optional<SizeClass> size = {});
  /// Drops and selects by the calls added since the last time; `calls` are those of the collective
  /// so far.
  void conclude(std::uint64_t calls);
  /// Plans the next exploration. Its expected loss is at most that of the allowance, or it is 1
  /// call, which is not paid. Returns false where none is needed or the allowance is used up:
  /// then only a settled candidate is compared with the MPI's own, in a few calls.
  bool plan(const Allowance& allowance, std::uint64_t calls);
  /// Begins a new race of all candidates, with the selected one in force. Of what is planned one
  /// call remains, about which nothing is known any more.
  void reopen() {
    reopen(selected_);
    if (exploration_.candidate > 0) exploration_ = {exploration_.candidate, 1, 0, true, true};
  }
  /// Does it still keep the selection of an earlier run?
  [[nodiscard]] bool is_kept() const { return is_kept_; }
  /// Times are taken otherwise from now on: begins a new race, unless the selection of an earlier
  /// run is kept.
  void measure_anew();
  /// No call explores until the next plan().
  void rest() { exploration_ = {}; }
  /// Until the next resume(), plan() passes over the candidate: it needs what cannot be paid yet.
  void defer(int candidate) { at(candidate).is_deferred = true; }
  /// The same, and the case may settle without the candidate.
  void ignore(int candidate) { at(candidate).is_ignored = true; }
  /// Is there a candidate that could still be explored, were it not deferred?
  [[nodiscard]] bool has_deferred() const;
  /// Did the last plan() find nothing to explore but what the budget does not hold yet?
  [[nodiscard]] bool awaits_budget() const { return awaits_budget_; }
  void resume() {
    for (State& state : candidates_) state.is_deferred = state.is_ignored = false;
  }
  /// The candidate cannot run on some rank.
  void exclude(int candidate);
  /// Has any call run the candidate?
  [[nodiscard]] bool is_tried(int candidate) const { return at(candidate).calls > 0; }
  /// What was measured, by candidate.
  [[nodiscard]] std::vector<CandidateEvidence> measurements() const;
  /// What explored calls lost so far, without what others gained, and how many calls explored.
  [[nodiscard]] Nanoseconds lost() const { return lost_; }
  [[nodiscard]] int explored() const { return explored_; }
  /// Why the selected candidate is selected; changes only where a decision does.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  static constexpr int min_calls = 4;  ///< of a candidate before its median says anything
  /// Noise hides small gains from fewer calls.
  static constexpr int max_calls = 32;      ///< in a race, of each candidate
  static constexpr double min_gain = 1.03;  ///< of a selected candidate
  static constexpr std::uint64_t min_calls_settled = 4096;

  struct State {
    CallSamples samples{max_calls};
    CallSamples means{max_calls};
    CallSamples maxima{max_calls};
    CallSamples absolute{max_calls};  ///< `samples` in time, not in units of their sizes
    RecentMean weights{1024};
    CallSamples former;      ///< of the race before, for the report
    Nanoseconds set_up = 0;  ///< the time of a first call that does not count
    int calls = 0;           ///< with those that do not count
    int fresh = 0;           ///< times added since the race or the latest challenge began
    bool is_dropped = false;
    bool is_excluded = false;
    bool is_deferred = false;
    bool is_ignored = false;
    [[nodiscard]] CallSamples fresh_samples() const { return samples.latest(fresh); }
    [[nodiscard]] bool is_out() const {
      return is_dropped || is_excluded || is_deferred || is_ignored;
    }
    /// Why it was not selected although it was measured to be faster.
    std::optional<CandidateState> rejected;
  };
  [[nodiscard]] const State& at(int candidate) const { return candidates_[index(candidate)]; }
  [[nodiscard]] State& at(int candidate) { return candidates_[index(candidate)]; }
  void add_sample(int candidate, const SizedTimes& times);
  [[nodiscard]] CallLoss loss_of(Nanoseconds time, Nanoseconds native) const;
  [[nodiscard]] Nanoseconds median_of(int candidate) const;
  [[nodiscard]] int next_candidate() const;
  /// The candidate whose gain is being confirmed and may run; 0: none.
  [[nodiscard]] int challenger() const { return at(challenger_).is_out() ? 0 : challenger_; }
  [[nodiscard]] static bool are_shorter(const CallSamples& samples, const CallSamples& others);
  [[nodiscard]] bool is_unfair(int candidate, int other) const;
  [[nodiscard]] bool is_representative(int candidate) const;
  [[nodiscard]] bool is_uneven(int candidate) const;
  [[nodiscard]] bool selected_takes_longer() const;
  [[nodiscard]] bool selected_rarely_takes(Nanoseconds time) const;
  void drop_slow();
  void reject_selected();
  void select_fastest();
  void select(int candidate);
  void challenge(int candidate);
  [[nodiscard]] bool has_drifted() const;
  void reopen(int selected);
  void settle(std::uint64_t calls);
  void note_evidence();
  void state_reason();
  [[nodiscard]] static const CallSamples& known(const State& state);
  [[nodiscard]] CandidateState state_of(int candidate) const;

  std::vector<State> candidates_;
  bool has_candidates_ = false;
  int selected_ = 0;
  int challenger_ = 0;  ///< found to be faster than the selected one, not confirmed yet; 0: none
  bool is_settled_ = false;
  bool is_kept_ = false;  ///< the selection of an earlier run, never doubted since
  bool awaits_budget_ = false;
  Exploration exploration_;
  Nanoseconds native_median_ = 0;  ///< the latest known
  NativeOfSizes native_of_sizes_;
  RecentMean weights_{1024};  ///< of all calls: many, so that a window does not decide
  /// Of the latest windows that explored the MPI's own beside the selected candidate.
  CallSamples native_beside_;
  CallSamples selected_beside_;
  int windows_without_native_ = 0;  ///< in the race with a selected candidate
  RecentMean native_squares_{64};   ///< of its deviations from its median, over all races
  /// What calls of the MPI's own take in units of that median. One call says little.
  RecentMean native_excess_{64, 1, 16};
  /// Of the selected candidate when the case was settled; 0: its next times are usual.
  Nanoseconds settled_median_ = 0;
  CallSamples latest_;  ///< of the selected candidate, not evaluated yet
  std::uint64_t reopens_at_ = 0;
  Nanoseconds lost_ = 0;
  int explored_ = 0;
  std::optional<TuningEvidence> evidence_;
  std::string reason_ = "exploring";
};

}  // namespace tutti
