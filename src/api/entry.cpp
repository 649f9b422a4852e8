/// Call sites, the functions that stand in for the MPI, and error handlers.
#include "api/entry.hpp"

#include <utility>

namespace tutti {

namespace {

constinit thread_local const void* call_site = nullptr;

}  // namespace

MpiFunctions& next_functions() {
  static MpiFunctions functions = mpi();
  return functions;
}

int raise(MPI_Comm comm, int error) {
  if (comm != mpi().comm_null) mpi().Comm_call_errhandler(comm, error);
  return error;
}

void set_call_site(const void* site) { call_site = site; }
const void* take_call_site() { return std::exchange(call_site, nullptr); }

}  // namespace tutti
