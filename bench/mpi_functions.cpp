/// Finds the MPI library among the loaded objects.
#include "bench/mpi_functions.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

/// The first loaded object whose name begins with one of the names and that provides an MPI, or
/// null.
void* library_of(std::initializer_list<std::string_view> names) {
  struct Search {
    std::initializer_list<std::string_view> names;
    void* found = nullptr;
  } search{names};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        auto& all = *static_cast<Search*>(result);
        const std::string_view path = object->dlpi_name;
        const std::string_view file = path.substr(path.rfind('/') + 1);
        if (!std::ranges::any_of(all.names, [&](auto name) { return file.starts_with(name); })) {
          return 0;
        }
        void* handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        const bool defines = handle != nullptr && dlsym(handle, "PMPI_Gatherv") != nullptr;
        if (defines) all.found = handle;
        return defines ? 1 : 0;
      },
      &search);
  return search.found;
}

void* mpi_library() { return library_of({"libmpi", "libsimgrid"}); }

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
  // What SimGrid's MPI lacks is in Tutti's library for it, whose dependency has the rest.
  void* const library = library_of({"libmpi", "libtutti-simgrid.so"});
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
