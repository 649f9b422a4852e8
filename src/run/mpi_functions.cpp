/// Finding the loaded MPI.
#include "run/mpi_functions.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace tutti {

namespace {

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// A file of this flavour's libmpi, whose name may go on with further version numbers.
bool is_libmpi(std::string_view file) {
  for (const std::string_view name :
#if defined(OPEN_MPI)
       {"libmpi.so.40", "libmpi.so.80"}
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
       {"libmpich.so.12", "libmpi.so.12"}
#else
       {"libmpi_abi.so.0", "libmpi_abi.so.1"}
#endif
  ) {
    if (file.starts_with(name) && (file.size() == name.size() || file[name.size()] == '.')) {
      return true;
    }
  }
  return false;
}

/// Sets `found` to the path of the loaded MPI library. Its name may be a link without a version.
int note_libmpi(dl_phdr_info* object, std::size_t, void* found) {
  if (!file_of(object->dlpi_name).starts_with("libmpi")) return 0;
  const std::unique_ptr<char, decltype(&std::free)> path(realpath(object->dlpi_name, nullptr),
                                                         &std::free);
  if (!is_libmpi(file_of(object->dlpi_name)) &&
      (path == nullptr || !is_libmpi(file_of(path.get())))) {
    return 0;
  }
  *static_cast<std::string*>(found) = object->dlpi_name;
  return 1;
}

/// The global scope where there is none, as the MPI is linked statically.
void* libmpi() {
  std::string path;
  dl_iterate_phdr(note_libmpi, &path);
  return path.empty() ? RTLD_DEFAULT : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

/// Functions come from libmpi itself, as the global scope may hold those of an interposed tool.
template <class Function>
void fetch(void* library, const char* symbol, Function& function, MpiFunctions& all,
           bool needed = true) {
  void* address = dlsym(library, symbol);
  if (address == nullptr && needed) all.missing = symbol;
  std::memcpy(&function, &address, sizeof function);
}

#if defined(OPEN_MPI)
/// Handles are addresses of data, of which an executable may hold the only valid copy.
template <class Handle>
void fetch_data(void* library, const char* symbol, Handle& handle, MpiFunctions& all) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr) address = dlsym(library, symbol);
  if (address == nullptr) all.missing = symbol;
  handle = static_cast<Handle>(address);
}

void fetch_handles(void* library, MpiFunctions& all) {
  fetch_data(library, "ompi_mpi_comm_null", all.comm_null, all);
  fetch_data(library, "ompi_mpi_comm_self", all.comm_self, all);
  fetch_data(library, "ompi_mpi_comm_world", all.comm_world, all);
  fetch_data(library, "ompi_mpi_datatype_null", all.type_null, all);
  fetch_data(library, "ompi_mpi_byte", all.byte, all);
  fetch_data(library, "ompi_mpi_packed", all.packed, all);
  fetch_data(library, "ompi_mpi_errors_return", all.errors_return, all);
  fetch_data(library, "ompi_mpi_group_null", all.group_null, all);
  fetch_data(library, "ompi_mpi_info_null", all.info_null, all);
  fetch_data(library, "ompi_request_null", all.request_null, all);
}
#else
void fetch_handles(void*, MpiFunctions& all) {
  all.comm_null = MPI_COMM_NULL;
  all.comm_self = MPI_COMM_SELF;
  all.comm_world = MPI_COMM_WORLD;
  all.type_null = MPI_DATATYPE_NULL;
  all.byte = MPI_BYTE;
  all.packed = MPI_PACKED;
  all.errors_return = MPI_ERRORS_RETURN;
  all.group_null = MPI_GROUP_NULL;
  all.info_null = MPI_INFO_NULL;
  all.request_null = MPI_REQUEST_NULL;
}
#endif

MpiFunctions find_functions() {
  void* library = libmpi();
  MpiFunctions all;
#define TUTTI_MPI(name) fetch(library, "PMPI_" #name, all.name, all);
#define TUTTI_MPI_LARGE(name, type) fetch(library, "PMPI_" #name, all.name, all, false);
#include "run/mpi_functions.inc"
#undef TUTTI_MPI
#undef TUTTI_MPI_LARGE
  fetch_handles(library, all);
  return all;
}

}  // namespace

const MpiFunctions& mpi() {
  static const MpiFunctions functions = find_functions();
  return functions;
}

}  // namespace tutti
