/// Verifies all ranks' programs byte by byte: what runs, after buffers have been assigned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "schedule/flow.hpp"
#include "verify/node_order.hpp"
#include "verify/rank_memory.hpp"
#include "verify/rank_sets.hpp"

namespace tutti {

/// Executes programs as the executor does, with bytes that name their origin. Reuses its memory
/// between calls.
class ProgramVerifier {
 public:
  using Fault = std::optional<Flaw>;

  /// Returns the first fault, if any. Programs and layouts are by rank. Without a fault
  ///  - every operation stays inside its buffers, and writes only staging memory and the places of
  ///    results, each to its own length; segments of scattered or typed buffers do not occur;
  ///  - no operation uses bytes that another one may be writing, or writes bytes that another one
  ///    may be using: one must be complete before the other starts, whatever the timing. In node
  ///    memory that holds for all ranks of a node, and for the calls before and after;
  ///  - no operation reads undefined bytes, and none of the background thread reads the program's
  ///    input, or writes results of a reduction, before the rank has arrived;
  ///  - sends and receives pair up, with equal lengths; no rank receives bytes that it has, unless
  ///    they are combined;
  ///  - a flush comes between each put and the next notification of its target. Put bytes are in
  ///    the window when that notification is received, no earlier. Until then no operation there
  ///    uses them; until the flush none changes their source. Ranks act only after a notification,
  ///    and unless data flow to the root, all report to it at the end;
  ///  - signals grow, and end on the number that the next call awaits; members of a collective
  ///    between nodes agree on it, its root and counts;
  ///  - all operations complete, even if every message waits for its receive. `seed` determines
  ///    when ranks arrive and messages complete, in any sequence. Which messages hold slots first
  ///    depends on it too, so the other end of one with slots needs no other message;
  ///  - operands of a reduction are whole elements of equal origin, no contribution is combined
  ///    twice, nor out of order if the operation does not commute;
  ///  - at the end every result has its bytes, with the contributions of its ranks and no others;
  ///  - whatever the timing, no rank leaves a barrier before all have entered.
  /// No fault depends on sizes: bytes are kept as ranges. O(operations log operations +
  /// ranges), and O(n^2) bits for a rank with n operations that uses bytes again or leaves some to
  /// the background thread.
  [[nodiscard]] Fault verify(const ProgramCall& call, std::span<const Program> programs,
                             std::span<const BufferLayout> layouts, std::uint64_t seed);

 private:
  /// The number of an operation among those of all ranks.
  using Node = FlowGraph::Node;
  static constexpr Node none = FlowGraph::none;

  /// The indices of an operation's accesses: first those that read.
  struct Uses {
    std::size_t first = 0;
    std::size_t middle = 0;
    std::size_t last = 0;
  };
  /// A put, the flush that completes it, and the receive of the notification that follows.
  struct Put {
    Node put;
    Node flush;
    Node recv;
  };
  struct RankState {
    bool arrived = false;
    std::vector<Node> held;  ///< posted, until the rank arrives
  };

  [[nodiscard]] const Operation& operation(Node node) const;
  [[nodiscard]] Rank rank_of(Node node) const { return graph_.rank_of(node); }
  [[nodiscard]] int number(Node node) const { return graph_.step_of(node); }
  [[nodiscard]] Node partner(Node node) const { return graph_.partner(node); }
  [[nodiscard]] bool is_put(Node node) const { return operation(node).kind == OperationKind::put; }

  void lay_out();
  [[nodiscard]] Fault check_memory(Rank rank);
  [[nodiscard]] Fault check_form(Rank rank);
  [[nodiscard]] std::string find(Node node, const InnerBuffer& buffer, bool writes);
  [[nodiscard]] std::string find(Node node);
  [[nodiscard]] Fault check_nodes();
  [[nodiscard]] Fault check_node_memory(int node);
  [[nodiscard]] Fault pair_messages();
  [[nodiscard]] Fault check_puts();
  [[nodiscard]] Fault check_tags(Rank rank);
  [[nodiscard]] Fault check_slots();
  [[nodiscard]] Fault check_notifications(Rank rank);
  [[nodiscard]] Fault check_uses(const Put& put) const;
  template <class Visit>
  void for_each_need(Node node, Visit visit) const;

  [[nodiscard]] Fault execute(std::uint64_t seed);
  void note_entered(Node node);
  void start(Node node);
  void run_local(Node node);
  void deliver(Node send);
  void note_received(Node recv, const std::vector<ByteSymbols>& message);
  void enter(Node node);
  void run_call(std::span<const InnerTransfer> transfers);
  [[nodiscard]] ByteContent& content(Rank rank, Area area);
  [[nodiscard]] std::vector<ByteSymbols> read(Node node, std::span<const ByteAccess> accesses);
  void write(Node node, std::span<const ByteAccess> accesses,
             const std::vector<ByteSymbols>& message);
  [[nodiscard]] std::span<const ByteAccess> sources(Node node) const;
  [[nodiscard]] std::span<const ByteAccess> targets(Node node) const;
  [[nodiscard]] std::vector<ByteSymbols> combined(Node node, const std::vector<ByteSymbols>& left,
                                                  const std::vector<ByteSymbols>& right);
  [[nodiscard]] int united(Node node, int left, int right);
  [[nodiscard]] Fault check_results(Rank rank);
  [[nodiscard]] Fault check_barrier();
  [[nodiscard]] std::string in_words(Node node) const;
  [[nodiscard]] std::string in_words(const ByteSymbols& symbols) const;

  [[nodiscard]] Flaw fault(Rank rank, int operation, const std::string& text) const;
  void refuse(Node node, const std::string& text);

  const ProgramCall* call_ = nullptr;
  std::span<const Program> programs_;
  std::span<const BufferLayout> layouts_;
  std::vector<Bytes> origins_;  ///< by block; then the end
  std::vector<RankMemory> memory_;
  std::vector<ByteContent> node_memory_;
  FlowGraph graph_;
  Flow flow_;
  std::vector<Uses> uses_;            ///< by node
  std::vector<ByteAccess> accesses_;  ///< of all nodes
  std::vector<ByteAccess> used_;      ///< working memory: those that may conflict
  std::vector<Put> puts_;             ///< ascending by `recv`
  ProgramOrder order_;
  NodeOrder node_order_;
  std::vector<char> early_;  ///< by node: in the background, perhaps before the rank arrives

  std::vector<char> begun_;
  std::vector<RankState> states_;
  std::vector<int> pending_;  ///< sends whose receives have begun; ~rank: it arrives
  std::vector<std::vector<ByteSymbols>> sent_;  ///< by node, of puts
  RankSets sets_;                               ///< of contributions
  std::map<std::pair<int, int>, int> unions_;   ///< of 2 of these sets
  /// Reductions: where the parts of a rank's result begin that combine in one sequence, by origin,
  /// and their sets; and those of rank 0.
  std::vector<std::pair<Bytes, int>> combined_;
  std::vector<std::pair<Bytes, int>> combined_at_first_;
  RankSets entered_;  ///< barriers: by node, the ranks that have entered before its end; then by
                      ///< rank, those before it leaves
  bool is_barrier_ = false;
  std::vector<ByteContent> held_;  ///< by rank, at their origins: the bytes that it has
  Fault fault_;
};

}  // namespace tutti
