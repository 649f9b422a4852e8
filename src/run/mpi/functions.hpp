/// The functions of the MPI that the program has loaded. They are found at run time, so that one
/// file serves programs that link to their MPI or load it in any way.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>

namespace tutti {

/// Types of the large-count forms, which headers before MPI 4 do not declare.
using GatherLarge = int (*)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                            int, MPI_Comm);
using GathervLarge = int (*)(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count[],
                             const MPI_Aint[], MPI_Datatype, int, MPI_Comm);
using AllgatherLarge = int (*)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                               MPI_Comm);
using AllgathervLarge = int (*)(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count[],
                                const MPI_Aint[], MPI_Datatype, MPI_Comm);
using AlltoallvLarge = int (*)(const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype,
                               void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype, MPI_Comm);
using AlltoallwLarge = int (*)(const void*, const MPI_Count[], const MPI_Aint[],
                               const MPI_Datatype[], void*, const MPI_Count[], const MPI_Aint[],
                               const MPI_Datatype[], MPI_Comm);
using AllreduceLarge = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
using ReduceLarge = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
using ReduceScatterLarge = int (*)(const void*, void*, const MPI_Count[], MPI_Datatype, MPI_Op,
                                   MPI_Comm);
using BcastLarge = int (*)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
using ScattervLarge = int (*)(const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype, void*,
                              MPI_Count, MPI_Datatype, int, MPI_Comm);

/// Functions by their names without PMPI_, and the handles that some MPIs keep as data in their
/// library. Both come from the handle of the loaded libmpi, because direct references and
/// dlsym(RTLD_NEXT) do not reach an MPI that was loaded privately, as mpi4py does.
struct MpiFunctions {
#define TUTTI_MPI(name) decltype(&PMPI_##name) name = nullptr;
#define TUTTI_MPI_LARGE(name, type) type name = nullptr;
#include "run/mpi/functions.inc"
#undef TUTTI_MPI
#undef TUTTI_MPI_LARGE

  MPI_Comm comm_null{};
  MPI_Comm comm_self{};
  MPI_Comm comm_world{};
  MPI_Datatype type_null{};
  MPI_Datatype byte{};
  MPI_Datatype packed{};
  MPI_Datatype int64{};
  MPI_Errhandler errors_return{};
  MPI_Group group_null{};
  MPI_Info info_null{};
  MPI_Request request_null{};
  /// The predefined operations that combine values and commute; the first is MPI_MAX.
  std::array<MPI_Op, 10> combining{};
  /// The other predefined operations, and MPI_OP_NULL.
  std::array<MPI_Op, 5> other_ops{};
  /// The predefined integers of C and Fortran; null where an MPI has none.
  std::array<MPI_Datatype, 26> integers{};

  /// A function that the loaded MPI lacks, or null.
  const char* missing = nullptr;
};

namespace detail {
extern std::atomic<const MpiFunctions*> found_functions;
const MpiFunctions& find_functions();
}  // namespace detail

/// The functions of the loaded MPI. Found once, at the first call.
[[nodiscard]] inline const MpiFunctions& mpi() {
  const MpiFunctions* found = detail::found_functions.load(std::memory_order_acquire);
  return found != nullptr ? *found : detail::find_functions();
}

}  // namespace tutti
