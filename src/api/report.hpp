/// The report: what ran, how often, how long and why, written at the end of MPI.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace tutti
