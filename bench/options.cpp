/// Reads the command line by the table of options.
#include "bench/options.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "bench/options_table.hpp"
#include "core/words.hpp"

namespace tutti::bench {

namespace {

using Text = std::string_view;

/// The names of commands, by number.
constexpr std::array names = {
#define TUTTI_PROPERTIES(name, blocks, before, after, sizes, data, callers) Text(#name),
#include "core/collectives.inc"
    Text("allgather_shared"), Text("guidelines"), Text("latency"),
    Text("memory"),           Text("machine"),    Text("distances"),
};

/// The names in lines of the help, separated by commas.
std::string listed(std::span<const Collective> collectives) {
  constexpr std::size_t width = 92;
  std::string text;
  std::string line = " ";
  for (const Collective collective : collectives) {
    const Text name = tutti::name_of(collective);
    if (line.size() + name.size() + 2 > width) {
      text += line + "\n";
      line = " ";
    }
    line += " " + std::string(name) + (&collective == &collectives.back() ? "" : ",");
  }
  return text + line + "\n";
}

std::string quoted(Text text) { return "'" + std::string(text) + "'"; }

/// The end of the error about an option that the command does not accept.
std::string valid_options(Command command, Text given) {
  std::vector<std::string> options;
  for (const Option& option : all_options()) {
    if (option.commands & bit(command)) options.push_back("--" + std::string(option.name));
  }
  return valid_names(given, std::vector<Text>(options.begin(), options.end()), "options");
}

/// The error about options that contradict each other; empty if there is none.
std::string contradiction(const Options& options) {
  if (!options.blocks.empty() && !options.totals.empty()) {
    return "--block and --bytes exclude each other";
  }
  if (options.command == Command::memory && options.blocks.size() > 1) {
    return "memory measures blocks of one size; --block has " +
           std::to_string(options.blocks.size());
  }
  if (options.command == Command::distances && options.output.empty() && !options.help) {
    return "distances needs --output FILE";
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
  if (options.command == Command::memory && options.blocks.empty()) options.blocks = {1 << 18};
  if (options.blocks.empty() && options.totals.empty()) {
    options.blocks = {1, 10, 100, 1000, 10000};
    if (!(command & (with_data | guidelines))) options.blocks = {0};
  }
  if (options.compute < 0) options.compute = options.delays.scale();
  if (options.algorithms.empty()) options.algorithms = {"native", "auto"};
}

/// Reads one option from the front of `rest`, and removes it.
std::optional<Error> read_option(Options& options, std::span<const char* const>& rest) {
  const Text argument = rest.front();
  rest = rest.subspan(1);
  const Text name = argument.substr(0, argument.find('='));
  const std::span<const Option> table = all_options();
  const auto option = std::ranges::find_if(
      table, [&](const Option& o) { return name.starts_with("--") && o.name == name.substr(2); });
  if (option == table.end() || !(option->commands & bit(options.command))) {
    return Error{std::string(name_of(options.command)) + " has no option " + quoted(name) +
                 valid_options(options.command, name)};
  }
  const bool attached = name.size() < argument.size();
  Text value;
  if (option->value.empty()) {
    if (attached)
      return Error{"invalid " + std::string(argument) + ": " + std::string(name) +
                   " takes no value"};
  } else if (attached) {
    value = argument.substr(name.size() + 1);
  } else if (rest.empty()) {
    return Error{std::string(name) + " needs a value " + std::string(option->value) + ": " +
                 std::string(option->meaning)};
  } else {
    value = rest.front();
    rest = rest.subspan(1);
  }
  const Accepted accepted = option->read(options, value);
  if (accepted.empty()) return std::nullopt;
  return Error{"invalid " + std::string(name) + " " + quoted(value) + ": expected " + accepted};
}

}  // namespace

std::string_view name_of(Command command) { return names[static_cast<std::size_t>(command)]; }

Result<Options> parse(std::span<const char* const> arguments) {
  Options options;
  if (arguments.empty()) return Error{"no command" + valid_names("", names, "commands")};
  const Text first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    options.help = true;
    return options;
  }
  const auto* const command = std::ranges::find(names, first);
  if (command == names.end()) {
    return Error{"unknown command " + quoted(first) + valid_names(first, names, "commands")};
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
  return Error{"--root " + std::to_string(root.number) + ": expected a rank from 0 to " +
               std::to_string(p - 1)};
}

std::string help() {
  std::string text =
      "mpirun -n P tutti-bench COMMAND [OPTION...]\n\n" + listed(matched_collectives) +
      "               times of algorithms, called alternately in one run\n" +
      listed(one_sided_collectives) +
      "               times with windows, where only the root calls, and of the MPI's own\n"
      "  allgather_shared\n"
      "               time and memory of results that the ranks of a node share or copy\n"
      "  guidelines   Gather <= Gatherv and Gatherv <= Allreduce + padded Gather\n"
      "  latency      time that Tutti adds to a call\n"
      "  memory       memory of each algorithm beyond the program's buffers\n"
      "  machine      times of messages and node memory in this job, for TUTTI_MACHINE\n"
      "  distances    times of messages between all ranks, for TUTTI_DISTANCES\n\n";
  for (const Option& option : all_options()) {
    std::string left = "  --" + std::string(option.name) + " " + std::string(option.value);
    left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
    text += left + std::string(option.meaning) + "\n";
  }
  return text;
}

}  // namespace tutti::bench
