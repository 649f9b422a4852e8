/// Bounds from the ports, rounds and volumes after each arrival.
#include "cost/bounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "core/index.hpp"

namespace tutti {

double BoundCase::arrival(Rank rank) const {
  return arrivals.empty() ? 0 : arrivals[static_cast<std::size_t>(rank)];
}

double BoundCase::last_arrival() const {
  return arrivals.empty() ? 0 : *std::max_element(arrivals.begin(), arrivals.end());
}

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

/// ceil(log2 ranks): the number of doublings from 1 to `ranks`.
double doubling_rounds(std::size_t ranks) { return static_cast<double>(std::bit_width(ranks - 1)); }

/// G1: blocks that are released at t or later cross the root's receive port after t.
double gather_volume_bound(const BoundCase& call) {
  double bound = call.last_arrival();
  double work = call.latency;
  for (const Job& job : jobs_of(call, gather_start(call))) {
    work += call.per_byte * static_cast<double>(job.bytes);
    bound = std::max(bound, job.release + work);
  }
  return bound;
}

/// G2: each start-up at most doubles the number of ranks whose blocks the root holds.
double gather_rounds_bound(const BoundCase& call) {
  // The ranks' own arrivals, not the root's: other ranks can combine before a late root arrives.
  double bound = call.last_arrival();
  const std::vector<Job> jobs = jobs_of(call, -std::numeric_limits<double>::infinity());
  for (std::size_t late = 1; late <= jobs.size(); ++late) {
    bound = std::max(bound, jobs[late - 1].release + call.latency * doubling_rounds(1 + late));
  }
  return bound;
}

/// G3: G1 and G2 together, for n blocks of at least mu bytes that arrive at t or later:
/// t + alpha ceil(log2(1 + n)) + beta mu n. Valid for trees that do not split blocks. Evaluated for
/// every mu, and for the t of the 1, 2, 4, .. last arrivals.
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

/// The root's send port and the rounds. If callers receive, also the blocks that must leave the
/// ranks that arrived before t.
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

int ranks_of(const BoundCase& call) { return static_cast<int>(call.sizes.size()); }

/// The arrivals, ascending.
std::vector<double> sorted_arrivals(const BoundCase& call) {
  std::vector<double> sorted(call.sizes.size(), 0);
  std::copy(call.arrivals.begin(), call.arrivals.end(), sorted.begin());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double bytes_time(const BoundCase& call, double bytes) { return call.per_byte * bytes; }

bool is_caller(const BoundCase& call) { return call.receiver == Runner::caller; }

double total(const BoundCase& call) {
  return static_cast<double>(std::accumulate(call.sizes.begin(), call.sizes.end(), Bytes{0}));
}

/// A vector must leave the root and reach every rank after its arrival; each start-up at most
/// doubles the number of ranks that hold it.
double bcast_bound(const BoundCase& call) {
  double bound = call.last_arrival();
  const int p = ranks_of(call);
  if (p == 1 || call.sizes[0] == 0) return bound;
  const double start = call.arrival(call.root);
  const double whole = call.latency + bytes_time(call, static_cast<double>(call.sizes[0]));
  bound = std::max({bound, start + whole, start + call.latency * doubling_rounds(index(p))});
  if (!is_caller(call)) return bound;
  const std::vector<double> arrivals = sorted_arrivals(call);
  bound = std::max(bound, std::max(arrivals.back(), start) + (arrivals.back() > start ? whole : 0));
  for (std::size_t early = 1; early < arrivals.size(); ++early) {
    const double t = arrivals[early];
    if (t <= start || t == arrivals[early - 1]) continue;
    bound =
        std::max(bound, t + call.latency * doubling_rounds((arrivals.size() + early - 1) / early));
  }
  return bound;
}

/// Each block must reach all ranks; callers receive all other blocks after their arrival. In the
/// background only blocks that arrive at t or later must be received after t.
double allgather_bound(const BoundCase& call) {
  double bound = call.last_arrival();
  const int p = ranks_of(call);
  const double all = total(call);
  if (p == 1) return bound;
  for (Rank rank = 0; rank < p; ++rank) {
    const double t = call.arrival(rank);
    const auto own = static_cast<double>(call.sizes[index(rank)]);
    if (own > 0) bound = std::max(bound, t + call.latency * doubling_rounds(index(p)));
    if (is_caller(call) && all > own) {
      bound = std::max(bound, t + call.latency + bytes_time(call, all - own));
    }
  }
  // A rank that arrived before t receives all blocks that arrive from t on. From the first arrival
  // on, the rank with the smallest block receives most.
  std::vector<Rank> by_arrival(index(p));
  std::iota(by_arrival.begin(), by_arrival.end(), 0);
  std::sort(by_arrival.begin(), by_arrival.end(),
            [&](Rank a, Rank b) { return call.arrival(a) > call.arrival(b); });
  const auto least = static_cast<double>(*std::min_element(call.sizes.begin(), call.sizes.end()));
  double late = 0;
  for (std::size_t i = 0; i < by_arrival.size(); ++i) {
    late += static_cast<double>(call.sizes[index(by_arrival[i])]);
    const double received = i + 1 < by_arrival.size() ? late : late - least;
    if (received <= 0) continue;
    bound =
        std::max(bound, call.arrival(by_arrival[i]) + call.latency + bytes_time(call, received));
  }
  return bound;
}

/// Each contribution must reach the root, and contributions that arrive at t or later are combined
/// in pairs.
double reduce_bound(const BoundCase& call) {
  double bound = call.last_arrival();
  const int p = ranks_of(call);
  if (p == 1 || call.sizes[0] == 0) return bound;
  std::vector<double> others;
  for (Rank rank = 0; rank < p; ++rank) {
    if (rank != call.root) others.push_back(call.arrival(rank));
  }
  std::sort(others.begin(), others.end(), std::greater<>());
  const double start = is_caller(call) ? std::max(call.arrival(call.root), others[0]) : others[0];
  bound =
      std::max(bound, start + call.latency + bytes_time(call, static_cast<double>(call.sizes[0])));
  for (std::size_t late = 1; late <= others.size(); ++late) {
    bound = std::max(bound, others[late - 1] + call.latency * doubling_rounds(1 + late));
  }
  return bound;
}

/// A rank must send its contributions to all other blocks after its arrival, whichever thread
/// receives.
double reduce_scatter_bound(const BoundCase& call) {
  double bound = call.last_arrival();
  const int p = ranks_of(call);
  const double all = total(call);
  if (p == 1 || all == 0) return bound;
  const auto owners = static_cast<std::size_t>(
      std::count_if(call.sizes.begin(), call.sizes.end(), [](Bytes bytes) { return bytes > 0; }));
  bound = std::max(bound, call.last_arrival() + call.latency * doubling_rounds(owners));
  for (Rank rank = 0; rank < p; ++rank) {
    const double sent = all - static_cast<double>(call.sizes[index(rank)]);
    if (sent == 0) continue;
    bound = std::max(bound, call.arrival(rank) + call.latency + bytes_time(call, sent));
  }
  return bound;
}

/// After t, n late contributions must be combined into each element, which then goes to p - 1
/// ranks: from m beta with one late rank to 2 (p - 1) / p m beta if all ranks arrive together.
double allreduce_bound(const BoundCase& call) {
  double bound = call.last_arrival();
  const int p = ranks_of(call);
  const auto bytes = static_cast<double>(call.sizes[0]);
  if (p == 1 || bytes == 0) return bound;
  const double last = call.last_arrival();
  bound = std::max({bound, last + call.latency + bytes_time(call, bytes),
                    last + call.latency * doubling_rounds(index(p))});
  const std::vector<double> arrivals = sorted_arrivals(call);
  for (int late = 1; late <= p; ++late) {
    const double t = arrivals[index(p - late)];
    const double moves = bytes * (std::min(late, p - 1) + p - 1) / p;
    bound = std::max(bound, t + call.latency + bytes_time(call, moves));
  }
  return bound;
}

/// The last arrival must reach all ranks: ceil(log2 p) start-ups.
double barrier_bound(const BoundCase& call) {
  return call.last_arrival() + call.latency * doubling_rounds(call.sizes.size());
}

/// The bytes that each rank sends after its arrival, and those that it receives from ranks that
/// arrive at t or later. `pairs` as in lower_bound.
double alltoall_bound(const BoundCase& call, std::span<const Bytes> pairs) {
  double bound = call.last_arrival();
  const int p = ranks_of(call);
  if (p == 1) return bound;
  const auto size = [&](Rank from, Rank to) {
    return static_cast<double>(pairs.empty() ? call.sizes[0]
                                             : pairs[index(from) * index(p) + index(to)]);
  };
  std::vector<Rank> latest_first(index(p));
  std::iota(latest_first.begin(), latest_first.end(), 0);
  std::sort(latest_first.begin(), latest_first.end(),
            [&](Rank a, Rank b) { return call.arrival(a) > call.arrival(b); });
  const auto note = [&](double t, double bytes) {
    if (bytes > 0) bound = std::max(bound, t + call.latency + bytes_time(call, bytes));
  };
  bool all_pairs = true;
  for (Rank rank = 0; rank < p; ++rank) {
    double sent = 0;
    double received = 0;
    for (const Rank other : latest_first) {
      if (other == rank) continue;
      sent += size(rank, other);
      all_pairs = all_pairs && size(rank, other) > 0;
      received += size(other, rank);
      note(call.arrival(other), received);
    }
    note(call.arrival(rank), sent);
    if (is_caller(call)) note(call.arrival(rank), received);
  }
  return all_pairs ? std::max(bound, barrier_bound(call)) : bound;
}

/// Only the root arrives; the data of the other ranks is in their windows. Data to the root takes
/// as long as data from it.
double one_sided_bound(Collective collective, BoundCase call) {
  call.receiver = Runner::background;
  return block_kind(collective) == BlockKind::parts ? bcast_bound(call) : scatter_bound(call);
}

/// The last rank needs the contributions of all others.
double scan_bound(BoundCase call) {
  call.root = ranks_of(call) - 1;
  return reduce_bound(call);
}

}  // namespace

double lower_bound(Collective collective, const BoundCase& call, std::span<const Bytes> pairs) {
  if (is_one_sided(collective)) return one_sided_bound(collective, call);
  if (is_scan(collective)) return scan_bound(call);
  switch (collective) {
    case Collective::gather:
    case Collective::gatherv:
      return gather_bound(call);
    case Collective::scatter:
    case Collective::scatterv:
      return scatter_bound(call);
    case Collective::bcast:
      return bcast_bound(call);
    case Collective::allgather:
    case Collective::allgatherv:
      return allgather_bound(call);
    case Collective::alltoall:
    case Collective::alltoallv:
      return alltoall_bound(call, pairs);
    case Collective::reduce:
      return reduce_bound(call);
    case Collective::allreduce:
      return allreduce_bound(call);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return reduce_scatter_bound(call);
    case Collective::barrier:
    default:
      break;
  }
  return barrier_bound(call);
}

}  // namespace tutti
