/// Bounds from the ports, rounds and volumes after each arrival.
#include "cost/bounds.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace tutti {

double BoundCase::arrival(Rank rank) const { return arrivals.empty() ? 0 : arrivals[index(rank)]; }

double BoundCase::last_arrival() const {
  return arrivals.empty() ? 0 : *std::ranges::max_element(arrivals);
}

namespace {

constexpr double long_ago = -std::numeric_limits<double>::infinity();

int ranks_of(const BoundCase& call) { return static_cast<int>(call.sizes.size()); }
bool is_caller(const BoundCase& call) { return call.receiver == Runner::caller; }

/// The arrivals, ascending.
std::vector<double> sorted_arrivals(const BoundCase& call) {
  std::vector<double> sorted(call.sizes.size(), 0);
  std::ranges::copy(call.arrivals, sorted.begin());
  std::ranges::sort(sorted);
  return sorted;
}

/// A block that must travel.
struct Job {
  double release = 0;
  Bytes bytes = 0;
};

/// The blocks that cross the network, latest release first. No release is before `not_before`.
std::vector<Job> jobs_of(const BoundCase& call, double not_before) {
  std::vector<Job> jobs;
  for (Rank rank = 0; rank < ranks_of(call); ++rank) {
    const Bytes bytes = call.sizes[index(rank)];
    if (rank != call.root && bytes > 0) {
      jobs.push_back({std::max(call.arrival(rank), not_before), bytes});
    }
  }
  std::ranges::sort(jobs, std::greater<>(), &Job::release);
  return jobs;
}

/// The maximum of bounds on the end of a call, at least the last arrival.
class Bound {
 public:
  explicit Bound(const BoundCase& call) : call_(call), end_(call.last_arrival()) {}

  void at_least(double end) { end_ = std::max(end_, end); }
  /// After `t` these bytes, if there are any, cross one port.
  void moves(double t, double bytes) {
    if (bytes > 0) at_least(t + call_.latency + call_.per_byte * bytes);
  }
  /// After `t` the number of ranks that hold some data grows from 1 to `ranks`: each start-up at
  /// most doubles it. Then `bytes` cross one port.
  void doubles(double t, std::size_t ranks, double bytes = 0) {
    const auto rounds = static_cast<double>(std::bit_width(ranks - 1));  // ceil(log2 ranks)
    at_least(t + call_.latency * rounds + call_.per_byte * bytes);
  }
  [[nodiscard]] double end() const { return end_; }

 private:
  const BoundCase& call_;
  double end_;
};

double as_double(Bytes bytes) { return static_cast<double>(bytes); }

/// Blocks or, with `combined`, contributions to a vector must reach the root.
double bound_to_root(const BoundCase& call, bool combined) {
  Bound bound(call);
  // G1: blocks that are released at t or later cross the root's receive port after t; of combined
  // contributions, one. If callers receive, none is released before the root's arrival.
  double work = call.latency;
  for (const Job& job : jobs_of(call, is_caller(call) ? call.arrival(call.root) : long_ago)) {
    if (combined) {
      bound.moves(job.release, as_double(job.bytes));
    } else {
      work += call.per_byte * as_double(job.bytes);
      bound.at_least(job.release + work);
    }
  }
  // G2: each start-up at most doubles the number of ranks whose blocks the root holds. By the
  // ranks' own arrivals, not the root's: other ranks can combine before a late root arrives.
  const std::vector<Job> jobs = jobs_of(call, long_ago);
  for (std::size_t late = 1; late <= jobs.size(); ++late) {
    bound.doubles(jobs[late - 1].release, 1 + late);
  }
  if (combined) return bound.end();
  // G3: G1 and G2 together, for n blocks of at least mu bytes that arrive at t or later: t + alpha
  // ceil(log2(1 + n)) + beta mu n. Valid for trees that do not split blocks. Evaluated for every
  // mu, and for the t of the 1, 2, 4, .. last arrivals, each t once.
  std::vector<Bytes> sizes;
  for (std::size_t late = 1; late < 2 * jobs.size() && sizes.size() < jobs.size(); late *= 2) {
    if (sizes.size() >= late) continue;
    const double t = jobs[std::min(late, jobs.size()) - 1].release;
    sizes.clear();
    for (const Job& job : jobs) {
      if (job.release >= t) sizes.push_back(job.bytes);
    }
    std::ranges::sort(sizes, std::greater<>());
    for (std::size_t n = 1; n <= sizes.size(); ++n) {
      bound.doubles(t, 1 + n, as_double(sizes[n - 1]) * static_cast<double>(n));
    }
  }
  return bound.end();
}

/// The root's send port and the rounds. If callers receive, also what must leave the ranks that
/// arrived before t. With `is_vector` all ranks receive the same bytes.
double bound_from_root(const BoundCase& call, bool is_vector) {
  const double start = call.arrival(call.root);
  const std::vector<Job> jobs = jobs_of(call, start);
  Bound bound(call);
  if (jobs.empty()) return bound.end();
  Bytes all = 0;
  for (const Job& job : jobs) all = is_vector ? job.bytes : all + job.bytes;
  bound.moves(start, as_double(all));
  bound.doubles(start, 1 + jobs.size());
  if (!is_caller(call)) return bound.end();

  const std::vector<double> arrivals = sorted_arrivals(call);
  Bytes late_bytes = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double t = jobs[i].release;
    late_bytes += jobs[i].bytes;
    bound.moves(t, as_double(jobs[i].bytes));
    if (t <= start) continue;
    const auto early = index(std::ranges::lower_bound(arrivals, t) - arrivals.begin());
    if (!is_vector) bound.moves(t, as_double(late_bytes) / static_cast<double>(early));
    // The holders of blocks are `early` at first.
    bound.doubles(t, (early + i + 1 + early - 1) / early);
  }
  return bound.end();
}

std::vector<Rank> latest_first(const BoundCase& call) {
  std::vector<Rank> ranks(call.sizes.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::sort(ranks, [&](Rank a, Rank b) { return call.arrival(a) > call.arrival(b); });
  return ranks;
}

double total(const BoundCase& call) {
  return static_cast<double>(std::accumulate(call.sizes.begin(), call.sizes.end(), Bytes{0}));
}

/// Each block must reach all ranks; callers receive all other blocks after their arrival. In the
/// background only blocks that arrive at t or later must be received after t.
double allgather_bound(const BoundCase& call) {
  Bound bound(call);
  const int p = ranks_of(call);
  const double all = total(call);
  if (p == 1) return bound.end();
  for (Rank rank = 0; rank < p; ++rank) {
    const double t = call.arrival(rank);
    const double own = as_double(call.sizes[index(rank)]);
    if (own > 0) bound.doubles(t, index(p));
    if (is_caller(call)) bound.moves(t, all - own);
  }
  // A rank that arrived before t receives all blocks that arrive from t on. From the first arrival
  // on, the rank with the smallest block receives most.
  const std::vector<Rank> latest = latest_first(call);
  const double least = as_double(*std::ranges::min_element(call.sizes));
  double late = 0;
  for (std::size_t i = 0; i < latest.size(); ++i) {
    late += as_double(call.sizes[index(latest[i])]);
    bound.moves(call.arrival(latest[i]), i + 1 < latest.size() ? late : late - least);
  }
  return bound.end();
}

/// A rank must send its contributions to all other blocks after its arrival, whichever thread
/// receives. Its own block takes contributions from others: a caller receives them after its
/// arrival, and as in a reduce each start-up at most doubles the ranks that they come from.
double reduce_scatter_bound(const BoundCase& call) {
  Bound bound(call);
  const int p = ranks_of(call);
  const double all = total(call);
  if (p == 1 || all == 0) return bound.end();
  std::size_t owners = 0;
  double first_owner = std::numeric_limits<double>::infinity();
  for (Rank rank = 0; rank < p; ++rank) {
    const double own = as_double(call.sizes[index(rank)]);
    bound.moves(call.arrival(rank), all - own);
    if (is_caller(call)) bound.moves(call.arrival(rank), own);
    if (own == 0) continue;
    ++owners;
    first_owner = std::min(first_owner, call.arrival(rank));
  }
  bound.doubles(call.last_arrival(), owners);
  const std::vector<double> arrivals = sorted_arrivals(call);
  for (int late = 1; late <= p; ++late) {
    const double t = arrivals[index(p - late)];
    bound.doubles(t, index(first_owner < t ? late + 1 : late));
  }
  return bound.end();
}

/// The last rank needs the contributions of all others, and each contribution must reach all ranks
/// above its own.
double scan_bound(const BoundCase& call) {
  BoundCase to_last = call;
  to_last.root = ranks_of(call) - 1;
  Bound bound(call);
  bound.at_least(bound_to_root(to_last, true));
  if (call.sizes[0] == 0) return bound.end();
  for (Rank rank = 0; rank < ranks_of(call); ++rank) {
    bound.doubles(call.arrival(rank), index(ranks_of(call) - rank));
  }
  return bound.end();
}

/// After t, n late contributions must be combined into each element, which then goes to p - 1
/// ranks: from m beta with one late rank to 2 (p - 1) / p m beta if all ranks arrive together.
double allreduce_bound(const BoundCase& call) {
  Bound bound(call);
  const int p = ranks_of(call);
  const double bytes = as_double(call.sizes[0]);
  if (p == 1 || bytes == 0) return bound.end();
  bound.moves(call.last_arrival(), bytes);
  bound.doubles(call.last_arrival(), index(p));
  const std::vector<double> arrivals = sorted_arrivals(call);
  for (int late = 1; late <= p; ++late) {
    bound.moves(arrivals[index(p - late)], bytes * (std::min(late, p - 1) + p - 1) / p);
  }
  return bound.end();
}

/// The last arrival must reach all ranks.
double barrier_bound(const BoundCase& call) {
  Bound bound(call);
  bound.doubles(call.last_arrival(), call.sizes.size());
  return bound.end();
}

/// The bytes that each rank sends after its arrival, and those that it receives from ranks that
/// arrive at t or later. `pairs` as in lower_bound. O(p log p) if all are equal: then the first and
/// the last rank to arrive move most after any t.
double alltoall_bound(const BoundCase& call, std::span<const Bytes> pairs) {
  Bound bound(call);
  const int p = ranks_of(call);
  if (p == 1) return bound.end();
  const auto size = [&](Rank from, Rank to) {
    return as_double(pairs.empty() ? call.sizes[0] : pairs[index(from) * index(p) + index(to)]);
  };
  const std::vector<Rank> latest = latest_first(call);
  const std::vector<Rank> ends = {latest.front(), latest.back()};
  bool all_pairs = true;
  for (const Rank rank : pairs.empty() ? ends : latest) {
    double sent = 0;
    double received = 0;
    for (const Rank other : latest) {
      if (other == rank) continue;
      sent += size(rank, other);
      all_pairs = all_pairs && size(rank, other) > 0;
      received += size(other, rank);
      bound.moves(call.arrival(other), received);
    }
    bound.moves(call.arrival(rank), sent);
    if (is_caller(call)) bound.moves(call.arrival(rank), received);
  }
  return all_pairs ? std::max(bound.end(), barrier_bound(call)) : bound.end();
}

}  // namespace

double lower_bound(Collective collective, const BoundCase& call, std::span<const Bytes> pairs) {
  const bool is_vector = block_kind(collective) == BlockKind::parts;
  if (is_one_sided(collective)) {
    // Only the root arrives; the data of the other ranks is in their windows. Data to the root
    // takes as long as data from it.
    BoundCase from_root = call;
    from_root.receiver = Runner::background;
    return bound_from_root(from_root, is_vector);
  }
  if (is_scan(collective)) return scan_bound(call);
  if (block_kind(collective) == BlockKind::pairs) return alltoall_bound(call, pairs);
  if (flows_to_root(collective)) return bound_to_root(call, is_vector);
  if (has_root(collective)) return bound_from_root(call, is_vector);
  if (collective == Collective::barrier) return barrier_bound(call);
  if (collective == Collective::allreduce) return allreduce_bound(call);
  return reduces(collective) ? reduce_scatter_bound(call) : allgather_bound(call);
}

}  // namespace tutti
