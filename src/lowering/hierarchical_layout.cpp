/// Lays out the blocks of a call in node memory.
#include "lowering/hierarchical_layout.hpp"

#include <algorithm>
#include <cassert>

#include "core/index.hpp"

namespace tutti {

namespace {

/// Calls visit(layout, node, locals, lane) for each lane and node, and records what it has laid
/// out.
template <class Visit>
LaneLayout by_lane_and_node(const HierarchicalView& view, std::size_t pieces, Visit visit) {
  LaneLayout layout;
  layout.at.assign(pieces, 0);
  for (int lane = 0; lane < view.lanes(); ++lane) {
    InnerBuffer end;
    end.at = layout.bytes;
    for (int node = 0; node < view.nodes().count(); ++node) {
      const Bytes begin = layout.bytes;
      visit(layout, node, locals_of_lane(lane, view.lanes(), view.nodes().size(node)), lane);
      end.displacements.push_back(begin - end.at);
      end.counts.push_back(layout.bytes - begin);
    }
    layout.lanes.push_back(std::move(end));
  }
  return layout;
}

void lay(LaneLayout& layout, std::size_t piece, Bytes bytes) {
  layout.at[piece] = layout.bytes;
  layout.bytes += bytes;
}

}  // namespace

BytePart part_of(Bytes bytes, int i, int count, Bytes unit) {
  const Bytes elements = bytes / unit;
  return {elements * i / count * unit, i + 1 == count ? bytes : elements * (i + 1) / count * unit};
}

HierarchicalView::HierarchicalView(const HierarchicalProblem& call, const Nodes& nodes, int node,
                                   int chunk)
    : call_(call),
      nodes_(nodes),
      node_(node),
      chunk_(chunk),
      lanes_(std::clamp(call.leaders, 1, nodes.most())) {}

Bytes HierarchicalView::size(Rank rank) const {
  return is_irregular(call_.collective) ? call_.sizes.by_rank[index(rank)] : call_.sizes.each;
}

Bytes HierarchicalView::sent(int local, Rank to) const {
  if (call_.collective == Collective::alltoall) return call_.sizes.each;
  return call_.sizes.sent[index(local) * index(nodes_.p()) + index(to)];
}

Bytes HierarchicalView::received(int local, Rank from) const {
  if (call_.collective == Collective::alltoall) return call_.sizes.each;
  return call_.sizes.received[index(local) * index(nodes_.p()) + index(from)];
}

InnerBuffer LaneLayout::end(int lane, Bytes base) const {
  InnerBuffer end = lanes[index(lane)];
  end.at += base;
  return end;
}

LaneLayout layout_of_all(const HierarchicalView& view) {
  return by_lane_and_node(
      view, index(view.nodes().p()), [&](LaneLayout& layout, int node, BlockRange locals, int) {
        for (auto local = static_cast<int>(locals.begin); local < locals.end; ++local) {
          const Rank rank = view.nodes().rank_at(node, local);
          lay(layout, index(rank), view.part(view.size(rank)).bytes());
        }
      });
}

LaneLayout layout_of_node(const HierarchicalView& view) {
  LaneLayout layout;
  for (int lane = 0; lane < view.lanes(); ++lane) {
    const BlockRange locals = locals_of_lane(lane, view.lanes(), view.ranks());
    InnerBuffer end{Area::node, layout.bytes, {0}, {0}};
    for (auto local = static_cast<int>(locals.begin); local < locals.end; ++local) {
      const Bytes bytes = view.part(view.size(view.nodes().rank_at(view.node(), local))).bytes();
      layout.at.push_back(layout.bytes);
      layout.bytes += bytes;
    }
    end.counts[0] = layout.bytes - end.at;
    layout.lanes.push_back(std::move(end));
  }
  return layout;
}

LaneLayout layout_to_all(const HierarchicalView& view) {
  const int p = view.nodes().p();
  return by_lane_and_node(view, index(view.ranks()) * index(p),
                          [&](LaneLayout& layout, int node, BlockRange locals, int) {
                            for (auto t = static_cast<int>(locals.begin); t < locals.end; ++t) {
                              const Rank to = view.nodes().rank_at(node, t);
                              for (int s = 0; s < view.ranks(); ++s) {
                                lay(layout, index(s) * index(p) + index(to),
                                    view.part(view.sent(s, to)).bytes());
                              }
                            }
                          });
}

LaneLayout layout_from_all(const HierarchicalView& view) {
  const int p = view.nodes().p();
  return by_lane_and_node(view, index(view.ranks()) * index(p),
                          [&](LaneLayout& layout, int node, BlockRange, int lane) {
                            const BlockRange locals =
                                locals_of_lane(lane, view.lanes(), view.ranks());
                            for (auto t = static_cast<int>(locals.begin); t < locals.end; ++t) {
                              for (const Rank from : view.nodes().ranks(node)) {
                                lay(layout, index(t) * index(p) + index(from),
                                    view.part(view.received(t, from)).bytes());
                              }
                            }
                          });
}

LaneLayout layout_of_vector(const HierarchicalView& view) {
  LaneLayout layout;
  const Bytes bytes = view.part(view.size(0)).bytes();
  layout.at = {0};
  layout.bytes = bytes;
  for (int lane = 0; lane < view.lanes(); ++lane) {
    const BytePart part = part_of(bytes, lane, view.lanes(), view.call().unit);
    layout.lanes.push_back({Area::node, part.begin, {part.bytes()}, {0}});
  }
  return layout;
}

}  // namespace tutti
