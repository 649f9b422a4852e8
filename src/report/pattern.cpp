/// Splits the time of ranks and names the late ones.
#include "report/pattern.hpp"

#include <algorithm>
#include <iterator>

#include "core/numbers.hpp"

namespace tutti {

namespace {

/// The rank that arrived last; the lowest of several.
std::size_t last_of(const CallTimes& call) {
  return static_cast<std::size_t>(std::ranges::max_element(call.delays) - call.delays.begin());
}

double spread_of(const CallTimes& call) { return call.delays[last_of(call)]; }

/// The name of a rank in a report; in communicators other than MPI_COMM_WORLD also its world rank.
std::string name_of(const ArrivalPattern& pattern, std::size_t rank) {
  const std::string name = "rank " + std::to_string(rank);
  const auto of_world = static_cast<std::size_t>(pattern.world[rank]);
  return of_world == rank ? name : name + " (" + std::to_string(of_world) + " of the world)";
}

std::string percent(std::int64_t part, std::size_t of) {
  const double share = 100 * static_cast<double>(part) / static_cast<double>(of);
  return fixed(share, 0) + " %";
}

}  // namespace

std::vector<Parts> parts_of(const CallTimes& call) {
  std::vector<double> sorted(call.delays.begin(), call.delays.end());
  std::ranges::sort(sorted);
  std::vector<Parts> parts;
  for (std::size_t rank = 0; rank < call.delays.size(); ++rank) {
    const double arrival = call.delays[rank];
    const double exit = arrival + std::max(0.0F, call.elapsed[rank]);
    const double seen = *std::prev(std::ranges::upper_bound(sorted, exit));
    double needed = seen;
    if (call.root != no_rank && static_cast<Rank>(rank) != call.root) {
      const double root = call.delays[static_cast<std::size_t>(call.root)];
      needed = root <= exit ? std::max(arrival, root) : arrival;
    }
    parts.push_back({needed - arrival, seen - needed, exit - seen});
  }
  return parts;
}

std::vector<RankShare> shares_of(const ArrivalPattern& pattern) {
  std::vector<RankShare> shares(pattern.world.size());
  for (const CallTimes& call : pattern.calls) {
    const std::vector<Parts> parts = parts_of(call);
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      shares[rank].parts += parts[rank];
      shares[rank].delays += call.delays[rank];
    }
    RankShare& last = shares[last_of(call)];
    ++last.last;
    last.delay_as_last += spread_of(call);
  }
  const auto calls = static_cast<double>(pattern.calls.size());
  for (RankShare& share : shares) {
    share.parts = share.parts / calls;
    share.delays /= calls;
    if (share.last > 0) share.delay_as_last /= static_cast<double>(share.last);
  }
  return shares;
}

std::string who_is_late(const ArrivalPattern& pattern, double clock_error) {
  if (pattern.world.size() < 2 || pattern.is_empty()) return "";
  const std::size_t calls = pattern.calls.size();
  double spread = 0;
  for (const CallTimes& call : pattern.calls) spread += spread_of(call);
  spread /= static_cast<double>(calls);
  if (spread <= clock_error) return "ranks arrive together within the clocks' error";
  const std::vector<RankShare> shares = shares_of(pattern);
  const auto latest = std::ranges::max_element(shares, {}, &RankShare::last);
  const std::string name = name_of(pattern, static_cast<std::size_t>(latest - shares.begin()));
  const std::string of_calls = calls == 1 ? "the one call" : std::to_string(calls) + " calls";
  if (2 * static_cast<std::size_t>(latest->last) > calls) {
    return name + " is last in " + (calls == 1 ? "" : percent(latest->last, calls) + " of ") +
           of_calls + ", " + duration(latest->delay_as_last) + " behind the first";
  }
  return "no rank is last in most of " + of_calls + "; most often " + name + ", in " +
         percent(latest->last, calls) + "; the last rank is " + duration(spread) +
         " behind the first";
}

}  // namespace tutti
