/// The table of options, and readers of their values.
#include "bench/options_table.hpp"

#include <type_traits>

#include "algorithms/algorithms.hpp"
#include "core/numbers.hpp"
#include "core/words.hpp"

namespace tutti::bench {

namespace {

using Text = std::string_view;

template <class Number>
bool read(Text text, std::type_identity_t<Number> least, Number& value) {
  return read_number(text, value) && value >= least;
}

Accepted read_distributions(Options& options, Text list) {
  for (const Text item : split(list)) {
    const auto distribution = distribution_named(item);
    if (!distribution) {
      constexpr Text accepted = "same, random, spikes, decreasing, alternating, two-blocks";
      return std::string(accepted) + did_you_mean(item, split(accepted, ", "));
    }
    options.distributions.push_back(*distribution);
  }
  return "";
}

Accepted read_blocks(Options& options, Text list) {
  for (const Text item : split(list)) {
    if (!read(item, Bytes{1}, options.blocks.emplace_back())) {
      return "element counts of at least 1, separated by commas";
    }
  }
  return "";
}

Accepted read_totals(Options& options, Text list) {
  for (const Text item : split(list)) {
    const Result<Bytes> bytes = bytes_from(item);
    if (!bytes || *bytes < 1) return "bytes such as 8, 64K, 8M or 1G, separated by commas";
    options.totals.push_back(*bytes);
  }
  return "";
}

/// A part with "=" but without ":" is a further parameter of the specification before it, and so is
/// all that follows "(" up to ")".
Accepted read_algorithms(Options& options, Text list) {
  bool takes_settings = false;
  for (const Text item : split(list)) {
    if (item.empty()) return "native, auto or an algorithm of tutti list";
    const bool setting = item.find('=') != Text::npos && item.find(':') == Text::npos;
    if (setting && takes_settings) {
      options.algorithms.back() += "," + std::string(item);
    } else {
      options.algorithms.emplace_back(item);
    }
    const Text all = options.algorithms.back();
    const bool is_open = all.find('(') != Text::npos && all.find(')') == Text::npos;
    takes_settings = is_open || (all.find('(') == Text::npos && all.find(':') != Text::npos);
  }
  return "";
}

Accepted read_root(Options& options, Text text) {
  using Kind = RootChoice::Kind;
  RootChoice& root = options.root;
  if (text == "half" || text == "first" || text == "last") {
    root.kind = text == "half" ? Kind::half : text == "first" ? Kind::first : Kind::last;
    return "";
  }
  root.kind = Kind::numbered;
  return read(text, 0, root.number)
             ? ""
             : "half, first, last or a rank" + did_you_mean(text, {"half", "first", "last"});
}

template <auto member, int least>
Accepted read_count(Options& options, Text text) {
  return read(text, least, options.*member) ? ""
                                            : "an integer of at least " + std::to_string(least);
}

/// Reads a value by a function from text to a Result.
template <auto member, auto parse>
Accepted read_parsed(Options& options, Text text) {
  auto parsed = parse(text);
  if (!parsed) return parsed.error();
  options.*member = std::move(*parsed);
  return "";
}

template <auto member>
Accepted read_file(Options& options, Text text) {
  options.*member = text;
  return text.empty() ? "a file name" : "";
}

template <auto member, bool value>
Accepted set(Options& options, Text) {
  options.*member = value;
  return "";
}

constexpr Option table[] = {
    {"distribution", "LIST", irregular | guidelines, read_distributions,
     "same, random, spikes, decreasing, alternating, two-blocks (all six)"},
    {"rho", "N", irregular | guidelines, read_count<&Options::rho, 1>,
     "spikes: a block is N times the average with probability 1/N (5)"},
    {"block", "LIST", with_data | guidelines | bit(Command::memory), read_blocks,
     "ints (1,10,100,1000,10000): mean block of a rank; alltoall: of a pair; bcast, "
     "(all)reduce: of all; memory: one (262144)"},
    {"bytes", "LIST", with_data | guidelines | one_sided | shared, read_totals,
     "instead of --block: all bytes that the root, or any rank, has in the end, e.g. 8,64K,8M"},
    {"gap", "N", spread_at_root, read_count<&Options::gap, 0>,
     "elements between the blocks at the root, which makes them scattered (0)"},
    {"floats", "", reductions, set<&Options::floats, true>,
     "add floating-point numbers, which auto never explores, instead of combining bits"},
    {"root", "WHERE", rooted | guidelines | one_sided, read_root,
     "half (p/2), first, last or a rank (half)"},
    {"algorithm", "SPEC", collectives | one_sided, read_algorithms,
     "native, auto or an algorithm, repeatable (native, auto); native:reordered: the MPI's own "
     "with ranks numbered by distance"},
    {"delay", "PATTERN", collectives, read_parsed<&Options::delays, delays_from>,
     "ranks arrive late: uniform:50ms, normal:5ms, one-late:50ms[@RANK], recorded:FILE (none)"},
    {"compute", "TIME", collectives, read_parsed<&Options::compute, seconds_from>,
     "time that every rank computes (sleeps) before its delay (the largest delay)"},
    {"calls", "N", collectives, read_count<&Options::calls, 1>,
     "calls of a repetition, each after its delay, without a barrier between them; times are those "
     "of one call (1)"},
    {"rest", "TIME", collectives, read_parsed<&Options::rest, seconds_from>,
     "sleep after all ranks have left a repetition, for cores that ranks share (0)"},
    {"edge", "PERCENT", collectives,
     [](Options& o, Text v) {
       return read(v, 0, o.edge) && o.edge <= 100 ? "" : Accepted("0 to 100");
     },
     "progress hint after so much of the computation and delay; 0: none (50)"},
    {"persistent", "", persistent, set<&Options::persistent, true>,
     "call Tutti's algorithms in their persistent form, started before the computation"},
    {"repetitions", "N", measured, read_count<&Options::repetitions, 1>, "timed calls (75)"},
    {"budget", "TIME", tables, read_parsed<&Options::budget, seconds_from>,
     "limit for the calls of one size: reduces the repetitions to 5 at least (none)"},
    {"warmup", "N", measured, read_count<&Options::warmup, 0>, "untimed calls before them (10)"},
    {"settle", "N", tables, read_count<&Options::settling, 0>,
     "repetitions by auto of each size before all others, in which it learns (0)"},
    {"seed", "N", tables | one_sided | shared, read_count<&Options::seed, 0>,
     "seed of the random distributions (1)"},
    {"json", "FILE", measured, read_file<&Options::json>,
     "also write all results and samples to FILE"},
    {"csv", "FILE", tables, read_file<&Options::csv>, "also write the table to FILE"},
    {"output", "FILE", bit(Command::machine) | bit(Command::distances), read_file<&Options::output>,
     "write the machine (TUTTI_MACHINE) or the distances (TUTTI_DISTANCES) to FILE"},
    {"nodes-per-switch", "N", bit(Command::distances), read_count<&Options::nodes_per_switch, 1>,
     "beyond 64 ranks: consecutive nodes that share a switch (unknown)"},
    {"no-check", "", tables, set<&Options::check, false>, "do not compare the received data"},
    {"quiet", "", every, set<&Options::quiet, true>, "print no table"},
    {"timeout", "SECONDS", every, read_count<&Options::timeout, 1>,
     "give up after this time without progress (300)"},
    {"help", "", every, set<&Options::help, true>, "print this"},
};

}  // namespace

std::span<const Option> all_options() { return table; }

}  // namespace tutti::bench
