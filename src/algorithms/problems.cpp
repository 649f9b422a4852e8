/// Builds all ranks' problems from global data.
#include "algorithms/problems.hpp"

#include "algorithms/staging.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

Bytes Call::pair(Rank from, Rank to) const {
  const auto ranks = sizes.size();
  const auto s = index(from);
  const auto d = index(to);
  return pairs.empty() ? sizes[(s + d) % ranks] : pairs[s * ranks + d];
}

std::vector<Bytes> Call::block_sizes(int parts) const {
  std::vector<Bytes> all;
  switch (block_kind(collective)) {
    case BlockKind::ranks:
      return sizes;
    case BlockKind::pairs:
      for (Rank from = 0; from < p(); ++from) {
        for (Rank to = 0; to < p(); ++to) all.push_back(pair(from, to));
      }
      break;
    case BlockKind::parts: {
      const Sizes cut = Sizes::parts(sizes[0] / unit, unit, parts);
      for (int part = 0; part < parts; ++part) all.push_back(cut.of({part, part + 1}));
      break;
    }
    case BlockKind::none:
      break;
  }
  return all;
}

namespace {

/// The sizes that all ranks know, if they know those of all.
CallSizes known_sizes(const Call& call) {
  CallSizes sizes;
  if (!is_irregular(call.collective)) {
    sizes.each = call.sizes[0];
  } else if (block_kind(call.collective) == BlockKind::ranks) {
    sizes.by_rank = call.sizes;
  }
  return sizes;
}

ProblemMaker maker(const Specification& specification, const Call& call, const CallSizes& sizes,
                   const std::vector<double>& arrivals) {
  return {{.specification = specification,
           .p = call.p(),
           .root = call.root,
           .unit = call.unit,
           .order = order_of(specification, call.p(), call.root,
                             {&sizes.by_rank, &arrivals, &call.rank_order}),
           .ready = ready_times(specification, call.arrivals, call.rate),
           .half_performance_length = call.half_performance_length,
           .memory = call.memory,
           .nodes = call.nodes.get()},
          sizes};
}

}  // namespace

Problems::Problems(const Specification& specification, const Call& call)
    : call_(call), all_(maker(specification, call, known_sizes(call), call.arrivals)) {
  if (is_one_sided(call.collective) || !has_root(call.collective)) return;
  const bool needs_order = specification.order_matters_everywhere();
  const bool lacks_sizes =
      is_irregular(call.collective) && specification.knowledge() != Knowledge::all_sizes;
  if (needs_order && !lacks_sizes) return;
  others_ = maker(specification, call, lacks_sizes ? CallSizes() : known_sizes(call),
                  needs_order ? call.arrivals : std::vector<double>());
}

CallSizes Problems::own_sizes(Rank rank) const {
  CallSizes sizes;
  sizes.own = call_.sizes[index(rank)];
  if (call_.collective != Collective::alltoallv) return sizes;
  for (Rank other = 0; other < call_.p(); ++other) {
    sizes.sent.push_back(call_.pair(rank, other));
    sizes.received.push_back(call_.pair(other, rank));
  }
  return sizes;
}

/// From the tree that the protocols would build.
Learned Problems::learned_by(Rank rank) const {
  if (tree() == nullptr) return {};
  const Position me = order().position_of(rank);
  if (!is_fixed_tree(all_.specification())) return {.tree = tree()->neighbours(me)};
  Learned learned;
  for (const Position child : Knomial(call_.p(), all_.specification().parameters.k).children(me)) {
    // Heavy subtrees below it do not pass through a child.
    learned.subtrees.push_back(tree()->neighbours(child).self.bytes);
  }
  return learned;
}

Problem Problems::at(Rank rank) const {
  if (!others_ || rank == call_.root) return all_.at(rank, own_sizes(rank));
  return others_->at(rank, own_sizes(rank), learned_by(rank));
}

Schedule Problems::schedule(Rank rank) const { return schedule_of(all_.specification(), at(rank)); }

std::vector<Schedule> Problems::schedules() const {
  std::vector<Schedule> all;
  all.reserve(index(call_.p()));
  for (Rank rank = 0; rank < call_.p(); ++rank) all.push_back(schedule(rank));
  return all;
}

}  // namespace tutti
