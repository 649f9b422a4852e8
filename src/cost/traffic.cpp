/// Derives the rounds of an algorithm from its schedules or its shape.
#include "cost/traffic.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "algorithms/problems.hpp"
#include "cost/engine.hpp"

namespace tutti {

namespace {

/// A rank sends or receives O(log p) messages on average.
bool has_few_messages(const Algorithm& algorithm) {
  return (algorithm.shape == Shape::tree && has_root(algorithm.collective)) ||
         algorithm.shape == Shape::doubling;
}

/// Of more ranks, schedules around a ring take long, and their rounds are almost those of the
/// shape.
constexpr int max_exact_ring = 33;

/// p - 1 equal rounds, v to v + 1.
Traffic ring_traffic(int p, Bytes block, int turns = 1) {
  Traffic traffic{p, {}};
  if (p == 1) return traffic;
  Traffic::Round& round = traffic.rounds.emplace_back();
  round.times = turns * (p - 1);
  for (Position v = 0; v < p; ++v) round.messages.push_back({v, (v + 1) % p, block});
  return traffic;
}

/// n + p - 2 equal rounds, v to v + 1 with one of n parts.
Traffic chain_traffic(const Specification& specification, int p, Bytes block) {
  Traffic traffic{p, {}};
  if (p == 1) return traffic;
  const Call call{specification.algorithm->collective, 0, std::vector<Bytes>(index(p), block)};
  const int parts = std::max(1, Problems(specification, call).schedule(0).parts);
  Traffic::Round& round = traffic.rounds.emplace_back();
  round.times = parts + p - 2;
  for (Position v = 0; v + 1 < p; ++v) {
    round.messages.push_back({v, v + 1, (block + parts - 1) / parts});
  }
  return traffic;
}

/// A binomial scatter of parts, then a ring.
Traffic tree_then_ring_traffic(int p, Bytes part) {
  Traffic traffic = traffic_of(*specification(Collective::scatter, "binomial"), p, part);
  const Traffic ring = ring_traffic(p, part);
  traffic.rounds.insert(traffic.rounds.end(), ring.rounds.begin(), ring.rounds.end());
  return traffic;
}

/// The rounds of one call by each of some roots: the order turns until the root is first. Equal
/// rounds count as one, in any sequence.
Traffic turned(const Traffic& traffic, Roots roots) {
  const int p = traffic.p;
  const int shift = roots == Roots::between ? p / 2 : 0;
  std::map<std::vector<Traffic::Message>, int> times;
  for (int root = 0; root < roots_of(p); ++root) {
    const Position first = (root * p + shift) / roots_of(p);
    for (const Traffic::Round& round : traffic.rounds) {
      std::vector<Traffic::Message> messages;
      for (const auto& [from, to, bytes] : round.messages) {
        messages.push_back({(from + first) % p, (to + first) % p, bytes});
      }
      std::ranges::sort(messages);
      times[std::move(messages)] += round.times;
    }
  }
  Traffic of_all{p, {}};
  for (const auto& [messages, count] : times) of_all.rounds.push_back({count, messages});
  return of_all;
}

/// One message between position 0 and each other position, one after the other.
Traffic star_traffic(int p, Bytes block, bool to_first) {
  Traffic traffic{p, {}};
  for (Position v = 1; v < p; ++v) {
    const Traffic::Message message = {to_first ? v : 0, to_first ? 0 : v, block};
    traffic.rounds.push_back({1, {message}});
  }
  return traffic;
}

}  // namespace

Traffic traffic_of(const Specification& specification, int p, Bytes block, Roots roots) {
  if (specification.turns_with_root()) {
    Specification by_one_root = specification;
    by_one_root.order = OrderName::natural;
    return turned(traffic_of(by_one_root, p, block), roots);
  }
  const Algorithm& algorithm = *specification.algorithm;
  const bool has_ring = algorithm.shape == Shape::ring || algorithm.shape == Shape::tree_then_ring;
  const int most = has_ring ? max_exact_ring : max_exact_ranks;
  if (p > most && !has_few_messages(algorithm)) {
    return shape_traffic_of(specification, p, block);
  }
  Specification natural = specification;
  natural.order = OrderName::natural;
  const Call call{specification.algorithm->collective, 0, std::vector<Bytes>(index(p), block)};
  const EngineModel rounds{.service = EngineModel::Service::greedy,
                           .tie = EngineModel::Tie::none,
                           .machine = {.latency = 1, .per_byte = 0},
                           .two_ports = true};
  std::map<double, Traffic::Round> by_start;
  [[maybe_unused]] const auto error = execute(
      Problems(natural, call).schedules(), rounds, {}, {.started = [&](const TimedMessage& moved) {
        by_start[moved.start].messages.push_back({moved.from, moved.to, moved.bytes});
      }});
  assert(!error);
  Traffic traffic{p, {}};
  for (auto& [start, round] : by_start) {
    std::ranges::sort(round.messages, {}, &Traffic::Message::from);
    if (!traffic.rounds.empty() && traffic.rounds.back().messages == round.messages) {
      ++traffic.rounds.back().times;
    } else {
      traffic.rounds.push_back(std::move(round));
    }
  }
  return traffic;
}

Traffic shape_traffic_of(const Specification& specification, int p, Bytes block) {
  const Algorithm& algorithm = *specification.algorithm;
  const Bytes part = (block + p - 1) / p;
  if (algorithm.shape == Shape::chain) return chain_traffic(specification, p, block);
  if (algorithm.shape == Shape::tree_then_ring) return tree_then_ring_traffic(p, part);
  if (algorithm.shape != Shape::ring) {
    return star_traffic(p, block, flows_to_root(algorithm.collective));
  }
  const bool vector = block_kind(algorithm.collective) == BlockKind::parts;
  // An allreduce goes around the ring twice.
  return ring_traffic(p, vector ? part : block,
                      algorithm.collective == Collective::allreduce ? 2 : 1);
}

}  // namespace tutti
