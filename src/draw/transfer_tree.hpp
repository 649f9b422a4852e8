/// The data flow of a rooted collective, as a tree.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "draw/picture.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// The edges along which data flows in a call.
struct TransferTree {
  struct Edge {
    Rank child = no_rank;
    Bytes bytes = 0;  ///< of all messages on this edge
  };
  Rank root = 0;
  std::vector<std::vector<Edge>> children;  ///< by rank, in the sequence of the parent's steps

  /// The bytes on the edge above each rank; 0 at the root and at ranks that take no part.
  [[nodiscard]] std::vector<Bytes> bytes_above() const;
  /// True if exactly one path leads from the root to every rank that takes part. False for
  /// exchanges.
  [[nodiscard]] bool is_tree() const;
  /// The ranks that neither send nor receive, ascending.
  [[nodiscard]] std::vector<Rank> idle() const;
};

/// The edges that carry data: to the root if data flows there, else away from it.
[[nodiscard]] TransferTree transfer_tree(std::span<const Schedule> schedules);

/// The ranks of the tree for drawing. Requires is_tree(), and that `tree` outlives the result.
[[nodiscard]] TreeShape shape_of(const TransferTree& tree);

/// The tree as text, each rank below the root with the bytes on its edge: "3:12". Empty if the
/// edges do not form a tree.
[[nodiscard]] std::string to_text(const TransferTree& tree);

}  // namespace tutti
