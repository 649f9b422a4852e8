/// Measures the pairs of a hierarchy.
#include "run/distance/mpi_distances.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "run/clock.hpp"
#include "run/mpi/exchange.hpp"
#include "run/processors.hpp"

namespace tutti {

namespace {

constexpr PingPong::Effort effort = {{1, 1}, {20, 4}};

/// What a rank says of itself.
struct Location {
  std::array<char, 252> host{};
  Rank world = no_rank;
};

std::vector<std::string> node_names(const std::vector<RankLocation>& locations) {
  std::vector<std::string> names;
  for (const RankLocation& location : locations) names.push_back(location.node);
  return names;
}

int measure(const Hierarchy& hierarchy, PingPong& links) {
  for (const auto& level : chains_to_measure(hierarchy)) {
    for (const std::vector<RankPair>& chain : level) {
      if (const int error = links.run(chain)) return error;
    }
    if (const int error = links.synchronize()) return error;
  }
  return MPI_SUCCESS;
}

/// Broadcasts the hierarchy that rank 0 derives from the ranks' locations.
int share(Hierarchy& hierarchy, MPI_Comm comm) {
  std::size_t levels = hierarchy.levels.size();
  int error = take_from_first(levels, comm);
  hierarchy.levels.resize(levels);
  for (std::vector<int>& level : hierarchy.levels) {
    if (error == MPI_SUCCESS) error = take_from_first(level, comm);
  }
  return error;
}

/// The distances of all ranks of a hierarchy, of which all pairs that it needs were measured.
DistanceFile distances_of(std::string method, const Hierarchy& hierarchy,
                          const std::vector<RankLocation>& locations,
                          const std::vector<MeasuredLink>& links) {
  std::array<std::vector<MeasuredPair>, 2> pairs;
  for (const MeasuredLink& link : links) {
    for (std::size_t size = 0; size < pairs.size(); ++size) {
      pairs[size].push_back({link.from, link.to, link.seconds[size]});
    }
  }
  return {std::move(method),
          node_names(locations),
          hierarchy,
          {{PingPong::bytes[0], *expanded(hierarchy, pairs[0])},
           {PingPong::bytes[1], *expanded(hierarchy, pairs[1])}}};
}

}  // namespace

int gather_locations(MPI_Comm comm, std::vector<RankLocation>& locations, int& world) {
  Location mine;
  host_name().copy(mine.host.data(), mine.host.size() - 1);
  world = 0;
  if (has_world()) {
    mine.world = rank_in(mpi().comm_world);
    world = size_of(mpi().comm_world);
  }
  std::vector<Location> all;
  const int error = gather_at_first(mine, all, comm);
  locations.clear();
  for (const Location& location : all) locations.push_back({location.host.data(), location.world});
  return error;
}

int measure_distances(MPI_Comm comm, int nodes_per_switch, DistanceFile& distances) {
  const Rank rank = rank_in(comm);
  const double begin = monotonic_seconds();
  std::vector<RankLocation> locations;
  int world = 0;
  int error = gather_locations(comm, locations, world);
  if (error != MPI_SUCCESS) return error;
  Hierarchy hierarchy{size_of(comm), {}};
  if (rank == 0) hierarchy = hierarchy_to_measure(node_names(locations), nodes_per_switch);
  error = share(hierarchy, comm);
  if (error != MPI_SUCCESS) return error;
  PingPong links(comm, effort);
  std::vector<MeasuredLink> all;
  error = measure(hierarchy, links);
  if (error == MPI_SUCCESS) error = links.gather(all);
  if (error != MPI_SUCCESS || rank != 0) return error;
  char method[200];
  std::snprintf(method, sizeof method,
                "ping-pong, one pair at a time on each link, half the shortest of %d round trips "
                "(of %d with %lld bytes); %zu pairs in %.3g s",
                effort.counted[0], effort.counted[1], static_cast<long long>(PingPong::bytes[1]),
                all.size(), monotonic_seconds() - begin);
  distances = in_world_order(distances_of(method, hierarchy, locations, all), locations, world);
  return MPI_SUCCESS;
}

}  // namespace tutti
