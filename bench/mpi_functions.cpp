/// Finds the MPI library among the loaded objects.
#include "bench/mpi_functions.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

/// The first loaded object whose name begins with that of an MPI library, or null.
void* mpi_library() {
  void* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        const std::string_view path = object->dlpi_name;
        const std::string_view file = path.substr(path.rfind('/') + 1);
        if (!file.starts_with("libmpi") && !file.starts_with("libsimgrid")) return 0;
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

CallSide side_of(Collective collective, void* address, MPI_Datatype type,
                 const std::vector<int>& counts, const std::vector<int>& displacements) {
  CallSide side;
  side.address = address;
  side.type = type;
  side.blocks = RankBlocks(counts.empty() ? 0 : counts.front());
  if (!is_irregular(collective) || counts.empty()) return side;
  side.blocks = RankBlocks::counted(counts.data());
  if (!displacements.empty()) side.blocks.place(displacements.data());
  return side;
}

Functions native_functions() {
  void* const library = mpi_library();
  Functions functions;
#define TUTTI_FUNCTION(collective, name, number, parameters) \
  find(library, "PMPI_" #name, functions.name);
#include "core/collectives.inc"
  return functions;
}

Functions tutti_functions() {
  return {
#define TUTTI_FUNCTION(collective, name, number, parameters) TUTTI_##name,
#include "core/collectives.inc"
  };
}

Functions mpi_functions() {
  return {
#define TUTTI_FUNCTION(collective, name, number, parameters) MPI_##name,
#include "core/collectives.inc"
  };
}

Functions program_functions() { return is_preloaded() ? mpi_functions() : tutti_functions(); }

bool is_preloaded() { return dlsym(RTLD_DEFAULT, "tutti_front") != nullptr; }

bool is_intercepted() {
  return dlsym(RTLD_DEFAULT, "MPI_Gatherv") != dlsym(mpi_library(), "MPI_Gatherv");
}

}  // namespace tutti::bench
