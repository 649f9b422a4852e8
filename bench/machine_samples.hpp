/// Computes a machine from repeated measurements of messages, or explains why it cannot.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// Repeated measurements, in seconds.
struct MachineSamples {
  static constexpr std::size_t middle_bytes = std::size_t{1} << 16;
  static constexpr std::size_t large_bytes = std::size_t{1} << 20;

  std::vector<double> empty;        ///< one-way time of an empty message
  std::vector<double> middle;       ///< the same with middle_bytes
  std::vector<double> large;        ///< the same with large_bytes
  std::vector<double> overhead;     ///< passing a message to the MPI
  std::vector<double> gap;          ///< between messages that reach one rank
  std::vector<double> empty_again;  ///< an empty message, after all other measurements
};

/// The machine from the medians. An error names a contradiction, as on a busy machine:
/// - a median is more than 5 times the 10 % quantile;
/// - more bytes do not take longer;
/// - the time of empty messages changes by more than 5 times during the measurements;
/// - the overhead or the gap of a message exceeds 10 times its latency;
/// - a number is out of range for machines.
[[nodiscard]] Result<Machine> machine_from(const MachineSamples& samples);

/// Why these are not times of messages within one node, or empty: an empty message takes more than
/// 1 ms, or a byte more than 100 copies, because ranks wait for a core.
[[nodiscard]] std::string contradiction_in_memory(const Machine& machine);

}  // namespace tutti::bench
