/// Reads the version text of the loaded MPI.
#include "run/mpi/quirks.hpp"

#include <algorithm>
#include <array>

#include "run/mpi/functions.hpp"
#include "run/process.hpp"

namespace tutti {

const std::string& library_version() {
  return of_process([] {
    // MPI may return up to MPI_MAX_LIBRARY_VERSION_STRING of the loaded library, which may be more
    // than the header's.
    std::array<char, 16384> version{};
    int length = 0;
    mpi().Get_library_version(version.data(), &length);
    return std::string(version.data());
  });
}

std::string library_name() {
  const std::string& version = library_version();
  std::string line = version.substr(0, version.find_first_of("\n,"));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

bool typed_receives_truncate() {
  static const bool answer = library_version().find("MPICH Version:") != std::string::npos &&
                             library_version().find("ch4") != std::string::npos;
  return answer;
}

bool has_other_errors_return() {
#if defined(OPEN_MPI) || defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  return false;
#else
  return library_version().find("Intel(R) MPI") != std::string::npos;
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
