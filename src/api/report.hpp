/// What ran, how often, how long and why, written at the end of MPI.
#pragma once

#include <string>

#include "core/types.hpp"

namespace tutti {

/// One call of a collective at one rank.
struct CallRecord {
  Collective collective = Collective::gather;
  const void* site = nullptr;  ///< the return address of the call in the program
  Rank rank = 0;               ///< in the communicator of the call
  int p = 1;
  Rank root = 0;
  Bytes own = 0;                          ///< this rank's block
  Bytes total = -1;                       ///< of all blocks; known at the root only, else -1
  Bytes largest = -1;                     ///< block; known at the root only, else -1
  const std::string* decision = nullptr;  ///< "algorithm: why"
  double arrival = 0;                     ///< seconds of the machine's monotonic clock
  double exit = 0;
};

/// Seconds of the clock that records use.
[[nodiscard]] double report_clock();
/// Keeps a record. May be called by several threads.
void record_call(const CallRecord& record);
/// Writes the report. With `all_ranks`, which all ranks of the world must pass alike, records are
/// collected over MPI_COMM_WORLD and its rank 0 writes them; otherwise each process that was rank
/// 0 of some communicator appends what it saw itself.
void write_report(const std::string& destination, bool all_ranks);

}  // namespace tutti
