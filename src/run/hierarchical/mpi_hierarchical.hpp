/// Runs hierarchical calls: copies through node memory around collectives between nodes.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/hierarchical/mpi_node_buffers.hpp"
#include "run/mpi/exchange.hpp"
#include "run/plan/planner.hpp"

namespace tutti {

/// The program of a call at this rank.
struct LoweredCall {
  HierarchicalProblem key;
  Program program;
};
/// Approximate memory in bytes. O(operations).
[[nodiscard]] std::size_t bytes_of(const LoweredCall& call);

/// Runs the hierarchical calls of one communicator.
class HierarchicalRunner {
 public:
  /// `nodes`: as for SharedNode::open(); `plans`: for calls between nodes. Collective over `comm`,
  /// which must outlive the runner. Returns an MPI error code.
  static int open(MPI_Comm comm, Nodes nodes, const NodeSettings& settings,
                  const PlanSettings& plans, std::unique_ptr<HierarchicalRunner>& made);
  ~HierarchicalRunner();

  [[nodiscard]] SharedNode& node() { return *node_; }
  /// The value of all signals of the node once its ranks have left the last call.
  [[nodiscard]] NodeSignal::Count begin() const { return begin_; }

  /// Counts a call that this rank has begun, even if an error or an exception ends it before run().
  /// Otherwise the other ranks of the node would wait for its signal in this and all later calls.
  /// Does nothing for a null runner.
  class Turn : NotCopied {
   public:
    explicit Turn(HierarchicalRunner& runner) : Turn(&runner) {}
    explicit Turn(HierarchicalRunner* runner)
        : runner_(runner), begin_(runner == nullptr ? 0 : runner->begin()) {}
    ~Turn() {
      if (runner_ != nullptr && !is_counted()) runner_->skip();
    }

    /// Has the call been counted, by run() or skip()? Not after forget().
    [[nodiscard]] bool is_counted() const { return runner_->begin() != begin_; }
    /// The runner has ended with its communicator.
    void forget() { runner_ = nullptr; }

   private:
    HierarchicalRunner* runner_;
    NodeSignal::Count begin_;
  };

  /// Do the communicators for `leaders` leaders exist? Equal on all ranks.
  [[nodiscard]] bool is_prepared(int leaders);
  /// Creates the communicators between nodes for `leaders` leaders, at the first such call; run()
  /// includes it. Collective. Returns an MPI error code, which may differ between ranks.
  int prepare(int leaders);
  /// Frees the communicators of prepare() that no other number of leaders needs. Collective.
  void forget(int leaders);
  /// The bytes of each node's memory for the data of a call of this kind; none if it cannot hold
  /// the sizes that ranks exchange. Equal on all ranks.
  [[nodiscard]] std::optional<Bytes> capacity_for(Collective collective) const;
  /// Runs a call. If it must stay flat, sets `refused` to the reason, equally on all ranks and
  /// before any data moves. An error of one rank leaves no other rank of its node waiting. If a
  /// leader leaves a call before its collectives between nodes, or leaves messages of one open,
  /// this and all later calls return errors on its node. Collective. Returns an MPI error code.
  int run(HierarchicalCall& hierarchical, std::string& refused);
  /// To be called instead of run() where memory ends before it, and before the call's turn ends.
  /// Local.
  void lose();
  /// Have all later calls errors on this node? The MPI may then still use memory of a call.
  [[nodiscard]] bool is_lost() const { return lost().load(std::memory_order_relaxed) != 0; }
  /// Counts a call that runs outside run(), for example flat, or without this rank.
  void skip();
  /// Counts a call that passes at this rank: the MPI's own runs it on all ranks.
  void pass();
  /// Broadcasts the selection of the call that begins now, any number from 0, to ranks of the node
  /// that do not know it because their arguments are invalid. `candidate` becomes -1 if the call
  /// has passed at another rank, or that is 8 calls ahead, and stays if no rank knows. On all ranks
  /// of the node where it does not pass, before run() or skip(). Returns an MPI error code.
  int broadcast_selection(bool knows, int& candidate);
  /// Sets `comm` to the communicator of the first ranks of all nodes, by node; null on all other
  /// ranks, and if there is one node. Collective. Returns an MPI error code.
  int first_ranks(PrivateComm*& comm);

 private:
  /// The advance of signals in each call, whatever its program. So ranks whose programs differ, in
  /// an erroneous program, begin the next call in step.
  static constexpr NodeSignal::Count sequence_numbers_of_call = 1 << 20;
  // Sequence numbers before those of the program, which begin at the last one: the selection, then
  // sizes, then the number of chunks in calls that agree on it.
  static constexpr NodeSignal::Count selection_sequence = 1;
  static constexpr NodeSignal::Count sizes_sequence = 2;
  static constexpr NodeSignal::Count chunks_sequence = 3;
  /// Marks a call that does not fit into the memory of some node: it stays flat on all ranks.
  static constexpr int refused_chunks = max_chunks + 1;
  // At most 5 sequence numbers per chunk, and few per call (see hierarchical_program).
  static_assert(sequence_numbers_of_call > 6 * NodeSignal::Count{max_chunks});

  /// Bytes at the start of node memory in which the ranks of a node exchange sizes; 0 for most
  /// collectives. They may take 50 % of it. Equal on all ranks.
  [[nodiscard]] Bytes size_exchange_bytes(Collective collective) const;
  /// 2 p numbers of a rank. Pairs: the bytes for each rank, then from each one. Else its own bytes,
  /// and at the root those of all ranks.
  [[nodiscard]] std::int64_t* exchanged_sizes(int local) const {
    return reinterpret_cast<std::int64_t*>(node_->data()) +
           std::ptrdiff_t{2} * local * node_->nodes().p();
  }
  static void keep_first(int& error, int another) {
    if (error == MPI_SUCCESS) error = another;
  }

  explicit HierarchicalRunner(MPI_Comm comm) : comm_(comm), transport_(comm, rank_in(comm)) {}
  /// Empty before prepare(), and if there is one node.
  Lanes& lanes_of(int leaders);
  [[nodiscard]] std::vector<int> leaders_of(int lane, int leaders) const;
  int lane_of_leaders(const std::vector<int>& locals, PrivateComm*& lane);
  int run_prepared(HierarchicalCall& hierarchical, std::string& refused, bool& is_over);
  /// Not 0: a leader of the node has left a call.
  [[nodiscard]] std::atomic_ref<std::int64_t> lost() const {
    return std::atomic_ref(node_->words(0).lost);
  }
  int learn(HierarchicalCall& hierarchical, Lanes& lanes);
  int exchange_sizes(HierarchicalCall& hierarchical);
  using WordsByCall = RankWords::ByCall RankWords::*;
  [[nodiscard]] std::atomic_ref<std::int64_t> word_of_call(WordsByCall words, int local) const;
  [[nodiscard]] std::int64_t mark_of_call() const;
  void note(WordsByCall words, std::optional<std::int64_t> number);
  [[nodiscard]] std::optional<std::int64_t> recorded(WordsByCall words, int local,
                                                     std::int64_t otherwise) const;
  [[nodiscard]] bool fits(const HierarchicalCall& hierarchical) const;
  int learn_size(HierarchicalCall& hierarchical);
  int agree_on_chunks(HierarchicalCall& hierarchical, Lanes& lanes);
  void read_sizes(HierarchicalCall& hierarchical) const;
  int signal_and_await(NodeSignal::Count sequence, int first, int last);
  const Program* program_of(const HierarchicalProblem& call, std::string& refused);

  MPI_Comm comm_;
  PlanSettings plans_;
  std::unique_ptr<SharedNode> node_;
  MpiTransport transport_;  ///< without messages; programs need one
  Executor executor_;
  NodeSignal::Count begin_ = 0;  ///< value of the signals when all have left the last call
  /// By the local ranks of the leaders, one for each node: numbers of leaders share some.
  std::map<std::vector<int>, std::unique_ptr<PrivateComm>> communicators_;
  std::map<int, Lanes> lanes_;
  RecentlyUsed<LoweredCall> lowered_;
};

}  // namespace tutti
