/// Learning in the run which candidate is fastest, at a bounded price.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "select/agreement_time.hpp"
#include "select/exploration_budget.hpp"
#include "select/tuning_case.hpp"

namespace tutti {

/// The budget if the user sets none: 1 % of the time in the collective.
inline constexpr double default_exploration = 0.01;

/// How ranks know the time of a call after its last arrival.
enum class Criterion : std::uint8_t {
  shortest,   ///< every rank waits for all: the shortest elapsed time over the ranks
  last_exit,  ///< a rank may wait for nobody: from the last arrival to the last exit on a common
              ///< clock; without one the mean of the longest and the mean elapsed time
};

/// One rank's time of a call.
struct RankTime {
  Nanoseconds elapsed = 0;
  std::optional<Nanoseconds> exit = {};  ///< on the common clock, if there is one
};

/// All that a tuner asks of the ranks of its communicator: to combine what each of them noted, and
/// to create and learn together what candidates need. Answers are alike on all ranks. An error is
/// an MPI error code, 0 if there is none.
class Agreement {
 public:
  virtual ~Agreement() = default;
  /// Begins to combine this rank's notes with those of all ranks. Does not wait for them.
  /// Collective. Returns an error.
  virtual int begin(std::vector<MaxAndSum> notes) = 0;
  /// May a rank wait for the others where an agreement begins?
  [[nodiscard]] virtual bool may_wait() const { return true; }
  /// Waits until what has begun could end at once. Collective. Returns an error.
  virtual int wait() { return 0; }
  /// Sets `combined` to the result, note by note. Collective. Returns an error.
  virtual int end(std::vector<MaxAndSum>& combined) = 0;
  /// How many candidates calls of a class have, the MPI's own included. Asked again only after
  /// learn() found more: those that there were keep their numbers.
  virtual int candidates(SizeClass size_class) = 0;
  /// What candidates() is expected to take, in nanoseconds.
  virtual double cost_of_listing(SizeClass size_class) = 0;
  /// Is what the candidate follows, such as arrivals, known by now? Where that changes, reopen()
  /// the tuner.
  virtual bool is_informed(SizeClass, int /*candidate*/) { return true; }
  /// Does prepare() have anything to create?
  virtual bool needs_creation(SizeClass size_class, int candidate) = 0;
  /// Creates what a candidate needs; sets `ready` to whether all ranks could. Collective. Returns
  /// an error.
  virtual int prepare(SizeClass size_class, int candidate, bool& ready) = 0;
  /// What synchronise() is expected to take, in nanoseconds; none: the ranks have a common clock,
  /// or cannot have one.
  virtual std::optional<double> cost_of_clock() { return {}; }
  /// From now on calls are noted on a common clock. Collective. Returns an error.
  virtual int synchronise() { return 0; }
  /// What learn() is expected to take, in nanoseconds; 0: there is nothing to learn.
  virtual double cost_of_learning(double /*max_cost*/) { return 0; }
  /// Learns of what further candidates need, such as distances, as much as takes `max_cost`
  /// nanoseconds, or the least that can be learned at once. Sets `has_more` if there may be such
  /// candidates now. Collective. Returns an error.
  virtual int learn(double /*max_cost*/, bool& /*has_more*/) { return 0; }
};

/// The tuner of one collective on one communicator.
///
/// Ranks select without communication: a call's candidate follows from its number, its size class
/// and what ranks have agreed on. Numbers are those of the collective and count every call, so that
/// a rank with invalid arguments, which does not know the class, stays in step. Calls in a window
/// of 8 are noted. After a window all ranks combine their notes in one agreement: a reduction that
/// begins before the first call that follows and ends 4 calls later, so that ranks hardly wait.
/// Some wait at once, to show what they take: see AgreementTime. Where requests end after later
/// ones have begun, it begins up to 64 calls later. Then they evaluate the notes alike and plan the
/// next window. Where nothing is left to explore, the budget pays for learning what further
/// candidates need. Where ranks may wait for nobody, it pays for a common clock first.
///
/// Loss is what explored calls take beyond the mean of the MPI's own by the criterion, plus what
/// agreements and inspecting noted calls take. A window begins once the loss and the next agreement
/// are at most `budget` times the time spent, as far as that is known. So loss exceeds the budget
/// by at most 1 call and 2 agreements, and 1 call more for a clock, as long as measured candidates,
/// agreements and creations take as long as before. docs/selection.md has all rules of price and
/// criterion, and a decision (docs/decisions/one-tuner.md) their reasons.
class Tuner {
 public:
  /// Calls of a window, and calls that may pass between the begin and the end of an agreement.
  static constexpr std::uint64_t window = 8;
  static constexpr std::uint64_t overlap = 4;
  /// The error of a clock that ranks do not have.
  static constexpr Nanoseconds without_clock = Nanoseconds{1} << 56;
  /// The reason of calls that are explored, and of all calls before anything is known.
  static constexpr std::string_view exploring = "exploring";

  /// `p`: ranks; `budget`: a fraction of time, above 0; `sizes_vary`: calls of a class may differ
  /// in the bytes that ranks note.
  Tuner(int p, Criterion criterion, double budget, bool sizes_vary = false)
      : p_(p), criterion_(criterion), sizes_vary_(sizes_vary), budget_(budget) {}

  /// Begins calls of a class with what an earlier run measured. All candidates are asked for before
  /// any explores. Call it on all ranks alike, before a call of the class is noted.
  void start_from(SizeClass size_class, const TuningEvidence& kept);
  /// What supports the selection for a class; see TuningCase::evidence.
  [[nodiscard]] std::optional<TuningEvidence> evidence(SizeClass size_class) const;

  /// Counts a call that begins. If it agrees(), agree() is to follow before it selects. Alike on
  /// all ranks.
  void begin_call() { call_ = begun_++; }
  /// Does the call that has begun begin or end an agreement?
  [[nodiscard]] bool agrees() const { return begins_agreement() || ends_agreement(); }
  [[nodiscard]] bool begins_agreement() const { return is_behind_window(lag_); }
  [[nodiscard]] bool ends_agreement() const { return is_behind_window(lag_ + overlap); }
  /// Begins to combine what this rank noted, or ends it, evaluates what all ranks have noted and
  /// plans the next window. `creation`: what creating a candidate is expected to take here;
  /// `clock_error`: that of the common clock, which does not measure times below 10 times the
  /// error. Collective as `ranks` is. Returns its error; after one no call explores any more.
  int agree(Agreement& ranks, Nanoseconds creation, Nanoseconds clock_error = without_clock);
  /// What candidates take has changed for a reason that all ranks know in the call that has begun,
  /// such as other ranks that are late: explores all of them anew, as soon as the budget permits.
  void reopen();
  /// From now on all calls run the MPI's own.
  void stop() { is_stopped_ = true; }
  /// Adds what agree() took at this rank. Where calls hide what a reduction takes, it counts as
  /// long as one that waited: see AgreementTime.
  void charge_agreement(Nanoseconds elapsed);
  /// Adds what inspecting a noted call took at this rank.
  void charge(Nanoseconds elapsed) { own_cost_ += elapsed; }

  /// The number of the call that has begun.
  [[nodiscard]] std::uint64_t call() const { return call_; }
  /// Is the call that has begun to be noted?
  [[nodiscard]] bool is_noted() const { return is_in_window(call_); }
  /// The candidate that a call of the class runs; the MPI's own for a class that is not compared.
  [[nodiscard]] int candidate_of(std::optional<SizeClass> size_class) const {
    return candidate_in(call_, size_class);
  }
  /// Does such a call run what is selected, and not what is explored?
  [[nodiscard]] bool is_selected(std::optional<SizeClass> size_class) const;
  /// Notes a call at this rank: its number, its class (none: not to be compared), the bytes of this
  /// rank's blocks and its time. A call that is not noted before the agreement begins counts for no
  /// class at any rank, and the next agreements begin later; after that the note has no effect.
  void note(std::uint64_t call, std::optional<SizeClass> size_class, Bytes bytes,
            const RankTime& time);

  /// Does every call now run the MPI's own, without being noted?
  [[nodiscard]] bool runs_native() const;
  /// Is the MPI's own selected for all classes?
  [[nodiscard]] bool selects_native() const { return is_stopped_ || selects_native_; }
  /// The calls after this one that begin before the next window or the end of an agreement: all run
  /// what is selected, and may be counted together by pass().
  [[nodiscard]] std::uint64_t calls_that_pass() const;
  void pass(std::uint64_t calls) { begun_ += calls; }
  /// The calls after this one that are to be noted, before any that is not. They may pass too, if
  /// note() follows.
  [[nodiscard]] std::uint64_t calls_to_note() const {
    return is_in_window(begun_) && !is_stopped_ ? window_begin_ + window - begun_ : 0;
  }
  /// Will call `later` of these, or else those that pass, run the MPI's own if they are of the
  /// class?
  [[nodiscard]] bool runs_native_later(std::uint64_t later,
                                       std::optional<SizeClass> size_class) const {
    return candidate_in(begun_ + later, size_class) == 0;
  }
  /// The number of the next call.
  [[nodiscard]] std::uint64_t begun() const { return begun_; }

  /// Why calls of a class run a candidate; "exploring" before anything is known.
  [[nodiscard]] std::string_view reason(SizeClass size_class, int candidate) const;
  /// The bytes of all ranks in a call of the last window, in the mean over the calls that all ranks
  /// noted; none if there is none.
  [[nodiscard]] std::optional<Bytes> bytes_per_call() const { return bytes_per_call_; }
  /// Time lost so far, without gains, and time spent in the collective, in nanoseconds.
  [[nodiscard]] double lost() const { return budget_.lost(); }
  [[nodiscard]] double spent() const { return budget_.spent(); }
  /// What is known of a class; null before any call of it was noted.
  [[nodiscard]] const TuningCase* known(SizeClass size_class) const {
    const auto found = cases_.find(size_class);
    return found == cases_.end() ? nullptr : &found->second;
  }

 private:
  /// One call of a window at this rank.
  struct Note {
    bool is_valid = false;
    SizeClass size_class = 0;
    Bytes bytes = 0;
    RankTime time;
  };

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static constexpr SizeClass not_compared = size_classes;
  static constexpr SizeClass not_noted = size_classes + 1;

  [[nodiscard]] bool is_in_window(std::uint64_t call) const {
    return call >= window_begin_ && call < window_begin_ + window;
  }
  /// Has the call that has begun so many others between the window and itself?
  [[nodiscard]] bool is_behind_window(std::uint64_t calls) const {
    return !is_stopped_ && call_ == window_begin_ + window + calls;
  }
  [[nodiscard]] std::vector<MaxAndSum> notes(Nanoseconds creation, Nanoseconds clock_error);
  int conclude(std::span<const MaxAndSum> combined, Agreement& ranks);
  bool follow_clock(Nanoseconds error);
  void measure_anew(std::span<WindowCall> calls);
  [[nodiscard]] bool may_synchronise(Agreement& ranks);
  int synchronise(Agreement& ranks);
  [[nodiscard]] bool explores(const TuningCase& known, std::uint64_t call) const;
  [[nodiscard]] int candidate_in(std::uint64_t call, std::optional<SizeClass> size_class) const;
  [[nodiscard]] const TuningCase* find(std::optional<SizeClass> size_class) const;
  [[nodiscard]] WindowCall agreed_call(std::span<const MaxAndSum> numbers) const;
  void count_time(std::span<WindowCall> calls);
  void add_samples(std::span<const WindowCall> calls);
  void pass_over(SizeClass size_class, Agreement& ranks);
  int plan(Agreement& ranks);
  [[nodiscard]] std::vector<SizeClass> seen_classes() const;
  void plan_case(SizeClass size_class, Agreement& ranks);
  int prepare(SizeClass size_class, Agreement& ranks);
  int learn(Agreement& ranks);
  [[nodiscard]] std::uint64_t idle_distance() const;
  void plan_window();
  void rest();
  void rest_unseen();

  int p_;
  Criterion criterion_;
  bool sizes_vary_;
  ExplorationBudget budget_;
  std::map<SizeClass, TuningCase> cases_;
  std::array<bool, size_classes> seen_{};  ///< in the last window
  std::uint64_t begun_ = 0;
  std::uint64_t call_ = 0;  ///< the number of the call that has begun
  std::uint64_t window_begin_ = 0;
  std::uint64_t last_end_ = 0;         ///< of the window before
  std::uint64_t reopened_at_ = never;  ///< in this window; its calls explore no more
  std::uint64_t lag_ = 0;              ///< calls between a window and its agreement
  std::array<Note, window> notes_{};
  AgreementTime agreement_time_;
  bool waits_ = false;                           ///< the latest agreement waited for its end
  Nanoseconds own_cost_ = 0;                     ///< as charged at this rank, not combined yet
  Nanoseconds resolution_ = without_clock;       ///< the shortest time that the clock measures
  Nanoseconds race_resolution_ = without_clock;  ///< when the races began
  double creation_ = 0;                          ///< what creating a candidate is expected to take
  std::optional<Bytes> bytes_per_call_;
  std::optional<SizeClass> unpaid_;  ///< the class whose next exploration is not paid
  SizeClass latest_unpaid_ = 0;
  bool has_synchronised_ = false;  ///< in the latest agreement
  bool uses_overdraft_ = false;    ///< the next window explores what is known
  bool is_exploring_ = true;
  bool selects_native_ = true;  ///< for all classes
  bool is_stopped_ = false;
};

}  // namespace tutti
