/// The file format of what runs have learned about the links between nodes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "topology/node_links.hpp"

namespace tutti {

/// What is known of the links between some nodes, for any mapping of ranks.
struct NodeSet {
  std::vector<std::string> nodes;  ///< ascending, all different
  NodeLinks links;                 ///< by index in `nodes`
  std::string date;                ///< of the latest measurement
  friend bool operator==(const NodeSet&, const NodeSet&) = default;
};

/// The limits of the file.
inline constexpr std::size_t max_node_sets = 64;
inline constexpr std::size_t max_node_set_bytes = std::size_t{16} << 20;

/// Adds a set as the newest. It replaces that of the same nodes, and takes over the links that only
/// the former has. Of more than `max_node_sets` the oldest goes. O(sets + links log links).
void add_set(std::vector<NodeSet>& sets, NodeSet newest);

/// The links between these nodes (ascending, all different) that any of the sets has measured, the
/// latest counts; else those of measured nodes that stand for them (see completed()). O(n^2 log n)
/// for each set with n nodes.
[[nodiscard]] NodeLinks links_between(const std::vector<NodeSet>& sets,
                                      const std::vector<std::string>& nodes);

/// Reads sets, the newest last; times are in seconds, of a short and of a long message:
///
///     {"schema": "tutti-learned-distances-1", "sets": [
///      {"nodes": ["n0", "n1"], "date": "2026-11-30", "links": [[0, 1, 2e-5, 9e-4]]}]}
///
/// The error names the line or the value that is wrong. A file of distances of ranks, which earlier
/// versions kept in its place, has no sets.
[[nodiscard]] Result<std::vector<NodeSet>> node_sets_from_text(std::string_view text);
/// Writes sets, as many of the newest as `max_bytes` bytes hold.
[[nodiscard]] std::string to_text(const std::vector<NodeSet>& sets,
                                  std::size_t max_bytes = max_node_set_bytes);

}  // namespace tutti
