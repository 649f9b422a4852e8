/// Finds the loaded MPI and its functions.
#include "run/mpi/functions.hpp"

#include <dlfcn.h>

#include <cstring>

#include "run/mpi/loaded_mpi.h"

namespace tutti {

namespace {

#if defined(OPEN_MPI)
constexpr const char* backend = "libtutti-openmpi.so";
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
constexpr const char* backend = "libtutti-mpich.so";
#else
constexpr const char* backend = "libtutti-mpiabi.so";
#endif

/// The handle of libmpi; the global scope if there is none, because the MPI is linked statically.
void* libmpi() {
  const char* path = tutti_find_mpi(backend).path;
  return path == nullptr ? RTLD_DEFAULT : dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
}

/// Takes functions from libmpi itself, because the global scope may hold those of a tool.
template <class Function>
void fetch(void* library, const char* symbol, Function& function, MpiFunctions& all,
           bool needed = true) {
  void* address = dlsym(library, symbol);
  if (address == nullptr && needed) all.missing = symbol;
  std::memcpy(&function, &address, sizeof function);
}

#if defined(OPEN_MPI)
/// Handles are addresses of data. An executable may hold the only valid copy.
void* find_data(void* library, const char* symbol, MpiFunctions& all) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr) address = dlsym(library, symbol);
  if (address == nullptr) all.missing = symbol;
  return address;
}

// The header's macros of handles name their data by this one, which looks it up here.
#pragma push_macro("OMPI_PREDEFINED_GLOBAL")
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, data) static_cast<type>(find_data(library, #data, all))
/// The header of an Open MPI without Fortran lacks MPI_INTEGER1 and its like.
#define TUTTI_INTEGER(bytes) OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_integer##bytes)
#else
#define TUTTI_INTEGER(bytes) MPI_INTEGER##bytes
#endif

void fetch_handles([[maybe_unused]] void* library, MpiFunctions& all) {
  all.integers = {MPI_SIGNED_CHAR,  MPI_UNSIGNED_CHAR,
                  MPI_SHORT,        MPI_UNSIGNED_SHORT,
                  MPI_INT,          MPI_UNSIGNED,
                  MPI_LONG,         MPI_UNSIGNED_LONG,
                  MPI_LONG_LONG,    MPI_UNSIGNED_LONG_LONG,
                  MPI_INT8_T,       MPI_INT16_T,
                  MPI_INT32_T,      MPI_INT64_T,
                  MPI_UINT8_T,      MPI_UINT16_T,
                  MPI_UINT32_T,     MPI_UINT64_T,
                  MPI_AINT,         MPI_OFFSET,
                  MPI_COUNT,        MPI_INTEGER,
                  TUTTI_INTEGER(1), TUTTI_INTEGER(2),
                  TUTTI_INTEGER(4), TUTTI_INTEGER(8)};
  all.missing = nullptr;  // an MPI may lack some of these
  all.comm_null = MPI_COMM_NULL;
  all.comm_self = MPI_COMM_SELF;
  all.comm_world = MPI_COMM_WORLD;
  all.type_null = MPI_DATATYPE_NULL;
  all.byte = MPI_BYTE;
  all.packed = MPI_PACKED;
  all.int64 = MPI_INT64_T;
  all.combining = {MPI_MAX,  MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND,
                   MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  all.other_ops = {MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL};
  all.errors_return = MPI_ERRORS_RETURN;
  all.group_null = MPI_GROUP_NULL;
  all.info_null = MPI_INFO_NULL;
  all.request_null = MPI_REQUEST_NULL;
}

#undef TUTTI_INTEGER
#if defined(OPEN_MPI)
#pragma pop_macro("OMPI_PREDEFINED_GLOBAL")
#endif

MpiFunctions look_up() {
  void* library = libmpi();
  MpiFunctions all;
  fetch_handles(library, all);
#define TUTTI_MPI(name) fetch(library, "PMPI_" #name, all.name, all);
#define TUTTI_FUNCTION(collective, name, number, parameters) TUTTI_MPI(name)
#define TUTTI_LARGE_FUNCTION(collective, name, number, parameters) \
  fetch(library, "PMPI_" #name "_c", all.name##_c, all, false);
#include "core/collectives.inc"
#include "run/mpi/functions.inc"
#undef TUTTI_MPI
  return all;
}

}  // namespace

namespace detail {

std::atomic<const MpiFunctions*> found_functions{nullptr};

const MpiFunctions& find_functions() {
  static const MpiFunctions functions = look_up();
  found_functions.store(&functions, std::memory_order_release);
  return functions;
}

}  // namespace detail

}  // namespace tutti
