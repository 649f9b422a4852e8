/// The memory of a hierarchical call at one rank, as its program uses it.
#pragma once

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
    Bytes begin;  ///< in all blocks
    Bytes bytes;
  };
  std::byte* base = nullptr;  ///< of consecutive blocks; null if they are scattered
  std::vector<Block> blocks;  ///< scattered ones
  Bytes bytes = 0;            ///< of all blocks
};

/// One hierarchical call at one rank. `call.sizes` holds the sizes that this rank knows: those of
/// its arguments, until an exchange adds those of its node. In a bcast `receive` is the buffer of
/// the root too.
struct HierarchicalCall {
  HierarchicalProblem call;
  HierarchicalSide send;
  HierarchicalSide receive;
  bool is_dummy = false;  ///< this rank's arguments are invalid: it takes part with zeros
  MPI_Datatype type{};    ///< of elements, in reductions
  MPI_Op op{};
  /// The algorithm between nodes; null: the MPI's own collectives.
  const Specification* inner = nullptr;
  CallContext context = {};  ///< of the algorithm between nodes
};

/// The communicator of each lane, with one rank of each node; null on all other ranks.
using Lanes = std::vector<PrivateComm*>;

/// The memory, signals and lanes of one call.
class NodeBuffers final : public Buffers {
 public:
  /// The program's node memory begins at `memory`. Its sequence number 0 is `begin` of the node's
  /// signals, and n > 0 is base + n.
  NodeBuffers(SharedNode& node, std::byte* memory, const HierarchicalCall& hierarchical,
              const Program& program, const Lanes& lanes, NodeSignal::Count begin,
              NodeSignal::Count base)
      : node_(node),
        memory_(memory),
        hierarchical_(hierarchical),
        program_(program),
        lanes_(lanes),
        begin_(begin),
        base_(base) {}

  /// Programs that use node memory have no messages of their own.
  int find(const BufferRef&, Region&) override { return MPI_ERR_INTERN; }
  bool copy(const BufferRef& from, const BufferRef& to) override;
  int reduce(const BufferRef& from, const BufferRef& to) override;
  int run(const Operation& operation) override;

 private:
  [[nodiscard]] NodeSignal::Count count_of(int sequence) const {
    return sequence == 0 ? begin_ : base_ + static_cast<NodeSignal::Count>(sequence);
  }
  [[nodiscard]] std::byte* address_of(const InnerBuffer& buffer) const;

  SharedNode& node_;
  std::byte* memory_;
  const HierarchicalCall& hierarchical_;
  const Program& program_;
  const Lanes& lanes_;
  NodeSignal::Count begin_;
  NodeSignal::Count base_;
};

}  // namespace tutti
