/// What a run of tutti-bench is asked to do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/delays.hpp"
#include "core/distributions.hpp"
#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti::bench {

enum class Command : std::uint8_t {
  gather,
  gatherv,
  scatter,
  scatterv,
  bcast,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  barrier,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  rma_bcast,
  rma_scatter,
  rma_gather,
  rma_reduce,
  allgather_shared,
  guidelines,
  latency,
  memory,
  machine,
  distances
};

/// Of windows, where only the root calls.
[[nodiscard]] constexpr bool is_rma(Command command) {
  return Command::rma_bcast <= command && command <= Command::rma_reduce;
}

/// "gatherv" and so on.
[[nodiscard]] std::string_view name_of(Command command);

/// A root that is a rank only once the number of ranks is known.
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
  std::vector<Bytes> totals;                ///< bytes of all that one rank has in the end
  Bytes gap = 0;                            ///< elements between blocks at the root
  RootChoice root;
  std::vector<std::string> algorithms;  ///< empty: native and auto
  Delays delays;                        ///< before each call
  double compute = -1;      ///< seconds before each call without delay; -1: the delays' scale
  double rest = 0;          ///< seconds that ranks sleep after each call, once all have left it
  int edge = 50;            ///< percent of the computing after which Tutti is told
  bool persistent = false;  ///< Tutti's algorithms by init, start and wait
  int repetitions = 75;
  double budget =
      0;  ///< seconds for the repetitions of a row, which may be fewer then; 0: no bound
  int warmup = 10;
  int settling = 0;  ///< calls of those that choose by themselves, before the warm-up
  std::uint64_t seed = 1;
  std::string json;          ///< a file, or empty
  std::string csv;           ///< a file, or empty
  std::string output;        ///< machine, distances: a file, or empty for the standard output
  int nodes_per_switch = 0;  ///< distances: so many in a row share one; 0 not known
  bool check = true;
  bool quiet = false;
  int timeout = 300;  ///< seconds without progress
};

/// Ranks compute before each call, or come late to it.
[[nodiscard]] inline bool computes(const Options& options) {
  return options.compute + options.delays.scale() > 0;
}

/// How many repetitions the budget allows where each takes so many seconds: no fewer than five,
/// unless fewer were asked for.
[[nodiscard]] int repetitions_within_budget(const Options& options, double seconds);

/// Reads the arguments after the program's name. The error names the argument and what is
/// accepted instead.
[[nodiscard]] Result<Options> parse(std::span<const char* const> arguments);

/// The rank of a root among `p`; the error names a number that is too large.
[[nodiscard]] Result<Rank> rank_of(const RootChoice& root, int p);

[[nodiscard]] std::string help();

}  // namespace tutti::bench
