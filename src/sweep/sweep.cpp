/// Enumerates the cases.
#include "sweep/sweep.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>

#include "core/distributions.hpp"
#include "cost/traffic.hpp"
#include "orders/orders.hpp"
#include "sweep/check.hpp"

namespace tutti {

namespace {

/// Values of p at which trees and cubes change shape, and a few others.
constexpr std::array sampled_p = {10,  11,  12,  13,  15,  16,  17,  31,   32,   33,
                                  34,  47,  63,  64,  65,  100, 127, 128,  129,  243,
                                  256, 257, 500, 511, 512, 513, 729, 1000, 1023, 1024};

/// One specification with one p: the unit of work that parts divide.
struct Unit {
  Specification specification;
  int p = 1;
  bool sampled = false;
};

/// Up to this p all kinds of buffers are used for each call, beyond it one of them.
constexpr int all_kinds_max_p = 8;

/// Small sizes make segments, thresholds and half-performance lengths of a few bytes count.
constexpr Bytes average_block = 6;
/// More bytes than an int counts; up to this p a size of equal blocks.
constexpr Bytes large_block = Bytes{1} << 40;
constexpr int max_large_p = 4;
/// Several parts where their number follows from the size. Smaller vectors have one.
constexpr Bytes some_parts = 60'000;

std::vector<std::vector<Bytes>> irregular_sizes(int p) {
  std::vector<std::vector<Bytes>> all;
  for (const Distribution distribution : all_distributions) {
    all.push_back(distribute(distribution, p, average_block, static_cast<std::uint64_t>(p)));
  }
  all.push_back(std::vector<Bytes>(index(p), 0));
  all.push_back(all.back());
  all.back()[index(p / 3)] = large_block;
  // Many zeros among small and large blocks.
  std::mt19937_64 random(static_cast<std::uint64_t>(p));
  all.emplace_back();
  for (int i = 0; i < p; ++i) {
    const auto draw = random() % 60;
    all.back().push_back(draw < 20 ? 0 : static_cast<Bytes>(draw % (draw < 50 ? 4 : 60)));
  }
  return all;
}

std::vector<std::vector<Bytes>> sizes_for(const Specification& specification, int p) {
  const Algorithm& algorithm = *specification.algorithm;
  if (is_irregular(algorithm.collective)) return irregular_sizes(p);
  const BlockKind kind = block_kind(algorithm.collective);
  std::vector<Bytes> blocks = {0};
  if (algorithm.takes("parts") && specification.parameters.parts == 0) {
    blocks = {some_parts};
  } else if (kind != BlockKind::none) {
    blocks = {0, 1, average_block};
    // With this one there are vectors of fewer bytes than parts, as many, and more.
    if (kind == BlockKind::parts) blocks.push_back(100);
  }
  if (kind != BlockKind::none && p <= max_large_p) blocks.push_back(large_block);
  std::vector<std::vector<Bytes>> all;
  for (const Bytes block : blocks) all.emplace_back(index(p), block);
  return all;
}

/// Arrivals: simultaneous, rising, falling, with one late rank, and random with ties.
std::vector<std::vector<double>> arrival_patterns(int p) {
  const auto ranks = index(p);
  std::vector<std::vector<double>> all(5, std::vector<double>(ranks, 0));
  std::mt19937_64 random(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all[1][rank] = static_cast<double>(rank);
    all[2][rank] = -static_cast<double>(rank);
    all[3][rank] = rank == ranks / 2 ? 100 : 0;
    all[4][rank] = static_cast<double>(random() % (ranks / 2 + 2)) / 3;
  }
  return all;
}

/// The largest p at which an algorithm is sampled: if every rank sends to every other one, steps
/// grow with the square of p.
int max_ranks(const Algorithm& algorithm) {
  if (block_kind(algorithm.collective) == BlockKind::pairs) return 65;
  if (algorithm.collective == Collective::barrier) return 513;
  const bool is_pipelined = algorithm.takes("parts");  // ranks construct what all receive
  return has_root(algorithm.collective) && !is_pipelined ? 1024 : 257;
}

/// An order by distance from `root` of a random matrix; the heuristics alternate.
std::vector<Rank> random_rank_order(const Specification& specification, int p, Rank root) {
  Distances distances(p);
  std::uint32_t random = static_cast<std::uint32_t>(p);
  for (Rank from = 0; from < p; ++from) {
    for (Rank to = 0; to < p; ++to) {
      random = random * 1664525 + 1013904223;  // Knuth's, as there are many matrices
      if (from != to) distances.set(from, to, 1 + (random >> 16));
    }
  }
  const int heuristic = (root + p) % 4;
  if (heuristic == 3) {
    return without_slow_links(distances, nearest_next(distances, root), 1L * p * p);
  }
  const Traffic traffic = traffic_of(specification, p, average_block);
  return heuristic == 0   ? nearest_next(distances, root)
         : heuristic == 1 ? heaviest_first(distances, traffic, root)
                          : two_partners_each(distances, traffic, root);
}

/// Nodes of 4 consecutive ranks, of ranks at equal strides, of uneven sizes, or one node.
std::shared_ptr<const Nodes> some_nodes(int p, Rank root) {
  std::vector<int> labels;
  for (int rank = 0; rank < p; ++rank) {
    const std::array kinds = {rank / 4, rank % ((p + 2) / 3), rank * rank % (p / 2 + 1), 0};
    labels.push_back(kinds[index(root + p) % kinds.size()]);
  }
  return std::make_shared<const Nodes>(Nodes::of(labels));
}

std::vector<Unit> units_of(const SweepOptions& options) {
  std::vector<Unit> units;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (options.collective && *options.collective != algorithm.collective) continue;
    if (!options.algorithm.empty() && options.algorithm != algorithm.name) continue;
    for (const Specification& specification : variations(algorithm)) {
      for (int p = 1; p <= options.max_p; ++p) units.push_back({specification, p, false});
      for (const int p : sampled_p) {
        if (options.max_p < p && p <= std::min(options.sampled_max_p, max_ranks(algorithm))) {
          units.push_back({specification, p, true});
        }
      }
    }
  }
  return units;
}

int roots_of(const Unit& unit) {
  return has_root(unit.specification.algorithm->collective) ? unit.p : 1;
}

class Sweep {
 public:
  explicit Sweep(SweepResult& result) : result_(result) {}

  /// `seed` determines the sizes, root and other values of a sampled unit.
  void run(const Unit& unit, std::size_t seed) {
    const auto all_sizes = sizes_for(unit.specification, unit.p);
    const auto patterns = unit.specification.needs_arrivals() ? arrival_patterns(unit.p)
                                                              : std::vector<std::vector<double>>(1);
    if (unit.sampled) {
      // Other sizes, roots and half-performance lengths for each specification, the same in every
      // run.
      std::mt19937_64 random(seed);
      const auto choose = [&](std::size_t count) { return static_cast<int>(random() % count); };
      const auto& sizes = all_sizes[index(choose(all_sizes.size()))];
      const auto root = static_cast<Rank>(choose(index(roots_of(unit))));
      const Bytes half_length = choose(8);
      Call call{unit.specification.algorithm->collective, root, sizes, half_length,
                patterns[index(choose(patterns.size()))]};
      call.memory = choose(2) * choose(1000);
      return run(unit, call);
    }
    // The runner, arrivals and distances do not depend on sizes: with these, sizes alternate
    // instead of multiplying the cases.
    const bool in_turn = unit.specification.needs_arrivals() ||
                         unit.specification.needs_distances() ||
                         unit.specification.runner == Runner::background;
    for (Rank root = 0; root < roots_of(unit); ++root) {
      for (std::size_t pattern = 0; pattern < patterns.size(); ++pattern) {
        const std::size_t turn = (index(root + unit.p) + pattern) % all_sizes.size();
        for (std::size_t i = 0; i < all_sizes.size(); ++i) {
          if (!in_turn || i == turn)
            run_half_performance_lengths(unit, root, all_sizes[i], patterns[pattern]);
        }
      }
    }
  }

 private:
  void run_half_performance_lengths(const Unit& unit, Rank root, const std::vector<Bytes>& sizes,
                                    const std::vector<double>& arrivals) {
    Call call{unit.specification.algorithm->collective, root, sizes, 0, arrivals};
    run(unit, call);
    if (unit.specification.algorithm->staging == Staging::subtrees) {
      call.memory = 20;  // for a few small blocks of a rank's subtrees
      run(unit, call);
      call.memory = 0;
    }
    if (!unit.specification.algorithm->takes("rule")) return;
    call.half_performance_length = 5;
    run(unit, call);
    call.memory = 40;
    run(unit, call);
  }

  void run(const Unit& unit, Call call) {
    if (unit.specification.needs_distances()) {
      const Rank first = unit.specification.turns_with_root() ? 0 : call.root;
      call.rank_order = random_rank_order(unit.specification, call.p(), first);
    }
    if (unit.specification.parameters.nodes) call.nodes = some_nodes(call.p(), call.root);
    if (reduces(call.collective)) {
      call.unit = 2;
      for (Bytes& bytes : call.sizes) bytes *= call.unit;
    }
    ++result_.cases;
    std::vector<int> kinds = kinds_for(unit, call);
    if (call.collective != Collective::alltoallv) return run(unit, call, kinds);
    const auto others = std::ranges::stable_partition(kinds, is_in_place).begin();
    run(unit, call, {kinds.begin(), others});
    call.pairs = one_way_pairs(call.sizes);
    run(unit, call, {others, kinds.end()});
  }

  [[nodiscard]] std::vector<int> kinds_for(const Unit& unit, const Call& call) const {
    const std::vector<int> all = distinct_kinds(unit.specification, call);
    if (call.p() <= all_kinds_max_p) return all;
    // Multiplied by the golden ratio, so that kinds do not follow the loops over the space.
    const auto hash = static_cast<std::uint64_t>(result_.cases) * 0x9E3779B97F4A7C15U;
    return {all[(hash >> 32) % all.size()]};
  }

  void run(const Unit& unit, const Call& call, const std::vector<int>& kinds) {
    if (kinds.empty()) return;
    const Problems problems(unit.specification, call);
    const std::vector<Schedule> schedules = problems.schedules();
    for (const int kind : kinds) run(unit, call, problems, schedules, kind);
  }

  void run(const Unit& unit, const Call& call, const Problems& problems,
           std::span<const Schedule> schedules, int kind) {
    const auto seed = static_cast<std::uint64_t>(result_.programs++);
    const Programs programs(unit.specification, call, problems, schedules, kind);
    const auto fault = programs.check(programs_, seed);
    if (!fault) return;
    refuse(unit, call,
           "buffers " + buffer_kind_name(kind) + ", seed " + std::to_string(seed) + ": " +
               fault->text);
  }

  void refuse(const Unit& unit, const Call& call, const std::string& fault) {
    std::string text = std::string(name_of(call.collective)) + " " + to_text(unit.specification) +
                       ", p " + std::to_string(call.p()) + ", root " + std::to_string(call.root) +
                       ", n_1/2 " + std::to_string(call.half_performance_length) + ", memory " +
                       std::to_string(call.memory) + ", sizes";
    for (const Bytes bytes : call.sizes) text += " " + std::to_string(bytes);
    if (!call.pairs.empty()) text += ", other blocks each way";
    if (!call.arrivals.empty()) text += ", arrivals";
    for (const double arrival : call.arrivals) text += " " + std::to_string(arrival);
    result_.refuse(call,
                   text + ": " + fault + lack_of_knowledge(programs_, unit.specification, call));
  }

  SweepResult& result_;
  ProgramVerifier programs_;
};

/// The specifications of one algorithm, for all values of its parameters.
class Variations {
 public:
  explicit Variations(const Algorithm& algorithm)
      : algorithm_(algorithm), specs_({*specification(algorithm.collective, algorithm.name)}) {}

  /// Combines each specification so far with each value, which `set` assigns.
  template <class Values, class Set>
  void vary(std::string_view setting, const Values& values, Set set) {
    if (!algorithm_.takes(setting)) return;
    std::vector<Specification> product;
    for (const Specification& specification : specs_) {
      for (const auto& value : values) {
        product.push_back(specification);
        set(product.back(), value);
      }
    }
    specs_ = std::move(product);
  }
  template <class Value>
  void vary(std::string_view setting, std::initializer_list<std::type_identity_t<Value>> values,
            Value Parameters::*member) {
    vary(setting, values,
         [&](Specification& spec, Value value) { spec.parameters.*member = value; });
  }
  /// Adds specifications with nodes. Leaders do not affect `carry`, which keeps its default.
  void add_nodes() {
    if (!algorithm_.takes("nodes")) return;
    std::vector<Specification> leaders = specs_;
    std::erase_if(leaders, [](const Specification& spec) {
      return spec.parameters.carry != Parameters().carry;
    });
    for (Specification& spec : leaders) spec.parameters.nodes = true;
    specs_.insert(specs_.end(), leaders.begin(), leaders.end());
  }
  [[nodiscard]] std::vector<Specification> take() { return std::move(specs_); }

 private:
  const Algorithm& algorithm_;
  std::vector<Specification> specs_;
};

/// An order only renames positions, so algorithms with parts, which have many cases, use few.
std::vector<OrderName> orders_for(const Algorithm& algorithm) {
  std::vector<OrderName> orders = {OrderName::rotated, OrderName::arrival};
  if (!algorithm.takes("parts")) {
    orders = {OrderName::natural, OrderName::rotated,   OrderName::by_size,
              OrderName::arrival, OrderName::late_leaf, OrderName::distance};
  }
  if (has_root(algorithm.collective)) orders.push_back(OrderName::cycle);
  return orders;
}

}  // namespace

void SweepResult::refuse(const Call& call, const std::string& text) {
  refuse({call.p(), std::accumulate(call.sizes.begin(), call.sizes.end(), Bytes{0}), text});
}

void SweepResult::refuse(FailedCase failure) {
  const auto size_of = [](const FailedCase& one) { return std::pair(one.p, one.bytes); };
  ++failed;
  const auto at = std::ranges::upper_bound(failures, size_of(failure), {}, size_of);
  failures.insert(at, std::move(failure));
  if (failures.size() > max_failures) failures.pop_back();
}

void SweepResult::add(const SweepResult& other) {
  const long all = failed + other.failed;
  cases += other.cases;
  programs += other.programs;
  for (const FailedCase& failure : other.failures) refuse(failure);
  failed = all;
}

std::vector<Specification> variations(const Algorithm& algorithm) {
  Variations all(algorithm);
  all.vary("order", orders_for(algorithm),
           [](Specification& spec, OrderName order) { spec.order = order; });
  all.vary("k", {2, 3, 4, 7, 1 << 20}, &Parameters::k);
  all.vary("segment", {0, 2, 1024}, &Parameters::segment);
  all.vary("rule", {JoinRule::volume, JoinRule::gather_time}, &Parameters::rule);
  all.vary("ports", {1, 2, 3}, &Parameters::ports);
  // Promotion counts only where no threshold is set.
  all.vary("threshold", std::array<Bytes, 4>{-2, -1, 4, 20}, [](Specification& spec, Bytes bytes) {
    spec.parameters.promote = bytes != -2;
    spec.parameters.threshold = std::max<Bytes>(bytes, -1);
  });
  all.vary("arrivals", {false, true}, &Parameters::arrivals);
  all.vary("parts", {0, 1, 3, 20}, &Parameters::parts);
  all.vary("carry", {0, 8, max_carried, all_carried}, &Parameters::carry);
  all.add_nodes();
  all.vary("protocol", {Notifications::messages, Notifications::windows}, &Parameters::protocol);
  all.vary("flight", {0, 1, 2}, &Parameters::flight);
  all.vary("late", {-1, 0, 1, 25}, &Parameters::late);
  all.vary("runner", std::array{Runner::caller, Runner::background},
           [](Specification& spec, Runner runner) { spec.runner = runner; });
  return all.take();
}

SweepResult sweep(const SweepOptions& options, const SweepProgress& progress) {
  SweepResult result;
  Sweep cases(result);
  const std::vector<Unit> units = units_of(options);
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (static_cast<int>(i % index(options.parts)) != options.part) continue;
    const Specification& specification = units[i].specification;
    if (progress) {
      progress(
          static_cast<double>(i) / static_cast<double>(units.size()),
          std::string(name_of(specification.algorithm->collective)) + " " + to_text(specification));
    }
    cases.run(units[i], i);
  }
  if (progress) progress(1, "done");
  return result;
}

}  // namespace tutti
