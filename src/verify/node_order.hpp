/// The order that signals, and collectives between nodes, impose on the operations of all ranks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/nodes.hpp"
#include "verify/inner_call.hpp"
#include "verify/program_order.hpp"

namespace tutti {

/// A collective between nodes: the operations of its members, by node, and what they transfer.
struct MatchedCall {
  std::vector<Rank> ranks;
  std::vector<int> operations;
  std::vector<InnerTransfer> transfers;
};

/// Follows the programs of ranks that share node memory, whose operations run in sequence. The
/// order does not depend on timing, so it covers all interleavings. Reuses its memory between sets
/// of programs.
class NodeOrder {
 public:
  using Fault = std::optional<ProgramFault>;

  /// Finds the order. Returns the first fault, if any: signals that do not grow or end on different
  /// sequence numbers, members of a collective that disagree, operations that never complete, a
  /// barrier that a rank may leave too early. The call before is assumed to have used all node
  /// memory, and each rank's signal to show that the rank has left it. As every program ends with
  /// that signal, so does this call for the next one. O(operations * ranks).
  [[nodiscard]] Fault find(const Nodes& nodes, std::span<const Program> programs,
                           Collective collective);

  /// True if operation `first` of rank `one` is complete before `second` of `other` starts.
  [[nodiscard]] bool is_before(Rank one, int first, Rank other, int second) const {
    if (one == other) return first < second;
    return clock(other, second)[static_cast<std::size_t>(one)] > first + 1;
  }
  /// True if `one` has left the call before when the operation of `other` starts.
  [[nodiscard]] bool has_left(Rank one, Rank other, int operation) const {
    return clock(other, operation)[static_cast<std::size_t>(one)] > 0;
  }
  /// The first operation of `rank` that signals `sequence` or more: no earlier one shows it. -1:
  /// the call before does. The number of operations if none does.
  [[nodiscard]] int signal_of(Rank rank, int sequence) const;
  [[nodiscard]] const std::vector<MatchedCall>& calls() const { return calls_; }

 private:
  /// By rank, how many of its operations are complete, plus one once it has left the call before.
  using Clock = std::vector<int>;

  [[nodiscard]] const Clock& clock(Rank rank, int operation) const {
    return clocks_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(operation)];
  }
  [[nodiscard]] const Program& program(Rank rank) const {
    return programs_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] Clock& seen(Rank rank) { return seen_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int done(Rank rank) const {
    return static_cast<int>(clocks_[static_cast<std::size_t>(rank)].size());
  }
  [[nodiscard]] const Operation* next(Rank rank) const;
  [[nodiscard]] Fault check_form(Rank rank);
  [[nodiscard]] Fault match_calls();
  [[nodiscard]] Fault match(int lane, std::size_t number);
  bool advance(Rank rank);
  bool await(Rank rank, const Operation& operation);
  bool enter(Rank rank);
  void complete(Rank rank);

  const Nodes* nodes_ = nullptr;
  std::span<const Program> programs_;
  std::vector<std::vector<std::pair<int, int>>> signals_;  ///< by rank: sequence and operation
  std::vector<std::vector<int>> calls_of_;  ///< by rank: its operations that are calls
  std::vector<MatchedCall> calls_;
  std::vector<std::vector<Clock>> clocks_;  ///< by rank and operation that has completed
  std::vector<Clock> seen_;
};

}  // namespace tutti
