/// The backend's side of the drop-in: forwards each call to the C API of the library for this MPI.
#include "backend.h"

#include <tutti/tutti.h>

#include <cstring>

#include "api/entry.hpp"
#include "run/mpi/end.hpp"

namespace {

/// Casts a function with this MPI's types to one with the front's machine words.
template <class Call, class Function>
Call as_words(Function* function) {
  Call call;
  static_assert(sizeof call == sizeof function);
  std::memcpy(&call, &function, sizeof call);
  return call;
}

template <class Function, class Call>
void replace(Function& function, Call next) {
  if (next != nullptr) std::memcpy(&function, &next, sizeof function);
}

void set_next(const tutti_functions* next) {
  tutti::MpiFunctions& native = tutti::next_functions();
#define TUTTI_INTERCEPTED(name, arguments) replace(native.name, next->name);
#include "intercepted.inc"
}

void get_mpi(tutti_functions* functions) {
#define TUTTI_INTERCEPTED(name, arguments) \
  std::memcpy(&functions->name, &tutti::mpi().name, sizeof functions->name);
#include "intercepted.inc"
}

void set_counters(const tutti_counter* counters, int number) {
  static_assert(sizeof(tutti_counter) == sizeof(tutti::CallCounter));
  tutti::set_counters(
      {reinterpret_cast<const tutti::CallCounter*>(counters), static_cast<std::size_t>(number)});
}

const char* missing() { return tutti::mpi().missing; }

}  // namespace

extern "C" __attribute__((visibility("default"))) const tutti_backend_interface* tutti_backend_for(
    const char* interface) {
  static const tutti_backend_interface own = {
      {
#define TUTTI_INTERCEPTED(name, arguments) as_words<tutti_call##arguments>(TUTTI_##name),
#define TUTTI_OTHER(name, arguments)
#include "intercepted.inc"
          tutti::finalize_mpi, as_words<tutti_call1>(tutti::free_window),
          as_words<tutti_call1>(tutti::free_comm), as_words<tutti_call1>(tutti::disconnect_comm)},
      set_next,
      [] { ++tutti::call_depth.profiled; },
      [] { --tutti::call_depth.profiled; },
      get_mpi,
      tutti::set_recent,
      tutti::note_front,
      set_counters,
      [] { tutti::note_end_of_mpi(); },
      missing};
  return std::strcmp(interface, TUTTI_INTERFACE) == 0 ? &own : nullptr;
}
