/// The functions under test, and the algorithms that they use.
#pragma once

#include <mpi.h>
#include <tutti/tutti.h>

#include <string>
#include <vector>

#include "harness.hpp"

namespace tutti::test {

enum class Kind { gather, gatherv, scatter, scatterv };
inline constexpr Kind all_kinds[] = {Kind::gather, Kind::gatherv, Kind::scatter, Kind::scatterv};

[[nodiscard]] const char* name_of(Kind kind);
[[nodiscard]] constexpr bool is_gather(Kind kind) {
  return kind == Kind::gather || kind == Kind::gatherv;
}
[[nodiscard]] constexpr bool is_irregular(Kind kind) {
  return kind == Kind::gatherv || kind == Kind::scatterv;
}

/// Pointers to the 8 functions of one library.
struct Calls {
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Gatherv) gatherv;
  decltype(&MPI_Scatter) scatter;
  decltype(&MPI_Scatterv) scatterv;
  decltype(&TUTTI_Gather_c) gather_c;  ///< null if the library has no large counts
  decltype(&TUTTI_Gatherv_c) gatherv_c;
  decltype(&TUTTI_Scatter_c) scatter_c;
  decltype(&TUTTI_Scatterv_c) scatterv_c;
};
/// The MPI's own functions.
[[nodiscard]] const Calls& native_calls();
/// Tutti's functions; the MPI's own if `native`.
[[nodiscard]] const Calls& calls_under_test(bool native);
/// The persistent forms as functions of the same types: each initialises, runs twice and frees.
[[nodiscard]] const Calls& persistent_calls();

/// The specifications that each case tests: every algorithm of the library's list with its
/// important parameters, "auto", "native", and the names of papers. Only "native" if `native`.
[[nodiscard]] std::vector<std::string> specifications(Kind kind, bool native);
/// One specification for each algorithm of the library's list.
[[nodiscard]] std::vector<std::string> algorithms(Kind kind, bool native);
[[nodiscard]] std::vector<std::string> algorithms(const char* collective);

/// A specification with the parameters `level`, such as "level=node"; unchanged if `level` is empty
/// or the specification is "auto".
[[nodiscard]] std::string with_level(const std::string& specification, const std::string& level);

/// Whether the MPI's own ran because the algorithm would exceed this test's --memory.
[[nodiscard]] bool is_for_memory(const std::string& ran);

/// The algorithm of the last call of a collective on `comm`, and why it ran.
[[nodiscard]] std::string last_run(MPI_Comm comm, const std::string& collective);

/// Requests an algorithm during its lifetime, then resets the setting to "auto". Does nothing if
/// `native`. `error()` has the error.
class Forced {
 public:
  /// The error is a failure of the case.
  Forced(Context& context, const std::string& collective, const std::string& specification);
  Forced(Kind kind, const std::string& specification, bool native)
      : Forced(name_of(kind), specification, native) {}
  Forced(const std::string& collective, const std::string& specification, bool native);
  ~Forced();
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::string last(MPI_Comm comm) const { return last_run(comm, collective_); }
  /// The fault if the last call on `comm` ran another algorithm, or other parameters; empty if it
  /// did not.
  [[nodiscard]] std::string wrongly_ran(MPI_Comm comm) const;

 private:
  std::string collective_;
  bool native_;
  std::string in_force_;  ///< the requested specification, without the names of papers
  std::string error_;
};

}  // namespace tutti::test
