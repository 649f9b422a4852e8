/// TUTTI_Gather and all other collectives of collectives.inc, with their large-count forms.
#include <tutti/tutti.h>

#include <tuple>
#include <type_traits>

#include "api/call.hpp"
#include "api/parameters.hpp"
#include "api/plain_counts.hpp"
#include "run/clock.hpp"
#include "run/mpi/types.hpp"
#include "select/passing_calls.hpp"

namespace tutti {

namespace {

/// Reads the parameters of an MPI function in sequence (see collectives.inc), and no memory but
/// these and counts that are significant at all ranks.
class SignatureReader {
 public:
  /// `counts`: so many have the arrays of counts; 0: they are significant at the root only.
  SignatureReader(CallSignature& signature, int counts) : signature_(signature), counts_(counts) {}

  void read(kinds::In, const void* buffer) {
    read_buffer(buffer);
    reads_counts_ = buffer != MPI_IN_PLACE;
  }
  void read(kinds::Out, const void* buffer) {
    read_buffer(buffer);
    reads_counts_ = true;
  }
  void read(kinds::Count, MPI_Count count) { add(static_cast<std::uint64_t>(count)); }
  void read(kinds::Type, MPI_Datatype type) { add(handle_bits(type)); }
  void read(kinds::Op, MPI_Op op) { add(handle_bits(op)); }
  template <class Counted>
  void read(kinds::Counts, const Counted* counts) {
    if (counts_ == 0) return;
    std::uint64_t sum = 0;
    for (int i = 0; i < counts_ && reads_counts_ && counts != nullptr; ++i) {
      sum += static_cast<std::uint64_t>(counts[i]);
    }
    add(sum);
  }
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
  int counts_;
  bool reads_counts_ = true;  ///< MPI_IN_PLACE makes those that follow it insignificant
  std::size_t used_ = 1;
};

/// The signature of a call with these arguments of a function with these kinds of parameters.
template <class... Kinds, class... Arguments>
CallSignature signature_of(Collective collective, const Communicator& communicator,
                           std::type_identity<void(Kinds...)>, Arguments... arguments) {
  CallSignature signature{};
  SignatureReader reader(signature, has_root(collective) ? 0 : communicator.p());
  (reader.read(Kinds(), arguments), ...);
  return signature;
}

/// The communicator is the last argument of all.
template <class... Arguments>
MPI_Comm comm_of(Arguments... arguments) {
  return std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
}

/// Runs a call if it passes by what the communicator knows of its signature, and notes it if that
/// is asked for; none if it is to be inspected.
template <class MakeSignature, class Native>
std::optional<int> pass(MPI_Comm comm, Collective collective, MakeSignature signature,
                        Native run_native) {
  Communicator* const communicator = Communicator::of_late(comm);
  if (communicator == nullptr) return {};
  PassingCalls& passing = communicator->passing();
  if (!passing.begin_counted(collective, [&] { return signature(*communicator); })) return {};
  if (!passing.is_noted(collective)) return run_native();
  const FreedCommunicatorWatch watch(*communicator);
  const double began = monotonic_seconds();
  const int error = run_native();
  const Nanoseconds elapsed = nanoseconds_since(began);
  if (!watch.is_freed()) passing.note(collective, elapsed);
  return error;
}

}  // namespace

#define TUTTI_CALL(name, kind, number) \
  call_of(Collective::name, std::type_identity<kinds::kind>(), TUTTI_ARGUMENTS##number)
#define TUTTI_SIGNATURE(name, kind, number, communicator)                         \
  signature_of(Collective::name, communicator, std::type_identity<kinds::kind>(), \
               TUTTI_ARGUMENTS##number)

// Calls that are inspected, or pass by what their arguments say, have functions of their own, so
// that the others run through few lines of code.
#define TUTTI_ENTRY(name, kind, function, number, parameters)                                  \
  [[gnu::noinline]] static int inspect_##function(TUTTI_PARAMETERS##number parameters,         \
                                                  const void* site) {                          \
    return inspect(                                                                            \
        comm_of(TUTTI_ARGUMENTS##number), site,                                                \
        [&](const Communicator& known) { return TUTTI_SIGNATURE(name, kind, number, known); }, \
        [&] { return TUTTI_CALL(name, kind, number); },                                        \
        [&] { return native_##function(TUTTI_ARGUMENTS##number); });                           \
  }                                                                                            \
  [[gnu::noinline]] static std::optional<int> pass_##function(                                 \
      TUTTI_PARAMETERS##number parameters) {                                                   \
    return pass(                                                                               \
        comm_of(TUTTI_ARGUMENTS##number), Collective::name,                                    \
        [&](const Communicator& known) { return TUTTI_SIGNATURE(name, kind, number, known); }, \
        [&] { return native_##function(TUTTI_ARGUMENTS##number); });                           \
  }                                                                                            \
  extern "C" [[gnu::hot]] int TUTTI_##function(TUTTI_PARAMETERS##number parameters) {          \
    const Inside guard;                                                                        \
    if (!Inside::another()) {                                                                  \
      if (Communicator::hands_on(comm_of(TUTTI_ARGUMENTS##number), Collective::name)) {        \
        return native_##function(TUTTI_ARGUMENTS##number);                                     \
      }                                                                                        \
      if (const auto passed = pass_##function(TUTTI_ARGUMENTS##number)) return *passed;        \
    }                                                                                          \
    return inspect_##function(TUTTI_ARGUMENTS##number, __builtin_return_address(0));           \
  }

#pragma GCC visibility push(default)

namespace small {
#define TUTTI_FUNCTION(name, function, number, parameters)            \
  static int native_##function(TUTTI_PARAMETERS##number parameters) { \
    const auto next = native().function;                              \
    const Outside outside(next == mpi().function);                    \
    return next(TUTTI_ARGUMENTS##number);                             \
  }                                                                   \
  TUTTI_ENTRY(name, function, function, number, parameters)
#include "core/collectives.inc"
}  // namespace small

namespace large {
#define TUTTI_LARGE_FUNCTION(name, function, number, parameters)                          \
  static int native_##function##_c(TUTTI_PARAMETERS##number parameters) {                 \
    const auto next = native().function;                                                  \
    const Outside outside(next == mpi().function);                                        \
    return run_native_large(mpi().function##_c, next, TUTTI_CALL(name, function, number), \
                            TUTTI_ARGUMENTS##number);                                     \
  }                                                                                       \
  TUTTI_ENTRY(name, function, function##_c, number, parameters)
#include "core/collectives.inc"
}  // namespace large

#pragma GCC visibility pop

}  // namespace tutti
