/// Names of call sites: the addresses in the program to which its MPI calls return, or its lines.
/// Equal in every process and every run.
#pragma once

#include <string>
#include <vector>

namespace tutti {

/// The place in the program that made a call with this return address. It is another one if a
/// binding made the call: for a Fortran program the return address in its own code, for a Python
/// program a site whose name is the line. Takes some microseconds there, else O(1). For any thread;
/// Python's lock must not be held by a thread that waits for this one.
[[nodiscard]] const void* program_site(const void* site) noexcept;

/// "module+0xoffset", with the offset that addr2line takes, from which `tutti report` finds the
/// function and line; "file:line (function)" in Python; "generated code" if no module holds the
/// address. For the thread that writes the report.
[[nodiscard]] std::string site_name(const void* site);

/// The paths of the modules that site_name has named. For the same thread.
[[nodiscard]] std::vector<std::string> modules_of_sites();

/// The path of the program of this process; empty if it is unknown. The loader has no name for it,
/// and argv[0] may be relative to a former folder.
[[nodiscard]] std::string path_of_program();

}  // namespace tutti
