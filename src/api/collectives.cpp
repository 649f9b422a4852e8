/// TUTTI_Gather and all other collectives of collectives.inc, with their large-count forms.
#include <tutti/tutti.h>

#include <tuple>

#include "api/call.hpp"
#include "api/call_signature.hpp"
#include "api/parameters.hpp"
#include "api/plain_counts.hpp"

namespace tutti {

namespace {

/// The communicator is the last argument of all.
template <class... Arguments>
MPI_Comm comm_of(Arguments... arguments) {
  return std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
}

}  // namespace

#define TUTTI_CALL(name, kind, number) \
  call_of(Collective::name, std::type_identity<kinds::kind>(), TUTTI_ARGUMENTS##number)
#define TUTTI_SIGNATURE(kind, number) \
  signature_of(std::type_identity<kinds::kind>(), TUTTI_ARGUMENTS##number)

// What is inspected has a function of its own, so that a call handed on runs through few lines of
// code.
#define TUTTI_ENTRY(name, kind, function, number, parameters)                                \
  [[gnu::noinline]] static int inspect_##function(TUTTI_PARAMETERS##number parameters,       \
                                                  const void* site) {                        \
    return inspect(                                                                          \
        comm_of(TUTTI_ARGUMENTS##number), site, TUTTI_SIGNATURE(kind, number),               \
        [&] { return TUTTI_CALL(name, kind, number); },                                      \
        [&] { return native_##function(TUTTI_ARGUMENTS##number); });                         \
  }                                                                                          \
  [[gnu::noinline]] static bool knows_##function(TUTTI_PARAMETERS##number parameters) {      \
    return Communicator::knows(Collective::name, TUTTI_SIGNATURE(kind, number));             \
  }                                                                                          \
  extern "C" [[gnu::hot]] int TUTTI_##function(TUTTI_PARAMETERS##number parameters) {        \
    const void* const site = take_call_site();                                               \
    const Inside guard;                                                                      \
    if (!Inside::another() &&                                                                \
        Communicator::hands_on(comm_of(TUTTI_ARGUMENTS##number), Collective::name,           \
                               [&] { return knows_##function(TUTTI_ARGUMENTS##number); })) { \
      return native_##function(TUTTI_ARGUMENTS##number);                                     \
    }                                                                                        \
    return inspect_##function(TUTTI_ARGUMENTS##number, site);                                \
  }

#pragma GCC visibility push(default)

namespace small {
#define TUTTI_FUNCTION(name, function, number, parameters)            \
  static int native_##function(TUTTI_PARAMETERS##number parameters) { \
    return native().function(TUTTI_ARGUMENTS##number);                \
  }                                                                   \
  TUTTI_ENTRY(name, function, function, number, parameters)
#include "core/collectives.inc"
}  // namespace small

namespace large {
#define TUTTI_LARGE_FUNCTION(name, function, number, parameters)                          \
  static int native_##function##_c(TUTTI_PARAMETERS##number parameters) {                 \
    return run_native_large(mpi().function##_c, native().function,                        \
                            TUTTI_CALL(name, function, number), TUTTI_ARGUMENTS##number); \
  }                                                                                       \
  TUTTI_ENTRY(name, function, function##_c, number, parameters)
#include "core/collectives.inc"
}  // namespace large

#pragma GCC visibility pop

}  // namespace tutti
