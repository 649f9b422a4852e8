/// Large-count calls by the plain functions of an MPI that lacks the large ones.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <list>
#include <optional>
#include <tuple>
#include <vector>

#include "api/entry.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// Turns the arguments of a large-count function into those of the plain one.
///
/// Within a communicator all ranks must decide alike. Regular movements and reductions have the
/// plain form where a block has less than 2 GiB, or the vector fewer than 2^31 elements, which all
/// ranks know; counts of irregular movements are known to one rank alone, so these never have it.
/// Between two groups, where nothing else can serve, each rank decides by its own counts.
class PlainCounts {
 public:
  explicit PlainCounts(const MpiCall& call);

  /// Has the call the plain form? Ask after its arguments were turned.
  [[nodiscard]] bool fit() const { return fit_; }

  /// A count. One that does not fit has no significance, or no bytes, where the call has the form;
  /// a negative one stays invalid.
  template <std::integral Number>
  requires(sizeof(Number) > sizeof(int)) int operator()(Number number) {
    return static_cast<int>(std::clamp<Number>(number, -1, std::numeric_limits<int>::max()));
  }
  /// Counts or displacements.
  template <std::integral Number>
  requires(sizeof(Number) > sizeof(int)) const int* operator()(const Number* numbers) {
    if (numbers == nullptr || entries_ == 0) return nullptr;
    std::vector<int>& plain = arrays_.emplace_back();
    for (int i = 0; i < entries_; ++i) {
      plain.push_back(static_cast<int>(numbers[i]));
      if (plain.back() != numbers[i]) fit_ = false;
    }
    return plain.data();
  }
  /// Anything else.
  template <class Argument>
  Argument operator()(Argument argument) {
    return argument;
  }

 private:
  bool fit_ = true;
  int entries_ = 0;  ///< of arrays that are significant at this rank; 0: none are
  std::list<std::vector<int>> arrays_;
};

/// Runs a large-count call on an MPI without that form, by a plain algorithm on all ranks.
int run_without_large_form(const MpiCall& call);

/// Calls the MPI's own function with large counts; if there is none, `plain`, its function with int
/// counts, if the call has that form, else run_without_large_form().
template <class Large, class Plain, class... Arguments>
int run_native_large(Large large, Plain plain, const MpiCall& call, Arguments... arguments) {
  if (large != nullptr) return large(arguments...);
  const auto turn = [&](PlainCounts& counts) { return std::tuple(counts(arguments)...); };
  std::optional<PlainCounts> counts;
  std::optional<decltype(turn(*counts))> turned;
  const int error = contained([&] {
    turned = turn(counts.emplace(call));
    return MPI_SUCCESS;
  });
  if (error != MPI_SUCCESS) return raise(call.comm, error);
  return counts->fit() ? std::apply(plain, *turned) : run_without_large_form(call);
}

}  // namespace tutti
