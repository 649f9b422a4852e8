/// An order maps ranks to the positions of a shape.
#pragma once

#include <cassert>
#include <memory>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// A bijection between positions and ranks. Natural and rotated orders are computed and need no
/// memory; any other order is a list, shared by its copies.
class Order {
 public:
  /// Position i is rank i.
  static Order identity(int p) { return Order(p, Kind::rotated, 0); }
  /// The root first, the others ascending: r 0 1 .. r-1 r+1 .. p-1.
  static Order natural(int p, Rank root) { return Order(p, Kind::root_first, root); }
  /// Ascending from the root modulo p: r r+1 .. p-1 0 .. r-1.
  static Order rotated(int p, Rank root) { return Order(p, Kind::rotated, root); }
  /// Any order; `ranks` holds each of 0..p-1 once. O(p) memory.
  static Order listed(std::vector<Rank> ranks);

  [[nodiscard]] int size() const { return p_; }
  /// True if rank i is at position i, for all i.
  [[nodiscard]] bool is_identity() const { return kind_ != Kind::listed && root_ == 0; }

  [[nodiscard]] Rank rank_at(Position position) const {
    assert(0 <= position && position < p_);
    switch (kind_) {
      case Kind::root_first:
        return position == 0 ? root_ : position - (position <= root_ ? 1 : 0);
      case Kind::rotated:
        return position < p_ - root_ ? position + root_ : position + root_ - p_;
      case Kind::listed:
        break;
    }
    return list_->ranks[index(position)];
  }

  /// The rank at each position. O(p).
  [[nodiscard]] std::vector<Rank> ranks() const {
    std::vector<Rank> all;
    for (Position position = 0; position < p_; ++position) all.push_back(rank_at(position));
    return all;
  }

  [[nodiscard]] Position position_of(Rank rank) const {
    assert(0 <= rank && rank < p_);
    switch (kind_) {
      case Kind::root_first:
        return rank == root_ ? 0 : rank + (rank < root_ ? 1 : 0);
      case Kind::rotated:
        return rank >= root_ ? rank - root_ : rank - root_ + p_;
      case Kind::listed:
        break;
    }
    return list_->positions[index(rank)];
  }

 private:
  enum class Kind : std::uint8_t { root_first, rotated, listed };
  struct List {
    std::vector<Rank> ranks;
    std::vector<Position> positions;
  };

  Order(int p, Kind kind, Rank root) : p_(p), root_(root), kind_(kind) {}

  int p_;
  Rank root_;
  Kind kind_;
  std::shared_ptr<const List> list_;
};

}  // namespace tutti
