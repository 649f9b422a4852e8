/// MPI_Comm_free and MPI_Comm_disconnect: Tutti handles no calls on a communicator while they
/// delete its attributes.
#include <dlfcn.h>

#include <cstring>

#include "api/entry.hpp"
#include "run/mpi/end.hpp"

namespace tutti {

namespace {

/// Communicators that this thread is freeing; the delete functions of attributes may free others.
class Freeing {
 public:
  explicit Freeing(MPI_Comm comm) : comm_(comm), outer_(innermost_) { innermost_ = this; }
  ~Freeing() { innermost_ = outer_; }
  Freeing(const Freeing&) = delete;
  Freeing& operator=(const Freeing&) = delete;

  [[nodiscard]] static bool has(MPI_Comm comm) {
    const Freeing* one = innermost_;
    while (one != nullptr && one->comm_ != comm) one = one->outer_;
    return one != nullptr;
  }

 private:
  inline static constinit thread_local const Freeing* innermost_ = nullptr;
  MPI_Comm comm_;
  const Freeing* outer_;
};

using Free = int (*)(MPI_Comm*);

/// A tool behind the front forwards the call to the front's PMPI_ function: then `last` runs.
int free_by(Free next, Free last, MPI_Comm* comm) {
  if (comm == nullptr || Freeing::has(*comm)) return last(comm);
  // Some MPIs keep a communicator, with its attributes, until its nonblocking collectives end.
  if (*comm != mpi().comm_null) {
    if (Communicator* communicator = Communicator::known(*comm)) communicator->end_agreements();
  }
  const Freeing freeing(*comm);
  return next(comm);
}

/// For programs that link this library before their MPI.
int free_by_next(const char* name, Free last, MPI_Comm* comm) {
  Free next = nullptr;
  void* address = dlsym(RTLD_NEXT, name);
  std::memcpy(&next, &address, sizeof next);
  return free_by(next != nullptr ? next : last, last, comm);
}

}  // namespace

bool is_being_freed(MPI_Comm comm) { return is_end_of_mpi() || Freeing::has(comm); }

int free_comm(MPI_Comm* comm) { return free_by(next_functions().Comm_free, mpi().Comm_free, comm); }

int disconnect_comm(MPI_Comm* comm) {
  return free_by(next_functions().Comm_disconnect, mpi().Comm_disconnect, comm);
}

}  // namespace tutti

#pragma GCC visibility push(default)

int MPI_Comm_free(MPI_Comm* comm) {
  return tutti::free_by_next("MPI_Comm_free", tutti::mpi().Comm_free, comm);
}

int PMPI_Comm_free(MPI_Comm* comm) {
  return tutti::free_by(tutti::mpi().Comm_free, tutti::mpi().Comm_free, comm);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  return tutti::free_by_next("MPI_Comm_disconnect", tutti::mpi().Comm_disconnect, comm);
}

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  return tutti::free_by(tutti::mpi().Comm_disconnect, tutti::mpi().Comm_disconnect, comm);
}

#pragma GCC visibility pop
