/// What selects for a communicator.
#pragma once

#include <array>
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
    return &decision == &decisions_[collective][1][0];
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
  [[nodiscard]] Decision make(Collective collective, const OperationTraits& operation);
  const Decision& with_several_ranks(const Decision& asked, int& error);

  Communicator& communicator_;
  RuleSelection rules_;
  PerCollective<Setting> settings_;
  /// By whether the operation commutes, and whether it gets whole vectors.
  PerCollective<std::array<std::array<Decision, 2>, 2>> decisions_;
  std::map<const Decision*, Decision> flat_;  ///< by the requested one
  bool has_recorded_candidates_ = false;
};

}  // namespace tutti
