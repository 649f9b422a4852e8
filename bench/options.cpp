/// The command line, read by the table of options.
#include "bench/options.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "bench/options_table.hpp"

namespace tutti::bench {

namespace {

using Text = std::string_view;

/// By the number of the command.
constexpr std::array<Text, 24> names = {
    "gather",
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
    "memory",
    "machine",
    "distances",
};

std::string quoted(Text text) { return "\"" + std::string(text) + "\""; }

std::string options_of(Command command) {
  std::string text;
  for (const Option& option : all_options()) {
    if (option.commands & bit(command)) {
      text += (text.empty() ? "--" : ", --") + std::string(option.name);
    }
  }
  return text;
}

std::string command_names() {
  std::string text;
  for (const Text name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
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
  const std::span<const Option> table = all_options();
  const auto option = std::ranges::find_if(
      table, [&](const Option& o) { return name.starts_with("--") && o.name == name.substr(2); });
  if (option == table.end() || !(option->commands & bit(options.command))) {
    return Error{quoted(argument) + " is no option of " + std::string(name_of(options.command)) +
                 ", which takes " + options_of(options.command)};
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

std::string_view name_of(Command command) { return names[static_cast<std::size_t>(command)]; }

Result<Options> parse(std::span<const char* const> arguments) {
  Options options;
  if (arguments.empty()) return Error{"no command; there are " + command_names()};
  const Text first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    options.help = true;
    return options;
  }
  const auto* const command = std::ranges::find(names, first);
  if (command == names.end()) {
    return Error{quoted(first) + " is no command; there are " + command_names()};
  }
  options.command = static_cast<Command>(command - names.begin());
  for (auto rest = arguments.subspan(1); !rest.empty();) {
    if (auto error = read_option(options, rest)) return *error;
  }
  if (std::string text = contradiction(options); !text.empty()) return Error{text};
  set_defaults(options);
  return options;
}

int repetitions_within_budget(const Options& options, double seconds) {
  constexpr int least = 5;
  if (options.budget <= 0 || seconds <= 0) return options.repetitions;
  return static_cast<int>(std::clamp<double>(
      options.budget / seconds, std::min(least, options.repetitions), options.repetitions));
}

Result<Rank> rank_of(const RootChoice& root, int p) {
  switch (root.kind) {
    case RootChoice::Kind::half:
      return p / 2;
    case RootChoice::Kind::first:
      return 0;
    case RootChoice::Kind::last:
      return p - 1;
    case RootChoice::Kind::numbered:
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
      "  memory       what each algorithm takes of memory beside the program's buffers\n"
      "  machine      what messages and node memory take in this job, for TUTTI_MACHINE\n"
      "  distances    the times of messages between all ranks, for TUTTI_DISTANCES\n\n";
  for (const Option& option : all_options()) {
    std::string left = "  --" + std::string(option.name) + " " + std::string(option.value);
    left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
    text += left + std::string(option.meaning) + "\n";
  }
  return text;
}

}  // namespace tutti::bench
