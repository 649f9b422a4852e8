/// The names of call sites that are lines of a program in Python.
#pragma once

#include <string>

namespace tutti {

/// The name that program_site has given to this site; null if it is an address. O(names).
[[nodiscard]] const std::string* name_of_site(const void* site);

}  // namespace tutti
