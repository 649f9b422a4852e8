/// Runs hierarchical calls: copies through node memory around collectives between nodes.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowering/hierarchical.hpp"
#include "run/communicator/mpi_communicator.hpp"
#include "run/node/mpi_node.hpp"

namespace tutti {

/// The send or receive buffer of a call at one rank, as packed blocks. Without memory it reads as
/// zeros and discards what it receives, for dummy participation.
struct HierarchicalSide {
  struct Block {
    std::byte* address;
    Bytes bytes;
  };
  std::byte* base = nullptr;  ///< of consecutive blocks; null if they are scattered
  Bytes each = 0;             ///< bytes of a block, if all are equal and consecutive
  std::vector<Block> blocks;  ///< else the address and bytes of each
  Bytes bytes = 0;            ///< of all blocks

  /// Calls visit(address, bytes) for each contiguous part of the bytes [offset, offset + count) of
  /// the blocks `range`, in sequence.
  template <class Visit>
  void visit(BlockRange range, Bytes offset, Bytes count, Visit visit) const;
};

/// One hierarchical call at one rank. `call.sizes` holds the sizes that this rank knows. In calls
/// with a size exchange (see size_exchange_words()) this rank's numbers are in `own_sizes`.
struct HierarchicalCall {
  HierarchicalProblem call;
  HierarchicalSide send;
  HierarchicalSide receive;
  std::vector<Bytes> own_sizes;
  bool is_dummy = false;  ///< this rank's arguments are invalid: it takes part with zeros
  MPI_Datatype type{};    ///< of elements, in reductions
  MPI_Op op{};
  /// The algorithm between nodes; null: the MPI's own collectives.
  const Specification* inner = nullptr;
  CallContext context = {};  ///< of the algorithm between nodes
};

/// Runs the hierarchical calls of one communicator.
class HierarchicalRunner {
 public:
  /// Collective over `comm`, which must outlive the runner. Returns an MPI error code.
  static int open(MPI_Comm comm, const NodeSettings& settings,
                  std::unique_ptr<HierarchicalRunner>& made);

  [[nodiscard]] SharedNode& node() { return *node_; }
  /// Words of SharedNode::further that the runner uses; the rest is for other users of Turn.
  static constexpr int further_words = 17;
  /// The value of all signals of the node once its ranks have left the last call.
  [[nodiscard]] NodeSignal::Count begin() const { return begin_; }

  /// Counts a call that this rank has begun, even if an error or an exception ends it before run().
  /// Otherwise the other ranks of the node would wait for its signal in this and all later calls.
  /// Does nothing for a null runner.
  class Turn {
   public:
    explicit Turn(HierarchicalRunner& runner) : Turn(&runner) {}
    explicit Turn(HierarchicalRunner* runner)
        : runner_(runner), begin_(runner == nullptr ? 0 : runner->begin()) {}
    ~Turn() {
      if (runner_ != nullptr && runner_->begin() == begin_) runner_->skip();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    HierarchicalRunner* runner_;
    NodeSignal::Count begin_;
  };

  /// Do the communicators for `leaders` leaders exist? Equal on all ranks.
  [[nodiscard]] bool is_prepared(int leaders) const;
  /// Creates the communicators between nodes for `leaders` leaders, at the first such call; run()
  /// includes it. Collective. Returns an MPI error code, which may differ between ranks.
  int prepare(int leaders);
  /// Frees the communicators of prepare() that no other number of leaders needs. Collective.
  void forget(int leaders);
  /// Runs a call. If it must stay flat, sets `refused` to the reason, equally on all ranks and
  /// before any data moves. An error of one rank leaves no other rank waiting, except in a
  /// reduction: a leader with invalid arguments has no datatype and takes no part between nodes, so
  /// other leaders wait for it as they would in the MPI. Collective. Returns an MPI error code.
  int run(HierarchicalCall& hierarchical, std::string& refused);
  /// Counts a call that runs outside run(), for example flat, or without this rank.
  void skip();
  /// Broadcasts the selection of the call that begins now, any number from 0, to ranks of the node
  /// that do not know it because their arguments are invalid. If no rank knows it, `candidate`
  /// stays. On all ranks of the node, before run() or skip(). Returns an MPI error code.
  int broadcast_selection(bool knows, int& candidate);
  /// Sets `comm` to the communicator of the first ranks of all nodes, by node; null on all other
  /// ranks, and if there is one node. Collective. Returns an MPI error code.
  int first_ranks(PrivateComm*& comm);

 private:
  explicit HierarchicalRunner(MPI_Comm comm) : comm_(comm) {}
  /// The communicator of each lane, with one rank of each node; null on all other ranks.
  using Lanes = std::vector<PrivateComm*>;
  int lanes_of(int leaders, Lanes*& lanes);
  [[nodiscard]] std::vector<int> leaders_of(int lane, int leaders) const;
  int lane_of_leaders(const std::vector<int>& locals, PrivateComm*& lane);
  int learn(HierarchicalCall& hierarchical, Lanes& lanes);
  int exchange_sizes(HierarchicalCall& hierarchical);
  [[nodiscard]] std::atomic_ref<std::int64_t> word_of_call(int words, int local) const;
  void note(int words, std::optional<std::int64_t> number);
  [[nodiscard]] std::optional<std::int64_t> recorded(int words, int local) const;
  [[nodiscard]] bool fits(const HierarchicalCall& hierarchical) const;
  int learn_size(HierarchicalCall& hierarchical);
  [[nodiscard]] bool agrees_on_chunks(const HierarchicalProblem& call) const;
  int agree_on_chunks(HierarchicalCall& hierarchical, Lanes& lanes);
  int grow_for(const HierarchicalProblem& call, Lanes& lanes);
  void read_sizes(HierarchicalCall& hierarchical) const;
  [[nodiscard]] NodeSignal::Count count_of(int sequence) const {
    return sequence == 0 ? begin_ : base_ + static_cast<NodeSignal::Count>(sequence);
  }
  int await(NodeSignal::Count sequence, int first, int last);
  int signal_and_await(NodeSignal::Count sequence, int first, int last);
  const HierarchicalPlan* plan_of(const HierarchicalProblem& call, std::string& refused);
  int follow(const HierarchicalPlan& plan, HierarchicalCall& hierarchical, Lanes& lanes);
  int take(const HierarchicalPlan& plan, const HierarchicalStep& step,
           HierarchicalCall& hierarchical, Lanes& lanes);

  struct Planned {
    HierarchicalProblem call;
    HierarchicalPlan plan;
  };

  MPI_Comm comm_;
  Bytes staging_ = 0;
  std::unique_ptr<SharedNode> node_;
  Rank rank_ = 0;
  NodeSignal::Count begin_ = 0;  ///< value of the signals when all have left the last call
  NodeSignal::Count base_ = 0;   ///< of the plan's sequence numbers above 0; number 0 is begin_
  /// By the local ranks of the leaders, one for each node: numbers of leaders share some.
  std::map<std::vector<int>, std::unique_ptr<PrivateComm>> communicators_;
  std::map<int, Lanes> lanes_;
  std::array<Planned, 8> planned_;
  std::size_t next_planned_ = 0;
};

/// Runs one inner call on a lane. `send` and `receive` are the addresses of its buffers. Returns an
/// MPI error code.
int run_inner(const InnerCall& call, const HierarchicalCall& hierarchical, PrivateComm& lane,
              std::byte* send, std::byte* receive);

template <class Visit>
void HierarchicalSide::visit(BlockRange range, Bytes offset, Bytes count, Visit visit) const {
  if (blocks.empty()) {
    visit(base == nullptr ? nullptr : base + range.begin * each + offset, count);
    return;
  }
  for (BlockIndex i = range.begin; i < range.end && count > 0; ++i) {
    const Block& block = blocks[static_cast<std::size_t>(i)];
    if (offset >= block.bytes) {
      offset -= block.bytes;
      continue;
    }
    const Bytes part = std::min(count, block.bytes - offset);
    visit(block.address + offset, part);
    count -= part;
    offset = 0;
  }
}

}  // namespace tutti
