/// TUTTI_Gather and all other collectives of collectives.inc, with their large-count forms.
#include <tutti/tutti.h>

#include <tuple>

#include "api/call.hpp"

// A list of kinds as declared parameters, and their names.
#define TUTTI_PARAMETERS1(A) A a
#define TUTTI_PARAMETERS5(A, B, C, D, E) A a, B b, C c, D d, E e
#define TUTTI_PARAMETERS6(A, B, C, D, E, F) TUTTI_PARAMETERS5(A, B, C, D, E), F f
#define TUTTI_PARAMETERS7(A, B, C, D, E, F, G) TUTTI_PARAMETERS6(A, B, C, D, E, F), G g
#define TUTTI_PARAMETERS8(A, B, C, D, E, F, G, H) TUTTI_PARAMETERS7(A, B, C, D, E, F, G), H h
#define TUTTI_PARAMETERS9(A, B, C, D, E, F, G, H, I) TUTTI_PARAMETERS8(A, B, C, D, E, F, G, H), I i
#define TUTTI_ARGUMENTS1 a
#define TUTTI_ARGUMENTS5 a, b, c, d, e
#define TUTTI_ARGUMENTS6 TUTTI_ARGUMENTS5, f
#define TUTTI_ARGUMENTS7 TUTTI_ARGUMENTS6, g
#define TUTTI_ARGUMENTS8 TUTTI_ARGUMENTS7, h
#define TUTTI_ARGUMENTS9 TUTTI_ARGUMENTS8, i

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
      return run_native_large(mpi().function##_c, make_call(), TUTTI_ARGUMENTS##number);   \
    });                                                                                    \
  }
#include "core/collectives.inc"
}  // namespace large

#pragma GCC visibility pop

}  // namespace tutti
