/// The command line, read by one table of options.
#include "bench/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace tutti::bench {

namespace {

using Text = std::string_view;
/// Empty if the value was taken, else what would have been accepted.
using Accepted = std::string;

constexpr unsigned bit(Command command) { return 1U << static_cast<unsigned>(command); }
constexpr unsigned spread_at_root = bit(Command::gatherv) | bit(Command::scatterv);
constexpr unsigned persistent = spread_at_root | bit(Command::gather) | bit(Command::scatter);
constexpr unsigned rooted = persistent | bit(Command::bcast) | bit(Command::reduce);
constexpr unsigned irregular = spread_at_root | bit(Command::allgatherv) | bit(Command::alltoallv) |
                               bit(Command::reduce_scatter);
constexpr unsigned with_data = rooted | irregular | bit(Command::allgather) |
                               bit(Command::alltoall) | bit(Command::allreduce) |
                               bit(Command::reduce_scatter_block);
constexpr unsigned collectives = with_data | bit(Command::barrier);
constexpr unsigned guidelines = bit(Command::guidelines);
constexpr unsigned tables = collectives | guidelines;
constexpr unsigned one_sided = bit(Command::rma_bcast) | bit(Command::rma_scatter) |
                               bit(Command::rma_gather) | bit(Command::rma_reduce);
constexpr unsigned shared = bit(Command::allgather_shared);
constexpr unsigned measured = tables | bit(Command::latency) | one_sided | shared;
constexpr unsigned every = measured | bit(Command::machine) | bit(Command::distances);

constexpr std::array commands = {Command::gather,
                                 Command::gatherv,
                                 Command::scatter,
                                 Command::scatterv,
                                 Command::bcast,
                                 Command::allgather,
                                 Command::allgatherv,
                                 Command::alltoall,
                                 Command::alltoallv,
                                 Command::barrier,
                                 Command::reduce,
                                 Command::allreduce,
                                 Command::reduce_scatter,
                                 Command::reduce_scatter_block,
                                 Command::rma_bcast,
                                 Command::rma_scatter,
                                 Command::rma_gather,
                                 Command::rma_reduce,
                                 Command::allgather_shared,
                                 Command::guidelines,
                                 Command::latency,
                                 Command::machine,
                                 Command::distances};

std::string quoted(Text text) { return "\"" + std::string(text) + "\""; }

template <class Number>
bool read(Text text, Number least, Number& value) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least) return false;
  value = number;
  return true;
}

/// A number with an optional unit K, M or G (powers of 1024).
bool read_bytes(Text text, Bytes& value) {
  constexpr Text units = "KMG";
  const std::size_t unit = text.empty() ? Text::npos : units.find(text.back());
  if (unit != Text::npos) text.remove_suffix(1);
  const int shift = unit == Text::npos ? 0 : 10 * (static_cast<int>(unit) + 1);
  Bytes number = 0;
  if (!read(text, Bytes{1}, number) || number > std::numeric_limits<Bytes>::max() >> shift) {
    return false;
  }
  value = number << shift;
  return true;
}

std::vector<Text> split(Text list) {
  std::vector<Text> items;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

Accepted read_distributions(Options& options, Text list) {
  for (const Text item : split(list)) {
    const auto distribution = distribution_named(item);
    if (!distribution) return "same, random, spikes, decreasing, alternating, two-blocks";
    options.distributions.push_back(*distribution);
  }
  return "";
}

Accepted read_blocks(Options& options, Text list) {
  for (const Text item : split(list)) {
    if (!read(item, Bytes{1}, options.blocks.emplace_back())) {
      return "whole numbers of elements from 1 on, with commas between them";
    }
  }
  return "";
}

Accepted read_totals(Options& options, Text list) {
  for (const Text item : split(list)) {
    if (!read_bytes(item, options.totals.emplace_back())) {
      return "bytes such as 8, 64K, 8M or 1G, with commas between them";
    }
  }
  return "";
}

/// A part with "=" but no ":" is a further setting of the specification before it.
Accepted read_algorithms(Options& options, Text list) {
  bool takes_settings = false;
  for (const Text item : split(list)) {
    if (item.empty()) return "native, auto or an algorithm as `tutti list` shows it";
    const bool setting = item.find('=') != Text::npos && item.find(':') == Text::npos;
    if (setting && takes_settings) {
      options.algorithms.back() += "," + std::string(item);
    } else {
      options.algorithms.emplace_back(item);
      takes_settings = item.find(':') != Text::npos;
    }
  }
  return "";
}

Accepted read_root(Options& options, Text text) {
  using Kind = RootPlace::Kind;
  RootPlace& root = options.root;
  if (text == "half" || text == "first" || text == "last") {
    root.kind = text == "half" ? Kind::half : text == "first" ? Kind::first : Kind::last;
    return "";
  }
  root.kind = Kind::numbered;
  return read(text, 0, root.number) ? "" : "half, first, last or a rank";
}

Accepted read_count(Text text, int least, int& value) {
  return read(text, least, value) ? "" : "a whole number from " + std::to_string(least) + " on";
}

Accepted read_file(Text text, std::string& file) {
  file = text;
  return text.empty() ? "the name of a file" : "";
}

struct Option {
  Text name;
  Text value;  ///< what stands for its value in the help; empty: it takes none
  unsigned commands;
  Accepted (*read)(Options&, Text);
  Text meaning;
};

constexpr Option table[] = {
    {"distribution", "LIST", irregular | guidelines, read_distributions,
     "same, random, spikes, decreasing, alternating, two-blocks (all six)"},
    {"rho", "N", irregular | guidelines, [](Options& o, Text v) { return read_count(v, 1, o.rho); },
     "spikes: blocks are N times the average with probability 1/N (5)"},
    {"block", "LIST", with_data | guidelines, read_blocks,
     "ints (1,10,100,1000,10000): average block of a rank; alltoall: for a rank; bcast, "
     "(all)reduce: of all"},
    {"bytes", "LIST", with_data | guidelines | one_sided | shared, read_totals,
     "instead of --block: bytes of all that the root, or any rank, has in the end, e.g. 8,64K,8M"},
    {"gap", "N", spread_at_root,
     [](Options& o, Text v) {
       return read(v, Bytes{0}, o.gap) ? "" : Accepted("a whole number from 0 on");
     },
     "elements between the blocks at the root, so that they are not contiguous (0)"},
    {"root", "WHERE", rooted | guidelines | one_sided, read_root,
     "half (p/2), first, last or a rank (half)"},
    {"algorithm", "SPEC", collectives | one_sided, read_algorithms,
     "native, auto or an algorithm; may be repeated (native, auto)"},
    {"delay", "PATTERN", collectives,
     [](Options& o, Text v) {
       const Result<Delays> delays = delays_from(v);
       if (delays) o.delays = *delays;
       return delays ? Accepted() : delays.error();
     },
     "ranks arrive late: uniform:50ms, normal:5ms, one-late:50ms[@RANK], recorded:FILE (none)"},
    {"compute", "TIME", collectives,
     [](Options& o, Text v) {
       const Result<double> seconds = seconds_from(v);
       if (seconds) o.compute = *seconds;
       return seconds ? Accepted() : seconds.error();
     },
     "what every rank computes (sleeps) before its delay (as long as the largest delay)"},
    {"edge", "PERCENT", collectives,
     [](Options& o, Text v) {
       return read(v, 0, o.edge) && o.edge <= 100 ? "" : Accepted("0 to 100");
     },
     "tell Tutti when so much of computing and delay is over; 0: never (50)"},
    {"persistent", "", persistent,
     [](Options& o, Text) {
       o.persistent = true;
       return Accepted();
     },
     "call Tutti's algorithms in their persistent form, started before the computing"},
    {"repetitions", "N", measured,
     [](Options& o, Text v) { return read_count(v, 1, o.repetitions); }, "timed calls (75)"},
    {"warmup", "N", measured, [](Options& o, Text v) { return read_count(v, 0, o.warmup); },
     "calls before those (10)"},
    {"seed", "N", tables | one_sided | shared,
     [](Options& o, Text v) {
       return read(v, std::uint64_t{0}, o.seed) ? "" : Accepted("a whole number from 0 on");
     },
     "of the random distributions (1)"},
    {"json", "FILE", measured, [](Options& o, Text v) { return read_file(v, o.json); },
     "also write everything, with each sample, to FILE"},
    {"csv", "FILE", tables, [](Options& o, Text v) { return read_file(v, o.csv); },
     "also write the table to FILE"},
    {"output", "FILE", bit(Command::machine) | bit(Command::distances),
     [](Options& o, Text v) { return read_file(v, o.output); },
     "write the machine to FILE, for TUTTI_MACHINE; the distances, for TUTTI_DISTANCES"},
    {"nodes-per-switch", "N", bit(Command::distances),
     [](Options& o, Text v) { return read_count(v, 1, o.nodes_per_switch); },
     "beyond 64 ranks: so many nodes in a row share a switch (not known)"},
    {"no-check", "", tables,
     [](Options& o, Text) {
       o.check = false;
       return Accepted();
     },
     "do not compare the received data"},
    {"quiet", "", every,
     [](Options& o, Text) {
       o.quiet = true;
       return Accepted();
     },
     "print no table"},
    {"timeout", "SECONDS", every, [](Options& o, Text v) { return read_count(v, 1, o.timeout); },
     "give up when no call ends for so long (300)"},
    {"help", "", every,
     [](Options& o, Text) {
       o.help = true;
       return Accepted();
     },
     "print this"},
};

std::string names_for(Command command) {
  std::string names;
  for (const Option& option : table) {
    if (option.commands & bit(command))
      names += (names.empty() ? "--" : ", --") + std::string(option.name);
  }
  return names;
}

std::string command_names() {
  std::string names;
  for (const Command command : commands) {
    names += (names.empty() ? "" : ", ") + std::string(name_of(command));
  }
  return names;
}

/// What must hold between options; empty if it does.
std::string contradiction(const Options& options) {
  if (!options.blocks.empty() && !options.totals.empty()) {
    return "--block and --bytes both say how much is sent: give one of them";
  }
  if (options.command == Command::distances && options.output.empty() && !options.help) {
    return "distances needs --output FILE, which it writes";
  }
  return "";
}

void set_defaults(Options& options) {
  const unsigned command = bit(options.command);
  if (options.distributions.empty()) {
    if (command & (irregular | guidelines)) {
      options.distributions.assign(all_distributions.begin(), all_distributions.end());
    } else {
      options.distributions = {Distribution::same};
    }
  }
  if (command & one_sided) {
    const bool bcast = options.command == Command::rma_bcast;
    if (options.totals.empty()) {
      options.totals = bcast ? std::vector<Bytes>{8, 1024, 65536, 1 << 20}
                             : std::vector<Bytes>{8, 256, 1024, 16384};
    }
    if (options.algorithms.empty()) {
      options.algorithms = {"native", "linear", "binomial", "auto"};
      if (bcast) options.algorithms.insert(options.algorithms.end(), {"paznikov", "binary"});
    }
  }
  if (options.command == Command::allgather_shared) {
    if (options.totals.empty()) options.totals = {64 << 10, 1 << 20, 8 << 20, 64 << 20};
    options.algorithms = {"native", "node", "read_only", "copy_on_write"};
  }
  if (options.blocks.empty() && options.totals.empty()) {
    options.blocks = {1, 10, 100, 1000, 10000};
    if (!(command & (with_data | guidelines))) options.blocks = {0};
  }
  if (options.compute < 0) options.compute = options.delays.scale();
  if (options.algorithms.empty()) options.algorithms = {"native", "auto"};
}

/// One option at the front of `rest`, which loses it.
std::optional<Error> read_option(Options& options, std::span<const char* const>& rest) {
  const Text argument = rest.front();
  rest = rest.subspan(1);
  const Text name = argument.substr(0, argument.find('='));
  const auto* const option = std::find_if(std::begin(table), std::end(table), [&](const Option& o) {
    return name.starts_with("--") && o.name == name.substr(2);
  });
  if (option == std::end(table) || !(option->commands & bit(options.command))) {
    return Error{quoted(argument) + " is no option of " + std::string(name_of(options.command)) +
                 ", which takes " + names_for(options.command)};
  }
  const bool attached = name.size() < argument.size();
  Text value;
  if (option->value.empty()) {
    if (attached) return Error{quoted(argument) + ": " + std::string(name) + " takes no value"};
  } else if (attached) {
    value = argument.substr(name.size() + 1);
  } else if (rest.empty()) {
    return Error{std::string(name) + " needs a value: " + std::string(option->meaning)};
  } else {
    value = rest.front();
    rest = rest.subspan(1);
  }
  const Accepted accepted = option->read(options, value);
  if (accepted.empty()) return std::nullopt;
  return Error{std::string(name) + " " + quoted(value) + ": accepted is " + accepted};
}

}  // namespace

std::string_view name_of(Command command) {
  constexpr std::array<Text, 23> names = {"gather",
                                          "gatherv",
                                          "scatter",
                                          "scatterv",
                                          "bcast",
                                          "allgather",
                                          "allgatherv",
                                          "alltoall",
                                          "alltoallv",
                                          "barrier",
                                          "reduce",
                                          "allreduce",
                                          "reduce_scatter",
                                          "reduce_scatter_block",
                                          "rma_bcast",
                                          "rma_scatter",
                                          "rma_gather",
                                          "rma_reduce",
                                          "allgather_shared",
                                          "guidelines",
                                          "latency",
                                          "machine",
                                          "distances"};
  return names[static_cast<std::size_t>(command)];
}

Result<Options> parse(std::span<const char* const> arguments) {
  Options options;
  if (arguments.empty()) return Error{"no command; there are " + command_names()};
  const Text first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    options.help = true;
    return options;
  }
  const auto* const command = std::find_if(commands.begin(), commands.end(),
                                           [&](Command c) { return name_of(c) == first; });
  if (command == commands.end()) {
    return Error{quoted(first) + " is no command; there are " + command_names()};
  }
  options.command = *command;
  for (auto rest = arguments.subspan(1); !rest.empty();) {
    if (auto error = read_option(options, rest)) return *error;
  }
  if (std::string text = contradiction(options); !text.empty()) return Error{text};
  set_defaults(options);
  return options;
}

Result<Rank> rank_of(const RootPlace& root, int p) {
  switch (root.kind) {
    case RootPlace::Kind::half:
      return p / 2;
    case RootPlace::Kind::first:
      return 0;
    case RootPlace::Kind::last:
      return p - 1;
    case RootPlace::Kind::numbered:
      break;
  }
  if (root.number < p) return root.number;
  return Error{"--root " + std::to_string(root.number) + ": this run has ranks 0 to " +
               std::to_string(p - 1)};
}

std::string help() {
  std::string text =
      "mpirun -n P tutti-bench COMMAND [OPTION...]\n\n"
      "  gather, gatherv, scatter, scatterv, bcast, allgather, allgatherv, alltoall, alltoallv,\n"
      "  barrier, reduce, allreduce, reduce_scatter, reduce_scatter_block\n"
      "               times of algorithms, called in turn in one run\n"
      "  rma_bcast, rma_scatter, rma_gather, rma_reduce\n"
      "               the same with windows, where only the root calls, beside the MPI's own\n"
      "  allgather_shared\n"
      "               results that the ranks of a node share, beside a copy for each: time and "
      "memory\n"
      "  guidelines   Gather <= Gatherv and Gatherv <= Allreduce + padded Gather\n"
      "  latency      what a call through Tutti costs beyond the MPI's own\n"
      "  machine      what messages and node memory take in this job, for TUTTI_MACHINE\n"
      "  distances    the times of messages between all ranks, for TUTTI_DISTANCES\n\n";
  for (const Option& option : table) {
    std::string left = "  --" + std::string(option.name) + " " + std::string(option.value);
    left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
    text += left + std::string(option.meaning) + "\n";
  }
  return text;
}

}  // namespace tutti::bench
