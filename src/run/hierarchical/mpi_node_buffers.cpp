/// Copies and combines bytes in node memory, signals, and runs collectives between nodes.
#include "run/hierarchical/mpi_node_buffers.hpp"

#include <algorithm>
#include <cstring>

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
