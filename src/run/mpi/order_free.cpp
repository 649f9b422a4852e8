/// Tells integers from floating-point numbers by the operations that the MPI defines for them.
#include "run/mpi/order_free.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "run/mpi/owned_comm.hpp"

namespace tutti {

namespace {

constexpr std::size_t sum = 2;
constexpr std::size_t product = 3;
constexpr std::size_t bitwise_and = 5;

/// A reduction of no elements on this process alone: the MPI refuses what it always refuses.
bool has_bitwise_and(MPI_Datatype type) {
  const QuietErrors quiet(mpi().comm_self);
  std::int64_t in = 0;
  std::int64_t out = 0;
  return mpi().Reduce(&in, &out, 0, type, mpi().combining[bitwise_and], 0, mpi().comm_self) ==
         MPI_SUCCESS;
}

/// Programs that only use sessions have no MPI_COMM_SELF to ask on.
bool can_ask() {
  static std::atomic<bool> is_initialized = false;
  if (is_initialized) return true;
  int initialized = 0;
  mpi().Initialized(&initialized);
  is_initialized = initialized != 0;
  return is_initialized;
}

/// An MPI that was built without checks refuses nothing, and tells nothing apart.
bool checks_operations() {
  static const bool checks = !has_bitwise_and(mpi().packed);
  return checks;
}

/// Handles of named types never change their meaning; others have no predefined operations.
bool is_integer(MPI_Datatype type) {
  struct Entry {
    MPI_Datatype type{};
    bool is_integer = false;
  };
  thread_local std::array<Entry, 8> entries{};
  thread_local std::size_t used = 0;
  for (std::size_t i = 0; i < std::min(used, entries.size()); ++i) {
    if (entries[i].type == type) return entries[i].is_integer;
  }
  const Entry made = {type, checks_operations() && has_bitwise_and(type)};
  entries[used++ % entries.size()] = made;
  return made.is_integer;
}

}  // namespace

bool is_order_free(MPI_Op op, MPI_Datatype type) {
  const auto& predefined = mpi().combining;
  const auto known = std::find(predefined.begin(), predefined.end(), op);
  if (known == predefined.end()) return op == mpi().other_ops[0] || op == mpi().other_ops[1];
  const auto number = static_cast<std::size_t>(known - predefined.begin());
  if (number != sum && number != product) return true;
  return type != mpi().type_null && can_ask() && is_integer(type);
}

}  // namespace tutti
