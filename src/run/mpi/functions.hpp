/// The functions of the MPI that the program has loaded. They are found at run time, so that one
/// file serves programs that link to their MPI or load it in any way.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>

namespace tutti {

// The kinds of parameters in collectives.inc: as types of their own, with the parameter lists as
// function types, and as the types of functions with int counts and with large ones.
namespace kinds {
struct In {};
struct Out {};
struct Count {};
struct Counts {};
struct Displacements {};
struct Type {};
struct Types {};
struct Op {};
struct Root {};
struct Comm {};
#define TUTTI_FUNCTION(name, function, number, parameters) using function = void parameters;
#include "core/collectives.inc"
}  // namespace kinds
namespace parameters {
using In = const void*;
using Out = void*;
using Type = MPI_Datatype;
using Types = const MPI_Datatype*;
using Op = MPI_Op;
using Root = int;
using Comm = MPI_Comm;
}  // namespace parameters
namespace small {
using namespace parameters;
using Count = int;
using Counts = const int*;
using Displacements = const int*;
}  // namespace small
namespace large {
using namespace parameters;
using Count = MPI_Count;
using Counts = const MPI_Count*;
using Displacements = const MPI_Aint*;

/// The collectives with large counts. MPIs before version 4 lack them, and their headers do not
/// declare them.
struct Functions {
#define TUTTI_LARGE_FUNCTION(name, function, number, parameters) \
  int(*function##_c) parameters = nullptr;
#include "core/collectives.inc"
};
}  // namespace large

/// Functions by their names without PMPI_, and the handles that some MPIs keep as data in their
/// library. Both come from the handle of the loaded libmpi, because direct references and
/// dlsym(RTLD_NEXT) do not reach an MPI that was loaded privately, as mpi4py does.
struct MpiFunctions : large::Functions {
#define TUTTI_MPI(name) decltype(&PMPI_##name) name = nullptr;
#define TUTTI_FUNCTION(collective, name, number, parameters) TUTTI_MPI(name)
#include "core/collectives.inc"
#include "run/mpi/functions.inc"
#undef TUTTI_MPI

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
  /// The predefined operations that combine values and commute; the indices of some follow.
  std::array<MPI_Op, 10> combining{};
  static constexpr std::size_t max = 0, sum = 2, product = 3, bitwise_or = 7;
  /// The other predefined operations, and MPI_OP_NULL.
  std::array<MPI_Op, 5> other_ops{};
  static constexpr std::size_t no_op = 3;
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
