/// TUTTI_Gather and all other collectives of collectives.inc, with their large-count forms.
#include <tutti/tutti.h>

#include <tuple>
#include <type_traits>

#include "api/call.hpp"
#include "api/parameters.hpp"
#include "api/plain_counts.hpp"
#include "run/mpi/types.hpp"
#include "select/passing_calls.hpp"

namespace tutti {

namespace {

/// Reads the parameters of an MPI function in sequence (see collectives.inc), and no memory but
/// these.
class SignatureReader {
 public:
  explicit SignatureReader(CallSignature& signature) : signature_(signature) {}

  void read(kinds::In, const void* buffer) { read_buffer(buffer); }
  void read(kinds::Out, const void* buffer) { read_buffer(buffer); }
  void read(kinds::Count, MPI_Count count) { add(static_cast<std::uint64_t>(count)); }
  void read(kinds::Type, MPI_Datatype type) { add(handle_bits(type)); }
  void read(kinds::Op, MPI_Op op) { add(handle_bits(op)); }
  void read(kinds::Counts, const void*) {}
  void read(kinds::Displacements, const void*) {}
  void read(kinds::Types, const void*) {}
  void read(kinds::Root, int) {}
  void read(kinds::Comm, MPI_Comm) {}

 private:
  void read_buffer(const void* buffer) {
    signature_[0] = 2 * signature_[0] + (buffer == MPI_IN_PLACE ? 1 : 0);
  }
  void add(std::uint64_t number) { signature_[used_++] = number; }

  CallSignature& signature_;
  std::size_t used_ = 1;
};

/// The signature of a call with these arguments of a function with these kinds of parameters.
template <class... Kinds, class... Arguments>
CallSignature signature_of(std::type_identity<void(Kinds...)>, Arguments... arguments) {
  CallSignature signature{};
  SignatureReader reader(signature);
  (reader.read(Kinds(), arguments), ...);
  return signature;
}

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
#define TUTTI_ENTRY(name, kind, function, number, parameters)                                     \
  [[gnu::noinline]] static int inspect_##function(TUTTI_PARAMETERS##number parameters,            \
                                                  const void* site) {                             \
    return inspect(                                                                               \
        comm_of(TUTTI_ARGUMENTS##number), site, TUTTI_SIGNATURE(kind, number),                    \
        [&] { return TUTTI_CALL(name, kind, number); },                                           \
        [&] { return native_##function(TUTTI_ARGUMENTS##number); });                              \
  }                                                                                               \
  [[gnu::noinline]] static bool knows_##function(TUTTI_PARAMETERS##number parameters,             \
                                                 Communicator& communicator) {                    \
    return communicator.passing().knows(Collective::name, TUTTI_SIGNATURE(kind, number));         \
  }                                                                                               \
  extern "C" [[gnu::hot]] int TUTTI_##function(TUTTI_PARAMETERS##number parameters) {             \
    const Inside guard;                                                                           \
    if (!Inside::another() && Communicator::hands_on(comm_of(TUTTI_ARGUMENTS##number),            \
                                                     Collective::name, [&](Communicator& known) { \
                                                       return knows_##function(                   \
                                                           TUTTI_ARGUMENTS##number, known);       \
                                                     })) {                                        \
      return native_##function(TUTTI_ARGUMENTS##number);                                          \
    }                                                                                             \
    return inspect_##function(TUTTI_ARGUMENTS##number, __builtin_return_address(0));              \
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
