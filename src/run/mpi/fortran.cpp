/// Converts handles by the MPI's own functions, and finds the addresses of MPI_IN_PLACE and
/// MPI_BOTTOM.
#include "run/mpi/fortran.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace tutti {

namespace {

/// The addresses of the loaded MPI that stand for MPI_IN_PLACE and MPI_BOTTOM. An executable may
/// hold the only valid copy. Null if the MPI has no such variable, or no Fortran.
struct Sentinels {
  std::array<const void*, 2> in_place{};
  std::array<const void*, 2> bottom{};
};

#if defined(OPEN_MPI)
Sentinels find_sentinels() {
  const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  return {{find("mpi_fortran_in_place_")}, {find("mpi_fortran_bottom_")}};
}
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
/// MPICH keeps addresses for mpif.h and the module mpi, and has variables for mpi_f08.
Sentinels find_sentinels() {
  const auto kept = [](const char* name) -> const void* {
    void* const* const address = static_cast<void* const*>(dlsym(RTLD_DEFAULT, name));
    return address == nullptr ? nullptr : *address;
  };
  const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  return {{kept("MPIR_F_MPI_IN_PLACE"), find("MPIR_F08_MPI_IN_PLACE")},
          {kept("MPIR_F_MPI_BOTTOM"), find("MPIR_F08_MPI_BOTTOM")}};
}
#else
Sentinels find_sentinels() { return {}; }
#endif

}  // namespace

// Open MPI has functions for this, and a privately loaded MPI the only ones; MPICH has macros.
#if defined(OPEN_MPI)
#define TUTTI_OF_MPI(function) mpi().function
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
#define TUTTI_OF_MPI(function) MPI_##function
#endif

#if defined(TUTTI_OF_MPI)
#define TUTTI_FROM_FORTRAN(name, Handle, function)     \
  int name##_from_fortran(MPI_Fint from, Handle& to) { \
    to = TUTTI_OF_MPI(function)(from);                 \
    return MPI_SUCCESS;                                \
  }
MPI_Fint comm_to_fortran(MPI_Comm comm) { return TUTTI_OF_MPI(Comm_c2f)(comm); }
#else
#define TUTTI_FROM_FORTRAN(name, Handle, function) \
  int name##_from_fortran(MPI_Fint, Handle&) { return MPI_ERR_UNSUPPORTED_OPERATION; }
MPI_Fint comm_to_fortran(MPI_Comm) { return 0; }
#endif

TUTTI_FROM_FORTRAN(comm, MPI_Comm, Comm_f2c)
TUTTI_FROM_FORTRAN(type, MPI_Datatype, Type_f2c)
TUTTI_FROM_FORTRAN(op, MPI_Op, Op_f2c)
TUTTI_FROM_FORTRAN(window, MPI_Win, Win_f2c)

void* buffer_from_fortran(void* address) {
  // Looked up after MPI_Init, which sets MPICH's addresses.
  static const Sentinels sentinels = find_sentinels();
  const auto is_one_of = [address](const std::array<const void*, 2>& all) {
    return address != nullptr && std::ranges::find(all, address) != all.end();
  };
  if (is_one_of(sentinels.in_place)) return MPI_IN_PLACE;
  return is_one_of(sentinels.bottom) ? MPI_BOTTOM : address;
}

}  // namespace tutti
