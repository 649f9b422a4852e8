/// Runs the collectives between nodes: the MPI's own, or a schedule of Tutti.
#include <algorithm>

#include "run/hierarchical/mpi_hierarchical.hpp"

namespace tutti {

namespace {

/// Counts and displacements as int: none is above max_node_memory.
class Numbers {
 public:
  explicit Numbers(const std::vector<Bytes>& bytes, Bytes unit = 1) {
    for (const Bytes each : bytes) numbers_.push_back(static_cast<int>(each / unit));
  }
  [[nodiscard]] const int* data() const { return numbers_.data(); }
  [[nodiscard]] bool many() const { return numbers_.size() > 1; }
  /// The only count, or the first of equal ones; 0 if the buffer is not significant.
  [[nodiscard]] int first() const { return numbers_.empty() ? 0 : numbers_.front(); }

 private:
  std::vector<int> numbers_;
};

struct InnerBuffers {
  std::byte* send;
  std::byte* receive;
  Numbers sent, sent_at, received, received_at;
};

/// Moves data as bytes, packed in node memory, by the MPI's own collective.
int move(const InnerCall& call, const InnerBuffers& buffers, MPI_Comm comm) {
  const MPI_Datatype byte = mpi().byte;
  switch (call.collective) {
    case Collective::gather:
      return mpi().Gather(buffers.send, buffers.sent.first(), byte, buffers.receive,
                          buffers.received.first(), byte, call.root, comm);
    case Collective::gatherv:
      return mpi().Gatherv(buffers.send, buffers.sent.first(), byte, buffers.receive,
                           buffers.received.data(), buffers.received_at.data(), byte, call.root,
                           comm);
    case Collective::scatter:
      return mpi().Scatter(buffers.send, buffers.sent.first(), byte, buffers.receive,
                           buffers.received.first(), byte, call.root, comm);
    case Collective::scatterv:
      return mpi().Scatterv(buffers.send, buffers.sent.data(), buffers.sent_at.data(), byte,
                            buffers.receive, buffers.received.first(), byte, call.root, comm);
    case Collective::allgather:
      return mpi().Allgather(buffers.send, buffers.sent.first(), byte, buffers.receive,
                             buffers.received.first(), byte, comm);
    case Collective::allgatherv:
      return mpi().Allgatherv(buffers.send, buffers.sent.first(), byte, buffers.receive,
                              buffers.received.data(), buffers.received_at.data(), byte, comm);
    case Collective::alltoall:
      return mpi().Alltoall(buffers.send, buffers.sent.first(), byte, buffers.receive,
                            buffers.received.first(), byte, comm);
    case Collective::alltoallv:
      return mpi().Alltoallv(buffers.send, buffers.sent.data(), buffers.sent_at.data(), byte,
                             buffers.receive, buffers.received.data(), buffers.received_at.data(),
                             byte, comm);
    case Collective::bcast:
      return mpi().Bcast(buffers.send, buffers.sent.first(), byte, call.root, comm);
    default:
      return mpi().Barrier(comm);
  }
}

/// A rank with invalid arguments has no datatype to reduce with.
bool has_no_type(const InnerCall& call, const HierarchicalCall& hierarchical) {
  return reduces(call.collective) && hierarchical.is_dummy;
}

/// Reduces elements with the program's datatype and operation, by the MPI's own collective.
int combine(const InnerCall& call, const InnerBuffers& buffers,
            const HierarchicalCall& hierarchical, MPI_Comm comm) {
  if (has_no_type(call, hierarchical)) return MPI_SUCCESS;
  switch (call.collective) {
    case Collective::reduce:
      return mpi().Reduce(buffers.send, buffers.receive, buffers.sent.first(), hierarchical.type,
                          hierarchical.op, call.root, comm);
    case Collective::allreduce:
      return mpi().Allreduce(buffers.send, buffers.receive, buffers.sent.first(), hierarchical.type,
                             hierarchical.op, comm);
    case Collective::reduce_scatter:
      return mpi().Reduce_scatter(buffers.send, buffers.receive, buffers.sent.data(),
                                  hierarchical.type, hierarchical.op, comm);
    default:
      return mpi().Reduce_scatter_block(buffers.send, buffers.receive, buffers.sent.first(),
                                        hierarchical.type, hierarchical.op, comm);
  }
}

int run_native(const InnerCall& call, const InnerBuffers& buffers,
               const HierarchicalCall& hierarchical, PrivateComm& lane) {
  return reduces(call.collective) ? combine(call, buffers, hierarchical, lane.handle())
                                  : move(call, buffers, lane.handle());
}

/// Runs a gather or scatter by a schedule of Tutti.
int run_gather_scatter(const InnerCall& call, const InnerBuffers& buffers,
                       const HierarchicalCall& hierarchical, PrivateComm& lane,
                       const Specification& specification) {
  const bool gathers = is_gather(call.collective);
  GatherScatterCall inner;
  inner.collective = call.collective;
  inner.root = call.root;
  inner.comm = lane.handle();
  inner.block_buffer = gathers ? buffers.send : buffers.receive;
  inner.block_count = gathers ? buffers.sent.first() : buffers.received.first();
  inner.block_type = inner.root_type = mpi().byte;
  inner.root_buffer = gathers ? buffers.receive : buffers.send;
  const Numbers& counts = gathers ? buffers.received : buffers.sent;
  const Numbers& displacements = gathers ? buffers.received_at : buffers.sent_at;
  inner.blocks = is_irregular(call.collective) ? RankBlocks(counts.data(), displacements.data())
                                               : RankBlocks(counts.first());
  lane.begin(inner);
  if (!lane.learn_types(inner)) return MPI_ERR_TYPE;
  return lane.run(inner, specification, hierarchical.context);
}

RankBlocks blocks_of(const Numbers& counts, const Numbers& displacements) {
  return counts.many() ? RankBlocks(counts.data(), displacements.data())
                       : RankBlocks(counts.first());
}

/// Sets the buffers of a collective that moves data, other than gather and scatter.
void add_blocks(const InnerCall& call, const InnerBuffers& buffers, CollectiveCall& inner) {
  const bool irregular = is_irregular(call.collective);
  inner.send.address = buffers.send;
  inner.send.blocks =
      irregular ? blocks_of(buffers.sent, buffers.sent_at) : RankBlocks(buffers.sent.first());
  inner.receive.address = buffers.receive;
  inner.receive.blocks = irregular ? blocks_of(buffers.received, buffers.received_at)
                                   : RankBlocks(buffers.received.first());
  inner.send.type = inner.receive.type = mpi().byte;
  if (call.collective == Collective::bcast) {
    inner.receive = inner.send;
    inner.send.address = MPI_IN_PLACE;
  }
}

/// Sets the buffers of a reduction, in the program's elements. The send counts apply even if
/// nothing is received.
void add_vectors(const InnerCall& call, const InnerBuffers& buffers,
                 const HierarchicalCall& hierarchical, CollectiveCall& inner) {
  const bool irregular = is_irregular(call.collective);
  inner.op = hierarchical.op;
  inner.send.address = buffers.send;
  inner.receive.address = buffers.receive;
  inner.send.type = inner.receive.type = hierarchical.type;
  inner.send.blocks = inner.receive.blocks =
      irregular ? RankBlocks::counted(buffers.sent.data()) : RankBlocks(buffers.sent.first());
}

/// Runs any other collective by a schedule of Tutti.
int run_schedule(const InnerCall& call, const InnerBuffers& buffers,
                 const HierarchicalCall& hierarchical, PrivateComm& lane,
                 const Specification& specification) {
  CollectiveCall inner;
  inner.collective = call.collective;
  inner.root = call.root;
  inner.comm = lane.handle();
  if (reduces(call.collective)) {
    add_vectors(call, buffers, hierarchical, inner);
  } else {
    add_blocks(call, buffers, inner);
  }
  lane.begin(inner);
  if (has_no_type(call, hierarchical)) {
    lane.give_up();
    return MPI_SUCCESS;
  }
  if (!lane.collectives().learn_types(inner)) return MPI_ERR_TYPE;
  if (!lane.collectives().fits(inner, specification)) {
    lane.give_up();
    return run_native(call, buffers, hierarchical, lane);
  }
  return lane.collectives().run(inner, specification, hierarchical.context);
}

}  // namespace

int run_inner(const InnerCall& call, const HierarchicalCall& hierarchical, PrivateComm& lane,
              std::byte* send, std::byte* receive) {
  const Bytes unit = reduces(call.collective) ? hierarchical.call.unit : 1;
  const InnerBuffers buffers = {send,
                                receive,
                                Numbers(call.send.counts, unit),
                                Numbers(call.send.displacements),
                                Numbers(call.receive.counts, unit),
                                Numbers(call.receive.displacements)};
  if (hierarchical.inner != nullptr) {
    const Specification inner = between_nodes(*hierarchical.inner, call.collective);
    return is_gather_or_scatter(call.collective)
               ? run_gather_scatter(call, buffers, hierarchical, lane, inner)
               : run_schedule(call, buffers, hierarchical, lane, inner);
  }
  return run_native(call, buffers, hierarchical, lane);
}

}  // namespace tutti
