/// MPI_Finalize for programs that link this library before their MPI, or use the front.
#include <dlfcn.h>
#include <tutti/tutti.h>

#include <cstring>
#include <utility>

#include "api/communicator.hpp"
#include "api/hooks.hpp"
#include "run/mpi/end.hpp"

namespace tutti {

namespace {

/// Leaves it to the MPI to refuse a call of MPI_Finalize.
void prepare_if_running() {
  int initialized = 0;
  int finalized = 0;
  mpi().Initialized(&initialized);
  mpi().Finalized(&finalized);
  if (initialized != 0 && finalized == 0) prepare_end_of_mpi();
}

}  // namespace

void set_front(const void* address) { note_front(address); }

void note_end() { note_end_of_mpi(); }

int finalize_mpi() {
  static bool entered = false;
  prepare_if_running();
  // A tool behind the front forwards the call to the front's PMPI_Finalize.
  return std::exchange(entered, true) ? mpi().Finalize() : next_functions().Finalize();
}

}  // namespace tutti

#pragma GCC visibility push(default)

int MPI_Finalize() {
  tutti::prepare_if_running();
  decltype(&PMPI_Finalize) next = nullptr;
  void* address = dlsym(RTLD_NEXT, "MPI_Finalize");
  std::memcpy(&next, &address, sizeof next);
  return next != nullptr ? next() : tutti::mpi().Finalize();
}

int PMPI_Finalize() {
  tutti::prepare_if_running();
  return tutti::mpi().Finalize();
}

#pragma GCC visibility pop
