/// The command and options of a run of tutti-bench.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/delays.hpp"
#include "core/distributions.hpp"
#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// A collective of collectives.inc, or another measurement.
enum class Command : std::uint8_t {
#define TUTTI_PROPERTIES(name, blocks, before, after, sizes, data, callers) name,
#include "core/collectives.inc"
  allgather_shared,
  guidelines,
  latency,
  memory,
  machine,
  distances
};

/// The collective that a command measures; none for the other commands.
[[nodiscard]] constexpr std::optional<Collective> collective_of(Command command) {
  const auto number = static_cast<std::size_t>(command);
  if (number >= all_collectives.size()) return std::nullopt;
  return static_cast<Collective>(number);
}

/// Whether it is a one-sided collective, which only the root calls.
[[nodiscard]] constexpr bool is_rma(Command command) {
  const auto collective = collective_of(command);
  return collective && is_one_sided(*collective);
}

/// The name of a command, such as "gatherv".
[[nodiscard]] std::string_view name_of(Command command);

/// A root that may depend on the number of ranks.
struct RootChoice {
  enum class Kind : std::uint8_t { half, first, last, numbered };
  Kind kind = Kind::half;
  Rank number = 0;  ///< numbered only
};

struct Options {
  Command command = Command::gatherv;
  bool help = false;
  std::vector<Distribution> distributions;  ///< empty: the command's own
  int rho = 5;                              ///< of spikes
  std::vector<Bytes> blocks;                ///< ints, see help()
  std::vector<Bytes> totals;                ///< bytes of a rank's entire result
  Bytes gap = 0;                            ///< elements between blocks at the root
  bool floats = false;                      ///< reductions add floats instead of combining bits
  RootChoice root;
  std::vector<std::string> algorithms;  ///< empty: native and auto
  Delays delays;                        ///< before each call
  double compute = -1;      ///< seconds before each call without delay; -1: the delays' scale
  int calls = 1;            ///< of a repetition, without a barrier between them
  double rest = 0;          ///< seconds that ranks sleep after each call, once all have left it
  int edge = 50;            ///< percent of the computation before the progress hint; 0: no hint
  bool persistent = false;  ///< Tutti's algorithms by init, start and wait
  int repetitions = 75;
  double budget = 0;  ///< seconds for the repetitions of a row, which may reduce them; 0: no limit
  int warmup = 10;
  int settling = 0;  ///< repetitions before the warm-up, of contenders that select by themselves
  std::uint64_t seed = 1;
  std::string json;          ///< a file, or empty
  std::string csv;           ///< a file, or empty
  std::string output;        ///< machine, distances: a file, or empty for the standard output
  int nodes_per_switch = 0;  ///< distances: consecutive nodes that share a switch; 0: unknown
  bool check = true;
  bool quiet = false;
  int timeout = 300;  ///< seconds without progress
};

/// Whether ranks compute before each call.
[[nodiscard]] inline bool computes(const Options& options) {
  return options.compute + options.delays.scale() > 0;
}

/// The number of repetitions that fit the time budget if each takes `seconds`: at least 5, unless
/// the options request fewer.
[[nodiscard]] int repetitions_within_budget(const Options& options, double seconds);

/// Reads the arguments after the program's name. The error names the argument and the accepted
/// values.
[[nodiscard]] Result<Options> parse(std::span<const char* const> arguments);

/// The rank of a root among `p`; the error names a number that is too large.
[[nodiscard]] Result<Rank> rank_of(const RootChoice& root, int p);

[[nodiscard]] std::string help();

}  // namespace tutti::bench
