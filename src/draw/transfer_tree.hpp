/// Where the data of a rooted collective flows, as a tree.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "draw/picture.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// Where data flows in a call, seen from the root.
struct TransferTree {
  struct Edge {
    Rank child = no_rank;
    Bytes bytes = 0;  ///< of all messages on this edge
  };
  Rank root = 0;
  std::vector<std::vector<Edge>> children;  ///< by rank, in the sequence of the parent's steps

  /// The bytes on the edge above each rank; 0 at the root and at ranks that take no part.
  [[nodiscard]] std::vector<Bytes> bytes_above() const;
  /// Every rank that takes part is reached from the root, on one way only. Not so where data is
  /// exchanged.
  [[nodiscard]] bool is_tree() const;
  /// The ranks that neither send nor receive, ascending.
  [[nodiscard]] std::vector<Rank> idle() const;
};

/// The edges that carry data, towards the root where it flows there and away from it elsewhere.
[[nodiscard]] TransferTree transfer_tree(std::span<const Schedule> schedules);

/// The ranks of the tree, as they are drawn; to be used where the edges make one, and while it
/// lives.
[[nodiscard]] TreeShape shape_of(const TransferTree& tree);

/// The tree as text, each rank below the root with the bytes on its edge: "3:12". Empty where the
/// edges make no tree.
[[nodiscard]] std::string to_text(const TransferTree& tree);

}  // namespace tutti
