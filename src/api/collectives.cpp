/// TUTTI_Gather and all other collectives of collectives.inc, with their large-count and persistent
/// forms.
#include <tutti/tutti.h>

#include <tuple>
#include <type_traits>

#include "api/call.hpp"
#include "api/parameters.hpp"
#include "api/plain_counts.hpp"
#include "api/request.hpp"
#include "run/clock.hpp"
#include "run/mpi/types.hpp"

namespace tutti {

namespace {

/// The communicator is the last argument of all.
template <class... Arguments>
MPI_Comm comm_of(Arguments... arguments) {
  return std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
}

/// Runs a call if it passes by what the communicator knows of its signature, and notes it if that
/// is asked for; none if it is to be inspected.
template <class MakeCall, class Native>
std::optional<int> pass(MPI_Comm comm, Collective collective, MakeCall make_call,
                        Native run_native) {
  Communicator* const communicator = Communicator::of_late(comm);
  if (communicator == nullptr) return {};
  PassingCalls& passing = communicator->passing();
  const auto signature = [&] {
    return signature_of(make_call(), communicator->rank(), communicator->p());
  };
  if (!passing.begin_counted(collective, signature)) return {};
  if (communicator->selections().nodes.are_open()) communicator->hierarchical().pass();
  if (!passing.is_noted(collective)) return run_native();
  // The program's error handler may free the communicator or call the collective, and some MPIs
  // return what it makes of the error.
  const unsigned generation = this_process.generation.load(std::memory_order_acquire);
  const std::size_t passed = passing.passed(collective);
  const double began = monotonic_seconds();
  const int error = run_native();
  const bool is_unchanged = this_process.generation.load(std::memory_order_acquire) == generation;
  if (error == MPI_SUCCESS && is_unchanged && passing.passed(collective) == passed) {
    passing.note(collective, began, monotonic_seconds());
  }
  return error;
}

}  // namespace

#define TUTTI_CALL(name, kind, number) \
  call_of(Collective::name, std::type_identity<kinds::kind>(), TUTTI_ARGUMENTS##number)

// Calls that are inspected, or pass by what their arguments say, have functions of their own, so
// that the others run through few lines of code. What is hot is linked into few pages.
#define TUTTI_ENTRY(name, kind, function, number, parameters)                                   \
  [[gnu::noinline]] static int inspect_##function(TUTTI_PARAMETERS##number parameters,          \
                                                  const void* site) {                           \
    return inspect(                                                                             \
        comm_of(TUTTI_ARGUMENTS##number), site, [&] { return TUTTI_CALL(name, kind, number); }, \
        [&] { return native_##function(TUTTI_ARGUMENTS##number); });                            \
  }                                                                                             \
  [[gnu::noinline, gnu::hot]] static std::optional<int> pass_##function(                        \
      TUTTI_PARAMETERS##number parameters) {                                                    \
    return pass(                                                                                \
        comm_of(TUTTI_ARGUMENTS##number), Collective::name,                                     \
        [&] { return TUTTI_CALL(name, kind, number); },                                         \
        [&] { return native_##function(TUTTI_ARGUMENTS##number); });                            \
  }                                                                                             \
  extern "C" [[gnu::hot]] int TUTTI_##function(TUTTI_PARAMETERS##number parameters) {           \
    const Inside guard;                                                                         \
    if (!Inside::another()) {                                                                   \
      if (Communicator::hands_on(comm_of(TUTTI_ARGUMENTS##number), Collective::name)) {         \
        return native_##function(TUTTI_ARGUMENTS##number);                                      \
      }                                                                                         \
      if (const auto passed = pass_##function(TUTTI_ARGUMENTS##number)) return *passed;         \
    }                                                                                           \
    return inspect_##function(TUTTI_ARGUMENTS##number, __builtin_return_address(0));            \
  }

#define TUTTI_INIT(name, kind, function, native, number, parameters)                               \
  extern "C" int TUTTI_##function(TUTTI_PARAMETERS##number parameters, TUTTI_Request* request) {   \
    return open_request(                                                                           \
        TUTTI_CALL(name, kind, number), [=] { return native(TUTTI_ARGUMENTS##number); }, request); \
  }

#pragma GCC visibility push(default)

namespace small {
#define TUTTI_FUNCTION(name, function, number, parameters)                         \
  [[gnu::hot]] static int native_##function(TUTTI_PARAMETERS##number parameters) { \
    const auto next = native().function;                                           \
    const Outside outside(next == mpi().function);                                 \
    return next(TUTTI_ARGUMENTS##number);                                          \
  }                                                                                \
  TUTTI_ENTRY(name, function, function, number, parameters)
#define TUTTI_PERSISTENT_FUNCTION(name, function, number, parameters) \
  TUTTI_INIT(name, function, function##_init, native_##function, number, parameters)
#include "core/collectives.inc"
}  // namespace small

namespace large {
#define TUTTI_LARGE_FUNCTION(name, function, number, parameters)                                 \
  static int native_##function##_c(TUTTI_PARAMETERS##number parameters) {                        \
    const MpiFunctions& next = native();                                                         \
    const Outside outside(next.function##_c != nullptr ? next.function##_c == mpi().function##_c \
                                                       : next.function == mpi().function);       \
    return run_native_large(next.function##_c, next.function,                                    \
                            std::type_identity<kinds::function>(),                               \
                            TUTTI_CALL(name, function, number), TUTTI_ARGUMENTS##number);        \
  }                                                                                              \
  TUTTI_ENTRY(name, function, function##_c, number, parameters)
#define TUTTI_PERSISTENT_FUNCTION(name, function, number, parameters) \
  TUTTI_INIT(name, function, function##_init_c, native_##function##_c, number, parameters)
#include "core/collectives.inc"
}  // namespace large

#pragma GCC visibility pop

}  // namespace tutti
