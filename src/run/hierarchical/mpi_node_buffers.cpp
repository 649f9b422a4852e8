/// Copies and combines bytes in node memory, signals, and runs collectives between nodes: the MPI's
/// own, or a schedule of Tutti.
#include "run/hierarchical/mpi_node_buffers.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "run/call/mpi_apply.hpp"

namespace tutti {

namespace {

/// Calls visit(address, bytes) for each contiguous part of the bytes [offset, offset + count) of a
/// side, in sequence.
template <class Visit>
void for_each_part(const HierarchicalSide& side, Bytes offset, Bytes count, Visit visit) {
  if (side.blocks.empty()) return visit(side.base == nullptr ? nullptr : side.base + offset, count);
  auto block = std::ranges::partition_point(
      side.blocks, [offset](const auto& before) { return before.begin + before.bytes <= offset; });
  for (const Bytes end = offset + count; offset < end; ++block) {
    const Bytes part = std::min(end, block->begin + block->bytes) - offset;
    visit(block->address + (offset - block->begin), part);
    offset += part;
  }
}

/// Counts or displacements as int: none is above max_node_memory.
std::vector<int> to_ints(const std::vector<Bytes>& bytes, Bytes unit) {
  std::vector<int> numbers;
  for (const Bytes each : bytes) numbers.push_back(static_cast<int>(each / unit));
  return numbers;
}

/// A side with the only count or the first of equal ones, 0 if the buffer is not significant, and
/// with all if there are several.
CallSide side_of(Collective collective, std::byte* address, MPI_Datatype type,
                 const std::vector<int>& counts, const std::vector<int>& displacements) {
  CallSide side;
  side.address = address;
  side.type = type;
  side.blocks = RankBlocks(counts.empty() ? 0 : counts.front());
  if (!is_irregular(collective) || counts.size() < 2) return side;
  side.blocks = RankBlocks::counted(counts.data());
  if (!reduces(collective)) side.blocks.place(displacements.data());
  return side;
}

/// Runs a call by a schedule of Tutti, unless that would stage too much. Returns its error code if
/// it ran.
std::optional<int> run_schedule(MpiCall& call, PrivateComm& lane,
                                const Specification& specification, const CallContext& context) {
  lane.begin(call);
  if (!lane.learn_types(call)) return MPI_ERR_TYPE;
  if (lane.fits(call, specification)) return lane.run(call, specification, context);
  lane.give_up();
  return std::nullopt;
}

/// Runs one inner call on a lane. `send` and `receive` are the addresses of its buffers. Returns an
/// MPI error code.
int run_inner(const InnerCall& call, const HierarchicalCall& hierarchical, PrivateComm& lane,
              std::byte* send, std::byte* receive) {
  const bool combines = reduces(call.collective);
  const Bytes unit = combines ? hierarchical.call.unit : 1;
  const std::vector<int> sent = to_ints(call.send.counts, unit);
  const std::vector<int> sent_at = to_ints(call.send.displacements, 1);
  const std::vector<int> received = to_ints(call.receive.counts, unit);
  const std::vector<int> received_at = to_ints(call.receive.displacements, 1);
  const bool is_bcast = call.collective == Collective::bcast;
  // On bytes, packed in node memory, or in a reduction on elements of the program's datatype.
  const MPI_Datatype type = combines ? hierarchical.type : mpi().byte;
  MpiCall inner;
  inner.collective = call.collective;
  inner.root = call.root;
  inner.comm = lane.handle();
  inner.op = hierarchical.op;
  inner.send = side_of(call.collective, send, type, sent, sent_at);
  // The send counts apply even if nothing is received.
  inner.receive = combines || is_bcast
                      ? inner.send
                      : side_of(call.collective, receive, type, received, received_at);
  if (!is_bcast) inner.receive.address = receive;
  if (is_bcast) inner.send.address = MPI_IN_PLACE;
  if (hierarchical.inner != nullptr) {
    const Specification between = between_nodes(*hierarchical.inner, call.collective);
    const auto error = run_schedule(inner, lane, between, hierarchical.context);
    if (error) return *error;
  }
  return apply(mpi(), inner);
}

}  // namespace

bool NodeBuffers::copy(const BufferRef& from, const BufferRef& to) {
  const bool in = to.area == Area::node;
  const BufferRef& used = in ? from : to;
  std::byte* at = memory_ + (in ? to : from).offset;
  const HierarchicalSide& side =
      used.area == Area::send ? hierarchical_.send : hierarchical_.receive;
  for_each_part(side, used.offset, used.bytes, [&at, in](std::byte* address, Bytes bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    if (address == nullptr) {
      if (in) std::memset(at, 0, size);
    } else {
      std::memcpy(in ? at : address, in ? address : at, size);
    }
    at += bytes;
  });
  return true;
}

int NodeBuffers::reduce(const BufferRef& from, const BufferRef& to) {
  if (hierarchical_.is_dummy) return MPI_SUCCESS;
  return mpi().Reduce_local(memory_ + from.offset, memory_ + to.offset,
                            static_cast<int>(to.bytes / hierarchical_.call.unit),
                            hierarchical_.type, hierarchical_.op);
}

std::byte* NodeBuffers::address_of(const InnerBuffer& buffer) const {
  std::byte* const base = buffer.area == Area::node   ? memory_
                          : buffer.area == Area::send ? hierarchical_.send.base
                                                      : hierarchical_.receive.base;
  return base + buffer.at;
}

int NodeBuffers::run(const Operation& operation) {
  if (operation.kind == OperationKind::signal) {
    node_.signal(node_.local()).signal_to(count_of(operation.sequence));
    return MPI_SUCCESS;
  }
  if (operation.kind == OperationKind::await) {
    return node_.wait(operation.first, operation.last, count_of(operation.sequence));
  }
  const InnerCall& call = program_.calls[index(operation.call)];
  return run_inner(call, hierarchical_, *lanes_[index(call.lane)], address_of(call.send),
                   address_of(call.receive));
}

}  // namespace tutti
