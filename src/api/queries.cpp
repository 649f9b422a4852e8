/// Queries of versions, and of algorithms: all, those in force and those that ran.
#include <tutti/tutti.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "api/entry.hpp"

namespace {

using tutti::Collective;

/// Fills a caller's char array (convention 7 of tutti.h).
int give(std::string_view text, char* array, int* length) {
  if (array == nullptr || length == nullptr || *length < 1) return MPI_ERR_ARG;
  const std::size_t count = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
  std::memcpy(array, text.data(), count);
  array[count] = '\0';
  *length = static_cast<int>(count);
  return MPI_SUCCESS;
}

std::optional<Collective> collective_of(const char* name) {
  return name == nullptr ? std::nullopt : tutti::collective_named(name);
}

}  // namespace

int TUTTI_Get_version(int* major, int* minor, int* patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) return MPI_ERR_ARG;
  *major = TUTTI_VERSION_MAJOR;
  *minor = TUTTI_VERSION_MINOR;
  *patch = TUTTI_VERSION_PATCH;
  return MPI_SUCCESS;
}

int TUTTI_Algorithm_name(const char* collective, int index, char* name, int* length) {
  const auto wanted = collective_of(collective);
  if (!wanted || index < 0) return MPI_ERR_ARG;
  for (const tutti::Algorithm& algorithm : tutti::all_algorithms()) {
    if (algorithm.collective == *wanted && index-- == 0) return give(algorithm.name, name, length);
  }
  return MPI_ERR_ARG;
}

int TUTTI_Algorithm_set(const char* collective, const char* specification, char* message,
                        int* length) {
  return tutti::contained([&]() -> int {
    const auto explain = [&](std::string_view text) {
      return message == nullptr ? MPI_SUCCESS : give(text, message, length);
    };
    const auto wanted = collective_of(collective);
    if (!wanted || specification == nullptr) {
      explain(wanted ? "the specification is a null pointer"
                     : tutti::unknown_collective(collective == nullptr ? "" : collective));
      return MPI_ERR_ARG;
    }
    const auto setting = tutti::setting(*wanted, specification);
    const int explained = explain(setting ? "" : setting.error());
    if (!setting || explained != MPI_SUCCESS) return MPI_ERR_ARG;
    tutti::overrule(*wanted, *setting);
    return MPI_SUCCESS;
  });
}

int TUTTI_Algorithm_get(const char* collective, char* specification, int* length) {
  return tutti::contained([&]() -> int {
    const auto wanted = collective_of(collective);
    if (!wanted) return MPI_ERR_ARG;
    return give(to_text(tutti::setting_in_force(*wanted)), specification, length);
  });
}

int TUTTI_Algorithm_last(MPI_Comm comm, const char* collective, char* text, int* length) {
  return tutti::contained([&]() -> int {
    const auto wanted = collective_of(collective);
    if (!wanted) return MPI_ERR_ARG;
    if (comm == tutti::mpi().comm_null) return MPI_ERR_COMM;
    tutti::Communicator* const communicator = tutti::Communicator::known(comm);
    return give(communicator == nullptr ? "" : communicator->last(*wanted), text, length);
  });
}
