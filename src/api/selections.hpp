/// What selects for a communicator.
#pragma once

#include <map>

#include "api/rule_selection.hpp"
#include "api/tuned_selection.hpp"

namespace tutti {

/// The decisions of a communicator, and what resolves deferred ones. Lives as long as it.
class Selections {
 public:
  explicit Selections(Communicator& communicator)
      : nodes(communicator),
        tuned(communicator, nodes),
        communicator_(communicator),
        rules_(communicator, nodes) {}

  /// Takes over from rank 0 the requested algorithms, one a line or none, its rules, and those that
  /// earlier runs kept. Collective. Returns an MPI error code.
  int open(const std::string& requested, const std::string& rules, const std::string& kept);
  /// What runs for `collective` now; for reductions with such an operation.
  const Decision& decide(Collective collective, const OperationTraits& operation = {});
  /// Is it what decide() returned last for operations that commute?
  [[nodiscard]] bool is_usual(const Decision& decision, Collective collective) const {
    return &decision == &decisions_[slot_of(collective, {})];
  }
  /// What runs for a call by a decision that may be deferred, with such arrivals. Collective as
  /// TunedSelection::resolve is. Sets `error` to an MPI error code.
  [[nodiscard]] const Decision& resolved(const Decision& decision, MpiCall& call,
                                         const Profile& profile, int& error);
  /// Records what was measured of candidates, for the report, once and at rank 0 only. Local.
  void record_candidates();

  HierarchicalNodes nodes;
  TunedSelection tuned;

 private:
  static constexpr std::size_t kinds_of_operations = 4;

  [[nodiscard]] static constexpr std::size_t slot_of(Collective collective,
                                                     const OperationTraits& operation) {
    return static_cast<std::size_t>(collective) * kinds_of_operations +
           (operation.commutative ? 2 : 0) + (operation.whole ? 1 : 0);
  }
  [[nodiscard]] Decision make(Collective collective, const OperationTraits& operation);
  const Decision& with_several_ranks(const Decision& asked, int& error);

  Communicator& communicator_;
  RuleSelection rules_;
  std::array<Setting, all_collectives.size()> settings_;
  std::array<Decision, all_collectives.size() * kinds_of_operations> decisions_;
  std::map<const Decision*, Decision> flat_;  ///< by the requested one
  bool has_recorded_candidates_ = false;
};

}  // namespace tutti
