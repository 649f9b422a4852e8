/// Selection by the program's own calls: what auto runs on a communicator.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/hierarchical_nodes.hpp"
#include "run/mpi/agree.hpp"
#include "select/learned.hpp"
#include "select/tuner.hpp"

namespace tutti {

/// One tuner for each collective of a communicator, and what its candidates run. Call numbers,
/// windows and selections are equal on all ranks.
class TunedSelection {
 public:
  /// Both must outlive this.
  TunedSelection(Communicator& communicator, HierarchicalNodes& nodes)
      : communicator_(communicator), nodes_(nodes) {}
  TunedSelection(const TunedSelection&) = delete;
  TunedSelection& operator=(const TunedSelection&) = delete;

  /// Takes over rules that earlier runs kept for this communicator, as a text that is equal on all
  /// ranks; may be empty. Local. Returns an MPI error code.
  int start_from(const std::string& kept);
  /// What this communicator knows now that earlier runs did not, where the user's settings
  /// restricted nothing. Local.
  [[nodiscard]] std::vector<LearnedClass> learned() const;
  /// Begins a call whose decision is `deferred`. True if it runs the MPI's own whatever its
  /// arguments are, and nothing notes it. Else call resolve().
  bool stays_native(const Decision& deferred, Collective collective);
  /// How many of the next calls run the MPI's own and can be counted together.
  [[nodiscard]] std::uint64_t calls_that_pass(Collective collective) const;
  /// Counts so many of them.
  void count_passed(Collective collective, std::uint64_t calls);
  /// The selection of the call that has begun. Combines notes with the other ranks if a window is
  /// over, and prepares kept candidates at the first call; else O(1) without communication. A rank
  /// whose arguments are invalid takes its block to be that of its latest call, or reads the
  /// selection from another rank of its node once nodes are open. It is wrong at most in this call:
  /// call numbers do not depend on arguments. Sets `error` to an MPI error code.
  const Decision& resolve(const Decision& deferred, Collective collective, const BlockOfCall& block,
                          int& error);
  /// The call resolved last is over.
  void end_call();
  /// Ends agreements that have begun; no more begin. This object may be gone afterwards, if only
  /// they kept its communicator. Collective.
  void end_agreements();
  /// Records for the report what was measured. O(candidates).
  void record_candidates() const;

 private:
  /// The MPI's own first, then what an earlier run selected, if it did.
  struct Candidates {
    std::vector<Setting> all;
    bool is_complete = false;  ///< else the others are found once they are to be explored
  };
  struct State {
    State(int p, Collective of, const Decision& usual, double budget)
        : tuner(p, !has_root(of) && !is_irregular(of) && !is_scan(of), budget),
          deferred(usual),
          collective(of) {}

    Tuner tuner;
    Decision deferred;
    Collective collective;
    Tuner::Agreement agreement = Tuner::Agreement::none;  ///< in the call that has begun
    Combination notes;
    bool has_started = false;  ///< from what earlier runs kept
    SizeClass latest = 0;      ///< at this rank; of an irregular collective as agreed
    std::map<SizeClass, Candidates> candidates;
    std::map<std::pair<SizeClass, int>, Decision> decisions;
  };
  class Host;
  /// The noted call that this rank is in.
  struct NotedCall {
    State* state = nullptr;
    std::optional<SizeClass> size_class;
    Bytes bytes = 0;
    bool is_valid = false;
    double began = 0;
  };
  /// Once nodes are open, counts a call unless the one who runs it does.
  class CountedCall;

  State& state_of(const Decision& deferred, Collective collective);
  /// Once nodes are guessed.
  [[nodiscard]] LearnedKey key_of(const State& state) const;
  int start(State& state);
  int start_class(State& state, const Rule& kept);
  int agree(State& state);
  int begin_agreement(State& state);
  int end_agreement(State& state);
  const Decision& select(State& state, const BlockOfCall& block, int& error);
  Decision& decision_of(State& state, SizeClass size_class, int candidate);
  void note(State& state, const BlockOfCall& block, std::optional<SizeClass> size_class,
            bool is_valid);

  Communicator& communicator_;
  HierarchicalNodes& nodes_;
  Rules kept_;
  std::array<std::unique_ptr<State>, all_collectives.size()> states_;
  NotedCall noted_;
  bool may_agree_ = false;  ///< all ranks have begun as many nonblocking collectives
  bool is_closed_ = false;  ///< all calls run the MPI's own
};

}  // namespace tutti
