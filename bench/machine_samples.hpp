/// From repeated measurements of messages to a machine, or to the reason why they make none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "cost/machine.hpp"
#include "cost/node_machine.hpp"

namespace tutti::bench {

/// Seconds, several of each.
struct MachineSamples {
  static constexpr std::size_t middle_bytes = std::size_t{1} << 16;
  static constexpr std::size_t large_bytes = std::size_t{1} << 20;

  std::vector<double> empty;        ///< a message without bytes, one way
  std::vector<double> middle;       ///< one of middle_bytes
  std::vector<double> large;        ///< one of large_bytes
  std::vector<double> overhead;     ///< handing one message to the MPI
  std::vector<double> gap;          ///< between messages that reach one rank
  std::vector<double> empty_again;  ///< after all else
};

/// By medians. An error that names what contradicts what, as on a machine that others use too:
/// - half of the messages of one size take more than 5 times as long as the fastest tenth;
/// - more bytes take no longer;
/// - empty messages take another time after all else than before, by more than 5 times;
/// - the processor is busy with a message, or messages follow one another, for more than 10 times
/// as
///   long as one takes from end to end;
/// - a number is none that a machine has.
[[nodiscard]] Result<Machine> machine_from(const MachineSamples& samples);

/// What speaks against messages that pass through the memory of one node: an empty one takes more
/// than a millisecond, or a byte more than 100 copies. Then the ranks wait for a core. Else empty.
[[nodiscard]] std::string contradiction_in_memory(const Machine& machine,
                                                  const NodeMachine& node_machine);

}  // namespace tutti::bench
