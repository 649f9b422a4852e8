/// The harness: options, failures, summary, watchdog.
#include "harness.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "temporary_folder.hpp"

namespace tutti::test {

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--native") {
      options.native = true;
      continue;
    }
    if (word == "--rules") {
      options.rules = true;
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument(word + " is unknown or lacks its value");
    const std::string value = argv[++i];
    if (word == "--effort") {
      options.effort = std::stoi(value);
    } else if (word == "--nodes") {
      options.nodes = value;
    } else if (word == "--node-memory") {
      options.node_memory = value;
    } else if (word == "--memory") {
      options.memory = value;
    } else if (word == "--timeout") {
      options.timeout = std::stoi(value);
    } else if (word == "--split") {
      options.splits = value != "off";
    } else if (word == "--only") {
      options.only = value;
    } else {
      throw std::invalid_argument(
          word +
          " is none of --native, --rules, --effort, --timeout, --split, --only, --memory, --nodes, "
          "--node-memory");
    }
  }
  if (!options.memory.empty()) setenv("TUTTI_MEMORY", options.memory.c_str(), 1);
  if (options.splits) setenv("TUTTI_SPLIT_USER_OPS", "on", 1);
  if (!options.nodes.empty()) {
    setenv("TUTTI_NODE", options.nodes.c_str(), 1);
    setenv("TUTTI_NODE_MEMORY", options.node_memory.c_str(), 1);
  }
  return options;
}

std::string temporary_name(const std::string& what) {
  static std::optional<TemporaryFolder> folder;  // on rank 0
  static std::array<char, PATH_MAX> name{};
  if (name[0] == '\0') {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) folder.emplace().path().string().copy(name.data(), name.size() - 1);
    PMPI_Bcast(name.data(), PATH_MAX, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  return (std::filesystem::path(name.data()) / what).string();
}

Context::Context(const Options& options) : options_(options) {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  threads_ = level == MPI_THREAD_MULTIPLE;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &size_);
}

void Context::step(const std::string& what) {
  const std::lock_guard lock(mutex_);
  step_ = what;
  ++progress_;
}

void Context::fail(const std::string& what) {
  constexpr long shown = 5;
  const std::lock_guard lock(mutex_);
  if (++failures_ <= shown) {
    std::fprintf(stderr, "rank %d of %d: %s: %s: %s\n", rank_, size_, case_name_.c_str(),
                 step_.c_str(), what.c_str());
  }
}

void Context::skip(const std::string& why) {
  const std::lock_guard lock(mutex_);
  skipped_ = why;
}

Suite::Result Suite::run(const Case& test, Context& context) {
  {
    const std::lock_guard lock(context.mutex_);
    context.case_name_ = test.name;
    context.skipped_.clear();
    context.failures_ = 0;
  }
  context.step("start");
  const double start = PMPI_Wtime();
  if (test.is_tutti_only && context.options().native) {
    context.skip("the MPI's own functions have nothing like it");
  } else {
    test.body(context);
  }
  context.step("end");
  long failures = context.failures_;
  PMPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const std::string& skipped = context.skipped_;
  const Result result = failures > 0       ? Result::failed
                        : !skipped.empty() ? Result::skipped
                                           : Result::passed;
  if (context.rank() == 0) {
    constexpr std::array words = {"ok", "FAILED", "skipped"};
    std::printf("%-7s %-40s %7.2f s %s\n", words[static_cast<std::size_t>(result)],
                test.name.c_str(), PMPI_Wtime() - start, skipped.c_str());
    std::fflush(stdout);
  }
  return result;
}

int Suite::run(Context& context) {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  for (const Case& test : cases_) {
    if (test.name.find(context.options().only) == std::string::npos) continue;
    const Result result = run(test, context);
    ++(result == Result::passed ? passed : result == Result::failed ? failed : skipped);
  }
  if (context.rank() == 0) {
    std::printf("%d skipped\n%d passed, %d failed\n", skipped, passed, failed);
  }
  return failed == 0 && passed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

Watchdog::Watchdog(Context& context)
    : context_(context), thread_([this](std::stop_token stop) { watch(stop); }) {}

void Watchdog::watch(std::stop_token stop) {
  using Clock = std::chrono::steady_clock;
  const std::chrono::seconds patience(context_.options().timeout);
  // Ranks time out at slightly different times: each prints its position before one aborts.
  const std::chrono::seconds others(3);
  long seen = -1;
  Clock::time_point since = Clock::now();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (context_.progress_ != seen) {
      seen = context_.progress_;
      since = Clock::now();
    } else if (Clock::now() - since > patience) {
      {
        const std::lock_guard lock(context_.mutex_);
        std::fprintf(stderr, "rank %d of %d hangs in %s: %s\n", context_.rank_, context_.size_,
                     context_.case_name_.c_str(), context_.step_.c_str());
      }
      std::this_thread::sleep_for(others);
      std::abort();
    }
  }
}

std::vector<int> nodes_of_world(const Context& context) {
  const auto p = static_cast<std::size_t>(context.size());
  const std::string text = context.options().nodes.substr(0, context.options().nodes.find('/'));
  const std::string dealt = "round_robin";
  std::vector<int> nodes;
  if (text.starts_with(dealt)) {
    const int count = std::stoi(text.substr(dealt.size() + 1));
    while (nodes.size() < p) nodes.push_back(static_cast<int>(nodes.size()) % count);
    return nodes;
  }
  std::vector<int> sizes;
  std::istringstream list(text.substr(0, text.find(':')));
  for (std::string size; std::getline(list, size, ',');) sizes.push_back(std::stoi(size));
  // The list restarts at its end; with round_robin, nodes take one rank in turn.
  for (int first = 0; nodes.size() < p; first += static_cast<int>(sizes.size())) {
    std::vector<int> listed;
    const int rounds = text.ends_with(dealt) ? *std::max_element(sizes.begin(), sizes.end()) : 1;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t node = 0; node < sizes.size(); ++node) {
        const int ranks = rounds == 1 ? sizes[node] : sizes[node] > round ? 1 : 0;
        listed.insert(listed.end(), static_cast<std::size_t>(ranks),
                      first + static_cast<int>(node));
      }
    }
    nodes.insert(nodes.end(), listed.begin(), listed.end());
  }
  nodes.resize(p);
  return nodes;
}

long resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long total = 0;
  long resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  return "error " + std::to_string(code) + " (" + text + ")";
}

}  // namespace tutti::test
