/// The collectives between nodes: the MPI's own, or a schedule of Tutti's.
#include <algorithm>

#include "run/hierarchical/mpi_hierarchical.hpp"

namespace tutti {

namespace {

/// Counts and displacements as MPI takes them: none is above max_node_memory.
class Numbers {
 public:
  explicit Numbers(const std::vector<Bytes>& bytes, Bytes unit = 1) {
    for (const Bytes each : bytes) numbers_.push_back(static_cast<int>(each / unit));
  }
  [[nodiscard]] const int* data() const { return numbers_.data(); }
  /// The only one, or the first of equal ones; 0 where the end does not count.
  [[nodiscard]] bool many() const { return numbers_.size() > 1; }
  [[nodiscard]] int first() const { return numbers_.empty() ? 0 : numbers_.front(); }

 private:
  std::vector<int> numbers_;
};

struct BothEnds {
  std::byte* send;
  std::byte* receive;
  Numbers sent, sent_at, received, received_at;
};

/// Data moves as bytes: node memory holds it packed.
int move(const InnerCall& call, const BothEnds& ends, MPI_Comm comm) {
  const MPI_Datatype byte = mpi().byte;
  switch (call.collective) {
    case Collective::gather:
      return mpi().Gather(ends.send, ends.sent.first(), byte, ends.receive, ends.received.first(),
                          byte, call.root, comm);
    case Collective::gatherv:
      return mpi().Gatherv(ends.send, ends.sent.first(), byte, ends.receive, ends.received.data(),
                           ends.received_at.data(), byte, call.root, comm);
    case Collective::scatter:
      return mpi().Scatter(ends.send, ends.sent.first(), byte, ends.receive, ends.received.first(),
                           byte, call.root, comm);
    case Collective::scatterv:
      return mpi().Scatterv(ends.send, ends.sent.data(), ends.sent_at.data(), byte, ends.receive,
                            ends.received.first(), byte, call.root, comm);
    case Collective::allgather:
      return mpi().Allgather(ends.send, ends.sent.first(), byte, ends.receive,
                             ends.received.first(), byte, comm);
    case Collective::allgatherv:
      return mpi().Allgatherv(ends.send, ends.sent.first(), byte, ends.receive,
                              ends.received.data(), ends.received_at.data(), byte, comm);
    case Collective::alltoall:
      return mpi().Alltoall(ends.send, ends.sent.first(), byte, ends.receive, ends.received.first(),
                            byte, comm);
    case Collective::alltoallv:
      return mpi().Alltoallv(ends.send, ends.sent.data(), ends.sent_at.data(), byte, ends.receive,
                             ends.received.data(), ends.received_at.data(), byte, comm);
    case Collective::bcast:
      return mpi().Bcast(ends.send, ends.sent.first(), byte, call.root, comm);
    default:
      return mpi().Barrier(comm);
  }
}

/// Whose arguments are bad has no type that others could combine by.
bool has_no_type(const InnerCall& call, const HierarchicalCall& hierarchical) {
  return reduces(call.collective) && hierarchical.is_dummy;
}

/// Elements stay elements, with their operation.
int combine(const InnerCall& call, const BothEnds& ends, const HierarchicalCall& hierarchical,
            MPI_Comm comm) {
  if (has_no_type(call, hierarchical)) return MPI_SUCCESS;
  switch (call.collective) {
    case Collective::reduce:
      return mpi().Reduce(ends.send, ends.receive, ends.sent.first(), hierarchical.type,
                          hierarchical.op, call.root, comm);
    case Collective::allreduce:
      return mpi().Allreduce(ends.send, ends.receive, ends.sent.first(), hierarchical.type,
                             hierarchical.op, comm);
    case Collective::reduce_scatter:
      return mpi().Reduce_scatter(ends.send, ends.receive, ends.sent.data(), hierarchical.type,
                                  hierarchical.op, comm);
    default:
      return mpi().Reduce_scatter_block(ends.send, ends.receive, ends.sent.first(),
                                        hierarchical.type, hierarchical.op, comm);
  }
}

int run_native(const InnerCall& call, const BothEnds& ends, const HierarchicalCall& hierarchical,
               PrivateComm& lane) {
  return reduces(call.collective) ? combine(call, ends, hierarchical, lane.handle())
                                  : move(call, ends, lane.handle());
}

bool is_rooted(Collective collective) {
  return is_gather(collective) || collective == Collective::scatter ||
         collective == Collective::scatterv;
}

/// A gather or scatter by a schedule of Tutti's.
int run_gather_scatter(const InnerCall& call, const BothEnds& ends,
                       const HierarchicalCall& hierarchical, PrivateComm& lane,
                       const Specification& specification) {
  const bool gathers = is_gather(call.collective);
  GatherScatterCall inner;
  inner.collective = call.collective;
  inner.root = call.root;
  inner.comm = lane.handle();
  inner.block_buffer = gathers ? ends.send : ends.receive;
  inner.block_count = gathers ? ends.sent.first() : ends.received.first();
  inner.block_type = inner.root_type = mpi().byte;
  inner.root_buffer = gathers ? ends.receive : ends.send;
  const Numbers& counts = gathers ? ends.received : ends.sent;
  const Numbers& displacements = gathers ? ends.received_at : ends.sent_at;
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

/// The ends of a movement that is no gather or scatter.
void add_blocks(const InnerCall& call, const BothEnds& ends, CollectiveCall& inner) {
  const bool irregular = is_irregular(call.collective);
  inner.send.address = ends.send;
  inner.send.blocks =
      irregular ? blocks_of(ends.sent, ends.sent_at) : RankBlocks(ends.sent.first());
  inner.receive.address = ends.receive;
  inner.receive.blocks =
      irregular ? blocks_of(ends.received, ends.received_at) : RankBlocks(ends.received.first());
  inner.send.type = inner.receive.type = mpi().byte;
  if (call.collective == Collective::bcast) {
    inner.receive = inner.send;
    inner.send.address = MPI_IN_PLACE;
  }
}

/// Vectors of the program's own elements: what is sent tells how many, also where nothing is
/// received.
void add_vectors(const InnerCall& call, const BothEnds& ends, const HierarchicalCall& hierarchical,
                 CollectiveCall& inner) {
  const bool irregular = is_irregular(call.collective);
  inner.op = hierarchical.op;
  inner.send.address = ends.send;
  inner.receive.address = ends.receive;
  inner.send.type = inner.receive.type = hierarchical.type;
  inner.send.blocks = inner.receive.blocks =
      irregular ? RankBlocks::counted(ends.sent.data()) : RankBlocks(ends.sent.first());
}

/// Any other collective by a schedule of Tutti's.
int run_schedule(const InnerCall& call, const BothEnds& ends, const HierarchicalCall& hierarchical,
                 PrivateComm& lane, const Specification& specification) {
  CollectiveCall inner;
  inner.collective = call.collective;
  inner.root = call.root;
  inner.comm = lane.handle();
  if (reduces(call.collective)) {
    add_vectors(call, ends, hierarchical, inner);
  } else {
    add_blocks(call, ends, inner);
  }
  lane.begin(inner);
  if (has_no_type(call, hierarchical)) {
    lane.give_up();
    return MPI_SUCCESS;
  }
  if (!lane.collectives().learn_types(inner)) return MPI_ERR_TYPE;
  if (!lane.collectives().fits(inner, specification)) {
    lane.give_up();
    return run_native(call, ends, hierarchical, lane);
  }
  return lane.collectives().run(inner, specification, hierarchical.context);
}

}  // namespace

int run_inner(const InnerCall& call, const HierarchicalCall& hierarchical, PrivateComm& lane,
              std::byte* send, std::byte* receive) {
  const Bytes unit = reduces(call.collective) ? hierarchical.call.unit : 1;
  const BothEnds ends = {send,
                         receive,
                         Numbers(call.send.counts, unit),
                         Numbers(call.send.displacements),
                         Numbers(call.receive.counts, unit),
                         Numbers(call.receive.displacements)};
  if (hierarchical.inner != nullptr) {
    const Specification inner = between_nodes(*hierarchical.inner, call.collective);
    return is_rooted(call.collective) ? run_gather_scatter(call, ends, hierarchical, lane, inner)
                                      : run_schedule(call, ends, hierarchical, lane, inner);
  }
  return run_native(call, ends, hierarchical, lane);
}

}  // namespace tutti
