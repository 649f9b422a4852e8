/// Verifies all ranks' schedules against the contract by symbolic execution.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contract/contract.hpp"
#include "core/order.hpp"
#include "schedule/graph.hpp"
#include "verify/awareness.hpp"
#include "verify/contributions.hpp"

namespace tutti {

/// A fault in a set of schedules.
struct Fault {
  Rank rank = no_rank;
  StepId step = -1;       ///< of that rank; -1 if no step is at fault
  Block block = no_rank;  ///< as the contract numbers it; no_rank if no block is at fault
  std::string text;       ///< a sentence that names all three
};

/// Executes schedules with bytes as symbols: every byte of every block has an index in one long
/// array, in the order of positions, and a step reads or writes intervals of it. Reductions are
/// executed with whole blocks as symbols, barriers with sets of ranks that have entered. Reuses its
/// memory between calls.
class Verifier {
 public:
  /// Returns the first fault, if any. Block positions of the schedules refer to `order`; `sizes`
  /// are those of the contract's blocks. Without a fault
  ///  - sends and receives pair up, and both name the same bytes of the same blocks;
  ///  - a step reads only bytes that its rank has held from the start or from an earlier receive;
  ///  - a step of the background thread reads no data that is valid only after the rank's arrival;
  ///  - no byte is received twice, or by a rank that already holds it;
  ///  - all steps complete, even if every message waits for its receive (rendezvous);
  ///  - at the end every rank has all bytes of the blocks that the contract wants there.
  /// A notification counts as a message of its blocks; ProgramVerifier checks what it announces.
  /// Reductions have these rules instead of those on holding and receiving bytes:
  ///  - a step reads the values that the steps before it have made: no other step changes the
  ///    blocks before or during the read;
  ///  - no contribution is combined twice, nor out of order if the operation does not commute;
  ///  - at the end a block that the contract wants has the contributions of its ranks, no others.
  /// In a barrier no rank can leave before all have entered.
  /// O(p^2 + steps log steps).
  [[nodiscard]] std::optional<Fault> verify(const Contract& contract, const Order& order,
                                            const std::vector<Bytes>& sizes,
                                            std::span<const Schedule> schedules);

 private:
  struct Interval {
    Bytes begin = 0;
    Bytes end = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  struct Holding {
    Interval bytes;
    StepId step = -1;  ///< the step that writes them; -1: held from the start
  };
  using Node = StepGraph::Node;

  [[nodiscard]] std::optional<Fault> check_call(const Order& order,
                                                const std::vector<Bytes>& sizes) const;
  void lay_out(const Order& order, const std::vector<Bytes>& sizes);
  [[nodiscard]] std::optional<Fault> check_movement();
  [[nodiscard]] std::optional<Fault> check_reduction();
  [[nodiscard]] std::optional<Fault> check_whole(Node node) const;
  [[nodiscard]] std::optional<Fault> check_barrier();
  [[nodiscard]] Fault fault_of(const Finding& finding) const;
  [[nodiscard]] Fault fault_of(const Flaw& flaw) const;
  [[nodiscard]] std::optional<Fault> resolve(const Schedule& schedule);
  [[nodiscard]] bool resolve(const Step& step);
  [[nodiscard]] std::optional<Fault> check_ends(Node send) const;
  [[nodiscard]] std::optional<Fault> check_rank(const Schedule& schedule) const;
  [[nodiscard]] std::optional<Fault> check_read(const Schedule& schedule, StepId step) const;
  template <class Completed>
  [[nodiscard]] std::optional<Fault> execute(Completed completed);
  [[nodiscard]] Fault deadlock() const;
  [[nodiscard]] std::optional<Fault> check_wanted(Rank rank) const;
  void collect_holdings(const Schedule& schedule);
  /// The first byte of `wanted` that the rank lacks or a step after `reader` writes.
  [[nodiscard]] std::optional<Bytes> first_missing(Interval wanted, StepId reader) const;
  /// The first byte of `wanted` that the rank holds from the start.
  [[nodiscard]] std::optional<Bytes> first_brought(Interval wanted) const;

  [[nodiscard]] std::span<const Interval> parts(Node node) const;
  /// The block at an index of the schedules, and back.
  [[nodiscard]] Block block_of(BlockIndex at) const;
  [[nodiscard]] BlockIndex index_of(Block block) const;
  [[nodiscard]] Interval interval_of(Block block) const;
  [[nodiscard]] Block block_at(Bytes byte) const;
  [[nodiscard]] Fault fault(Rank rank, StepId step, Block block, const std::string& text) const;

  Contract contract_;
  const Order* order_ = nullptr;
  std::span<const Schedule> schedules_;
  std::vector<Bytes> prefix_;      ///< by index in the schedules: a block's offset; then the end
  std::vector<Interval> parts_;    ///< of all nodes, one after the other
  std::vector<int> first_part_;    ///< by node; then the end
  std::vector<Holding> holdings_;  ///< of the rank being checked, ascending
  StepGraph graph_;
  Flow flow_;
  Contributions contributions_;
  Awareness awareness_;
};

/// The same for a single call.
[[nodiscard]] std::optional<Fault> verify(const Contract& contract, const Order& order,
                                          const std::vector<Bytes>& sizes_by_rank,
                                          std::span<const Schedule> schedules);

}  // namespace tutti
