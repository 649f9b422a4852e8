/// Bounds from the ports, rounds and volumes after each arrival.
#include "cost/bounds.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace tutti {

namespace {

constexpr double long_ago = -std::numeric_limits<double>::infinity();

double as_double(Bytes bytes) { return static_cast<double>(bytes); }

/// A block that must travel.
struct Job {
  double release = 0;
  Bytes bytes = 0;
};

/// The maximum of bounds on the end of a call, at least the last arrival.
class Bound {
 public:
  Bound(const Call& call, const Machine& machine, Runner receiver)
      : call_(call),
        machine_(machine),
        is_caller_(receiver == Runner::caller),
        arrivals_(call.arrivals) {
    arrivals_.resize(call.sizes.size(), 0);
    end_ = last_arrival();
  }

  [[nodiscard]] double end() const { return end_; }

  /// Blocks or, with `combined`, contributions to a vector must reach the root.
  void to_root(Rank root, bool combined) {
    // G1: blocks that are released at t or later cross the root's receive port
    // after t; of combined contributions, one. If callers receive, none is
    // released before the root's arrival.
    double work = machine_.latency;
    for (const Job& job : jobs_of(root, is_caller_ ? arrival(root) : long_ago)) {
      if (combined) {
        moves(job.release, as_double(job.bytes));
      } else {
        work += machine_.per_byte * as_double(job.bytes);
        at_least(job.release + work);
      }
    }
    // G2: each start-up at most doubles the number of ranks whose blocks the
    // root holds. By the ranks' own arrivals, not the root's: other ranks can
    // combine before a late root arrives.
    const std::vector<Job> jobs = jobs_of(root, long_ago);
    for (std::size_t late = 1; late <= jobs.size(); ++late) {
      doubles(jobs[late - 1].release, 1 + late);
    }
    if (!combined) doubles_blocks(jobs);
  }

  /// The root's send port and the rounds. If callers receive, also what must
  /// leave the ranks that arrived before t. With `is_vector` all ranks receive
  /// the same bytes.
  void from_root(bool is_vector) {
    const double start = arrival(call_.root);
    const std::vector<Job> jobs = jobs_of(call_.root, start);
    if (jobs.empty()) return;
    Bytes all = 0;
    for (const Job& job : jobs) all = is_vector ? job.bytes : all + job.bytes;
    moves(start, as_double(all));
    doubles(start, 1 + jobs.size());
    if (!is_caller_) return;

    const std::vector<double> arrivals = sorted_arrivals();
    Bytes late_bytes = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const double t = jobs[i].release;
      late_bytes += jobs[i].bytes;
      moves(t, as_double(jobs[i].bytes));
      if (t <= start) continue;
      const auto early = index(std::ranges::lower_bound(arrivals, t) - arrivals.begin());
      if (!is_vector) moves(t, as_double(late_bytes) / static_cast<double>(early));
      // The holders of blocks are `early` at first.
      doubles(t, (early + i + 1 + early - 1) / early);
    }
  }

  /// Each block must reach all ranks; callers receive all other blocks after
  /// their arrival. In the background only blocks that arrive at t or later
  /// must be received after t.
  void allgather() {
    const int p = call_.p();
    const double all = total();
    if (p == 1) return;
    for (Rank rank = 0; rank < p; ++rank) {
      const double t = arrival(rank);
      const double own = size(rank);
      if (own > 0) doubles(t, index(p));
      if (is_caller_) moves(t, all - own);
    }
    // A rank that arrived before t receives all blocks that arrive from t on.
    // From the first arrival on, the rank with the smallest block receives
    // most.
    const std::vector<Rank> latest = latest_first();
    const double least = as_double(*std::ranges::min_element(call_.sizes));
    double late = 0;
    for (std::size_t i = 0; i < latest.size(); ++i) {
      late += size(latest[i]);
      moves(arrival(latest[i]), i + 1 < latest.size() ? late : late - least);
    }
  }

  /// A rank must send its contributions to all other blocks after its arrival,
  /// whichever thread receives. Its own block takes contributions from others:
  /// a caller receives them after its arrival, and as in a reduce each start-up
  /// at most doubles the ranks that they come from.
  void reduce_scatter() {
    const int p = call_.p();
    const double all = total();
    if (p == 1 || all == 0) return;
    std::size_t owners = 0;
    double first_owner = std::numeric_limits<double>::infinity();
    for (Rank rank = 0; rank < p; ++rank) {
      const double own = size(rank);
      moves(arrival(rank), all - own);
      if (is_caller_) moves(arrival(rank), own);
      if (own == 0) continue;
      ++owners;
      first_owner = std::min(first_owner, arrival(rank));
    }
    doubles(last_arrival(), owners);
    const std::vector<double> arrivals = sorted_arrivals();
    for (int late = 1; late <= p; ++late) {
      const double t = arrivals[index(p - late)];
      doubles(t, index(first_owner < t ? late + 1 : late));
    }
  }

  /// The last rank needs the contributions of all others, and each contribution
  /// must reach all ranks above its own.
  void scan() {
    to_root(call_.p() - 1, true);
    if (call_.sizes[0] == 0) return;
    for (Rank rank = 0; rank < call_.p(); ++rank) doubles(arrival(rank), index(call_.p() - rank));
  }

  /// After t, n late contributions must be combined into each element, which
  /// then goes to p - 1 ranks: from m beta with one late rank to 2 (p - 1) / p
  /// m beta if all ranks arrive together.
  void allreduce() {
    const int p = call_.p();
    const double bytes = size(0);
    if (p == 1 || bytes == 0) return;
    moves(last_arrival(), bytes);
    doubles(last_arrival(), index(p));
    const std::vector<double> arrivals = sorted_arrivals();
    for (int late = 1; late <= p; ++late) {
      moves(arrivals[index(p - late)], bytes * (std::min(late, p - 1) + p - 1) / p);
    }
  }

  /// The last arrival must reach all ranks.
  void barrier() { doubles(last_arrival(), call_.sizes.size()); }

  /// The bytes that each rank sends after its arrival, and those that it
  /// receives from ranks that arrive at t or later. O(p log p) if all are
  /// equal: then the first and the last rank to arrive move most after any t.
  void alltoall() {
    if (call_.p() == 1) return;
    const std::vector<Rank> latest = latest_first();
    const std::vector<Rank> ends = {latest.front(), latest.back()};
    bool all_pairs = true;
    for (const Rank rank : is_irregular(call_.collective) ? latest : ends) {
      double sent = 0;
      double received = 0;
      for (const Rank other : latest) {
        if (other == rank) continue;
        sent += as_double(call_.pair(rank, other));
        all_pairs = all_pairs && call_.pair(rank, other) > 0;
        received += as_double(call_.pair(other, rank));
        moves(arrival(other), received);
      }
      moves(arrival(rank), sent);
      if (is_caller_) moves(arrival(rank), received);
    }
    if (all_pairs) barrier();
  }

 private:
  [[nodiscard]] double arrival(Rank rank) const { return arrivals_[index(rank)]; }
  [[nodiscard]] double last_arrival() const { return *std::ranges::max_element(arrivals_); }
  [[nodiscard]] double size(Rank rank) const { return as_double(call_.sizes[index(rank)]); }
  [[nodiscard]] double total() const {
    return as_double(std::accumulate(call_.sizes.begin(), call_.sizes.end(), Bytes{0}));
  }

  /// The arrivals, ascending.
  [[nodiscard]] std::vector<double> sorted_arrivals() const {
    std::vector<double> sorted = arrivals_;
    std::ranges::sort(sorted);
    return sorted;
  }

  [[nodiscard]] std::vector<Rank> latest_first() const {
    std::vector<Rank> ranks(arrivals_.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::sort(ranks, [&](Rank a, Rank b) { return arrival(a) > arrival(b); });
    return ranks;
  }

  /// The blocks that cross the network to or from `root`, latest release first.
  /// No release is before `not_before`.
  [[nodiscard]] std::vector<Job> jobs_of(Rank root, double not_before) const {
    std::vector<Job> jobs;
    for (Rank rank = 0; rank < call_.p(); ++rank) {
      const Bytes bytes = call_.sizes[index(rank)];
      if (rank != root && bytes > 0) jobs.push_back({std::max(arrival(rank), not_before), bytes});
    }
    std::ranges::sort(jobs, std::greater<>(), &Job::release);
    return jobs;
  }

  void at_least(double end) { end_ = std::max(end_, end); }
  /// After `t` these bytes, if there are any, cross one port.
  void moves(double t, double bytes) {
    if (bytes > 0) at_least(t + machine_.latency + machine_.per_byte * bytes);
  }
  /// After `t` the number of ranks that hold some data grows from 1 to `ranks`:
  /// each start-up at most doubles it. Then `bytes` cross one port.
  void doubles(double t, std::size_t ranks, double bytes = 0) {
    const auto rounds = static_cast<double>(std::bit_width(ranks - 1));  // ceil(log2 ranks)
    at_least(t + machine_.latency * rounds + machine_.per_byte * bytes);
  }
  /// G3: G1 and G2 together, for n blocks of at least mu bytes that arrive at t
  /// or later: t + alpha ceil(log2(1 + n)) + beta mu n. Valid for trees that do
  /// not split blocks. Evaluated for every mu, and for the t of the 1, 2, 4, ..
  /// last arrivals, each t once.
  void doubles_blocks(const std::vector<Job>& jobs) {
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
        doubles(t, 1 + n, as_double(sizes[n - 1]) * static_cast<double>(n));
      }
    }
  }

  const Call& call_;
  const Machine& machine_;
  bool is_caller_;                ///< the caller receives, after its arrival
  std::vector<double> arrivals_;  ///< by rank
  double end_ = 0;
};

}  // namespace

double lower_bound(const Call& call, const Machine& machine, Runner receiver) {
  const Collective collective = call.collective;
  const bool is_vector = block_kind(collective) == BlockKind::parts;
  // Of a one-sided call only the root arrives; the data of the other ranks is
  // in their windows. Data to the root takes as long as data from it.
  const bool one_sided = is_one_sided(collective);
  Bound bound(call, machine, one_sided ? Runner::background : receiver);
  if (one_sided || (has_root(collective) && !flows_to_root(collective))) {
    bound.from_root(is_vector);
  } else if (is_scan(collective)) {
    bound.scan();
  } else if (block_kind(collective) == BlockKind::pairs) {
    bound.alltoall();
  } else if (flows_to_root(collective)) {
    bound.to_root(call.root, is_vector);
  } else if (collective == Collective::barrier) {
    bound.barrier();
  } else if (collective == Collective::allreduce) {
    bound.allreduce();
  } else if (reduces(collective)) {
    bound.reduce_scatter();
  } else {
    bound.allgather();
  }
  return bound.end();
}

}  // namespace tutti
