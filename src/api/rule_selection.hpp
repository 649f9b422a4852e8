/// Decides the calls of one communicator by rules.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/hierarchical_nodes.hpp"
#include "select/rules.hpp"

namespace tutti {

/// What rules decide for one collective and kind of operation, by message size.
struct RuleTable {
  struct Span {
    Bytes most;
    Decision decision;
  };

  /// The span of a call; that of the call before if this rank's arguments are invalid, and of no
  /// bytes if there was none. O(spans).
  [[nodiscard]] std::size_t index_of(const std::optional<Bytes>& block);

  Collective collective = Collective::gather;
  std::vector<Span> spans = {};  ///< ascending, up to the largest message
  Bytes latest = 0;              ///< of the call before
  bool is_ready = false;  ///< the communicators of all spans are there, or the span became native
};

/// All ranks hold the same rules, those of rank 0. As long as the communicator.
class RuleSelection {
 public:
  /// Sets `made` to the rules of `text`, which is rank 0's on all ranks; null if it is empty, else
  /// collective. Returns an MPI error code.
  static int open(Communicator& communicator, HierarchicalNodes& nodes, const std::string& text,
                  std::unique_ptr<RuleSelection>& made);
  ~RuleSelection() = default;
  RuleSelection(const RuleSelection&) = delete;
  RuleSelection& operator=(const RuleSelection&) = delete;

  /// Sets `decision` and returns true if a rule matches such calls at some message size. Then sizes
  /// without a rule run the MPI's own algorithm. Local.
  bool decide(const Features& features, const Setting& setting, Decision& decision);
  /// True if another decision may hold for operations that do not commute.
  [[nodiscard]] bool depend_on_operation(Collective collective) const;
  /// The decision for a call whose size counts. At the first call of a table
  /// the ranks open what its rules need, for a limited number of communicators at a time; if a rank
  /// cannot, all stay native. Collective then, else local. A rank with invalid
  /// arguments follows its call before. Sets `error` to an MPI error code.
  const Decision& resolve(RuleTable& table, std::optional<Bytes> block, int& error);
  /// Records for the report what rules were derived from. O(rules).
  void record_candidates() const;

 private:
  RuleSelection(Communicator& communicator, HierarchicalNodes& nodes)
      : communicator_(communicator), nodes_(nodes) {}
  [[nodiscard]] Decision decision_for(const Rule& rule, const Features& features,
                                      const Setting& setting) const;
  int prepare(RuleTable& table);
  [[nodiscard]] CaseOfCall add_case(const Rule& rule, Bytes least, Bytes most,
                                    const std::string& text);
  int prepare_flat(Decision& decision);
  int prepare_hierarchical(Collective collective, Decision& decision);

  Communicator& communicator_;
  Rules rules_;
  MpiVersion mpi_;
  int node_count_ = 1;
  int ranks_per_node_ = 1;
  /// By collective: the rules that decide message sizes.
  std::map<Collective, std::vector<MeasuredCase>> cases_;
  HierarchicalNodes& nodes_;
};

}  // namespace tutti
