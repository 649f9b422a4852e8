/// Checks arguments and describes calls for the report.
#include "api/gather_scatter_call.hpp"

#include <algorithm>

namespace tutti {

bool looks_valid(const GatherScatterCall& call, const Communicator& communicator) {
  if (call.root < 0 || call.root >= communicator.p()) return false;
  const bool at_root = communicator.rank() == call.root;
  if (call.in_place() && !at_root) return false;
  if (!call.in_place() && (call.block_count < 0 || call.block_type == mpi().type_null))
    return false;
  if (!at_root) return true;
  return call.root_type != mpi().type_null && call.blocks.are_given() &&
         call.blocks.are_counted(communicator.p());
}

namespace {

/// Bytes of the rank's block; none if its arguments are invalid.
std::optional<Bytes> known_bytes(const GatherScatterCall& call, const Communicator& communicator) {
  if (call.in_place() && !looks_valid(call, communicator)) return {};
  // A root whose block buffer is invalid knows the others' blocks by its root buffer.
  const MPI_Count count =
      call.in_place() ? call.blocks.count(communicator.rank()) : call.block_count;
  const auto type = call.in_place() ? call.root_type : call.block_type;
  MPI_Count size = 0;
  const bool is_known =
      count >= 0 && type != mpi().type_null && mpi().Type_size_x(type, &size) == MPI_SUCCESS;
  return is_known ? std::optional<Bytes>(count * size) : std::nullopt;
}

}  // namespace

std::optional<Bytes> common_block(const GatherScatterCall& call, const Communicator& communicator) {
  return is_irregular(call.collective) ? std::nullopt : known_bytes(call, communicator);
}

Bytes block_bytes(const GatherScatterCall& call, const Communicator& communicator) {
  return known_bytes(call, communicator).value_or(0);
}

void describe(const GatherScatterCall& call, CallRecord& record) {
  record.root = call.root;
  MPI_Count element = 0;
  if (record.rank != record.root) {
    mpi().Type_size_x(call.block_type, &element);
    record.own = call.block_count * element;
    return;
  }
  mpi().Type_size_x(call.root_type, &element);
  record.total = record.largest = 0;
  for (Rank rank = 0; rank < record.p; ++rank) {
    const Bytes bytes = call.blocks.count(rank) * element;
    record.total += bytes;
    record.largest = std::max(record.largest, bytes);
  }
  record.own = call.blocks.count(record.rank) * element;
}

}  // namespace tutti
