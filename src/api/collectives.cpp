/// TUTTI_Gather and all other collectives of collectives.inc, with their large-count forms.
#include <tutti/tutti.h>

#include <tuple>

#include "api/call.hpp"
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

#define TUTTI_CALL(name, function, number)                                  \
  [&] {                                                                     \
    return call_of(Collective::name, std::type_identity<kinds::function>(), \
                   TUTTI_ARGUMENTS##number);                                \
  }

#pragma GCC visibility push(default)

namespace small {
#define TUTTI_FUNCTION(name, function, number, parameters)                         \
  extern "C" int TUTTI_##function(TUTTI_PARAMETERS##number parameters) {           \
    return collective(Collective::name, comm_of(TUTTI_ARGUMENTS##number),          \
                      TUTTI_CALL(name, function, number),                          \
                      [&] { return native().function(TUTTI_ARGUMENTS##number); }); \
  }
#include "core/collectives.inc"
}  // namespace small

namespace large {
#define TUTTI_LARGE_FUNCTION(name, function, number, parameters)                           \
  extern "C" int TUTTI_##function##_c(TUTTI_PARAMETERS##number parameters) {               \
    const auto make_call = TUTTI_CALL(name, function, number);                             \
    return collective(Collective::name, comm_of(TUTTI_ARGUMENTS##number), make_call, [&] { \
      return run_native_large(mpi().function##_c, native().function, make_call(),          \
                              TUTTI_ARGUMENTS##number);                                    \
    });                                                                                    \
  }
#include "core/collectives.inc"
}  // namespace large

#pragma GCC visibility pop

}  // namespace tutti
