/// Decides the calls of one communicator by message size: by rules, or with the leaders that the
/// model finds best.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/hierarchical_nodes.hpp"
#include "select/rules.hpp"

namespace tutti {

/// What runs for one collective and kind of operation, by message size.
struct SizeTable {
  struct Span {
    Bytes most;
    Decision decision;  ///< hierarchical without leaders: the model finds them at the first call

    [[nodiscard]] bool lacks_leaders() const {
      return decision.level.hierarchical && decision.level.leaders == 0;
    }
  };

  /// The span of a call; that of the call seen before if this rank's arguments are invalid, and of
  /// no bytes if there was none. The last span has all larger messages. O(spans).
  [[nodiscard]] std::size_t index_of(const std::optional<Bytes>& block);

  Collective collective = Collective::gather;
  std::vector<Span> spans = {};  ///< ascending
  Bytes latest = 0;              ///< of the call seen before
  bool is_ready = false;  ///< the communicators of all spans are there, or the span became native
};

/// All ranks hold the same rules, those of rank 0. As long as the communicator.
class RuleSelection {
 public:
  /// Both must outlive this.
  RuleSelection(Communicator& communicator, HierarchicalNodes& nodes)
      : communicator_(communicator), nodes_(nodes) {}
  RuleSelection(const RuleSelection&) = delete;
  RuleSelection& operator=(const RuleSelection&) = delete;

  /// Takes over rank 0's rules, on all ranks. Collective unless there are none. Returns an MPI
  /// error code.
  int open(Rules rules);
  /// Sets `decision` and returns true if a rule matches such calls at some message size. Then sizes
  /// without a rule run the MPI's own algorithm. Local.
  bool decide(const Features& features, const Setting& setting, Decision& decision);
  /// True if another decision may hold for operations that do not commute.
  [[nodiscard]] bool depend_on_operation(Collective collective) const;
  /// Defers a hierarchical decision without leaders until the block of a call is known.
  static void defer_leaders(Decision& decision, Collective collective);
  /// The decision for a call whose size counts. At the first call of a table the ranks open what it
  /// needs: for rules if all ranks can, for a limited number of communicators at a time, else all
  /// stay native. Collective then, else local. A rank with invalid arguments follows its call
  /// seen before, or another rank of its node. Valid until a setting changes. Sets `error` to an
  /// MPI error code.
  const Decision& resolve(SizeTable& table, const BlockOfCall& block, int& error);
  /// Records for the report what rules were derived from. O(rules).
  void record_candidates() const;

 private:
  [[nodiscard]] Decision decision_for(const Rule& rule, const Features& features,
                                      const Setting& setting) const;
  int prepare(SizeTable& table, const BlockOfCall& block);
  [[nodiscard]] CaseOfCall add_case(const Rule& rule, Bytes least, Bytes most,
                                    const std::string& text);
  int open_for(Collective collective, Decision& decision);

  Communicator& communicator_;
  Rules rules_;
  /// By collective: the rules that decide message sizes.
  std::map<Collective, std::vector<MeasuredCase>> cases_;
  HierarchicalNodes& nodes_;
};

}  // namespace tutti
