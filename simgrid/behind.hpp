/// The functions of SimGrid's MPI that this flavour replaces.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <cstdint>

namespace tutti::simgrid {

/// A function of SimGrid's MPI behind the definition of the same name in this library.
template <class Function>
Function behind(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Whether a return address is in SimGrid's library: MPI_X of a program gets to PMPI_X there, while
/// Tutti calls PMPI_X itself.
inline bool is_in_simgrid(const void* address) {
  static const auto object = [] {
    struct Found {
      std::uintptr_t begin = 0;
      std::uintptr_t end = 0;
    } found;
    Dl_info info{};
    dladdr(dlsym(RTLD_NEXT, "PMPI_Init"), &info);
    found.begin = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    dl_iterate_phdr(
        [](dl_phdr_info* each, std::size_t, void* result) {
          auto& own = *static_cast<Found*>(result);
          for (int i = 0; i < each->dlpi_phnum; ++i) {
            const ElfW(Phdr)& segment = each->dlpi_phdr[i];
            if (each->dlpi_addr != own.begin || segment.p_type != PT_LOAD) continue;
            own.end = each->dlpi_addr + segment.p_vaddr + segment.p_memsz;
          }
          return 0;
        },
        &found);
    return found;
  }();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return object.begin <= at && at < object.end;
}

}  // namespace tutti::simgrid
