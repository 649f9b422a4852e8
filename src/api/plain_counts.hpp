/// Large-count calls by the plain functions of an MPI that lacks the large ones.
#pragma once

#include <list>
#include <optional>
#include <vector>

#include "api/entry.hpp"
#include "run/call/mpi_apply.hpp"

namespace tutti {

/// The plain form of a large-count call, which has ints.
///
/// Within a communicator all ranks must decide alike. Regular movements and reductions have the
/// plain form where a block has less than 2 GiB, or the vector fewer than 2^31 elements, which all
/// ranks know; counts of irregular movements are known to one rank alone, so these never have it.
/// Between two groups, where nothing else can serve, each rank decides by its own counts.
class PlainCall : NotCopied {
 public:
  explicit PlainCall(const MpiCall& large);

  /// Has the call the plain form?
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] const MpiCall& call() const { return call_; }

 private:
  void turn(RankBlocks& blocks);
  /// Null if no entry is significant.
  template <class Number>
  [[nodiscard]] const int* ints_of(Number number);

  MpiCall call_;
  bool fits_ = true;
  int entries_ = 0;  ///< of arrays that are significant at this rank; 0: none are
  std::list<std::vector<int>> arrays_;
};

/// Runs a large-count call on an MPI without that form, by a plain algorithm on all ranks.
int run_without_large_form(const MpiCall& call);

/// Calls the MPI's own function with large counts; if there is none, `plain`, its function with int
/// counts and parameters of such `kinds`, if the call has that form, else run_without_large_form().
template <class Large, class Plain, class Kinds, class... Arguments>
int run_native_large(Large large, Plain plain, Kinds kinds, const MpiCall& call,
                     Arguments... arguments) {
  if (large != nullptr) return large(arguments...);
  std::optional<PlainCall> in_ints;
  const int error = contained([&] {
    in_ints.emplace(call);
    return MPI_SUCCESS;
  });
  if (error != MPI_SUCCESS) return raise(call.comm, error);
  return in_ints->fits() ? apply(plain, kinds, in_ints->call()) : run_without_large_form(call);
}

}  // namespace tutti
