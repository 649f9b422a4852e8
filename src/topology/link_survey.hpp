/// What rank 0 of a communicator knows of the links between its nodes, by ranks.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/nodes.hpp"
#include "topology/distance_file.hpp"
#include "topology/distance_rows.hpp"
#include "topology/node_links.hpp"

namespace tutti {

/// Links are measured between the first ranks of nodes, and in a node between its first two ranks,
/// which stand for all pairs there.
class LinkSurvey {
 public:
  /// `locations` has those of all ranks, `world` is the size of MPI_COMM_WORLD.
  LinkSurvey(const Nodes& nodes, std::vector<RankLocation> locations, int world);

  /// The names of the nodes, ascending and all different: host names, with a number behind all but
  /// the first node of a host.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The links that are known, and those of them that were measured here; by index in names().
  [[nodiscard]] const NodeLinks& links() const { return links_; }
  [[nodiscard]] const NodeLinks& measured() const { return measured_; }

  /// Adds what is known already; by index in names().
  void add_known(const NodeLinks& known) { links_.add(known); }
  /// Adds links between ranks that were measured.
  void add_measured(std::span<const MeasuredLink> links);

  /// The pairs of ranks to be measured next (see next_pairs() of nodes).
  [[nodiscard]] std::vector<RankPair> next_pairs() const;
  /// Is the link within each node that has several ranks known?
  [[nodiscard]] bool are_insides_known() const;
  /// The distances of all ranks, where next_pairs() is empty and are_insides_known(). Messages had
  /// `bytes` bytes. O(p^2 + n^2 log n) with n nodes.
  [[nodiscard]] DistanceFile distances(const std::array<Bytes, 2>& bytes) const;

 private:
  [[nodiscard]] int number_of(Rank rank) const { return numbers_[index(nodes_.node_of(rank))]; }

  Nodes nodes_;
  std::vector<RankLocation> locations_;
  int world_;
  std::vector<std::string> names_;
  std::vector<int> numbers_;  ///< by node: the index of its name
  std::vector<int> node_at_;  ///< by index of the name
  NodeLinks links_;
  NodeLinks measured_;
};

}  // namespace tutti
