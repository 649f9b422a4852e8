/// Reads the version text of the loaded MPI.
#include "run/mpi/quirks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "run/mpi/functions.hpp"

namespace tutti {

namespace {

const char* version_text() {
  // MPI may return up to MPI_MAX_LIBRARY_VERSION_STRING of the loaded library, which may be more
  // than the header's.
  static const auto text = [] {
    std::array<char, 16384> version{};
    int length = 0;
    mpi().Get_library_version(version.data(), &length);
    return version;
  }();
  return text.data();
}

bool find_typed_receives_truncate() {
  const char* version = version_text();
  return std::strstr(version, "MPICH Version:") != nullptr &&
         std::strstr(version, "ch4") != nullptr;
}

/// MPICH 5 can sleep after a number of polls in vain, if set so. Its default of thousands takes
/// longer than a slice of the scheduler.
bool yields_by_setting() {
  constexpr long max_polls = 100;
  const char* const sleeps = std::getenv("MPIR_CVAR_CH4_PROGRESS_THROTTLE");
  const char* const polls = std::getenv("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT");
  const bool is_on = sleeps != nullptr && std::strchr("1tTyY", *sleeps) != nullptr && *sleeps != 0;
  return is_on && polls != nullptr && std::atol(polls) <= max_polls;
}

}  // namespace

std::string library_version() { return version_text(); }

std::string library_name() {
  const std::string version = version_text();
  std::string line = version.substr(0, version.find_first_of("\n,"));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

bool typed_receives_truncate() {
  static const bool answer = find_typed_receives_truncate();
  return answer;
}

bool has_other_errors_return() {
#if defined(OPEN_MPI) || defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  return false;
#else
  return std::strstr(version_text(), "Intel(R) MPI") != nullptr;
#endif
}

bool waits_without_yielding() {
  return std::strstr(version_text(), "MPICH Version:") != nullptr && !yields_by_setting();
}

bool ends_locks_before_attributes() {
#if defined(OPEN_MPI)
  return false;
#else
  return true;
#endif
}

bool makes_communicators_nonblocking() {
#if defined(OPEN_MPI)
  return true;
#else
  return false;
#endif
}

}  // namespace tutti
