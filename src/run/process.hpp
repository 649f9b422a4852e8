/// State of the process, and memory that it never frees.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

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

/// Never frees the memory of a container or pointer, which becomes empty: after an error the MPI
/// may still read it, or write into it. Allocates nothing.
template <class Memory>
void leak(Memory& memory) noexcept {
  static_assert(std::is_nothrow_move_constructible_v<Memory>);
  alignas(Memory) std::array<std::byte, sizeof(Memory)> kept;  // whose destructor frees nothing
  static_cast<void>(::new (static_cast<void*>(kept.data())) Memory(std::move(memory)));
}

}  // namespace tutti
