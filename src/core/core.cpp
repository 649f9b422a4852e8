/// Names of the collectives, listed orders, and sums of known sizes.
#include <algorithm>
#include <cassert>
#include <string>

#include "core/problem.hpp"
#include "core/words.hpp"

namespace tutti {

std::string_view name_of(Collective collective) { return properties_of(collective).name; }

std::optional<Collective> collective_named(std::string_view name) {
  constexpr std::string_view prefix = "MPI_";
  if (same_name(name.substr(0, prefix.size()), prefix)) name.remove_prefix(prefix.size());
  for (const Collective collective : all_collectives) {
    if (same_name(name, name_of(collective))) return collective;
  }
  return std::nullopt;
}

std::string unknown_collective(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Collective collective : all_collectives) names.push_back(name_of(collective));
  return "unknown collective '" + std::string(name) + "'" + valid_names(name, names, "collectives");
}

Order Order::listed(std::vector<Rank> ranks) {
  auto list = std::make_shared<List>();
  list->positions.assign(ranks.size(), -1);
  for (std::size_t position = 0; position < ranks.size(); ++position) {
    list->positions[index(ranks[position])] = static_cast<Position>(position);
  }
  assert(std::ranges::find(list->positions, -1) == list->positions.end());
  list->ranks = std::move(ranks);
  Order order(static_cast<int>(list->ranks.size()), Kind::listed, 0);
  order.list_ = std::move(list);
  return order;
}

Sizes Sizes::equal(Bytes each) {
  Sizes sizes(Kind::equal);
  sizes.each_ = each;
  return sizes;
}

Sizes Sizes::all(const std::vector<Bytes>& by_rank, const Order& order) {
  auto prefix = std::make_shared<std::vector<Bytes>>(by_rank.size() + 1, 0);
  for (Position position = 0; position < order.size(); ++position) {
    const auto at = index(position);
    (*prefix)[at + 1] = (*prefix)[at] + by_rank[index(order.rank_at(position))];
  }
  Sizes sizes(Kind::all);
  sizes.prefix_ = std::move(prefix);
  return sizes;
}

Sizes Sizes::parts(Bytes elements, Bytes unit, int parts) {
  Sizes sizes(Kind::parts);
  sizes.elements_ = elements;
  sizes.each_ = unit;
  sizes.parts_ = parts;
  return sizes;
}

Sizes Sizes::pairs(const std::vector<Bytes>& sent, const std::vector<Bytes>& received,
                   const Order& order, Rank rank) {
  const std::size_t p = sent.size();
  auto both = std::make_shared<std::vector<Bytes>>(2 * p);
  for (std::size_t position = 0; position < p; ++position) {
    const auto other = index(order.rank_at(static_cast<Position>(position)));
    (*both)[position] = sent[other];
    (*both)[p + position] = received[other];
  }
  Sizes sizes(Kind::pairs);
  sizes.prefix_ = std::move(both);
  sizes.parts_ = order.position_of(rank);
  return sizes;
}

Sizes Sizes::cut(int parts) const {
  assert(kind_ == Kind::parts);
  return Sizes::parts(elements_, each_, parts);
}

Bytes Sizes::of_pairs(BlockRange blocks) const {
  const auto p = static_cast<int>(prefix_->size() / 2);
  Bytes bytes = 0;
  for (BlockIndex block = blocks.begin; block < blocks.end; ++block) {
    const bool sends = block / p == parts_;
    assert((sends || block % p == parts_) && "the size of a pair without this rank");
    bytes += (*prefix_)[index(sends ? block % p : p + block / p)];
  }
  return bytes;
}

Sizes Sizes::some(std::vector<Known> known) {
  Sizes sizes(Kind::some);
  sizes.known_ = std::move(known);
  return sizes;
}

Bytes Sizes::of(BlockRange blocks) const {
  switch (kind_) {
    case Kind::equal:
      return each_ * blocks.count();
    case Kind::all:
      return (*prefix_)[index(blocks.end)] - (*prefix_)[index(blocks.begin)];
    case Kind::parts:
      return each_ * (elements_ * blocks.end / parts_ - elements_ * blocks.begin / parts_);
    case Kind::pairs:
      return of_pairs(blocks);
    case Kind::some:
      break;
  }
  Bytes bytes = 0;
  [[maybe_unused]] BlockIndex covered = 0;
  for (const Known& known : known_) {
    if (blocks.begin <= known.blocks.begin && known.blocks.end <= blocks.end) {
      bytes += known.bytes;
      covered += known.blocks.count();
    }
  }
  assert(covered == blocks.count() &&
         "the size of a range that this rank does not know: list.inc names too little knowledge");
  return bytes;
}

}  // namespace tutti
