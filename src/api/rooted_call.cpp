/// Valid arguments, where errors go, and what the report keeps.
#include "api/rooted_call.hpp"

#include <algorithm>

#include "run/clock.hpp"

namespace tutti {

bool looks_valid(const RootedCall& call, const Communicator& communicator) {
  if (call.root < 0 || call.root >= communicator.p()) return false;
  const bool at_root = communicator.rank() == call.root;
  if (call.in_place() && !at_root) return false;
  if (!call.in_place() && (call.own_count < 0 || call.own_type == mpi().type_null)) return false;
  if (!at_root) return true;
  return call.all_type != mpi().type_null && call.blocks.are_given() &&
         call.blocks.are_counted(communicator.p());
}

int raise(MPI_Comm comm, int error) {
  if (comm != mpi().comm_null) mpi().Comm_call_errhandler(comm, error);
  return error;
}

void record_rooted(const RootedCall& call, const Communicator& communicator, CallRecord record) {
  record.collective = call.collective;
  record.communicator = communicator.id();
  record.rank = communicator.rank();
  record.p = communicator.p();
  record.root = call.root;
  record.exit = monotonic_seconds();
  MPI_Count element = 0;
  if (record.rank == record.root) {
    mpi().Type_size_x(call.all_type, &element);
    record.total = record.largest = 0;
    for (Rank rank = 0; rank < record.p; ++rank) {
      const Bytes bytes = call.blocks.count(rank) * element;
      record.total += bytes;
      record.largest = std::max(record.largest, bytes);
    }
    record.own = call.blocks.count(record.rank) * element;
  } else {
    mpi().Type_size_x(call.own_type, &element);
    record.own = call.own_count * element;
  }
  record_call(record);
}

}  // namespace tutti
