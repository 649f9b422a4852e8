/// Names of return addresses, equal in every process and every run.
#pragma once

#include <string>

namespace tutti {

/// "module: function+0xoffset"; "module+0xoffset" if no function is known, with the offset that
/// addr2line takes; "C API" for null. Reads the module's file for functions that it does not
/// export.
[[nodiscard]] std::string site_name(const void* site);

}  // namespace tutti
