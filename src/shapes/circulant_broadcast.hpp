/// The rounds of a broadcast of many parts on the circulant graph.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace tutti {

/// A broadcast of n parts from position 0 in n - 1 + q rounds, q = ceil(log2 p), for any p (Träff
/// 2022, arXiv 2205.10072). A phase has q rounds; in its round k position v receives from v - s_k
/// and sends to v + s_k. In every phase v receives one part of each class of parts modulo q. Its
/// own class is that of the smallest skip on the path from the root; that part has left the root in
/// this phase, the others in the phase before. In round k it receives a class that it has not had
/// in this phase and that its sender has by then: the largest one that is the own class of a
/// position in (v - s_{k+1}, v - s_k], if there is one (verified for every p up to 33 and some up
/// to 257).
///
///     p = 5, skips 1 2 3    own classes of 1 2 3 4: 0 1 2 0
///
/// Finds the classes of v through the positions that it receives from: O(p log^3 p) at most. The
/// paper's construction takes O(log p).
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
  /// True if a position in (after, last], modulo p, has the own class `wanted`.
  [[nodiscard]] bool is_own_in(int wanted, int after, int last) const;
  /// The classes that `position` receives in the first `count` rounds of a phase.
  const std::vector<int>& classes(Position position, int count);
  [[nodiscard]] int choose(Position position, int round);

  int p_;
  int parts_;
  std::vector<int> skips_;
  int rounds_;
  int idle_;                               ///< rounds that the first phase omits
  std::vector<int> own_;                   ///< own class by position; q at the root
  std::vector<std::vector<int>> owners_;   ///< by class, ascending
  std::vector<std::vector<int>> classes_;  ///< by position, for the rounds computed so far
};

}  // namespace tutti
