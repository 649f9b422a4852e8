/// The library that programs in SimGrid preload or link: it passes the calls of each simulated rank
/// to that rank's own copy of Tutti.
#include <dlfcn.h>
#include <simgrid/actor.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <xbt/config.hpp>

#include "api.inc"
#include "intercept/backend.h"
#include "simgrid/node_memory.h"
#include "simgrid/rank_copies.hpp"

#define TUTTI_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Functions of the C API, as indices of RankLibrary::api.
enum ApiFunction : int {
#define TUTTI_ENUMERATE(name, parameters, arguments) api_##name,
  TUTTI_C_ALL(TUTTI_ENUMERATE)
#undef TUTTI_ENUMERATE
      api_functions
};

constexpr std::array<const char*, api_functions> api_names = {
#define TUTTI_NAME(name, parameters, arguments) #name,
    TUTTI_C_ALL(TUTTI_NAME)
#undef TUTTI_NAME
};

/// One rank's copy of Tutti.
struct RankLibrary {
  const tutti_backend_interface* calls = nullptr;
  std::array<void*, api_functions> api{};
};

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "tutti: %s\n", why.c_str());
  std::abort();
}

/// The file of the ranks' copies, which is installed beside this one.
std::string file_of_copies() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&file_of_copies), &own) == 0) return {};
  const std::string path = own.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "libtutti-simgrid-rank.so";
}

RankLibrary load() {
  // Beside SimGrid's own copies of the program.
  const std::string folder = simgrid::config::get_value<std::string>("smpi/tmpdir");
  std::string why;
  void* const handle = tutti::simgrid::load_copy(file_of_copies(), folder, why);
  if (handle == nullptr) stop(why);
  RankLibrary library;
  for (int i = 0; i < api_functions; ++i) {
    const auto index = static_cast<std::size_t>(i);
    library.api[index] = dlsym(handle, api_names[index]);
    if (library.api[index] == nullptr) stop(std::string(api_names[index]) + " is missing");
  }
  const auto get = reinterpret_cast<tutti_backend_function>(dlsym(handle, "tutti_backend_for"));
  library.calls = get != nullptr ? get(TUTTI_INTERFACE) : nullptr;
  if (library.calls == nullptr) stop(file_of_copies() + " is not of this version");
  if (const char* lacking = library.calls->missing()) {
    stop(std::string("SimGrid's MPI lacks ") + lacking);
  }
  return library;
}

/// The copy of the calling rank. All ranks run in one thread, one at a time.
const RankLibrary& library_of_rank() {
  static std::vector<RankLibrary*> libraries;  // by number of the simulated process
  const auto number = static_cast<std::size_t>(sg_actor_self_get_pid());
  if (libraries.size() <= number) libraries.resize(2 * number + 1);
  if (libraries[number] == nullptr) libraries[number] = new RankLibrary(load());
  return *libraries[number];
}

const tutti_backend_interface& enter() { return *library_of_rank().calls; }

/// The end of a call, whose error it returns.
int leave(int error) {
  tutti_simgrid_finish_moves();
  return error;
}

template <class Function>
Function api_function(ApiFunction which) {
  Function function = nullptr;
  std::memcpy(&function, &library_of_rank().api[static_cast<std::size_t>(which)], sizeof function);
  return function;
}

}  // namespace

// SimGrid's MPI has no large-count forms. PMPI_X stays SimGrid's: the copies call it.
#define DEFINE(name, arguments)                           \
  TUTTI_EXPORT int MPI_##name(PARAMETERS##arguments) {    \
    return leave(enter().run.name(ARGUMENTS##arguments)); \
  }
#define TUTTI_FUNCTION(collective, name, number, parameters) DEFINE(name, number)
#include "core/collectives.inc"
TUTTI_FREES_COMM(DEFINE)

TUTTI_EXPORT int MPI_Finalize() { return leave(enter().run.Finalize()); }
TUTTI_EXPORT int MPI_Win_free(tutti_word window) { return leave(enter().run.Win_free(window)); }

#define DEFINE_C(name, parameters, arguments)                            \
  TUTTI_EXPORT int name parameters {                                     \
    return leave(api_function<int(*) parameters>(api_##name) arguments); \
  }
TUTTI_C_ALL(DEFINE_C)

/// SimGrid loads each rank's program so that it prefers the libraries which it was linked to over
/// preloaded ones (RTLD_DEEPBIND); without that, its calls come here.
TUTTI_EXPORT void* dlopen(const char* file, int mode) noexcept {
  static const auto next =
      reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, mode & ~RTLD_DEEPBIND);
}
