/// Keeps what ran and writes it at the end of MPI.
#include "api/report.hpp"

#include <time.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

#include "run/mpi_functions.hpp"

namespace tutti {

namespace {

struct Totals {
  std::int64_t calls = 0;
  Bytes bytes = 0;
  double seconds = 0;
};

std::mutex mutex;
std::map<std::tuple<Collective, const void*, std::string>, Totals> kept;

}  // namespace

double report_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void record_call(const CallRecord& record) {
  const std::lock_guard lock(mutex);
  Totals& totals = kept[{record.collective, record.site, *record.decision}];
  ++totals.calls;
  totals.bytes += record.total >= 0 ? record.total : record.own;
  totals.seconds += record.exit - record.arrival;
}

void write_report(const std::string& destination, bool all_ranks) {
  int rank = 0;
  if (all_ranks) mpi().Comm_rank(mpi().comm_world, &rank);
  if (rank != 0) return;
  std::FILE* file = destination == "-" ? stderr : std::fopen(destination.c_str(), "w");
  if (file == nullptr) return;
  const std::lock_guard lock(mutex);
  for (const auto& [key, totals] : kept) {
    std::fprintf(file, "%s calls %lld bytes %lld seconds %g %s\n",
                 std::string(name_of(std::get<0>(key))).c_str(),
                 static_cast<long long>(totals.calls), static_cast<long long>(totals.bytes),
                 totals.seconds, std::get<2>(key).c_str());
  }
  if (file != stderr) std::fclose(file);
}

}  // namespace tutti
