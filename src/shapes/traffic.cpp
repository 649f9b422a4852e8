/// Computes the rounds by rank arithmetic.
#include "shapes/traffic.hpp"

#include <algorithm>

#include "shapes/folded.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

Traffic ring_traffic(int p, Bytes block) {
  Traffic traffic{p, {}};
  if (p == 1) return traffic;
  Traffic::Round round{p - 1, {}};
  for (Position v = 0; v < p; ++v) round.messages.push_back({v, (v + 1) % p, block});
  traffic.rounds.push_back(std::move(round));
  return traffic;
}

Traffic doubling_traffic(int p, Bytes block) {
  Traffic traffic{p, {}};
  const Folded folded(p);
  Traffic::Round fold;
  Traffic::Round unfold;
  for (Position v = 0; v < p; ++v) {
    if (folded.leads(v)) continue;
    fold.messages.push_back({v, folded.other(v), block});
    unfold.messages.push_back({folded.other(v), v, (p - 1) * block});
  }
  const bool folds = !fold.messages.empty();
  if (folds) traffic.rounds.push_back(std::move(fold));
  for (int distance = 1; distance < folded.groups(); distance *= 2) {
    Traffic::Round round;
    for (int group = 0; group < folded.groups(); ++group) {
      const int mine = group & ~(distance - 1);
      const Bytes blocks = folded.positions(mine, mine + distance).count();
      round.messages.push_back(
          {folded.leader(group), folded.leader(group ^ distance), blocks * block});
    }
    traffic.rounds.push_back(std::move(round));
  }
  if (folds) traffic.rounds.push_back(std::move(unfold));
  return traffic;
}

Traffic star_traffic(int p, Bytes block, bool to_first) {
  Traffic traffic{p, {}};
  for (Position v = 1; v < p; ++v) {
    const Traffic::Message message = {to_first ? v : 0, to_first ? 0 : v, block};
    traffic.rounds.push_back({1, {message}});
  }
  return traffic;
}

Traffic tree_gather_traffic(int p, int k, Bytes block) {
  const Knomial tree(p, k);
  Traffic traffic{p, {}};
  for (long step = 1; step < p; step *= k) {
    for (int digit = 1; digit < k && digit * step < p; ++digit) {
      Traffic::Round round;
      for (long v = digit * step; v < p; v += step * k) {
        const auto child = static_cast<Position>(v);
        round.messages.push_back({child, tree.parent(child), tree.subtree(child).count() * block});
      }
      traffic.rounds.push_back(std::move(round));
    }
  }
  return traffic;
}

Traffic tree_scatter_traffic(int p, int k, Bytes block) {
  Traffic traffic = tree_gather_traffic(p, k, block);
  std::reverse(traffic.rounds.begin(), traffic.rounds.end());
  for (Traffic::Round& round : traffic.rounds) {
    for (Traffic::Message& message : round.messages) std::swap(message.from, message.to);
  }
  return traffic;
}

Traffic tree_bcast_traffic(int p, int k, Bytes vector) {
  Traffic traffic = tree_scatter_traffic(p, k, vector);
  for (Traffic::Round& round : traffic.rounds) {
    for (Traffic::Message& message : round.messages) message.bytes = vector;
  }
  return traffic;
}

}  // namespace tutti
