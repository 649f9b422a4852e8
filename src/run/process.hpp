/// State of the process.
#pragma once

namespace tutti {

/// The one `State` of this process, made at its first use. It outlives every static destructor,
/// because programs may call MPI in theirs.
template <class State>
[[nodiscard]] State& of_process() {
  static State* const state = new State;
  return *state;
}

}  // namespace tutti
