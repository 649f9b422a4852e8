/// Reads and synchronises clocks.
#include "bench/mpi_clock.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "run/clock.hpp"

namespace tutti::bench {

namespace {

constexpr int exchanges = 30;

/// Whether ranks are simulated: then the simulation's clock is theirs.
bool is_simulated() { return dlsym(RTLD_DEFAULT, "simgrid_get_clock") != nullptr; }

}  // namespace

Clock::Clock(const Job& job) : common_(job.nodes().nodes == 1 || is_simulated()) {
  synchronise(job);
}

double Clock::now() const { return monotonic_seconds() - offset_; }

std::string Clock::method() const {
  return common_ ? "CLOCK_MONOTONIC, common to all ranks"
                 : "CLOCK_MONOTONIC, offsets by the fastest of 30 ping-pongs before each row, and "
                   "after it unless calls are one-sided";
}

std::string Clock::error_text() const { return std::to_string(error_ * 1e6) + " us"; }

Drift Clock::synchronise(const Job& job) {
  if (common_) return {};
  const double former = offset_;
  const double begin = measured_at_ - former;
  for (Rank other = 1; other < job.p(); ++other) {
    if (job.rank() == 0 || job.rank() == other) measure_offset(job, other);
  }
  job.barrier(Patience::sleep);
  return {offset_ - former, begin, measured_at_ - former};
}

void Clock::measure_offset(const Job& job, Rank other) {
  if (job.rank() != 0) {
    for (int exchange = 0; exchange < exchanges; ++exchange) {
      // Rank 0 measures the ranks one after the other.
      job.receive(nullptr, 0, 0, exchange == 0 ? Patience::sleep : Patience::yield);
      const double here = monotonic_seconds();
      job.send(&here, sizeof here, 0);
    }
    measured_at_ = monotonic_seconds();
    job.receive(&offset_, sizeof offset_, 0);
    return;
  }
  ClockOffset measured;
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    double there = 0;
    const double begin = monotonic_seconds();
    job.send(nullptr, 0, other);
    job.receive(&there, sizeof there, other);
    measured.add(begin, there, monotonic_seconds());
  }
  error_ = std::max(error_, measured.error());
  const double offset = measured.offset();
  job.send(&offset, sizeof offset, other);
}

}  // namespace tutti::bench
