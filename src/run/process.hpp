/// State of the process.
#pragma once

#include <type_traits>

namespace tutti {

/// The one `State` of this process, made at its first use. It outlives every static destructor,
/// because programs may call MPI in theirs.
template <class State>
[[nodiscard]] State& of_process() {
  static State* const state = new State;
  return *state;
}

/// The same for what `make`, a lambda, returns at its first call.
template <class Make>
[[nodiscard]] auto& of_process(Make make) {
  static_assert(std::is_empty_v<Make>, "functions of one type would share a value");
  static auto* const made = new auto(make());
  return *made;
}

}  // namespace tutti
