/// Names of call sites: the addresses in the program to which its MPI calls return. Equal in every
/// process and every run.
#pragma once

#include <string>

namespace tutti {

/// "module: function+0xoffset"; "module+0xoffset" if no function is known, with the offset that
/// addr2line takes; "generated code" if no module holds the address; "C API" for null. Reads the
/// module's file each time for functions that it does not export: for reports, not for calls.
[[nodiscard]] std::string site_name(const void* site);

}  // namespace tutti
