/// Measures peaks of resident memory in calls.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>

#include "algorithms/staging.hpp"
#include "bench/mpi_calls.hpp"
#include "bench/mpi_commands.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

/// The bytes that /proc/self/status has for a name; negative if it has none.
Bytes bytes_of_status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return -1;
}

/// Resets the peak of resident memory; false if the system does not allow it.
bool forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5";
  file.flush();
  return file.good();
}

/// The maximum bytes that the call adds at any rank, and at any rank but the root.
std::array<Bytes, 2> peak_of(const Bench& bench, const std::function<void(Rank)>& call) {
  bench.job.barrier();
  malloc_trim(0);
  forget_peak();
  const Bytes before = bytes_of_status("VmRSS");
  call(0);
  const Bytes added = bytes_of_status("VmHWM") - before;
  std::array<Bytes, 2> peak = {added, bench.job.rank() == 0 ? 0 : added};
  MPI_Allreduce(MPI_IN_PLACE, peak.data(), 2, MPI_INT64_T, MPI_MAX, bench.job.control());
  return peak;
}

std::string last_algorithm(Collective collective, MPI_Comm comm) {
  std::array<char, 256> text{};
  int length = static_cast<int>(text.size());
  TUTTI_Algorithm_last(comm, std::string(name_of(collective)).c_str(), text.data(), &length);
  return text.data();
}

/// The list's bound on the memory of an algorithm, including the rank's own block.
std::string bound_of(const Specification& specification, int p, Bytes block) {
  const Collective collective = specification.algorithm->collective;
  const Bytes all = block_kind(collective) == BlockKind::parts ? block : block * p;
  if (!fits(specification, p, all, default_staging)) {
    return is_gather_or_scatter(collective) ? "linear" : "native";
  }
  const bool holds_block = specification.algorithm->staging == Staging::subtrees;
  const Bytes bound =
      staging_of(specification, p, all, default_staging) + (holds_block ? block : 0);
  return fmt::format("{:.1f}", static_cast<double>(bound) / (1 << 20));
}

void print(const Report& report, Collective collective, const std::string& name,
           const std::string& bound, const std::array<Bytes, 2>& peak, const std::string& ran) {
  const auto mib = [](Bytes bytes) { return static_cast<double>(bytes) / (1 << 20); };
  report.say(fmt::format("{:<22}{:<20}{:>10}{:>12.1f}{:>12.1f}  {}", name_of(collective), name,
                         bound, mib(peak[0]), mib(peak[1]), ran));
}

}  // namespace

/// `ints`, or fewer so that the buffers of all ranks take at most 25 % of the machine's memory:
/// those of alltoall and allgather grow with the square of the ranks.
int block_for(Collective collective, int p, int ints) {
  Bytes blocks = 0;
  for (Rank rank = 0; rank < p; ++rank) {
    blocks += blocks_sent(collective, p, rank, false) + blocks_received(collective, p, rank, false);
  }
  const Bytes memory = Bytes{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return static_cast<int>(std::min<Bytes>(ints, memory / 4 / blocks / 4));
}

void print_block(const Report& report, Collective collective, int ints) {
  report.say(fmt::format("# {}: blocks of {:.3f} MiB", name_of(collective),
                         static_cast<double>(ints) / (1 << 18)));
}

Result<bool> run_memory(const Bench& bench, Report* report) {
  if (!forget_peak()) return Error{"cannot write /proc/self/clear_refs, which memory needs"};
  const int p = bench.job.p();
  const auto ints = static_cast<int>(std::min<Bytes>(bench.options.blocks.front(), INT_MAX));
  if (report != nullptr) {
    report->say(fmt::format("{:<22}{:<20}{:>10}{:>12}{:>12}  what ran", "# collective, MiB",
                            "algorithm", "bound", "any rank", "not root"));
  }
  for (const Collective collective : all_collectives) {
    if (is_one_sided(collective) || collective == Collective::barrier) continue;
    const int count = block_for(collective, p, ints);
    CallBuffers at(collective, std::vector(index(p), count), bench.job.rank(), false);
    std::fill(at.received.begin(), at.received.end(), 1);
    const auto native = call_of(collective, native_functions(), at);
    bench.watchdog.enter(name_of(collective), 1, 0);
    native(0);  // the MPI may allocate memory that it keeps
    const auto peak = peak_of(bench, native);
    if (report != nullptr) {
      print_block(*report, collective, count);
      print(*report, collective, "native", "-", peak, "");
    }
    for (const Algorithm& algorithm : all_algorithms()) {
      if (algorithm.collective != collective) continue;
      const std::string name(algorithm.name);
      bench.watchdog.enter(name, 1, 0);
      const auto set = set_algorithm(collective, name);
      if (!set) return Error{set.error()};
      // Memory that a communicator keeps would hide the memory of the next algorithm.
      MPI_Comm_dup(MPI_COMM_WORLD, &at.comm);
      const auto tuttis = peak_of(bench, call_of(collective, tutti_functions(), at));
      const std::string ran = last_algorithm(collective, at.comm);
      MPI_Comm_free(&at.comm);
      if (report != nullptr) {
        print(*report, collective, name, bound_of(*specification(collective, name), p, 4L * count),
              tuttis, ran);
      }
    }
    (void)set_algorithm(collective, "auto");
  }
  return true;
}

}  // namespace tutti::bench
