/// Runs calls through the memory of nodes, around collectives between them.
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

/// One side of a call at one rank: packed blocks that can be addressed in place. Without memory it
/// reads as zeros and takes anything, for a rank whose arguments are bad.
struct HierarchicalSide {
  struct Block {
    std::byte* address;
    Bytes bytes;
  };
  std::byte* base = nullptr;  ///< of blocks one after the other; null where they lie otherwise
  Bytes each = 0;             ///< bytes of a block, where all are equal and one after the other
  std::vector<Block> blocks;  ///< else where each lies
  Bytes bytes = 0;            ///< of all blocks

  /// Calls visit(address, bytes) for the stretches of the bytes [offset, offset + count) of these
  /// blocks, in their sequence.
  template <class Visit>
  void visit(BlockRange range, Bytes offset, Bytes count, Visit visit) const;
};

/// One call as it is run through nodes. `call.sizes` holds what this rank knows: of the irregular
/// calls that tell each other sizes (see told()), numbers in `tells`.
struct HierarchicalCall {
  HierarchicalProblem call;
  HierarchicalSide send;
  HierarchicalSide receive;
  std::vector<Bytes> own_sizes;
  bool is_dummy = false;  ///< the arguments are bad at this rank: takes part with zeros
  MPI_Datatype type{};    ///< of elements, where one reduces
  MPI_Op op{};
  /// What runs between nodes; none: the MPI's own collectives.
  const Specification* inner = nullptr;
  CallContext context = {};  ///< for that
};

/// The node level of one communicator.
class HierarchicalRunner {
 public:
  /// Collective over `comm`, which must outlive the runner. Returns an MPI error code.
  static int open(MPI_Comm comm, const NodeSettings& settings,
                  std::unique_ptr<HierarchicalRunner>& made);

  [[nodiscard]] SharedNode& node() { return *node_; }
  /// So many of SharedNode::further are the runner's; the rest is for others that use its turns.
  static constexpr int further_words = 17;
  /// What the signals of the node are at when all its ranks have left the last call.
  [[nodiscard]] NodeSignal::Count begin() const { return begin_; }

  /// Sees to it that a call this rank has begun is counted whatever ends it: an error before
  /// run(), or an exception. Else those of its node would wait for its signal in this and all later
  /// calls. Of no nodes it does nothing.
  class Turn {
   public:
    explicit Turn(HierarchicalRunner& levels) : Turn(&levels) {}
    explicit Turn(HierarchicalRunner* levels)
        : levels_(levels), begin_(levels == nullptr ? 0 : levels->begin()) {}
    ~Turn() {
      if (levels_ != nullptr && levels_->begin() == begin_) levels_->skip();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    HierarchicalRunner* levels_;
    NodeSignal::Count begin_;
  };

  /// Alike on all ranks.
  [[nodiscard]] bool is_prepared(int leaders) const;
  /// Makes the communicators between nodes for so many leaders, at the first such call; part of
  /// run(). Collective. Returns an MPI error code, which not all ranks may have.
  int prepare(int leaders);
  /// Frees what prepare() has made for so many leaders and no other number needs. Collective.
  void forget(int leaders);
  /// Collective. Returns an MPI error code; sets `refused` to the reason where the call must stay
  /// flat, alike on all ranks and before anything has moved. An error of one rank leaves no other
  /// waiting.
  int run(HierarchicalCall& hierarchical, std::string& refused);
  /// Counts a call that goes another way, or that this rank cannot take part in, or has taken part
  /// in by itself.
  void skip();
  /// The way, any number from 0 on, of the call that begins now, where ranks whose arguments are
  /// bad may not know it: they get it from another rank of their node, if one knows, and others
  /// tell it. On all ranks of the node, before run() or skip(). Returns an MPI error code.
  int broadcast_selection(bool knows, int& candidate);
  /// The first ranks of all nodes, by node; null on all other ranks, and where there is one node.
  /// Collective. Returns an MPI error code.
  int first_ranks(PrivateComm*& comm);

 private:
  explicit HierarchicalRunner(MPI_Comm comm) : comm_(comm) {}
  /// One rank of each node in each lane; null on all other ranks.
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
  NodeSignal::Count begin_ = 0;  ///< what the signals are at when all have left the last call
  NodeSignal::Count base_ = 0;   ///< of the plan's sequence_numbers above 0, which is begin_
  /// By the local number of the leader on each node: numbers of leaders have some in common.
  std::map<std::vector<int>, std::unique_ptr<PrivateComm>> communicators_;
  std::map<int, Lanes> lanes_;
  std::array<Planned, 8> planned_;
  std::size_t next_planned_ = 0;
};

/// Runs one call of a lane. `send` and `receive` are where its ends are. Returns an MPI error code.
int run_inner(const InnerCall& call, const HierarchicalCall& hierarchical, PrivateComm& lane,
              std::byte* send, std::byte* receive);

template <class Visit>
void HierarchicalSide::visit(BlockRange range, Bytes offset, Bytes count, Visit visit) const {
  if (blocks.empty()) {
    visit(base == nullptr ? nullptr : base + range.begin * each + offset, count);
    return;
  }
  for (int i = range.begin; i < range.end && count > 0; ++i) {
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
