/// Combines the vectors of a node's ranks by slices, first within groups if it has some.
#include <algorithm>

#include "lowering/hierarchical_chunk.hpp"

namespace tutti {

namespace {

using Groups = std::vector<std::vector<int>>;

/// The groups of the node. One group if more would not help, or would change the order of an
/// operation.
Groups groups_of(const HierarchicalView& view) {
  Groups groups = view.nodes.groups(view.node);
  const auto follow = [](const std::vector<int>& group) {
    return group.back() - group.front() + 1 == static_cast<int>(group.size());
  };
  const bool apart = static_cast<int>(groups.size()) == view.ranks();
  const bool in_order = std::ranges::all_of(groups, follow);
  if (!apart && (in_order || view.call.commutative)) return groups;
  std::vector<int> all;
  for (int local = 0; local < view.ranks(); ++local) all.push_back(local);
  return {all};
}

/// Vectors of `bytes` bytes, one for each local rank.
struct Vectors {
  Bytes bytes;
  Bytes base;
  Bytes unit;

  [[nodiscard]] ByteRange slice(std::size_t i, std::size_t of) const {
    return part_of(bytes, static_cast<int>(i), static_cast<int>(of), unit);
  }
  /// Combines a slice of the vectors of `locals` into that of the last.
  [[nodiscard]] std::vector<Operation> combine(const std::vector<int>& locals,
                                               const ByteRange& slice) const {
    std::vector<Operation> steps;
    if (slice.bytes() == 0) return steps;
    const auto vector = [&](int local) {
      return BufferRef{Area::node, {}, base + local * bytes + slice.begin, slice.bytes()};
    };
    for (std::size_t i = locals.size() - 1; i-- > 0;) {
      steps.push_back(
          {.kind = OperationKind::reduce, .from = vector(locals[i]), .to = vector(locals.back())});
    }
    return steps;
  }
  /// The ranks whose slices in their groups overlap `own`.
  [[nodiscard]] std::vector<int> who_has(const ByteRange& own, const Groups& groups) const {
    std::vector<int> found;
    if (own.bytes() == 0) return found;
    for (const std::vector<int>& group : groups) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        if (slice(i, group.size()).overlaps(own)) found.push_back(group[i]);
      }
    }
    std::ranges::sort(found);
    return found;
  }
};

}  // namespace

void combine_vectors(const HierarchicalView& view, Bytes bytes, Bytes base,
                     NodeProgramBuilder& program) {
  const Vectors vectors{bytes, base, view.call.unit};
  const Groups groups = groups_of(view);
  const auto local = index(program.local());
  const ByteRange own = vectors.slice(local, index(view.ranks()));
  std::vector<int> sums;
  for (const std::vector<int>& group : groups) {
    sums.push_back(group.back());
    const auto me = std::ranges::find(group, program.local());
    if (me == group.end()) continue;
    program.await(NodeProgramBuilder::entered(view.chunk), group);
    const auto i = index(me - group.begin());
    program.add(vectors.combine(group, vectors.slice(i, group.size())));
  }
  if (groups.size() > 1) {
    program.signal(NodeProgramBuilder::grouped(view.chunk));
    program.await(NodeProgramBuilder::grouped(view.chunk), vectors.who_has(own, groups));
    program.add(vectors.combine(sums, own));
  }
  program.signal(NodeProgramBuilder::combined(view.chunk));
}

}  // namespace tutti
