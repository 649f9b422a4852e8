/// Which part arrives when in a broadcast of many parts on the circulant graph.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace tutti {

/// A broadcast of n parts from position 0 in n - 1 + q rounds, q = ceil(log2 p), for any p (Träff
/// 2022, arXiv 2205.10072). Rounds repeat every q: in round k of a phase position v receives from
/// v - s_k and sends to v + s_k. Of each class of parts modulo q it receives one in every phase: of
/// its own class, that of the smallest skip on the way to v, one that has left the root in this
/// phase, of the others one of the phase before. So it is to receive in round k a class that it has
/// not had in this phase and that its sender has by then: the largest one that is the own class of
/// a position in (v - s_{k+1}, v - s_k], if there is one (verified for every p up to 33 and some up
/// to 257).
///
///     p = 5, skips 1 2 3    own classes of 1 2 3 4: 0 1 2 0
///
/// Finds the classes of v along the positions that it hears from: O(p log^3 p) at most, where the
/// paper's own construction takes O(log p).
class CirculantBroadcast {
 public:
  CirculantBroadcast(int p, int parts);

  [[nodiscard]] int rounds() const { return rounds_; }
  /// The distance between sender and receiver in `round`.
  [[nodiscard]] int skip(int round) const;
  /// By round, the part that `position` receives; -1 for none. O(rounds).
  [[nodiscard]] std::vector<int> received(Position position);

 private:
  [[nodiscard]] int phase_rounds() const { return static_cast<int>(skips_.size()) - 1; }
  [[nodiscard]] int own_class(Position position) const {
    return own_[static_cast<std::size_t>(position)];
  }
  /// A position in (after, last], modulo p, has that own class.
  [[nodiscard]] bool is_own_in(int wanted, int after, int last) const;
  /// Of the first `count` rounds of a phase.
  const std::vector<int>& classes(Position position, int count);
  [[nodiscard]] int choose(Position position, int round);

  int p_;
  int parts_;
  std::vector<int> skips_;
  int rounds_;
  int idle_;                               ///< rounds of the first phase that are left out
  std::vector<int> own_;                   ///< by position; q at the root, which has all
  std::vector<std::vector<int>> owners_;   ///< by class, ascending
  std::vector<std::vector<int>> classes_;  ///< by position, as far as known
};

}  // namespace tutti
