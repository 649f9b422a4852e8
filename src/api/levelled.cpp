/// From arguments to a call of the node level.
#include "api/levelled.hpp"

#include <algorithm>

#include "run/level/mpi_sides.hpp"

namespace tutti {

namespace {

LevelledCall levelled_by(const Decision& decision, const Machine& machine) {
  LevelledCall levelled;
  levelled.call.leaders = std::max(1, decision.level.leaders);
  levelled.inner = decision.specification ? &*decision.specification : nullptr;
  levelled.knowledge.latency = machine.latency_in_bytes();
  levelled.knowledge.rate = 1 / machine.per_byte;
  return levelled;
}

/// Runs what `describe_call(attends, memory, levelled, refused)` describes.
template <class Call, class Describe>
int run_described(const Call& call, bool valid, Communicator& communicator, LevelRunner& levels,
                  LevelledCall& levelled, bool& refused, bool& is_native, Describe describe_call) {
  is_native = !valid;
  const bool has_no_part =
      has_root(call.collective) && (call.root < 0 || call.root >= communicator.p());
  if (!valid && has_no_part) {
    levels.skip();
    return MPI_SUCCESS;
  }
  int error = MPI_SUCCESS;
  SideMemory memory(communicator.private_comm(error)->transport());
  const int described = describe_call(!valid, memory, levelled);
  if (refused) {
    levels.skip();  // a rank whose arguments are bad does not know, and takes part
    return described;
  }
  error = levels.run(levelled, refused);
  if (refused || !valid) return error;
  if (error == MPI_SUCCESS) error = described;
  return error == MPI_SUCCESS ? memory.finish() : error;
}

}  // namespace

int run_levelled(RootedCall& call, Communicator& communicator, const Decision& decision,
                 bool& refused, bool& is_native) {
  int error = MPI_SUCCESS;
  LevelRunner* levels = communicator.levels(error);
  if (levels == nullptr) return error;
  const bool valid =
      looks_valid(call, communicator) && communicator.private_comm(error)->learn_types(call);
  LevelledCall levelled = levelled_by(decision, communicator.machine());
  return run_described(call, valid, communicator, *levels, levelled, refused, is_native,
                       [&](bool attends, SideMemory& memory, LevelledCall& described) {
                         return describe(call, communicator.rank(), communicator.p(), attends,
                                         memory, described);
                       });
}

int run_levelled(CollectiveCall& call, Communicator& communicator, const Decision& decision,
                 bool& refused, bool& is_native) {
  int error = MPI_SUCCESS;
  LevelRunner* levels = communicator.levels(error);
  if (levels == nullptr) return error;
  const bool valid = looks_valid(call, communicator) &&
                     communicator.private_comm(error)->collectives().learn_types(call);
  LevelledCall levelled = levelled_by(decision, communicator.machine());
  return run_described(call, valid, communicator, *levels, levelled, refused, is_native,
                       [&](bool attends, SideMemory& memory, LevelledCall& described) {
                         return describe(call, communicator.rank(), communicator.p(), attends,
                                         memory, described, refused);
                       });
}

}  // namespace tutti
