/// Runs the collectives between nodes: the MPI's own, or a schedule of Tutti.
#include <algorithm>

#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/mpi/arguments.hpp"

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

/// A rank with invalid arguments has no datatype to reduce with.
bool has_no_type(const InnerCall& call, const HierarchicalCall& hierarchical) {
  return reduces(call.collective) && hierarchical.is_dummy;
}

/// Runs the MPI's own collective: on bytes, packed in node memory, or in a reduction on elements of
/// the program's datatype.
int run_native(const InnerCall& call, const InnerBuffers& buffers,
               const HierarchicalCall& hierarchical, PrivateComm& lane) {
  if (has_no_type(call, hierarchical)) return MPI_SUCCESS;
  const bool combines = reduces(call.collective);
  const bool is_bcast = call.collective == Collective::bcast;
  Arguments all;
  all.in = buffers.send;
  all.out = is_bcast ? buffers.send : buffers.receive;
  all.sent = {buffers.sent.first(), buffers.sent.data(), buffers.sent_at.data()};
  all.received = {buffers.received.first(), buffers.received.data(), buffers.received_at.data()};
  // The send counts apply even if nothing is received.
  if (combines || is_bcast) all.received = all.sent;
  all.type = combines ? hierarchical.type : mpi().byte;
  all.op = hierarchical.op;
  all.root = call.root;
  all.comm = lane.handle();
  return tutti::call(mpi(), call.collective, all);
}

RankBlocks blocks_of(const Numbers& counts, const Numbers& displacements) {
  return counts.many() ? RankBlocks(counts.data(), displacements.data())
                       : RankBlocks(counts.first());
}

/// Sets the buffers of a collective that moves data.
void add_blocks(const InnerCall& call, const InnerBuffers& buffers, MpiCall& inner) {
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
                 const HierarchicalCall& hierarchical, MpiCall& inner) {
  const bool irregular = is_irregular(call.collective);
  inner.op = hierarchical.op;
  inner.send.address = buffers.send;
  inner.receive.address = buffers.receive;
  inner.send.type = inner.receive.type = hierarchical.type;
  inner.send.blocks = inner.receive.blocks =
      irregular ? RankBlocks::counted(buffers.sent.data()) : RankBlocks(buffers.sent.first());
}

/// Runs a collective by a schedule of Tutti.
int run_schedule(const InnerCall& call, const InnerBuffers& buffers,
                 const HierarchicalCall& hierarchical, PrivateComm& lane,
                 const Specification& specification) {
  MpiCall inner;
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
  if (!lane.calls().learn_types(inner)) return MPI_ERR_TYPE;
  if (!lane.calls().fits(inner, specification)) {
    lane.give_up();
    return run_native(call, buffers, hierarchical, lane);
  }
  return lane.calls().run(inner, specification, hierarchical.context);
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
    return run_schedule(call, buffers, hierarchical, lane, inner);
  }
  return run_native(call, buffers, hierarchical, lane);
}

}  // namespace tutti
