/// Valid arguments, and where errors go.
#include "api/rooted_call.hpp"

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

}  // namespace tutti
