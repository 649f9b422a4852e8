/// Every collective by every algorithm on as many simulated ranks as the job has, with the data of
/// every rank checked byte by byte, and of barriers the times.
///
///     smpirun .. tutti-test-simgrid [COLLECTIVE [CALLS [ALGORITHM..]]]
///
/// CALLS (3 by default) of each algorithm, or of those named, differ in root, sizes and layout.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "caller.hpp"
#include "tutti/tutti.h"

namespace {

using namespace tutti::test;
using Text = std::array<char, 1024>;

std::vector<std::string> algorithms_of(const std::string& collective) {
  std::vector<std::string> names = {"native", "auto"};
  for (Text text{};; text = {}) {
    int length = static_cast<int>(text.size());
    const int index = static_cast<int>(names.size()) - 2;
    if (TUTTI_Algorithm_name(collective.c_str(), index, text.data(), &length) != MPI_SUCCESS) {
      return names;
    }
    names.emplace_back(text.data());
  }
}

/// The collectives that all ranks call.
std::vector<std::string> collectives() {
  enum Callers { all_ranks, root_alone };
  std::vector<std::string> names;
#define TUTTI_PROPERTIES(name, blocks, before, after, sizes, data, callers) \
  if (callers == all_ranks) names.emplace_back(#name);
#include "core/collectives.inc"
  return names;
}

/// Runs all calls of one algorithm; true if all ranks have the right data.
bool passes(const std::string& collective, const std::string& algorithm, int calls) {
  Text text{};
  int length = static_cast<int>(text.size());
  int wrong = 0;
  std::string what;
  if (TUTTI_Algorithm_set(collective.c_str(), algorithm.c_str(), text.data(), &length) !=
      MPI_SUCCESS) {
    what = text.data();
  }
  Caller caller(collective);
  // All ranks have the same settings. A rank with wrong data goes on, as the others do.
  const bool is_set = what.empty();
  for (int call = 0; call < calls && is_set; ++call) {
    const std::string fault = caller(call);
    if (what.empty() && !fault.empty()) what = "call " + std::to_string(call) + ": " + fault;
    if (call > 0) continue;
    // The first one reduces by a sum; others may need an algorithm for what does not commute.
    length = static_cast<int>(text.size());
    TUTTI_Algorithm_last(MPI_COMM_WORLD, collective.c_str(), text.data(), &length);
  }
  wrong = what.empty() ? 0 : 1;
  int any = 0;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (wrong != 0) {
    std::printf("rank %d: %s %s: %s\n", rank, collective.c_str(), algorithm.c_str(), what.c_str());
  }
  const bool ran = algorithm == "auto" || std::string(text.data()).starts_with(algorithm + ":");
  if (rank == 0) {
    std::printf("%-6s %-22s %-20s %s\n", any == 0 && ran ? "ok" : "FAILED", collective.c_str(),
                algorithm.c_str(), text.data());
    std::fflush(stdout);
  }
  return any == 0 && ran;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const std::string only = argc > 1 ? argv[1] : "";
  const int calls = argc > 2 ? std::atoi(argv[2]) : 3;
  int passed = 0;
  int failed = 0;
  for (const std::string& collective : collectives()) {
    if (!only.empty() && only != "all" && only != collective) continue;
    const std::vector<std::string> named(argv + std::min(argc, 3), argv + argc);
    for (const std::string& algorithm : named.empty() ? algorithms_of(collective) : named) {
      ++(passes(collective, algorithm, calls) ? passed : failed);
    }
  }
  if (rank == 0) std::printf("%d passed, %d failed\n", passed, failed);
  MPI_Finalize();
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
