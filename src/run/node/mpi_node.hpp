/// The nodes of a communicator and the memory of this rank's own.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/nodes.hpp"
#include "run/mpi/functions.hpp"
#include "run/node/map.hpp"
#include "run/node/memory.hpp"
#include "run/node/signals.hpp"

namespace tutti {

/// Alike on all ranks of a communicator.
struct NodeSettings {
  std::optional<EmulatedNodes> emulated;
  Bytes memory = Bytes{64} << 20;  ///< at most so much for each node and communicator
  Bytes staging = 0;               ///< that a rank may stage between nodes; 0: no bound
};

/// The rank in the world of this process; `rank` where there is no world, or it is not of it.
[[nodiscard]] int world_rank(Rank rank);

/// Keeps the MPI going while a rank waits for another of its node, by looking for a message
/// without receiving it. Where the MPI finds out that a process has died, this fails or does not
/// return.
class MpiProgress final : public WhileWaiting {
 public:
  /// `comm` must return its errors.
  explicit MpiProgress(MPI_Comm comm) : comm_(comm) {}
  int progress() override;

 private:
  MPI_Comm comm_;
};

/// Frees the communicator that it owns.
class CommHandle {
 public:
  CommHandle() : comm_(mpi().comm_null) {}
  explicit CommHandle(MPI_Comm comm) : comm_(comm) {}
  CommHandle(CommHandle&& other) noexcept : comm_(other.release()) {}
  CommHandle& operator=(CommHandle&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~CommHandle();
  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] MPI_Comm* put() { return &comm_; }
  [[nodiscard]] MPI_Comm release() { return std::exchange(comm_, mpi().comm_null); }

 private:
  MPI_Comm comm_;
};

/// What the ranks of one node share for one communicator. A node is who can reach the same memory:
/// processes that MPI says share some, but that cannot open it, as in containers apart, are nodes
/// of their own.
class SharedNode {
 public:
  /// Collective over `comm`, a duplicate that must return its errors and outlive the node. Returns
  /// an MPI error code. One segment for each node of several ranks; communicators made meanwhile
  /// are freed again. Where all ranks know the nodes of the world from an earlier communicator none
  /// are made, and nodes are not found out again.
  static int open(MPI_Comm comm, const NodeSettings& settings, std::unique_ptr<SharedNode>& made);

  /// Alike on all ranks.
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  [[nodiscard]] int ranks() const { return ranks_; }  ///< of this node
  [[nodiscard]] int local() const { return local_; }  ///< of this rank among them
  /// What the ranks of this node have been able to share.
  [[nodiscard]] NodeSegment::Kind kind() const { return kind_; }
  /// Bytes of node memory for data that there may be; alike on all ranks.
  [[nodiscard]] Bytes max_capacity() const { return capacity_; }
  /// The memory of some node must be allocated before it is touched. Alike on all ranks.
  [[nodiscard]] bool grows() const { return grows_; }
  /// Bytes for data that can be used from the beginning; alike on all ranks.
  [[nodiscard]] Bytes sure_capacity() const { return sure_; }
  /// The same now. Where memory grows only the first ranks of the nodes know it.
  [[nodiscard]] Bytes capacity() const { return usable_; }
  /// Sees to it that this node's memory can be used for so many bytes of data. To be called by its
  /// first rank. False where the system has no more.
  [[nodiscard]] bool allocate(Bytes data) const;
  /// What the first ranks have agreed on: what can be used from now on, and at most.
  void set_capacity(Bytes usable, Bytes most) {
    usable_ = usable;
    capacity_ = most;
  }
  /// Begins at a page.
  [[nodiscard]] std::byte* data() const { return mapping_.data() + header_; }
  /// Room for `further_words` numbers of a local rank, which others may read after its signal.
  [[nodiscard]] std::int64_t* further(int local) const {
    return words_ + std::ptrdiff_t{local} * words_of_rank();
  }
  static constexpr int further_words = 32;
  /// Is there room for the sizes that ranks tell each other in some calls? They may take half of
  /// the memory. Alike on all ranks.
  [[nodiscard]] bool holds_sizes() const { return holds_sizes_; }
  /// That room: 2 p numbers of a local rank.
  [[nodiscard]] std::int64_t* exchanged_sizes(int local) const {
    return further(local) + further_words;
  }
  [[nodiscard]] NodeSignal& signal(int local) const { return signals_[local]; }
  /// Waits for a signal of this node. Returns 0 or an MPI error code.
  int wait(int local, NodeSignal::Count count);

 private:
  SharedNode(MPI_Comm comm, Rank rank, int p) : comm_(comm), rank_(rank), p_(p), progress_(comm) {}
  [[nodiscard]] std::ptrdiff_t words_of_rank() const {
    return (has_room_ ? 2 * std::ptrdiff_t{p_} : 0) + further_words;
  }
  [[nodiscard]] Bytes header_bytes() const;
  void lay_out(Bytes memory);
  int open_known(const NodeSettings& settings, bool& is_open);
  int pass_name(const Nodes& nodes, SegmentName& name);
  int find(const NodeSettings& settings);
  int join(const NodeSettings& settings, CommHandle& group);
  int share(const NodeSettings& settings, CommHandle group);
  int try_segment(MPI_Comm group, NodeSegment::Kind kind, bool& all, bool& own);
  [[nodiscard]] std::optional<NodeSegment> make_segment(NodeSegment::Kind kind) const;
  void map_segment(const SegmentName& name, std::optional<NodeSegment>& segment);
  void keep(std::optional<NodeSegment>& segment);
  void map_private();
  int agree(Rank lowest, const NodeSettings& settings);

  MPI_Comm comm_;
  Rank rank_;
  int p_;
  MpiProgress progress_;
  Nodes nodes_;
  int ranks_ = 1;
  int local_ = 0;
  NodeSegment::Kind kind_ = NodeSegment::Kind::anonymous;
  Bytes capacity_ = 0;
  Bytes sure_ = 0;
  Bytes usable_ = 0;
  bool grows_ = false;
  Bytes wanted_ = 0;  ///< all of the segment
  Bytes header_ = 0;
  bool has_room_ = false;  ///< for sizes, on this node
  bool is_usual_ = true;   ///< other communicators will find the same nodes
  bool holds_sizes_ = false;
  std::optional<NodeSegment> segment_;  ///< to allocate more of
  Mapping mapping_;
  NodeSignal* signals_ = nullptr;
  std::int64_t* words_ = nullptr;
};

}  // namespace tutti
