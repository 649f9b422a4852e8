/// Reading and synchronising clocks.
#include "bench/mpi_clock.hpp"

#include <time.h>

#include <algorithm>
#include <limits>

namespace tutti::bench {

namespace {

constexpr int exchanges = 30;

/// Seconds since the system started: small enough for a double to hold nanoseconds for months.
double local_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Clock::Clock(const Job& job) : common_(job.nodes() == 1) { synchronise(job); }

double Clock::now() const { return local_seconds() - offset_; }

std::string Clock::method() const {
  return common_ ? "CLOCK_MONOTONIC, common to all ranks"
                 : "CLOCK_MONOTONIC, offsets by the fastest of 30 ping-pongs before each row";
}

void Clock::synchronise(const Job& job) {
  if (common_) return;
  for (Rank other = 1; other < job.p(); ++other) {
    if (job.rank() == 0 || job.rank() == other) measure_offset(job, other);
  }
  job.barrier(Patience::sleep);
}

void Clock::measure_offset(const Job& job, Rank other) {
  if (job.rank() != 0) {
    for (int exchange = 0; exchange < exchanges; ++exchange) {
      job.receive(nullptr, 0, 0);
      const double here = local_seconds();
      job.send(&here, sizeof here, 0);
    }
    job.receive(&offset_, sizeof offset_, 0);
    return;
  }
  double fastest = std::numeric_limits<double>::infinity();
  double offset = 0;
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    double there = 0;
    const double begin = local_seconds();
    job.send(nullptr, 0, other);
    job.receive(&there, sizeof there, other);
    const double end = local_seconds();
    if (end - begin < fastest) {
      fastest = end - begin;
      offset = there - (begin + end) / 2;
    }
  }
  error_ = std::max(error_, fastest / 2);
  job.send(&offset, sizeof offset, other);
}

}  // namespace tutti::bench
