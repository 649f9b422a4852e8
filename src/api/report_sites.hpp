/// Names of call sites: the addresses in the program to which its MPI calls return, or its lines.
/// Equal in every process and every run.
#pragma once

#include <string>

namespace tutti {

/// The place in the program that made a call with this return address. It is another one if a
/// binding made the call: for a Fortran program the return address in its own code, for a Python
/// program a site whose name is the line. Takes some microseconds there, else O(1). For any thread;
/// Python's lock must not be held by a thread that waits for this one.
[[nodiscard]] const void* program_site(const void* site) noexcept;

/// "module: function+0xoffset"; "module+0xoffset" if no function is known, with the offset that
/// addr2line takes; "file:line (function)" in Python; "generated code" if no module holds the
/// address; "C API" for null. Reads the module's file each time for functions that it does not
/// export: for reports, not for calls.
[[nodiscard]] std::string site_name(const void* site);

/// The path of the program of this process; empty if it is unknown. The loader has no name for it,
/// and argv[0] may be relative to a former folder.
[[nodiscard]] std::string path_of_program();

}  // namespace tutti
