/// Enumerates shapes of nodes.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/distributions.hpp"
#include "sweep/check.hpp"
#include "sweep/sweep.hpp"

namespace tutti {

namespace {

constexpr std::array mappings = {":block", ":round_robin", ":shuffled"};

/// Shapes beyond the small ones, as texts.
constexpr std::array large_shapes = {"1,4,2,3,1", "3x3", "2x4", "7x1", "5,2", "4x2,1"};
/// Shapes for many leaders.
constexpr std::array wide_shapes = {"9,2", "9,2:round_robin"};
constexpr std::array max_leaders = {8};
constexpr std::array all_leaders = {1, 2, 3, 4, 8};
/// Shapes with groups: even, uneven and round-robin, on nodes with one group and several.
constexpr std::array<std::array<const char*, 2>, 6> grouped_shapes = {{{"4", "/2"},
                                                                       {"5,2", "/2"},
                                                                       {"1,6,3", "/2"},
                                                                       {"2x4", "/round_robin:2"},
                                                                       {"7", "/3"},
                                                                       {"6", "/4"}}};
/// The kinds of sizes: 3 equal blocks with vectors of 2 lengths; more than the irregular ones. One
/// has more bytes than an int counts.
constexpr std::size_t size_kinds = 6;
constexpr std::size_t large_kind = 3;
constexpr Bytes large_factor = (Bytes{1} << 32) + 1;

/// Adds every sequence of positive numbers with the sum p, as text.
void add_compositions(int p, const std::string& text, std::vector<std::string>& shapes) {
  if (p == 0) shapes.push_back(text.substr(1));
  for (int first = 1; first <= p; ++first) {
    add_compositions(p - first, text + "," + std::to_string(first), shapes);
  }
}

std::vector<Nodes> shapes_up_to(int max_p) {
  std::vector<std::string> texts(large_shapes.begin(), large_shapes.end());
  for (int p = 1; p <= max_p; ++p) add_compositions(p, "", texts);
  std::vector<Nodes> shapes;
  for (const auto& [text, groups] : grouped_shapes) {
    for (const char* mapping : {":block", ":round_robin"}) {
      shapes.push_back(*nodes_from(std::string(text) + mapping + groups));
    }
  }
  for (const std::string& text : texts) {
    for (const char* mapping : mappings) {
      Nodes nodes = *nodes_from(text + mapping);
      if (nodes.p() <= 2 * max_p + 1) shapes.push_back(std::move(nodes));
    }
  }
  return shapes;
}

/// The call with sizes of the `turn`-th kind. Vectors have elements of 2 bytes; blocks may be
/// empty.
Call sized_call(Collective collective, int p, Rank root, std::size_t turn) {
  Call call;
  call.collective = collective;
  call.root = root;
  const auto ranks = index(p);
  if (is_irregular(collective)) {
    constexpr std::array kinds = {Distribution::random, Distribution::decreasing,
                                  Distribution::two_blocks, Distribution::same};
    call.sizes = distribute(kinds[turn % kinds.size()], p, 3, turn + 1);
  } else {
    constexpr std::array<Bytes, 3> blocks = {5, 1, 0};
    call.sizes.assign(ranks, blocks[turn % blocks.size()]);
  }
  if (turn % size_kinds == large_kind) {
    for (Bytes& bytes : call.sizes) bytes *= large_factor;
  }
  if (collective == Collective::alltoallv) call.pairs = one_way_pairs(call.sizes);
  if (collective == Collective::barrier) call.sizes.assign(ranks, 0);
  if (block_kind(collective) == BlockKind::parts || reduces(collective)) {
    call.unit = 2;
    for (Bytes& bytes : call.sizes) bytes *= 2;
  }
  if (block_kind(collective) == BlockKind::parts && turn % 2 == 0) {
    for (Bytes& bytes : call.sizes) bytes *= 4;
  }
  return call;
}

class HierarchicalSweep {
 public:
  explicit HierarchicalSweep(Collective collective) : collective_(collective) {}

  void run(const Nodes& nodes, std::span<const int> numbers_of_leaders = all_leaders) {
    // Roots alternate sizes; without roots every kind of size is used.
    const int calls = has_root(collective_) ? nodes.p() : static_cast<int>(size_kinds);
    for (const int leaders : numbers_of_leaders) {
      if (leaders > nodes.most()) break;
      for (int i = 0; i < calls; ++i) {
        const Call call =
            sized_call(collective_, nodes.p(), has_root(collective_) ? i : 0, turn_++);
        run(call, nodes, {leaders, 1, true, false});
        if (reduces(collective_)) run(call, nodes, {leaders, 1, false, false});
      }
    }
  }

  SweepResult done() { return std::move(result_); }

 private:
  /// Checks up to 4 chunks, where each half of node memory is used again, with and without
  /// MPI_IN_PLACE, and direct use of the buffers of all ranks or some.
  void run(const Call& call, const Nodes& nodes, HierarchicalOptions options) {
    Call both_ways = call;
    both_ways.pairs.clear();
    const int two_or_three = 2 + static_cast<int>(turn_ / size_kinds % 2);
    for (const int chunks : {1, two_or_three, 4}) {
      options.chunks = chunks;
      options.in_place = false;
      check(call, nodes, options);
      options.in_place = true;
      if (keeps_in_place(call, call.root)) check(both_ways, nodes, options);
    }
    options.in_place = false;
    options.chunks = 1;
    options.direct = true;
    check(call, nodes, options);
    check(call, nodes, options, true);
  }

  /// Each rank decides by itself whether inner calls use its buffers. With `mixes`, every third one
  /// and a root in place do not.
  void check(const Call& call, const Nodes& nodes, HierarchicalOptions options,
             bool mixes = false) {
    auto programs = hierarchical_programs(call, nodes, options);
    if (mixes && programs) {
      options.direct = false;
      options.in_place = has_root(call.collective) && keeps_in_place(call, call.root);
      const auto others = hierarchical_programs(call, nodes, options);
      if (!others) return result_.refuse(call, others.error());
      for (Rank rank = 0; rank < call.p(); ++rank) {
        const bool is_in_place = options.in_place && rank == call.root;
        if (is_in_place || rank % 3 == 0) (*programs)[index(rank)] = (*others)[index(rank)];
      }
    }
    ++result_.cases;
    const bool stays_flat = reduces(collective_) && !options.commutative && !nodes.in_rank_order();
    if (bool(programs) == stays_flat) {
      return result_.refuse(
          call, in_words(call, nodes, options, mixes) + ": " +
                    (programs ? "lowered, against the order of ranks" : programs.error()));
    }
    if (!programs) return;
    const auto seed = static_cast<std::uint64_t>(result_.programs++);
    if (const auto fault = tutti::check(programs_, call, nodes, options, *programs, seed)) {
      return result_.refuse(call, in_words(call, nodes, options, mixes) + ": " + fault->text);
    }
    for (const Call& inner : inner_calls(*programs, nodes, call.unit)) {
      if (seen_.insert(in_words(inner)).second) verify_inner(inner);
    }
  }

  /// Verifies an inner call with every algorithm, in its default order, and its programs.
  void verify_inner(const Call& call) {
    for (const Algorithm& algorithm : all_algorithms()) {
      if (algorithm.collective != call.collective) continue;
      const Specification spec = *specification(call.collective, algorithm.name);
      const Problems problems(spec, call);
      const std::vector<Schedule> schedules = problems.schedules();
      ++result_.cases;
      const auto seed = static_cast<std::uint64_t>(result_.programs++);
      const std::string fault = fault_of(programs_, spec, call, problems, schedules, 0, seed);
      if (fault.empty()) continue;
      result_.refuse(call, in_words(call) + " with " + to_text(spec) + ": " + fault +
                               lack_of_knowledge(programs_, spec, call));
    }
  }

  static std::string in_words(const Call& call) {
    std::string text = std::string(name_of(call.collective)) + " root " + std::to_string(call.root);
    for (const auto* sizes : {&call.sizes, &call.pairs}) {
      for (const Bytes bytes : *sizes) text += " " + std::to_string(bytes);
    }
    return text;
  }

  static std::string in_words(const Call& call, const Nodes& nodes,
                              const HierarchicalOptions& options, bool mixes) {
    std::string text = in_words(call) + ", on nodes";
    for (Rank rank = 0; rank < nodes.p(); ++rank) text += " " + std::to_string(nodes.node_of(rank));
    for (int node = 0; node < nodes.count(); ++node) {
      const auto groups = nodes.groups(node);
      if (groups.size() > 1) text += ", node " + std::to_string(node) + " in groups";
      for (const std::vector<int>& group : groups) {
        if (groups.size() > 1) text += " of " + std::to_string(group.size());
      }
    }
    return text + ", leaders " + std::to_string(options.leaders) + ", chunks " +
           std::to_string(options.chunks) +
           (mixes            ? ", some direct"
            : options.direct ? ", direct"
                             : "") +
           (options.in_place ? ", in place" : "") +
           (options.commutative ? "" : ", in the order of ranks");
  }

  Collective collective_;
  std::size_t turn_ = 0;
  std::set<std::string> seen_;
  ProgramVerifier programs_;
  SweepResult result_;
};

}  // namespace

std::optional<Flaw> check(ProgramVerifier& verifier, const Call& call, const Nodes& nodes,
                          const HierarchicalOptions& options, std::span<const Program> programs,
                          std::uint64_t seed) {
  const ProgramCall checked{{call.collective, call.p(), call.root, 1, options.commutative},
                            Order::identity(call.p()),
                            call.block_sizes(1),
                            call.unit,
                            &nodes};
  std::vector<BufferLayout> layouts(programs.size());
  for (Rank rank = 0; rank < call.p(); ++rank) {
    layouts[index(rank)].traits.in_place = options.in_place && keeps_in_place(call, rank);
  }
  return verifier.verify(checked, programs, layouts, seed);
}

SweepResult sweep_hierarchical(Collective collective, int max_p) {
  if (!can_be_hierarchical(collective)) return {};
  HierarchicalSweep sweep(collective);
  for (const Nodes& nodes : shapes_up_to(max_p)) sweep.run(nodes);
  for (const char* text : wide_shapes) {
    const Nodes nodes = *nodes_from(text);
    if (nodes.p() <= 2 * max_p + 1) sweep.run(nodes, max_leaders);
  }
  return sweep.done();
}

SweepResult sweep_hierarchical(Collective collective, const Nodes& nodes) {
  if (!can_be_hierarchical(collective)) return {};
  HierarchicalSweep sweep(collective);
  sweep.run(nodes);
  return sweep.done();
}

}  // namespace tutti
