/// The report: what ran, how often, how long and why, written at the end of MPI. It names call
/// sites by the addresses in the program to which its MPI calls return, or by its lines; names are
/// equal in every process and every run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/call_log.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// For CallRecord::communicator: rank 0 of a communicator makes it and broadcasts it.
[[nodiscard]] std::uint64_t new_communicator_id();

/// Keeps a record, or drops it if memory is short. For any thread. If TUTTI_REPORT names a
/// destination, a process that exits before write_report() writes its own records.
void record_call(const CallRecord& record) noexcept;

/// Keeps what was measured of candidates. For any thread.
void record_tuning(TuningRecord record);

/// Writes the report once, to TUTTI_REPORT. With `all_ranks`, which all ranks of the world must
/// pass alike, records are collected over MPI_COMM_WORLD and its rank 0 writes them to the first
/// destination that a rank knows. Otherwise each process that was the root of some call appends
/// these calls in one piece, marked as partial. "-" is standard error; a name that ends in .json
/// gives JSON.
void write_report(bool all_ranks) noexcept;

/// Compares the clocks of all processes for the first time; write_report() does so again. `comm`
/// must have all processes. Collective. Without this call clocks are assumed not to drift.
void note_clocks(MPI_Comm comm);

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
