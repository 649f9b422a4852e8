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
/// The collectives with a property.
template <class Property>
[[nodiscard]] constexpr unsigned those(Property has) {
  unsigned commands = 0;
  for (const Collective collective : all_collectives) {
    if (has(collective)) commands |= bit(static_cast<Command>(collective));
  }
  return commands;
}
inline constexpr unsigned one_sided = those(is_one_sided);
inline constexpr unsigned collectives = ~one_sided & those([](Collective) { return true; });
inline constexpr unsigned persistent = those(is_gather_or_scatter);
inline constexpr unsigned reductions = ~one_sided & those(reduces);
inline constexpr unsigned rooted = ~one_sided & those(has_root);
inline constexpr unsigned irregular = those(is_irregular);
inline constexpr unsigned spread_at_root = persistent & irregular;
inline constexpr unsigned with_data = collectives & ~bit(Command::barrier);
inline constexpr unsigned guidelines = bit(Command::guidelines);
inline constexpr unsigned tables = collectives | guidelines;
inline constexpr unsigned shared = bit(Command::allgather_shared);
inline constexpr unsigned measured = tables | bit(Command::latency) | one_sided | shared;
inline constexpr unsigned every =
    measured | bit(Command::memory) | bit(Command::machine) | bit(Command::distances);

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
