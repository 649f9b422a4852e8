/// Reading the version text of the loaded MPI.
#include "run/mpi_quirks.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include "run/mpi_functions.hpp"

namespace tutti {

namespace {

bool find_typed_receives_truncate() {
  // MPI may return up to MPI_MAX_LIBRARY_VERSION_STRING of the library that is loaded, which may
  // be longer than that of the header.
  std::array<char, 16384> text{};
  int length = 0;
  mpi().Get_library_version(text.data(), &length);
  const char* version = std::strstr(text.data(), "MPICH Version:");
  if (version == nullptr || std::strstr(version, "ch4:ucx") == nullptr) return false;
  int major = 0;
  int minor = 0;
  return std::sscanf(version, "MPICH Version: %d.%d", &major, &minor) == 2 &&
         (major < 4 || (major == 4 && minor < 2));
}

}  // namespace

bool typed_receives_truncate() {
  static const bool answer = find_typed_receives_truncate();
  return answer;
}

}  // namespace tutti
