/// The circulant graph with ceil(log2 p) skips, and the rounds of a broadcast of many parts on it.
#pragma once

#include <algorithm>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The skips s_0 = 1 < .. < s_q = p with s_k = ceil(s_{k+1} / 2), q = ceil(log2 p) (Träff 2022,
/// arXiv 2205.10072): in round k position v exchanges with v - s_k and v + s_k modulo p.
///
///     p = 11: 1 2 3 6 11
[[nodiscard]] inline std::vector<int> circulant_skips(int p) {
  std::vector<int> skips = {p};
  while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
  std::ranges::reverse(skips);
  return skips;
}

/// A broadcast of n parts from position 0 in n - 1 + q rounds, q = ceil(log2 p), for any p (Träff
/// 2022, arXiv 2205.10072). A phase has q rounds; in its round k position v receives from v - s_k
/// and sends to v + s_k. In every phase v receives one part of each class of parts modulo q. Its
/// own class is that of the smallest skip on the path from the root; that part has left the root in
/// this phase, the others in the phase before. In round k it receives a class that it has not had
/// in this phase and that its sender has by then: the own class of a position in
/// (v - s_{k+1}, v - s_k] or, if all of these were had, the next one below.
///
///     p = 5, skips 1 2 3    own classes of 1 2 3 4: 0 1 2 0
///
/// A position finds its classes by itself, as in Träff 2023 and 2024 (arXiv 2312.11236 and
/// 2407.18004): at most 2 q paths are looked at (measured for every p up to 4,097).
class CirculantBroadcast {
 public:
  CirculantBroadcast(int p, int parts);

  [[nodiscard]] int rounds() const { return rounds_; }
  /// The distance between sender and receiver in `round`.
  [[nodiscard]] int skip(int round) const;
  /// By round, the part that `position` receives; -1 for none. O(rounds + q).
  [[nodiscard]] std::vector<int> received(Position position) const;
  /// By round, the part that `position` sends; -1 for none. O(rounds + q^2).
  [[nodiscard]] std::vector<int> sent(Position position) const;

 private:
  /// What a position receives in each phase.
  struct Phase {
    std::vector<int> classes;  ///< by round of a phase; nothing at the root
    int own = 0;
    int last = 0;  ///< the round of all that brings the last part
  };

  [[nodiscard]] int phase_rounds() const { return static_cast<int>(skips_.size()) - 1; }
  [[nodiscard]] Phase phase_of(Position position) const;
  /// The number of the part if there were no last one; negative before the first.
  [[nodiscard]] int part_in(const Phase& phase, int round) const;
  [[nodiscard]] int received_in(const Phase& phase, int round) const;

  int parts_;
  std::vector<int> skips_;
  int rounds_;
  int idle_;  ///< rounds that the first phase omits
};

}  // namespace tutti
