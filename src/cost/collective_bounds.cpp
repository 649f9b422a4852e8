/// Bounds from the ports, rounds and volumes after each arrival.
#include "cost/collective_bounds.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "core/index.hpp"

namespace tutti {

namespace {

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

}  // namespace

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

double barrier_bound(const BoundCase& call) {
  return call.last_arrival() + call.latency * doubling_rounds(call.sizes.size());
}

namespace {

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
