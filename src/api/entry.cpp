/// Call sites, the functions that stand in for the MPI, and error handlers.
#include "api/entry.hpp"

#include <utility>

namespace tutti {

namespace {

constinit thread_local const void* call_site = nullptr;

NativeFunctions functions_of_mpi() {
  NativeFunctions functions;
#define TUTTI_TAKE(name) functions.name = mpi().name;
#define TUTTI_FUNCTION(collective, name, number, parameters) TUTTI_TAKE(name)
#include "core/collectives.inc"
  TUTTI_NATIVE_OTHERS(TUTTI_TAKE)
#undef TUTTI_TAKE
  return functions;
}

}  // namespace

const NativeFunctions& native() {
  static const NativeFunctions functions = functions_of_mpi();
  return Inside::another() ? functions : next_functions();
}

NativeFunctions& next_functions() {
  static NativeFunctions functions = functions_of_mpi();
  return functions;
}

int raise(MPI_Comm comm, int error) {
  if (comm != mpi().comm_null) mpi().Comm_call_errhandler(comm, error);
  return error;
}

void set_call_site(const void* site) { call_site = site; }
const void* take_call_site() { return std::exchange(call_site, nullptr); }

}  // namespace tutti
