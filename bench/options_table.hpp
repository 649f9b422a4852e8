/// The options of tutti-bench, one line each, and the commands that accept them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/options.hpp"

namespace tutti::bench {

// Sets of commands.

[[nodiscard]] constexpr unsigned bit(Command command) {
  return 1U << static_cast<unsigned>(command);
}
inline constexpr unsigned spread_at_root = bit(Command::gatherv) | bit(Command::scatterv);
inline constexpr unsigned persistent =
    spread_at_root | bit(Command::gather) | bit(Command::scatter);
inline constexpr unsigned rooted = persistent | bit(Command::bcast) | bit(Command::reduce);
inline constexpr unsigned irregular = spread_at_root | bit(Command::allgatherv) |
                                      bit(Command::alltoallv) | bit(Command::reduce_scatter);
inline constexpr unsigned with_data = rooted | irregular | bit(Command::allgather) |
                                      bit(Command::alltoall) | bit(Command::allreduce) |
                                      bit(Command::reduce_scatter_block);
inline constexpr unsigned collectives = with_data | bit(Command::barrier);
inline constexpr unsigned guidelines = bit(Command::guidelines);
inline constexpr unsigned tables = collectives | guidelines;
inline constexpr unsigned one_sided = bit(Command::rma_bcast) | bit(Command::rma_scatter) |
                                      bit(Command::rma_gather) | bit(Command::rma_reduce);
inline constexpr unsigned shared = bit(Command::allgather_shared);
inline constexpr unsigned measured =
    tables | bit(Command::latency) | bit(Command::memory) | one_sided | shared;
inline constexpr unsigned every = measured | bit(Command::machine) | bit(Command::distances);

/// Empty if the value was accepted, else the accepted values.
using Accepted = std::string;

struct Option {
  std::string_view name;
  std::string_view value;  ///< name of its value in the help; empty: it takes none
  unsigned commands;
  Accepted (*read)(Options&, std::string_view);
  std::string_view meaning;
};

/// All options, in the order of the help.
[[nodiscard]] std::span<const Option> all_options();

}  // namespace tutti::bench
