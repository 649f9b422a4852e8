/// Bounds from the sums and counts of late ranks.
#include "cost/bounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace tutti {

namespace {

/// A block that must travel.
struct Job {
  double release = 0;
  Bytes bytes = 0;
};

/// The blocks that cross the network, latest release first. No release is before `not_before`.
std::vector<Job> jobs_of(const BoundCase& call, double not_before) {
  std::vector<Job> jobs;
  for (Rank rank = 0; rank < static_cast<Rank>(call.sizes.size()); ++rank) {
    const Bytes bytes = call.sizes[static_cast<std::size_t>(rank)];
    if (rank != call.root && bytes > 0) {
      jobs.push_back({std::max(call.arrival(rank), not_before), bytes});
    }
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const Job& a, const Job& b) { return a.release > b.release; });
  return jobs;
}

/// The earliest release of a block: if callers receive, the root's arrival.
double gather_start(const BoundCase& call) {
  return call.receiver == Runner::caller ? call.arrival(call.root)
                                         : -std::numeric_limits<double>::infinity();
}

/// The maximum over t of t plus the sum of cost(bytes) over the jobs released at t or later.
template <class Cost>
double busy_machine(const std::vector<Job>& jobs, Cost cost) {
  double bound = -std::numeric_limits<double>::infinity();
  double work = 0;
  for (const Job& job : jobs) {
    work += cost(job.bytes);
    bound = std::max(bound, job.release + work);
  }
  return bound;
}

}  // namespace

double BoundCase::arrival(Rank rank) const {
  return arrivals.empty() ? 0 : arrivals[static_cast<std::size_t>(rank)];
}

double BoundCase::last_arrival() const {
  return arrivals.empty() ? 0 : *std::max_element(arrivals.begin(), arrivals.end());
}

double doubling_rounds(std::size_t ranks) { return static_cast<double>(std::bit_width(ranks - 1)); }

double gather_volume_bound(const BoundCase& call) {
  const auto cost = [&](Bytes bytes) { return call.per_byte * static_cast<double>(bytes); };
  return std::max(call.last_arrival(),
                  busy_machine(jobs_of(call, gather_start(call)), cost) + call.latency);
}

double gather_rounds_bound(const BoundCase& call) {
  // The ranks' own arrivals, not the root's: other ranks can combine before a late root arrives.
  double bound = call.last_arrival();
  const std::vector<Job> jobs = jobs_of(call, -std::numeric_limits<double>::infinity());
  for (std::size_t late = 1; late <= jobs.size(); ++late) {
    bound = std::max(bound, jobs[late - 1].release + call.latency * doubling_rounds(1 + late));
  }
  return bound;
}

double gather_equal_bound(const BoundCase& call) {
  double bound = call.last_arrival();
  const std::vector<Job> jobs = jobs_of(call, -std::numeric_limits<double>::infinity());
  std::vector<Bytes> sizes;
  for (std::size_t late = 1; late < 2 * jobs.size(); late *= 2) {
    const std::size_t count = std::min(late, jobs.size());
    const double t = jobs[count - 1].release;
    sizes.clear();
    for (const Job& job : jobs) {
      if (job.release >= t) sizes.push_back(job.bytes);
    }
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    for (std::size_t n = 1; n <= sizes.size(); ++n) {
      const double volume = static_cast<double>(sizes[n - 1]) * static_cast<double>(n);
      bound = std::max(bound, t + call.latency * doubling_rounds(1 + n) + call.per_byte * volume);
    }
  }
  return bound;
}

double gather_bound(const BoundCase& call) {
  return std::max({gather_volume_bound(call), gather_rounds_bound(call), gather_equal_bound(call)});
}

double scatter_bound(const BoundCase& call) {
  const double start = call.arrival(call.root);
  const std::vector<Job> jobs = jobs_of(call, start);
  double bound = call.last_arrival();
  if (jobs.empty()) return bound;
  Bytes all = 0;
  for (const Job& job : jobs) all += job.bytes;
  bound = std::max({bound, start + call.latency + call.per_byte * static_cast<double>(all),
                    start + call.latency * doubling_rounds(1 + jobs.size())});
  if (call.receiver == Runner::background) return bound;

  std::vector<double> arrivals(call.arrivals.begin(), call.arrivals.end());
  std::sort(arrivals.begin(), arrivals.end());
  Bytes late_bytes = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double t = jobs[i].release;
    late_bytes += jobs[i].bytes;
    bound = std::max(bound, t + call.latency + call.per_byte * static_cast<double>(jobs[i].bytes));
    if (t <= start) continue;
    const auto early = static_cast<std::size_t>(
        std::lower_bound(arrivals.begin(), arrivals.end(), t) - arrivals.begin());
    const double per_port = static_cast<double>(late_bytes) / static_cast<double>(early);
    // ceil(log2((early + late) / early)): the holders of blocks at most double in each round.
    const std::size_t parts = (early + i + 1 + early - 1) / early;
    bound = std::max({bound, t + call.latency + call.per_byte * per_port,
                      t + call.latency * doubling_rounds(parts)});
  }
  return bound;
}

}  // namespace tutti
