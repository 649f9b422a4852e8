/// Finds the MPI library among the loaded objects.
#include "bench/mpi_functions.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

/// The first loaded object whose name begins with "libmpi", or null.
void* mpi_library() {
  void* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        const std::string_view path = object->dlpi_name;
        if (!path.substr(path.rfind('/') + 1).starts_with("libmpi")) return 0;
        void* handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        const bool defines = handle != nullptr && dlsym(handle, "PMPI_Gatherv") != nullptr;
        if (defines) *static_cast<void**>(result) = handle;
        return defines ? 1 : 0;
      },
      &found);
  return found;
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

Functions native_functions() {
  void* const library = mpi_library();
  Functions functions;
  find(library, "PMPI_Gather", functions.gather);
  find(library, "PMPI_Gatherv", functions.gatherv);
  find(library, "PMPI_Scatter", functions.scatter);
  find(library, "PMPI_Scatterv", functions.scatterv);
  find(library, "PMPI_Bcast", functions.bcast);
  find(library, "PMPI_Allgather", functions.allgather);
  find(library, "PMPI_Allgatherv", functions.allgatherv);
  find(library, "PMPI_Alltoall", functions.alltoall);
  find(library, "PMPI_Alltoallv", functions.alltoallv);
  find(library, "PMPI_Barrier", functions.barrier);
  find(library, "PMPI_Reduce", functions.reduce);
  find(library, "PMPI_Allreduce", functions.allreduce);
  find(library, "PMPI_Reduce_scatter", functions.reduce_scatter);
  find(library, "PMPI_Reduce_scatter_block", functions.reduce_scatter_block);
  return functions;
}

Functions tutti_functions() {
  return {TUTTI_Gather,         TUTTI_Gatherv,
          TUTTI_Scatter,        TUTTI_Scatterv,
          TUTTI_Bcast,          TUTTI_Allgather,
          TUTTI_Allgatherv,     TUTTI_Alltoall,
          TUTTI_Alltoallv,      TUTTI_Barrier,
          TUTTI_Reduce,         TUTTI_Allreduce,
          TUTTI_Reduce_scatter, TUTTI_Reduce_scatter_block};
}

Functions mpi_functions() {
  return {MPI_Gather,         MPI_Gatherv,
          MPI_Scatter,        MPI_Scatterv,
          MPI_Bcast,          MPI_Allgather,
          MPI_Allgatherv,     MPI_Alltoall,
          MPI_Alltoallv,      MPI_Barrier,
          MPI_Reduce,         MPI_Allreduce,
          MPI_Reduce_scatter, MPI_Reduce_scatter_block};
}

bool is_intercepted() {
  return dlsym(RTLD_DEFAULT, "MPI_Gatherv") != dlsym(mpi_library(), "MPI_Gatherv");
}

}  // namespace tutti::bench
