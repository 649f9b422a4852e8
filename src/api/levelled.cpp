/// From arguments to a call of the node level.
#include "api/levelled.hpp"

#include "run/mpi_sides.hpp"

namespace tutti {

int run_levelled(RootedCall& call, Communicator& communicator, const Decision& decision,
                 bool& refused) {
  int error = MPI_SUCCESS;
  LevelRunner* levels = communicator.levels(error);
  if (levels == nullptr) return error;
  PrivateComm& comm = *communicator.private_comm(error);
  const bool valid = looks_valid(call, communicator) && comm.learn_types(call);
  if (!valid && (call.root < 0 || call.root >= communicator.p())) {
    levels->skip();
    return levelled_natively;
  }
  LevelledCall levelled;
  levelled.call.leaders = decision.level.leaders;
  levelled.inner = decision.specification ? &*decision.specification : nullptr;
  levelled.knowledge.latency = communicator.machine().latency_in_bytes();
  levelled.knowledge.rate = 1 / communicator.machine().per_byte;
  SideMemory memory(comm.transport());
  const int described =
      levelled_rooted(call, communicator.rank(), communicator.p(), !valid, memory, levelled);
  error = levels->run(levelled, refused);
  if (refused) return error;
  if (!valid) return levelled_natively;
  if (error == MPI_SUCCESS) error = described;
  return error == MPI_SUCCESS ? memory.finish() : error;
}

}  // namespace tutti
