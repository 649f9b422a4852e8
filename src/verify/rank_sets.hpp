/// Many sets of ranks or operations, as bit sets.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Numbered sets of ranks 0..p-1, or of operations, one bit each. Reuses its memory between starts.
class RankSets {
 public:
  using Set = int;

  /// Starts with `count` empty sets.
  void start(int p, int count) {
    words_ = index(p + 63) / 64;
    bits_.assign(words_ * index(count), 0);
  }
  /// Adds a set that equals `other`.
  Set copy_of(Set other) {
    const std::size_t from = at(other);
    bits_.resize(bits_.size() + words_);
    for (std::size_t i = 0; i < words_; ++i) bits_[bits_.size() - words_ + i] = bits_[from + i];
    return static_cast<Set>(bits_.size() / words_) - 1;
  }

  void insert(Set set, Rank rank) { bits_[at(set) + word(rank)] |= bit(rank); }
  [[nodiscard]] bool contains(Set set, Rank rank) const {
    return (bits_[at(set) + word(rank)] & bit(rank)) != 0;
  }
  void insert_all(Set set, Set other) {
    for (std::size_t i = 0; i < words_; ++i) bits_[at(set) + i] |= bits_[at(other) + i];
  }

  /// The lowest rank in both sets; no_rank if there is none.
  [[nodiscard]] Rank common(Set a, Set b) const {
    for (std::size_t i = 0; i < words_; ++i) {
      if (const auto both = bits_[at(a) + i] & bits_[at(b) + i]) return lowest(i, both);
    }
    return no_rank;
  }
  /// The lowest of the ranks 0..n-1 that it lacks; no_rank if it has all.
  [[nodiscard]] Rank missing(Set set, int n) const {
    for (std::size_t i = 0; i < words_; ++i) {
      if (bits_[at(set) + i] == ~std::uint64_t{0}) continue;
      const Rank rank = lowest(i, ~bits_[at(set) + i]);
      return rank < n ? rank : no_rank;
    }
    return no_rank;
  }
  /// The difference to the set of ranks 0..n-1, as the end of a sentence; empty if there is none.
  [[nodiscard]] std::string difference(Set set, int n) const {
    if (const Rank rank = missing(set, n); rank != no_rank) {
      return "lacks the contribution of rank " + std::to_string(rank);
    }
    if (last(set) < n) return "";
    return "has the contribution of rank " + std::to_string(last(set)) + " too";
  }
  [[nodiscard]] Rank first(Set set) const { return common(set, set); }
  [[nodiscard]] Rank last(Set set) const {
    for (std::size_t i = words_; i-- > 0;) {
      const std::uint64_t bits = bits_[at(set) + i];
      if (bits != 0) return static_cast<Rank>(i * 64) + 63 - std::countl_zero(bits);
    }
    return no_rank;
  }

 private:
  [[nodiscard]] std::size_t at(Set set) const { return words_ * index(set); }
  static std::size_t word(Rank rank) { return index(rank) / 64; }
  static std::uint64_t bit(Rank rank) { return std::uint64_t{1} << (rank % 64); }
  static Rank lowest(std::size_t word, std::uint64_t bits) {
    return static_cast<Rank>(word * 64) + std::countr_zero(bits);
  }

  std::size_t words_ = 1;
  std::vector<std::uint64_t> bits_;
};

}  // namespace tutti
