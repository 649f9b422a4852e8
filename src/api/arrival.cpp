/// The C functions TUTTI_Arrival_init, TUTTI_Arrival_edge and TUTTI_Arrival_finalize.
#include <tutti/tutti.h>

#include <new>

#include "api/communicator.hpp"
#include "api/entry.hpp"
#include "api/environment.hpp"

using tutti::raise_if;

namespace tutti {

namespace {

/// The communicator if TUTTI_Arrival_init was called on it, otherwise null.
Communicator* with_progress_hints(MPI_Comm comm) {
  Communicator* communicator = Communicator::known(comm);
  const bool has_progress_hints = communicator != nullptr && communicator->arrival() != nullptr &&
                                  communicator->arrival()->has_progress_hints();
  return has_progress_hints ? communicator : nullptr;
}

}  // namespace

}  // namespace tutti

int TUTTI_Arrival_init(MPI_Comm comm, double fraction) {
  if (comm == tutti::mpi().comm_null) return MPI_ERR_COMM;
  if (!(fraction > 0 && fraction <= 1)) return raise_if(comm, MPI_ERR_ARG);
  if (!tutti::environment().on) return MPI_SUCCESS;
  try {
    int error = MPI_SUCCESS;
    tutti::Communicator* communicator = tutti::Communicator::of(comm, error);
    if (communicator == nullptr) return raise_if(comm, error);
    if (communicator->is_inter()) return raise_if(comm, MPI_ERR_COMM);
    error = communicator->open_arrival();
    if (error == MPI_SUCCESS && communicator->arrival() == nullptr) error = MPI_ERR_OTHER;
    if (error == MPI_SUCCESS) communicator->arrival()->expect_progress_hints(fraction);
    return raise_if(comm, error);
  } catch (const std::bad_alloc&) {
    return raise_if(comm, MPI_ERR_NO_MEM);
  }
}

int TUTTI_Arrival_edge(MPI_Comm comm) {
  if (comm == tutti::mpi().comm_null) return MPI_ERR_COMM;
  if (!tutti::environment().on) return MPI_SUCCESS;
  try {
    const tutti::Communicator* communicator = tutti::with_progress_hints(comm);
    if (communicator == nullptr) return raise_if(comm, MPI_ERR_COMM);
    return raise_if(comm, communicator->arrival()->progress_hint());
  } catch (const std::bad_alloc&) {
    return raise_if(comm, MPI_ERR_NO_MEM);
  }
}

int TUTTI_Arrival_finalize(MPI_Comm comm) {
  if (comm == tutti::mpi().comm_null) return MPI_ERR_COMM;
  if (!tutti::environment().on) return MPI_SUCCESS;
  tutti::Communicator* communicator = tutti::with_progress_hints(comm);
  if (communicator == nullptr) return raise_if(comm, MPI_ERR_COMM);
  communicator->close_arrival();  // does not throw
  return MPI_SUCCESS;
}
