/// Assigns rows by rank, or by node.
#include "topology/distance_rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti {

namespace {

bool is_of_world(const DistanceFile& file, const std::vector<RankLocation>& ranks, int world) {
  return file.p() == world && are_of_one_world(ranks, world) &&
         std::ranges::all_of(ranks, [&](const RankLocation& rank) {
           return file.names.empty() || file.names[index(rank.world)] == rank.node;
         });
}

/// The rows of each node, ascending.
std::map<std::string, std::vector<int>> rows_by_node(const DistanceFile& file) {
  std::map<std::string, std::vector<int>> rows;
  for (std::size_t row = 0; row < file.names.size(); ++row) {
    rows[file.names[row]].push_back(static_cast<int>(row));
  }
  return rows;
}

Distances with_rows(const Distances& distances, const std::vector<int>& rows) {
  const auto p = static_cast<int>(rows.size());
  Distances chosen(p);
  for (Rank from = 0; from < p; ++from) {
    for (Rank to = 0; to < p; ++to) {
      chosen.set(from, to, distances(rows[index(from)], rows[index(to)]));
    }
  }
  return chosen;
}

template <class Value>
std::vector<Value> with_rows(const std::vector<Value>& values, const std::vector<int>& rows) {
  std::vector<Value> chosen;
  for (const int row : rows) chosen.push_back(values[index(row)]);
  return chosen;
}

}  // namespace

bool are_of_one_world(const std::vector<RankLocation>& ranks, int world) {
  std::vector<bool> seen(index(world));
  return std::ranges::all_of(ranks, [&](const RankLocation& rank) {
    if (rank.world < 0 || rank.world >= world || seen[index(rank.world)]) return false;
    seen[index(rank.world)] = true;
    return true;
  });
}

Result<std::vector<int>> rows_for(const DistanceFile& file, const std::vector<RankLocation>& ranks,
                                  int world) {
  std::vector<int> rows(ranks.size());
  if (is_of_world(file, ranks, world)) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) rows[rank] = ranks[rank].world;
    return rows;
  }
  if (file.names.empty()) {
    return Error{"they are those of " + std::to_string(file.p()) +
                 " ranks on nodes without names, the program has " + std::to_string(world)};
  }
  std::vector<std::size_t> sequence(ranks.size());
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  std::ranges::stable_sort(sequence, {}, [&](std::size_t rank) { return ranks[rank].world; });
  const auto by_node = rows_by_node(file);
  std::map<std::string, std::size_t> taken;
  for (const std::size_t rank : sequence) {
    const std::string& node = ranks[rank].node;
    const auto found = by_node.find(node);
    const std::size_t there = found == by_node.end() ? 0 : found->second.size();
    const std::size_t next = taken[node]++;
    if (next >= there) {
      return Error{"rank " + std::to_string(rank) + " is on node " + node + ", which has " +
                   std::to_string(there) + " ranks in the distances"};
    }
    rows[rank] = found->second[next];
  }
  return rows;
}

DistanceFile with_rows(const DistanceFile& file, const std::vector<int>& rows) {
  DistanceFile chosen{file.method, {}, {static_cast<int>(rows.size()), {}}, {}};
  if (!file.names.empty()) chosen.names = with_rows(file.names, rows);
  for (const std::vector<int>& level : file.hierarchy.levels) {
    chosen.hierarchy.levels.push_back(with_rows(level, rows));
  }
  for (const MeasuredDistances& measured : file.measured) {
    chosen.measured.push_back({measured.bytes, with_rows(measured.distances, rows)});
  }
  return chosen;
}

DistanceFile in_world_order(const DistanceFile& file, const std::vector<RankLocation>& ranks,
                            int world) {
  if (file.p() != world || !are_of_one_world(ranks, world)) return file;
  std::vector<int> rows(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    rows[index(ranks[rank].world)] = static_cast<int>(rank);
  }
  return with_rows(file, rows);
}

}  // namespace tutti
