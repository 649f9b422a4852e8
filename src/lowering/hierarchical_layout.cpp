/// Lays out the blocks of a call in node memory.
#include <span>

#include "lowering/hierarchical_chunk.hpp"

namespace tutti {

namespace {

/// The ranks of a lane on a node.
std::span<const Rank> ranks_of_lane(const HierarchicalView& view, int lane, int node) {
  const std::span<const Rank> ranks = view.nodes.ranks(node);
  const int begin = lane_leader(lane, view.lanes, static_cast<int>(ranks.size()));
  const int end = lane_leader(lane + 1, view.lanes, static_cast<int>(ranks.size()));
  return ranks.subspan(index(begin), index(end - begin));
}

/// Calls visit(lay, lane, node) for each lane and each of the nodes [first, last), and records what
/// it lays out: lay(piece, block) appends the chunk's part of a block.
template <class Visit>
LaneLayout by_lane_and_node(const HierarchicalView& view, int pieces, int first, int last,
                            Visit visit) {
  LaneLayout layout;
  layout.at.assign(index(pieces), 0);
  const auto lay = [&](int piece, Bytes block) {
    layout.at[index(piece)] = layout.bytes;
    layout.bytes += view.part(block).bytes();
  };
  for (int lane = 0; lane < view.lanes; ++lane) {
    InnerBuffer end;
    end.at = layout.bytes;
    for (int node = first; node < last; ++node) {
      const Bytes begin = layout.bytes;
      visit(lay, lane, node);
      end.displacements.push_back(begin - end.at);
      end.counts.push_back(layout.bytes - begin);
    }
    layout.lanes.push_back(std::move(end));
  }
  return layout;
}

}  // namespace

ByteRange part_of(Bytes bytes, int i, int count, Bytes unit) {
  const Bytes elements = bytes / unit;
  return {elements * i / count * unit, i + 1 == count ? bytes : elements * (i + 1) / count * unit};
}

InnerBuffer LaneLayout::end(int lane, Bytes base) const {
  InnerBuffer end = lanes[index(lane)];
  end.at += base;
  return end;
}

LaneLayout layout_of_blocks(const HierarchicalView& view, bool of_all) {
  const Nodes& nodes = view.nodes;
  const auto visit = [&](const auto& lay, int lane, int node) {
    for (const Rank rank : ranks_of_lane(view, lane, node)) {
      lay(of_all ? rank : nodes.local_of(rank), view.size(rank));
    }
  };
  if (of_all) return by_lane_and_node(view, nodes.p(), 0, nodes.count(), visit);
  return by_lane_and_node(view, view.ranks(), view.node, view.node + 1, visit);
}

LaneLayout layout_to_all(const HierarchicalView& view) {
  const int p = view.nodes.p();
  const auto visit = [&](const auto& lay, int lane, int node) {
    for (const Rank to : ranks_of_lane(view, lane, node)) {
      for (int s = 0; s < view.ranks(); ++s) lay(s * p + to, view.sent(s, to));
    }
  };
  return by_lane_and_node(view, view.ranks() * p, 0, view.nodes.count(), visit);
}

LaneLayout layout_from_all(const HierarchicalView& view) {
  const Nodes& nodes = view.nodes;
  const auto visit = [&](const auto& lay, int lane, int node) {
    for (const Rank to : ranks_of_lane(view, lane, view.node)) {
      const int t = nodes.local_of(to);
      for (const Rank from : nodes.ranks(node)) {
        lay(t * nodes.p() + from, view.received(t, from));
      }
    }
  };
  return by_lane_and_node(view, view.ranks() * nodes.p(), 0, nodes.count(), visit);
}

LaneLayout layout_of_vector(const HierarchicalView& view) {
  LaneLayout layout;
  const Bytes bytes = view.part(view.size(0)).bytes();
  layout.at = {0};
  layout.bytes = bytes;
  for (int lane = 0; lane < view.lanes; ++lane) {
    const ByteRange part = part_of(bytes, lane, view.lanes, view.call.unit);
    layout.lanes.push_back({Area::node, part.begin, {part.bytes()}, {0}});
  }
  return layout;
}

}  // namespace tutti
