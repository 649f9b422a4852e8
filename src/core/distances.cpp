/// Derives message times from measurements.
#include "core/distances.hpp"

#include <algorithm>

namespace tutti {

namespace {

/// Calls visit(from, to) for each ordered pair of different ranks.
template <class Visit>
void for_each_pair(int p, Visit visit) {
  for (Rank from = 0; from < p; ++from) {
    for (Rank to = 0; to < p; ++to) {
      if (from != to) visit(from, to);
    }
  }
}

}  // namespace

Links::Links(const MeasuredDistances& measured, double latency, double per_byte)
    : latency_(measured.distances.size()), per_byte_(measured.distances.size()) {
  const double modelled = latency + per_byte * static_cast<double>(measured.bytes);
  for_each_pair(size(), [&](Rank from, Rank to) {
    const double times = measured.distances(from, to) / modelled;
    latency_.set(from, to, times * latency);
    per_byte_.set(from, to, times * per_byte);
  });
}

Links::Links(const MeasuredDistances& small, const MeasuredDistances& large)
    : latency_(small.distances.size()), per_byte_(small.distances.size()) {
  assert(small.distances.size() == large.distances.size() && small.bytes < large.bytes);
  const auto more = static_cast<double>(large.bytes - small.bytes);
  for_each_pair(size(), [&](Rank from, Rank to) {
    const double first = small.distances(from, to);
    const double each = std::max(large.distances(from, to) - first, 0.0) / more;
    per_byte_.set(from, to, each);
    latency_.set(from, to, std::max(first - each * static_cast<double>(small.bytes), 0.0));
  });
}

Distances Links::at(Bytes bytes) const {
  Distances distances(size());
  for_each_pair(size(),
                [&](Rank from, Rank to) { distances.set(from, to, seconds(from, to, bytes)); });
  return distances;
}

}  // namespace tutti
