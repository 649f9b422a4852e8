/// What `auto` selects on a simulated machine, and what it gains there over the MPI's own.
///
///     tutti-selection CALLS[/SECONDS]|each COLLECTIVE:BYTES,.. ..
///
/// BYTES are those of all for bcast, reductions and scans, of each rank's block for others, of the
/// mean block for v forms. `auto` gets up to CALLS calls of each size to settle in, and so many
/// seconds of real time since the start of the program; 0 measures the MPI's own alone, `each`
/// every algorithm of the list instead. Prints one line of JSON for each size, or size and
/// algorithm.
#include <mpi.h>
#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "bench/mpi_calls.hpp"
#include "tutti/tutti.h"

using tutti::Collective;
using tutti::Rank;

namespace {

constexpr int timed_calls = 3;  ///< of the MPI's own, and of `auto` once it has settled
constexpr int same_calls =
    256;  ///< with one selection: more than pass between windows that explore

int rank = 0;
int p = 1;
std::size_t calls_made = 0;

/// Seconds from the common arrival of a call.
struct Times {
  double last = 0;  ///< to the last exit
  double mean = 0;  ///< to the exits in the mean over ranks
};

/// All simulated ranks share one process: rank 0 owns this.
struct Shared {
  sg_bar_t barrier = nullptr;
  std::vector<Times> times;  ///< of each call
  bool has_settled = false;
  bool has_ended = false;  ///< the exploration of this size, settled or not
};
Shared* shared = nullptr;

/// The counts of each rank's block, or in an alltoall those that this rank exchanges with each:
/// a rank sends to another what that sends to it. Irregular blocks have 1/2 to 3/2 of the mean.
std::vector<int> counts_of(Collective collective, int bytes) {
  const int mean = std::max(1, bytes / static_cast<int>(sizeof(int)));
  std::vector<int> counts(static_cast<std::size_t>(p), mean);
  if (!tutti::is_irregular(collective)) return counts;
  int place = tutti::block_kind(collective) == tutti::BlockKind::pairs ? rank : 0;
  for (int& count : counts) {
    count = std::max(1, mean / 2 + (place++ * 37 % 101) * mean / 100);
  }
  return counts;
}

/// One size of a collective.
class Cell {
 public:
  Cell(Collective collective, int bytes)
      : buffers_(collective, counts_of(collective, bytes), rank, false),
        call_(tutti::bench::call_of(collective, tutti::bench::tutti_functions(), buffers_)) {}

  /// Makes a call; returns its times.
  Times time() {
    sg_barrier_wait(shared->barrier);
    const double arrival = simgrid_get_clock();
    const std::size_t number = calls_made++;
    call_(0);
    if (shared->times.size() <= number) shared->times.resize(number + 1);
    const double elapsed = simgrid_get_clock() - arrival;
    shared->times[number].last = std::max(shared->times[number].last, elapsed);
    shared->times[number].mean += elapsed / p;
    sg_barrier_wait(shared->barrier);
    return shared->times[number];
  }

 private:
  tutti::bench::CallBuffers buffers_;
  std::function<void(Rank root)> call_;
};

/// Those of the call with the median time to the last exit.
Times median_time(Cell& cell) {
  std::array<Times, timed_calls> times{};
  for (Times& time : times) time = cell.time();
  std::sort(times.begin(), times.end(),
            [](const Times& a, const Times& b) { return a.last < b.last; });
  return times[timed_calls / 2];
}

void set(const std::string& collective, const char* specification) {
  TUTTI_Algorithm_set(collective.c_str(), specification, nullptr, nullptr);
}

/// What the last call ran, and why.
std::string latest(const std::string& collective) {
  std::array<char, 512> text{};
  int length = static_cast<int>(text.size());
  TUTTI_Algorithm_last(MPI_COMM_WORLD, collective.c_str(), text.data(), &length);
  return text.data();
}

bool explores(const std::string& text) { return text.find("explor") != std::string::npos; }

struct Settled {
  int calls = 0;     ///< until the selection stayed
  double spent = 0;  ///< seconds in these calls
  std::string selection;
};

/// Seconds of real time: all functions that read a clock return simulated time here.
double real_time() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// How long `auto` may explore.
struct Limit {
  int calls = 0;
  double end = std::numeric_limits<double>::infinity();  ///< on the clock of real_time()
};

/// Lets `auto` explore until one selection has stayed for `same_calls` calls, or to the limit.
Settled settle(Cell& cell, const std::string& collective, const Limit& limit) {
  Settled result;
  double since = 0;
  int same = 0;
  shared->has_settled = shared->has_ended = false;
  for (int call = 1; call <= limit.calls && !shared->has_ended; ++call) {
    since += cell.time().last;
    if (rank == 0) {
      std::string now = latest(collective);
      // Calls between windows of exploration that run the MPI's own give no other reason.
      const bool is_passed = now.find(" measured") == std::string::npos && !explores(now);
      const bool stays = now == result.selection || is_passed;
      same = stays ? same + 1 : 0;
      if (!stays) {
        result = {call, result.spent + since, std::move(now)};
        since = 0;
      }
      const bool is_known = !result.selection.empty() && !explores(result.selection);
      shared->has_settled = is_known && same >= same_calls;
      shared->has_ended = shared->has_settled || real_time() > limit.end;
    }
    sg_barrier_wait(shared->barrier);
  }
  return result;
}

void measure(Collective of, int bytes, const Limit& limit) {
  const std::string collective(tutti::name_of(of));
  Cell cell(of, bytes);
  set(collective, "native");
  const Times native = median_time(cell);
  set(collective, "auto");
  const Settled settled = settle(cell, collective, limit);
  const bool has_settled = shared->has_settled;
  const Times with_auto = limit.calls > 0 ? median_time(cell) : Times();
  // Before it has settled, the latest selection may be one that only explored.
  const std::string ran = has_settled ? settled.selection : latest(collective);
  if (rank != 0) return;
  std::printf("{\"collective\": \"%s\", \"bytes\": %d, ", collective.c_str(), bytes);
  std::printf("\"native\": %.9g, \"native_mean\": %.9g", native.last, native.mean);
  if (limit.calls > 0) {
    std::printf(", \"auto\": %.9g, \"auto_mean\": %.9g, ", with_auto.last, with_auto.mean);
    std::printf("\"settled\": %s, \"calls\": %d, \"spent\": %.9g, \"selected\": \"%s\"",
                has_settled ? "true" : "false", settled.calls, settled.spent, ran.c_str());
  }
  std::printf("}\n");
  std::fflush(stdout);
}

/// Prints the times of every algorithm of the list.
void measure_each(Collective of, int bytes) {
  const std::string collective(tutti::name_of(of));
  Cell cell(of, bytes);
  for (int index = 0;; ++index) {
    std::array<char, 64> name{};
    int length = static_cast<int>(name.size());
    if (TUTTI_Algorithm_name(collective.c_str(), index, name.data(), &length) != MPI_SUCCESS)
      return;
    set(collective, name.data());
    const Times times = median_time(cell);
    if (rank != 0) continue;
    std::printf("{\"collective\": \"%s\", \"bytes\": %d, \"algorithm\": \"%s\", \"last\": %.9g}\n",
                collective.c_str(), bytes, name.data(), times.last);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  Shared own;
  if (rank == 0) own.barrier = sg_barrier_init(static_cast<unsigned>(p));
  auto address = reinterpret_cast<std::uintptr_t>(&own);
  PMPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
  shared = reinterpret_cast<Shared*>(address);
  const std::string calls = argc > 1 ? argv[1] : "0";
  Limit limit{std::atoi(calls.c_str())};
  if (const auto slash = calls.find('/'); slash != std::string::npos) {
    limit.end = real_time() + std::atoi(calls.c_str() + slash + 1);
  }
  for (int index = 2; index < argc; ++index) {
    std::stringstream words(argv[index]);
    std::string name;
    std::getline(words, name, ':');
    const auto collective = tutti::collective_named(name);
    if (!collective || tutti::is_one_sided(*collective)) continue;
    for (std::string size; std::getline(words, size, ',');) {
      if (calls == "each") {
        measure_each(*collective, std::atoi(size.c_str()));
      } else {
        measure(*collective, std::atoi(size.c_str()), limit);
      }
    }
  }
  sg_barrier_wait(shared->barrier);
  MPI_Finalize();
  return 0;
}
