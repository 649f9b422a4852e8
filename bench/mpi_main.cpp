/// tutti-bench: measures collectives of the MPI and of Tutti in one job.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "bench/mpi_clock.hpp"
#include "bench/mpi_commands.hpp"
#include "bench/mpi_functions.hpp"
#include "bench/mpi_job.hpp"
#include "bench/mpi_machine.hpp"
#include "bench/mpi_table.hpp"
#include "bench/options.hpp"
#include "bench/output_file.hpp"
#include "bench/report.hpp"
#include "run/processors.hpp"

namespace tutti::bench {

namespace {

constexpr int bad_input = 2;
constexpr int unusable = 1;  // exit status: the measurements contradict each other

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string line(text.data());
  line = line.substr(0, line.find('\n'));
  for (char& c : line) c = c == '\t' ? ' ' : c;
  return line;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text.data();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Linux's name of the processor, or "unknown".
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

/// The load average of the last minute, which shows other work of the machine.
std::string load() {
  double average = 0;
  if (getloadavg(&average, 1) != 1) return "unknown";
  return fmt::format("{:.2f}", average);
}

/// Which received data the command compares with those sent.
std::string checked_data(const Options& options) {
  const bool moves_nothing =
      options.command == Command::latency || options.command == Command::memory;
  if (!options.check || moves_nothing) return "not checked";
  if (options.command == Command::allgather_shared) {
    return "first page of each block checked after every call";
  }
  if (options.calls > 1) {
    return "checked after every repetition of equal data, in warm-ups after every call";
  }
  return "checked after every call";
}

Metadata metadata_of(const Options& options, const Job& job, const Clock& clock, Rank root,
                     const Machine& machine) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  std::vector<std::string> distributions;
  for (const Distribution d : options.distributions) distributions.emplace_back(tutti::name_of(d));
  const std::string model = fmt::format(
      "latency {:.3g} us, per_byte {:.3g} ns, overhead {:.3g} us, gap {:.3g} us",
      machine.latency * 1e6, machine.per_byte * 1e9, machine.overhead * 1e6, machine.gap * 1e6);
  Metadata metadata = {
      {"tutti-bench", TUTTI_VERSION},
      {"command", std::string(name_of(options.command))},
      {"library", library_version()},
      {"ranks", std::to_string(job.p())},
      {"nodes", std::to_string(job.tutti_nodes().nodes)},
      {"ranks of a node", std::to_string(job.tutti_nodes().ranks_per_node)},
      {"cores of a node", std::to_string(cores)},
      {"processor", processor()},
      {"network", network_name(job.emulated())},
      {"load before", load()},
      {"clock", clock.method()},
      {"clock error", clock.error_text()},
      {"time", options.command == Command::latency
                   ? "mean of back-to-back calls on rank 0"
                   : "last exit minus first arrival over all ranks, after a yielding barrier, "
                     "divided by the calls of a repetition"},
      {"statistics",
       "avg, min, median, p90, p99 over all repetitions, no outliers removed; ratio of "
       "medians with its 95 % interval by order statistics"},
      {"order", options.command == Command::latency
                    ? "batches of calls take turns, each time beginning with the next contender"
                    : "each repetition calls all contenders in a new random order"},
      {"repetitions", std::to_string(options.repetitions)},
      {"budget", options.budget > 0 ? std::to_string(options.budget) + " s a row" : "none"},
      {"warmup", std::to_string(options.warmup)},
      {"settle", std::to_string(options.settling)},
      {"delay", options.delays.text},
      {"compute", std::to_string(options.compute * 1e3) + " ms, asleep"},
      {"calls of a repetition", std::to_string(options.calls)},
      {"rest", std::to_string(options.rest * 1e3) + " ms, asleep after all have left a repetition"},
      {"calls", options.persistent ? "persistent, started before the computation" : "plain"},
      {"edge", options.edge > 0 ? std::to_string(options.edge) + " %" : "none"},
      {"distributions", joined(distributions)},
      {"rho", std::to_string(options.rho)},
      {"seed", std::to_string(options.seed)},
      {"root", std::to_string(root)},
      {"gap", std::to_string(options.gap)},
      {"algorithms", joined(options.algorithms)},
      {"data", checked_data(options)},
      {"preloaded", is_intercepted() ? "yes" : "no"},
      {"machine", model},
      {"date", utc_now()}};
  if (job.nodes().ranks_per_node > cores) {
    metadata.emplace_back("note", "oversubscribed cores: times include waiting for a core");
  }
  return metadata;
}

/// The collectives that may run with other numbers of ranks.
bool can_be_reordered(Collective collective) {
  return !reduces(collective) && !is_gather_or_scatter(collective) && !is_one_sided(collective);
}

/// The fault of the options in this job, or empty.
std::string refusal(const Options& options, const Job& job) {
  const Functions native = native_functions();
  if (native.Gather == nullptr) {
    return "no MPI library is loaded (a statically linked MPI cannot be measured)";
  }
  if (const auto root = rank_of(options.root, job.p()); !root) return root.error();
  if (std::string text = options.delays.refusal(job.p()); !text.empty()) return text;
  const auto collective = collective_of(options.command);
  const bool is_shared = options.command == Command::allgather_shared;
  const Bytes max_total = is_shared ? Bytes{job.p()} * INT_MAX : INT_MAX;
  for (const Bytes bytes : options.totals) {
    if (bytes <= max_total || !(is_shared || is_rma(options.command))) continue;
    return "--bytes " + std::to_string(bytes) + ": " + std::string(name_of(options.command)) +
           " takes at most " + std::to_string(max_total);
  }
  if (!collective) return "";
  if (job.p() == 1) {
    return "1 rank, so there is nothing to compare; expected 2 or more, such as mpirun -n 4. If "
           "the launcher was to start more, it belongs to another MPI: set TUTTI_BENCH_MPI";
  }
  for (const std::string& name : options.algorithms) {
    if (name == reordered_name) {
      if (can_be_reordered(*collective)) continue;
      return "--algorithm " + name + ": " + std::string(tutti::name_of(*collective)) +
             " cannot be reordered; expected an allgather, alltoall, bcast or barrier";
    }
    if (is_one_sided(*collective) && name == "native") continue;  // of the matched one
    if (const auto set = set_algorithm(*collective, name); !set) {
      return "--algorithm " + name + ": " + set.error();
    }
  }
  return "";
}

int refuse(const Job& job, const std::string& text) {
  if (job.rank() == 0) std::fprintf(stderr, "tutti-bench: %s\n", text.c_str());
  return bad_input;
}

/// The machine as the text of a file, with date and load of the measurement. Nothing if the
/// measurements contradict each other.
Result<std::string> measured_machine(const Job& job) {
  const std::string circumstances = library_version() + ", " + std::to_string(job.p()) +
                                    " ranks on " + std::to_string(job.nodes().nodes) + " nodes, " +
                                    utc_now() + ", load " + load() + " before, " +
                                    std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " cores";
  Result<Machine> machine = measure_machine(job);
  if (machine) {
    measure_polling(job, *machine);
    machine = measure_node_machine(job, *machine);
  }
  if (!machine) {
    return Error{"the machine cannot be measured now (" + circumstances + "): " + machine.error()};
  }
  return "# " + circumstances + "\n" + to_text(*machine);
}

int write_machine(const Options& options, const Job& job, OutputFile& output) {
  const Result<std::string> text = measured_machine(job);
  if (!text) {
    refuse(job, text.error());
    return unusable;
  }
  std::string problem;
  if (job.rank() == 0) {
    if (!options.quiet) std::fputs(text->c_str(), stdout);
    problem = output.finish(*text);
  }
  problem = job.from_first(problem);
  return problem.empty() ? 0 : refuse(job, problem);
}

Result<bool> run_command(const Bench& bench, Rank root, const Machine& machine, Report* report) {
  const Command command = bench.options.command;
  try {
    if (command == Command::guidelines) return run_guidelines(bench, root, report);
    if (is_rma(command)) return run_rma(bench, root, machine, report);
    if (command == Command::allgather_shared) return run_shared(bench, report);
    if (command == Command::memory) return run_memory(bench, report);
    if (command != Command::latency) return run_table(bench, root, machine, report);
    run_latency(bench, report);
    return true;
  } catch (const std::bad_alloc&) {
    bench.job.fail("not enough memory for the buffers of " + std::string(name_of(command)));
  }
}

int run_measured(const Bench& bench, const Machine& machine) {
  const Options& options = bench.options;
  const Job& job = bench.job;
  const Rank root = *rank_of(options.root, job.p());
  std::shared_ptr<Report> report;
  std::string problem;
  if (job.rank() == 0) {
    auto opened = Report::open(options, metadata_of(options, job, bench.clock, root, machine));
    if (opened) {
      report = *opened;
    } else {
      problem = opened.error();
    }
  }
  problem = job.from_first(problem);
  if (!problem.empty()) return refuse(job, problem);
  const Result<bool> done = run_command(bench, root, machine, report.get());
  if (!done) return refuse(job, done.error());
  if (report) {
    report->note("clock error", bench.clock.error_text());  // the maximum over all rows
    problem = report->finish();
  }
  problem = job.from_first(problem);
  return problem.empty() ? 0 : refuse(job, problem);
}

/// Runs the command of valid options. Returns the exit status.
int start(const Options& options, const Job& job) {
  // Rank 0 tries the file before minutes of measurement.
  Result<OutputFile> output = OutputFile();
  if (job.rank() == 0) output = OutputFile::open("--output", options.output);
  if (const std::string problem = job.from_first(output ? "" : output.error()); !problem.empty()) {
    return refuse(job, problem);
  }
  const bool measures_distances = options.command == Command::distances;
  // They are measured in one call: all pairs of up to 64 ranks, or else of nodes, one of which may
  // take 0.2 s.
  const int ends = job.p() <= 64 ? job.p() : job.nodes().nodes;
  const int pairs = measures_distances ? ends * ends / 2 : 0;
  Watchdog watchdog(job.rank(), options.timeout + pairs / 5);
  watchdog.enter(measures_distances ? "distances" : "clocks and machine", 0, 0);
  if (measures_distances) {
    const Result<bool> done = run_distances(job, options, *output);
    return done ? 0 : refuse(job, done.error());
  }
  Clock clock(job);
  if (options.command == Command::machine) return write_machine(options, job, *output);
  const Result<Machine> machine = machine_of(job);
  if (!machine) return refuse(job, machine.error());
  return run_measured({job, clock, watchdog, options}, *machine);
}

int run(std::span<const char* const> arguments) {
  const Job job;
  const Result<Options> options = parse(arguments);
  // Ranks may differ: each reads the file of --delay recorded:FILE.
  if (const std::string problem = job.first_problem(options ? "" : options.error());
      !problem.empty()) {
    return refuse(job, problem);
  }
  if (options->help) {
    if (job.rank() == 0) std::fputs(help().c_str(), stdout);
    return 0;
  }
  if (const std::string problem = job.first_problem(refusal(*options, job)); !problem.empty()) {
    return refuse(job, problem);
  }
  if (options->command == Command::machine && job.p() < 2) {
    return refuse(job, "machine needs at least 2 ranks; start it with mpirun -n 2");
  }
  return start(*options, job);
}

}  // namespace

}  // namespace tutti::bench

int main(int argc, char** argv) {
  const std::span<const char* const> arguments(argv + 1, static_cast<std::size_t>(argc - 1));
  // The watchdog's thread makes no MPI calls, but Tutti's background thread does.
  const auto options = tutti::bench::parse(arguments);
  const bool has_thread =
      options && (tutti::bench::computes(*options) || tutti::bench::is_rma(options->command) ||
                  options->command == tutti::bench::Command::machine);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, has_thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  const int status = tutti::bench::run(arguments);
  MPI_Finalize();
  return status;
}
