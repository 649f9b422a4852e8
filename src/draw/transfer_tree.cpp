/// Derives the tree of transfers from schedules.
#include "draw/transfer_tree.hpp"

namespace tutti {

TransferTree transfer_tree(std::span<const Schedule> schedules) {
  TransferTree tree;
  tree.children.resize(schedules.size());
  if (schedules.empty()) return tree;
  tree.root = schedules.front().root;
  // The parent is the receiver in a gather and the sender in a scatter.
  const StepKind kind =
      flows_to_root(schedules.front().collective) ? StepKind::recv : StepKind::send;
  std::vector<Rank> parent(schedules.size(), no_rank);  // by child
  std::vector<std::size_t> edge(schedules.size(), 0);   // by child: its index among its siblings
  for (const Schedule& schedule : schedules) {
    auto& edges = tree.children[static_cast<std::size_t>(schedule.rank)];
    for (const Step& step : schedule.steps) {
      if ((step.kind != kind && step.kind != StepKind::notify) || step.bytes == 0) continue;
      const auto child = static_cast<std::size_t>(step.peer);
      if (parent[child] != schedule.rank) {
        parent[child] = schedule.rank;
        edge[child] = edges.size();
        edges.push_back({step.peer, 0});
      }
      edges[edge[child]].bytes += step.bytes;
    }
  }
  return tree;
}

std::vector<Bytes> TransferTree::bytes_above() const {
  std::vector<Bytes> bytes(children.size(), 0);
  for (const auto& edges : children) {
    for (const Edge& edge : edges) bytes[static_cast<std::size_t>(edge.child)] = edge.bytes;
  }
  return bytes;
}

bool TransferTree::is_tree() const {
  std::vector<bool> reached(children.size(), false);
  std::vector<Rank> pending = {root};
  std::size_t edges = 0;
  std::size_t followed = 0;
  for (const auto& below : children) edges += below.size();
  while (!pending.empty()) {
    const auto rank = static_cast<std::size_t>(pending.back());
    pending.pop_back();
    if (rank >= reached.size() || reached[rank]) return false;
    reached[rank] = true;
    followed += children[rank].size();
    for (const Edge& edge : children[rank]) pending.push_back(edge.child);
  }
  return followed == edges;
}

std::vector<Rank> TransferTree::idle() const {
  const std::vector<Bytes> bytes = bytes_above();
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
    if (bytes[rank] == 0 && static_cast<Rank>(rank) != root) {
      ranks.push_back(static_cast<Rank>(rank));
    }
  }
  return ranks;
}

TreeShape shape_of(const TransferTree& tree) {
  TreeShape shape;
  shape.root = tree.root;
  shape.children = [&tree](int rank) {
    std::vector<int> children;
    for (const auto& edge : tree.children[static_cast<std::size_t>(rank)]) {
      children.push_back(edge.child);
    }
    return children;
  };
  shape.label = [](int rank) { return std::to_string(rank); };
  return shape;
}

std::string to_text(const TransferTree& tree) {
  if (!tree.is_tree()) return "";
  const std::vector<Bytes> bytes = tree.bytes_above();
  TreeShape shape = shape_of(tree);
  shape.label = [&](int rank) {
    const std::string name = std::to_string(rank);
    return rank == tree.root ? name
                             : name + ":" + std::to_string(bytes[static_cast<std::size_t>(rank)]);
  };
  return to_text(shape);
}

}  // namespace tutti
