/// Finds the loaded MPI and its functions.
#include "run/mpi/functions.hpp"

#include <dlfcn.h>

#include <atomic>
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
void* find_data(void* library, const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  return address == nullptr ? dlsym(library, symbol) : address;
}

template <class Handle>
void fetch_data(void* library, const char* symbol, Handle& handle, MpiFunctions& all) {
  void* address = find_data(library, symbol);
  if (address == nullptr) all.missing = symbol;
  handle = static_cast<Handle>(address);
}

void fetch_handles(void* library, MpiFunctions& all) {
  fetch_data(library, "ompi_mpi_comm_null", all.comm_null, all);
  fetch_data(library, "ompi_mpi_comm_self", all.comm_self, all);
  fetch_data(library, "ompi_mpi_comm_world", all.comm_world, all);
  fetch_data(library, "ompi_mpi_datatype_null", all.type_null, all);
  fetch_data(library, "ompi_mpi_byte", all.byte, all);
  fetch_data(library, "ompi_mpi_packed", all.packed, all);
  fetch_data(library, "ompi_mpi_int64_t", all.int64, all);
  constexpr std::array combining = {"ompi_mpi_op_max",  "ompi_mpi_op_min",  "ompi_mpi_op_sum",
                                    "ompi_mpi_op_prod", "ompi_mpi_op_land", "ompi_mpi_op_band",
                                    "ompi_mpi_op_lor",  "ompi_mpi_op_bor",  "ompi_mpi_op_lxor",
                                    "ompi_mpi_op_bxor"};
  for (std::size_t i = 0; i < combining.size(); ++i) {
    fetch_data(library, combining[i], all.combining[i], all);
  }
  constexpr std::array others = {"ompi_mpi_op_maxloc", "ompi_mpi_op_minloc", "ompi_mpi_op_replace",
                                 "ompi_mpi_op_no_op", "ompi_mpi_op_null"};
  for (std::size_t i = 0; i < others.size(); ++i) {
    fetch_data(library, others[i], all.other_ops[i], all);
  }
  constexpr std::array integers = {"ompi_mpi_signed_char",   "ompi_mpi_unsigned_char",
                                   "ompi_mpi_short",         "ompi_mpi_unsigned_short",
                                   "ompi_mpi_int",           "ompi_mpi_unsigned",
                                   "ompi_mpi_long",          "ompi_mpi_unsigned_long",
                                   "ompi_mpi_long_long_int", "ompi_mpi_unsigned_long_long",
                                   "ompi_mpi_int8_t",        "ompi_mpi_int16_t",
                                   "ompi_mpi_int32_t",       "ompi_mpi_int64_t",
                                   "ompi_mpi_uint8_t",       "ompi_mpi_uint16_t",
                                   "ompi_mpi_uint32_t",      "ompi_mpi_uint64_t",
                                   "ompi_mpi_aint",          "ompi_mpi_offset",
                                   "ompi_mpi_count",         "ompi_mpi_integer",
                                   "ompi_mpi_integer1",      "ompi_mpi_integer2",
                                   "ompi_mpi_integer4",      "ompi_mpi_integer8"};
  for (std::size_t i = 0; i < integers.size(); ++i) {
    all.integers[i] = static_cast<MPI_Datatype>(find_data(library, integers[i]));
  }
  fetch_data(library, "ompi_mpi_errors_return", all.errors_return, all);
  fetch_data(library, "ompi_mpi_group_null", all.group_null, all);
  fetch_data(library, "ompi_mpi_info_null", all.info_null, all);
  fetch_data(library, "ompi_request_null", all.request_null, all);
}
#else
void fetch_handles(void*, MpiFunctions& all) {
  all.comm_null = MPI_COMM_NULL;
  all.comm_self = MPI_COMM_SELF;
  all.comm_world = MPI_COMM_WORLD;
  all.type_null = MPI_DATATYPE_NULL;
  all.byte = MPI_BYTE;
  all.packed = MPI_PACKED;
  all.int64 = MPI_INT64_T;
  all.combining = {MPI_MAX,  MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND,
                   MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  all.integers = {MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
                  MPI_SHORT,       MPI_UNSIGNED_SHORT,
                  MPI_INT,         MPI_UNSIGNED,
                  MPI_LONG,        MPI_UNSIGNED_LONG,
                  MPI_LONG_LONG,   MPI_UNSIGNED_LONG_LONG,
                  MPI_INT8_T,      MPI_INT16_T,
                  MPI_INT32_T,     MPI_INT64_T,
                  MPI_UINT8_T,     MPI_UINT16_T,
                  MPI_UINT32_T,    MPI_UINT64_T,
                  MPI_AINT,        MPI_OFFSET,
                  MPI_COUNT,       MPI_INTEGER,
                  MPI_INTEGER1,    MPI_INTEGER2,
                  MPI_INTEGER4,    MPI_INTEGER8};
  all.other_ops = {MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL};
  all.errors_return = MPI_ERRORS_RETURN;
  all.group_null = MPI_GROUP_NULL;
  all.info_null = MPI_INFO_NULL;
  all.request_null = MPI_REQUEST_NULL;
}
#endif

MpiFunctions look_up() {
  void* library = libmpi();
  MpiFunctions all;
#define TUTTI_MPI(name) fetch(library, "PMPI_" #name, all.name, all);
#define TUTTI_FUNCTION(collective, name, number, parameters) TUTTI_MPI(name)
#define TUTTI_LARGE_FUNCTION(collective, name, number, parameters) \
  fetch(library, "PMPI_" #name "_c", all.name##_c, all, false);
#include "core/collectives.inc"
#include "run/mpi/functions.inc"
#undef TUTTI_MPI
  fetch_handles(library, all);
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
