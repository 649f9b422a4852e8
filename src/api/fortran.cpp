/// The Fortran functions for arrivals, persistent forms, distances, shared results and one-sided
/// collectives, with the symbol names of the compilers on Linux.
#include <dlfcn.h>
#include <tutti/tutti.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <tuple>

#include "api/hooks.hpp"
#include "api/parameters.hpp"
#include "run/mpi/functions.hpp"

#if !defined(OPEN_MPI) && !defined(MPICH_VERSION) && !defined(I_MPI_VERSION)
/// INTEGER of Fortran, which headers of the standard ABI need not declare.
using MPI_Fint = int;
#endif

namespace tutti::fortran {

// Conversions of handles; each returns an MPI error code, also if there are none (the standard
// ABI). Open MPI has functions for this, and a privately loaded MPI the only ones; MPICH has
// macros.
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

static_assert(sizeof(MPI_Fint) == sizeof(int), "integers are passed on as they are");
static_assert(sizeof(MPI_Aint) == sizeof(TUTTI_Request), "a request is an address");

/// A handle, which `convert` turns into that of C.
template <class Handle, int (*convert)(MPI_Fint, Handle&)>
struct FortranHandle {
  MPI_Fint value;
};

// The kinds of parameters (see collectives.inc). Fortran passes all by reference.
using In = void*;
using Out = void*;
using Data = void*;  ///< of a one-sided collective
using Count = const MPI_Fint&;
using Counts = const MPI_Fint*;
using Displacements = const MPI_Fint*;
using Root = const MPI_Fint&;
using Comm = const FortranHandle<MPI_Comm, comm_from_fortran>&;
using Type = const FortranHandle<MPI_Datatype, type_from_fortran>&;
using Op = const FortranHandle<MPI_Op, op_from_fortran>&;
using Win = const FortranHandle<MPI_Win, window_from_fortran>&;
using Fraction = const double&;
using Displacement = const MPI_Aint&;  ///< in a window
using Window = const MPI_Fint&;        ///< of Tutti
using Mode = const MPI_Fint&;
using Number = const long long&;
using Numbers = long long*;  ///< the function sets it, as the ones below
using Integer = MPI_Fint*;
using Result = void**;
using Held = void* const*;  ///< a result
using Request = MPI_Aint*;  ///< an integer of MPI_ADDRESS_KIND, 0 for none

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
/// MPICH keeps addresses for mpif.h and the module mpi, and has variables for mpi_f08. The first
/// call from Fortran sets the addresses; MPI_Init in C and in mpi_f08 does not.
Sentinels find_sentinels() {
  auto* const needs_addresses = static_cast<int*>(dlsym(RTLD_DEFAULT, "MPIR_F_NeedInit"));
  void* const set_addresses = dlsym(RTLD_DEFAULT, "mpirinitf_");
  if (needs_addresses != nullptr && *needs_addresses != 0 && set_addresses != nullptr) {
    reinterpret_cast<void (*)()>(set_addresses)();
    *needs_addresses = 0;
  }
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

/// Those of the process, once the MPI's Fortran is loaded.
Sentinels known_sentinels() {
  static std::mutex mutex;
  static Sentinels found;
  static std::atomic<bool> is_complete = false;
  if (is_complete.load(std::memory_order_acquire)) return found;
  const std::lock_guard lock(mutex);
  if (is_complete.load(std::memory_order_relaxed)) return found;
  found = find_sentinels();
  is_complete.store(found.in_place[0] != nullptr, std::memory_order_release);
  return found;
}

/// Converts a buffer: in mpif.h and the modules, MPI_IN_PLACE and MPI_BOTTOM are variables of their
/// own.
void* buffer_from_fortran(void* address) {
  const Sentinels sentinels = known_sentinels();
  const auto is_one_of = [address](const std::array<const void*, 2>& all) {
    return address != nullptr && std::ranges::find(all, address) != all.end();
  };
  if (is_one_of(sentinels.in_place)) return MPI_IN_PLACE;
  return is_one_of(sentinels.bottom) ? MPI_BOTTOM : address;
}

// The argument in C. Sets `error` to an MPI error code if a handle cannot be converted.

void* in_c(void* buffer, int&) { return buffer_from_fortran(buffer); }

TUTTI_Request* in_c(MPI_Aint* request, int&) { return reinterpret_cast<TUTTI_Request*>(request); }

template <class Handle, int (*convert)(MPI_Fint, Handle&)>
Handle in_c(const FortranHandle<Handle, convert>& handle, int& error) {
  Handle converted{};
  if (error == MPI_SUCCESS) error = convert(handle.value, converted);
  return converted;
}

template <class Value>
Value in_c(const Value& value, int&) {
  return value;
}

/// Calls a function of C with the arguments of Fortran. Returns an MPI error code.
template <class Function, class... Arguments>
int call(Function function, const Arguments&... arguments) {
  int error = MPI_SUCCESS;
  const std::tuple converted{in_c(arguments, error)...};
  return error != MPI_SUCCESS ? error : std::apply(function, converted);
}

/// A text without its trailing blanks; null if nothing is left.
class Text {
 public:
  Text(const char* text, std::size_t length) : text_(text, length) {
    text_.resize(text_.find_last_not_of(' ') + 1);
  }
  [[nodiscard]] const char* get() const { return text_.empty() ? nullptr : text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace

#pragma GCC visibility push(default)

#define TUTTI_FORTRAN(name, function, number, parameters)                                 \
  extern "C" void tutti_##name##_(TUTTI_PARAMETERS##number parameters, MPI_Fint* error) { \
    *error = call(TUTTI_##function, TUTTI_ARGUMENTS##number);                             \
  }

TUTTI_FORTRAN(arrival_init, Arrival_init, 2, (Comm, Fraction))
TUTTI_FORTRAN(arrival_edge, Arrival_edge, 1, (Comm))
TUTTI_FORTRAN(arrival_finalize, Arrival_finalize, 1, (Comm))
TUTTI_FORTRAN(allgather_shared, Allgather_shared, 8,
              (In, Count, Type, Count, Type, Comm, Mode, Result))
TUTTI_FORTRAN(allgatherv_shared, Allgatherv_shared, 8,
              (In, Count, Type, Counts, Type, Comm, Mode, Result))
TUTTI_FORTRAN(bcast_shared, Bcast_shared, 7, (In, Count, Type, Root, Comm, Mode, Result))
TUTTI_FORTRAN(allreduce_shared, Allreduce_shared, 7, (In, Count, Type, Op, Comm, Mode, Result))
TUTTI_FORTRAN(rma_init, Rma_init, 1, (Comm))
TUTTI_FORTRAN(rma_finalize, Rma_finalize, 1, (Comm))
TUTTI_FORTRAN(rma_window_register, Rma_window_register, 3, (Win, Comm, Integer))
TUTTI_FORTRAN(rma_window_release, Rma_window_release, 1, (Integer))
TUTTI_FORTRAN(rma_bcast, Rma_bcast, 6, (Data, Count, Type, Displacement, Window, Integer))
TUTTI_FORTRAN(rma_scatter, Rma_scatter, 6, (Data, Count, Type, Displacement, Window, Integer))
TUTTI_FORTRAN(rma_gather, Rma_gather, 6, (Data, Count, Type, Displacement, Window, Integer))
TUTTI_FORTRAN(rma_reduce, Rma_reduce, 7, (Data, Count, Type, Op, Displacement, Window, Integer))
TUTTI_FORTRAN(rma_flush, Rma_flush, 1, (Integer))
TUTTI_FORTRAN(rma_test, Rma_test, 2, (Integer, Integer))
TUTTI_FORTRAN(rma_arrived, Rma_arrived, 3, (Window, Root, Numbers))
TUTTI_FORTRAN(rma_wait, Rma_wait, 3, (Window, Root, Number))
TUTTI_FORTRAN(rma_progress, Rma_progress, 2, (Comm, Integer))
TUTTI_FORTRAN(start, Start, 1, (Request))
TUTTI_FORTRAN(request_free, Request_free, 1, (Request))

#define TUTTI_PERSISTENT_FUNCTION(name, function, number, parameters)                        \
  extern "C" void tutti_##name##_init_(TUTTI_PARAMETERS##number parameters, Request request, \
                                       MPI_Fint* error) {                                    \
    *error = call(TUTTI_##function##_init, TUTTI_ARGUMENTS##number, request);                \
  }
#include "core/collectives.inc"

extern "C" {

void tutti_wait_(Request request, MPI_Fint* error) { *error = call(TUTTI_Wait, request); }

void tutti_shared_free_(Held result, MPI_Fint* error) { *error = TUTTI_Shared_free(*result); }

void tutti_distances_measure_(Comm comm, const char* file, Count nodes_per_switch, MPI_Fint* error,
                              std::size_t length) {
  *error = call(TUTTI_Distances_measure, comm, Text(file, length).get(), nodes_per_switch);
}

void tutti_comm_reorder_(Comm comm, const char* collective, Integer made, MPI_Fint* error,
                         std::size_t length) {
  MPI_Comm reordered = mpi().comm_null;
  *error = call(TUTTI_Comm_reorder, comm, Text(collective, length).get(), &reordered);
  *made = comm_to_fortran(reordered);
}
}

#pragma GCC visibility pop

}  // namespace tutti::fortran
