/// Reads the version text of the loaded MPI.
#include "run/mpi/quirks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
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

}  // namespace

std::string library_version() { return version_text(); }

std::string library_name() {
  const std::string version = version_text();
  std::string line = version.substr(0, version.find_first_of("\n,"));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

bool typed_receives_truncate() {
  static const bool answer = std::strstr(version_text(), "MPICH Version:") != nullptr &&
                             std::strstr(version_text(), "ch4") != nullptr;
  return answer;
}

bool has_other_errors_return() {
#if defined(OPEN_MPI) || defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  return false;
#else
  return std::strstr(version_text(), "Intel(R) MPI") != nullptr;
#endif
}

#if defined(OPEN_MPI)
constexpr bool is_open_mpi = true;
#else
constexpr bool is_open_mpi = false;
#endif

bool ends_locks_before_attributes() { return !is_open_mpi; }

bool makes_communicators_nonblocking() { return is_open_mpi; }

}  // namespace tutti
