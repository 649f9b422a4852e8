/// Selection by the program's own calls: what auto runs on a communicator.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/distance_learning.hpp"
#include "api/hierarchical_nodes.hpp"
#include "api/tuning_clock.hpp"
#include "run/clock.hpp"
#include "run/mpi/exchange.hpp"
#include "select/learned.hpp"
#include "select/passing_calls.hpp"
#include "select/selection.hpp"
#include "select/tuner.hpp"

namespace tutti {

/// The tuners of a communicator, one for each collective, set of permitted candidates and use of
/// arrivals, and what they run. Call numbers, windows and selections are equal on all ranks.
class TunedSelection : NotCopied {
  struct State;

 public:
  /// A call in a window, at this rank.
  struct NotedCall {
    std::shared_ptr<State> state;  ///< null: none
    std::uint64_t number = 0;      ///< the tuner's
    std::optional<SizeClass> size_class;
    Bytes bytes = 0;
    double inspected = 0;
    double began = 0;
    double ended = 0;
  };
  /// What the next calls of a collective are.
  struct NextCalls {
    bool all_native = false;    ///< the MPI's own is selected for calls of all sizes
    std::uint64_t to_note = 0;  ///< so many are to be noted, before any that is not
    std::uint64_t passing = 0;  ///< so many run what is selected, and can be counted together
  };

  /// Both must outlive this.
  TunedSelection(Communicator& communicator, HierarchicalNodes& nodes)
      : communicator_(communicator),
        nodes_(nodes),
        distances_(communicator, nodes),
        clock_(communicator, nodes) {}

  /// Takes over rules that earlier runs kept for this communicator, equal on all ranks. Local.
  void start_from(Rules kept) { kept_ = std::move(kept); }
  /// What this communicator knows now that earlier runs did not, where the user's settings
  /// restricted nothing. Local.
  [[nodiscard]] Rules learned() const;
  /// Begins a call whose decision is `deferred`. True if it runs the MPI's own whatever its
  /// arguments are, and nothing notes it. Else call resolve(). A new `profile` of the arrivals
  /// makes all candidates be compared anew.
  bool stays_native(const Decision& deferred, Collective collective, const Profile& profile);
  /// May the call that has begun be noted?
  [[nodiscard]] bool may_note(Collective collective) const {
    const std::shared_ptr<State>& state = latest_[collective];
    return state->tuner.is_noted() || state->tuner.ends_agreement();
  }
  [[nodiscard]] NextCalls next_calls(Collective collective) const;
  /// Will call `later` of these, or else those that can be counted together, run the MPI's own if
  /// they have this size?
  [[nodiscard]] bool runs_native_later(unsigned later, Collective collective,
                                       const CallSize& size) const;
  /// Counts calls that did without being resolved, and takes over the notes on them.
  void count_passed(Collective collective, const PassedCalls& passed);
  /// The text of a decision for the MPI's own.
  [[nodiscard]] const std::string& text_of(Collective collective, const CallSize& size);
  /// The selection of the call that has begun. Combines notes with the other ranks if a window is
  /// over, and prepares kept candidates at the first call; else O(1) without communication. A rank
  /// whose arguments are invalid takes its block to be that of its latest call seen here, or reads
  /// the selection from another rank of its node once nodes are open. It is wrong at most in this
  /// call: call numbers do not depend on arguments. Sets `error` to an MPI error code.
  const Decision& resolve(const Decision& deferred, Collective collective, const CallSize& size,
                          int& error);
  /// Hands over the note on the call resolved last, for end_call() once that call is over. Empty if
  /// the call is not noted.
  [[nodiscard]] NotedCall take_note() { return std::exchange(noted_, {}); }
  /// A call is over. If it failed, it is not compared.
  void end_call(NotedCall& noted, int error);
  /// A call is going to be inspected. Local.
  void begin_inspection() { inspected_ = monotonic_seconds(); }
  /// Charges what inspecting a call that is over has taken, without the call itself and agreements.
  static void charge_inspection(const NotedCall& noted);
  /// Ends agreements that have begun; no more begin. This object may be gone afterwards, if only
  /// they kept its communicator. Collective.
  void end_agreements();
  /// Nothing is learned any more, and clocks are not compared. Collective.
  void end_learning() {
    distances_.close();
    clock_.close();
  }
  /// An exchange of arrivals has ended. The next one numbers its profiles anew. Local.
  void forget_profiles() {
    for (const std::shared_ptr<State>& state : states_) state->newest_profile = 0;
  }
  /// Records for the report what was measured. O(candidates).
  void record_candidates() const;

 private:
  /// What calls of a size class may run.
  struct Candidates {
    /// The MPI's own first, then what an earlier run selected, if it did; the others are found once
    /// they are to be explored.
    std::vector<Setting> settings = {flat_native};
    bool are_kept = false;    ///< the class has begun with what an earlier run selected
    bool are_listed = false;  ///< the others were found
  };
  struct State {
    State(const Communicator& communicator, Collective of, const Decision& usual, bool arrivals)
        : tuner(communicator.p(), criterion_for(of), communicator.agreed().settings.explore,
                !is_block_common(of)),
          deferred(usual),
          collective(of),
          has_arrivals(arrivals) {}

    /// The class by which such a call is compared; none: it is not.
    [[nodiscard]] std::optional<SizeClass> class_of_call(const CallSize& size) const;
    /// Its number in the report, below 8 * size_classes.
    [[nodiscard]] int case_of(SizeClass size_class) const {
      const int kind = deferred.is_automatic + 2 * deferred.flat_only + 4 * has_arrivals;
      return kind * size_classes + size_class;
    }
    void follow(const Profile& now);

    Tuner tuner;
    const Decision deferred;  ///< of its first call; those of later ones differ in epoch only
    const Collective collective;
    const bool has_arrivals;  ///< calls exchange arrivals
    Profile profile;          ///< of the call that has begun
    std::int64_t newest_profile = 0;
    Combination notes;
    SizeClass latest = 0;           ///< at this rank; of an irregular collective as agreed
    std::optional<SizeClass> mean;  ///< of an irregular collective, of the last window
    std::map<SizeClass, Candidates> candidates;
    std::map<std::pair<std::optional<SizeClass>, int>, Decision> decisions;
  };
  class MpiAgreement;

  [[nodiscard]] static Criterion criterion_for(Collective of);
  const std::shared_ptr<State>& state_of(const Decision& deferred, Collective collective);
  int start(State& state);
  int start_class(State& state, const Rule& kept);
  int agree(State& state);
  const Decision& select(const std::shared_ptr<State>& state, const CallSize& size, int& error);
  Decision& decision_of(State& state, std::optional<SizeClass> size_class, int candidate);

  Communicator& communicator_;
  HierarchicalNodes& nodes_;
  DistanceLearning distances_;
  TuningClock clock_;
  Rules kept_;
  std::vector<std::shared_ptr<State>> states_;
  PerCollective<std::shared_ptr<State>> latest_;  ///< of each collective the one of its last call
  NotedCall noted_;
  double inspected_ = 0;    ///< since then inspecting the latest call is not charged
  bool may_agree_ = false;  ///< all ranks have begun as many nonblocking collectives
  bool is_closed_ = false;  ///< all calls run the MPI's own
};

}  // namespace tutti
