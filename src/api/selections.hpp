/// What selects for a communicator.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/hierarchical_nodes.hpp"
#include "api/tuned_selection.hpp"
#include "select/decision.hpp"

namespace tutti {

/// The decisions of a communicator, and what resolves deferred ones. Lives as long as it.
class Selections {
 public:
  explicit Selections(Communicator& communicator)
      : nodes(communicator), tuned(communicator, nodes), communicator_(communicator) {}

  /// Takes over from rank 0 the requested algorithms, one a line or none, its rules, and those that
  /// earlier runs kept. Collective. Returns an MPI error code.
  int open(const std::string& requested, const std::string& rules, const std::string& kept);
  /// What runs for `collective` now; for reductions with an operation that commutes or not, and
  /// gets whole vectors only or not.
  const Decision& decide(Collective collective, bool commutative = true, bool whole = false);
  /// What runs for a call before it is resolved; of a reduction for its operation. MPI
  /// requires one operation on all ranks. Collective. Sets `error` to an MPI error code.
  const Decision& decide(MpiCall& call, int& error);
  /// Is it what decide() returned last for operations that commute?
  [[nodiscard]] bool is_usual(const Decision& decision, Collective collective) const {
    return &decision == &decisions_[collective][1][0];
  }
  /// What a deferred decision depends on. `needs_own`: also this rank's blocks, where ranks have no
  /// block in common. Of irregular collectives O(p).
  [[nodiscard]] CallSize size_of(const Decision& decision, const MpiCall& call,
                                 bool needs_own) const;
  /// Will call `later` of the next ones run the MPI's own by the usual decision, which is deferred,
  /// if it has this size?
  [[nodiscard]] bool may_pass(const Decision& usual, Collective collective, const CallSize& size,
                              unsigned later) const;
  /// The text of the usual decision, which is deferred, for calls of a size that pass.
  [[nodiscard]] const std::string& text_of(Collective collective, const CallSize& size);
  /// What runs for a call by a decision that may be deferred, with such arrivals. Collective as
  /// TunedSelection::resolve is. Sets `error` to an MPI error code.
  [[nodiscard]] const Decision& resolved(const Decision& decision, MpiCall& call,
                                         const Profile& profile, int& error);
  /// Records for the report what was measured of candidates and what rules were derived from, once
  /// and at rank 0 only. Local. O(candidates and rules).
  void record_candidates();

  HierarchicalNodes nodes;
  TunedSelection tuned;

 private:
  [[nodiscard]] Decision make(Collective collective, bool commutative, bool whole);
  const Decision& decide_operation(const Decision& usual, MpiCall& call, int& error);
  /// See AddCase.
  [[nodiscard]] CaseOfCall add_case(const RuleSpan& span, Bytes least, const std::string& reason);
  const Decision& with_several_ranks(const Decision& asked, int& error);
  /// The decision for a call whose size counts. At the first call of a table the ranks open what it
  /// needs: for rules if all ranks can, for a limited number of communicators at a time, else all
  /// stay native. Collective then, else local. A rank with invalid arguments follows its call
  /// seen before, or another rank of its node. Valid until a setting changes. Sets `error` to an
  /// MPI error code.
  const Decision& look_up(SizeTable& table, const MpiCall& call, const CallSize& size, int& error);
  int prepare(SizeTable& table, Collective collective);
  int open_for(Collective collective, Decision& decision);

  Communicator& communicator_;
  PerCollective<Setting> settings_;
  Rules rules_;  ///< of rank 0, equal on all ranks
  /// By collective: the rules that decide message sizes.
  std::map<Collective, std::vector<MeasuredCase>> cases_;
  /// By whether the operation commutes, and whether it gets whole vectors.
  PerCollective<std::array<std::array<Decision, 2>, 2>> decisions_;
  bool has_recorded_candidates_ = false;
};

}  // namespace tutti
