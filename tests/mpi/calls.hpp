/// The functions under test, and the algorithms that they are told to use.
#pragma once

#include <mpi.h>
#include <tutti/tutti.h>

#include <string>
#include <vector>

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

/// Pointers to the eight functions of one library.
struct Calls {
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Gatherv) gatherv;
  decltype(&MPI_Scatter) scatter;
  decltype(&MPI_Scatterv) scatterv;
  decltype(&TUTTI_Gather_c) gather_c;  ///< null where the library has no large counts
  decltype(&TUTTI_Gatherv_c) gatherv_c;
  decltype(&TUTTI_Scatter_c) scatter_c;
  decltype(&TUTTI_Scatterv_c) scatterv_c;
};
/// The MPI's own.
[[nodiscard]] const Calls& native_calls();
/// Tutti's, or the MPI's own where `native`.
[[nodiscard]] const Calls& calls_under_test(bool native);
/// The persistent forms in their clothes: each is set up, run twice and freed.
[[nodiscard]] const Calls& persistent_calls();

/// The specifications that each case goes through: every algorithm that the library lists, each
/// with the parameters that matter, "auto" and "native", and the names of papers. Only "native"
/// where `native`.
[[nodiscard]] std::vector<std::string> specifications(Kind kind, bool native);
/// One specification for each algorithm that the library lists.
[[nodiscard]] std::vector<std::string> algorithms(Kind kind, bool native);
[[nodiscard]] std::vector<std::string> algorithms(const char* collective);

/// A specification with what `level`, such as "level=node", says of it beside; as it is where that
/// is empty, and where Tutti chooses.
[[nodiscard]] std::string with_level(const std::string& specification, const std::string& level);

/// Forces an algorithm for as long as it lives, then goes back to "auto". Does nothing where
/// Did the MPI's own run because an algorithm would stage more than this test's --memory allows?
[[nodiscard]] bool is_for_memory(const std::string& ran);

/// `native`. An error is in `error()`.
class Forced {
 public:
  Forced(Kind kind, const std::string& specification, bool native)
      : Forced(name_of(kind), specification, native) {}
  Forced(const char* collective, const std::string& specification, bool native);
  ~Forced();
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }
  /// What the last call on `comm` ran, and why.
  [[nodiscard]] std::string last(MPI_Comm comm) const;
  /// What is wrong with the algorithm that the last call on `comm` ran; empty if nothing is.
  [[nodiscard]] std::string wrongly_ran(MPI_Comm comm) const;

 private:
  const char* collective_;
  bool native_;
  std::string name_;  ///< the list's name of the forced algorithm
  std::string error_;
};

}  // namespace tutti::test
