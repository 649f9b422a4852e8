/// Lowers a rank's call: chunk by chunk, with the signals that keep chunks apart.
#include "lowering/hierarchical.hpp"

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

#include "lowering/hierarchical_chunk.hpp"
#include "lowering/hierarchical_layout.hpp"

namespace tutti {

namespace {

/// The chunks of a call. A barrier has no data to divide.
int chunks_of(const HierarchicalProblem& call) {
  return call.collective == Collective::barrier ? 1 : call.chunks;
}

/// Appends the operations of all chunks. Two chunks are under way at once:
///
///     in 0 | in 1  inner 0  out 0 | in 2  inner 1  out 1 | in 3  ..
class HierarchicalLowerer {
 public:
  HierarchicalLowerer(const HierarchicalProblem& call, const Nodes& nodes, Rank rank)
      : chunks_(chunks_of(call)),
        local_(nodes.local_of(rank)),
        ranks_(nodes.size(nodes.node_of(rank))),
        awaited_(static_cast<std::size_t>(ranks_), -1) {
    const int node = nodes.node_of(rank);
    program_.lanes = std::clamp(call.leaders, 1, nodes.most());
    const Bytes half = half_of_node_memory(call, nodes, node);
    program_.node_memory = chunks_ == 1 ? half : 2 * half;
    for (int i = 0; i < chunks_; ++i) {
      built_.push_back(
          hierarchical_chunk(HierarchicalView(call, nodes, node, i), rank, i % 2 * half));
    }
  }

  Program done() {
    enter(0);
    for (int i = 0; i < chunks_; ++i) {
      if (i + 1 < chunks_) enter(i + 1);
      combine(i);
      between_nodes(i);
      leave(i);
    }
    program_.sequence_numbers = left(chunks_ - 1);
    return std::move(program_);
  }

 private:
  // Sequence numbers in the order of done(); each rank signals those of its own steps.
  static int entered(int i) { return i == 0 ? 1 : 5 * i - 3; }
  static int grouped(int i) { return 5 * i + 3; }
  static int combined(int i) { return 5 * i + 4; }
  static int released(int i) { return 5 * i + 5; }
  static int left(int i) { return 5 * i + 6; }

  HierarchicalChunk& chunk(int i) { return built_[static_cast<std::size_t>(i)]; }

  void await(int sequence, int first, int last) {
    bool known = true;
    for (int local = first; local < last; ++local) {
      int& awaited = awaited_[static_cast<std::size_t>(local)];
      known = known && (local == local_ || awaited >= sequence);
      awaited = std::max(awaited, sequence);
    }
    if (known) return;
    program_.operations.push_back(
        {.kind = OperationKind::await, .first = first, .last = last, .sequence = sequence});
  }
  /// Waits until all ranks have left the memory that chunk `i` reuses.
  void await_free(int i) { await(i < 2 ? 0 : left(i - 2), 0, ranks_); }

  /// A rank that is alone on its node signals only the end of the call, for the next call.
  void signal(int sequence) {
    if (ranks_ == 1 && sequence != left(chunks_ - 1)) return;
    std::vector<Operation>& operations = program_.operations;
    const bool again = !operations.empty() && operations.back().kind == OperationKind::signal;
    if (again) operations.pop_back();
    operations.push_back({.kind = OperationKind::signal, .sequence = sequence});
  }

  void add(const std::vector<Operation>& operations) {
    program_.operations.insert(program_.operations.end(), operations.begin(), operations.end());
  }

  void enter(int i) {
    if (!chunk(i).in.empty()) await_free(i);
    add(chunk(i).in);
    signal(entered(i));
  }

  void combine(int i) {
    if (!chunk(i).combines) return;
    const HierarchicalCombining& now = chunk(i).combining;
    for (const LocalRange& locals : now.needs) await(entered(i), locals.first, locals.last);
    if (!now.in_group.empty() || !now.groups_needed.empty()) {
      add(now.in_group);
      signal(grouped(i));
      for (const auto& [first, last] : now.groups_needed) await(grouped(i), first, last);
    }
    add(now.steps);
    signal(combined(i));
  }

  void between_nodes(int i) {
    HierarchicalChunk& now = chunk(i);
    if (now.calls.empty()) return;
    await(now.combines ? combined(i) : entered(i), now.inner_needs.first, now.inner_needs.last);
    if (now.writes) await_free(i);
    for (InnerCall& call : now.calls) {
      program_.operations.push_back(
          {.kind = OperationKind::call, .call = static_cast<int>(program_.calls.size())});
      program_.calls.push_back(std::move(call));
    }
    signal(released(i));
  }

  void leave(int i) {
    const HierarchicalChunk& now = chunk(i);
    for (const LocalRange& locals : now.out_needs) {
      const int sequence = now.out_after == HierarchicalStage::released ? released(i)
                           : now.combines                               ? combined(i)
                                                                        : entered(i);
      await(sequence, locals.first, locals.last);
    }
    add(now.out);
    signal(left(i));
  }

  int chunks_;
  int local_;
  int ranks_;
  std::vector<int> awaited_;  ///< by local rank, the highest awaited sequence number
  std::vector<HierarchicalChunk> built_;
  Program program_;
};

/// The elements of the largest block, which bound the useful chunks.
Bytes max_elements(const HierarchicalProblem& call) {
  Bytes most = call.sizes.each;
  for (const auto* sizes : {&call.sizes.by_rank, &call.sizes.sent, &call.sizes.received}) {
    for (const Bytes bytes : *sizes) most = std::max(most, bytes);
  }
  return std::max<Bytes>(most / call.unit, 1);
}

/// Does every rank know the sizes of all blocks?
bool knows_all(Collective collective) { return size_exchange_words(collective, 1, false) == 0; }

/// The call as a single chunk, in which each block has the size of its largest part.
HierarchicalProblem largest_chunk(const HierarchicalProblem& call) {
  HierarchicalProblem largest = call;
  largest.chunks = 1;
  const auto cut = [&call](Bytes& bytes) {
    const Bytes elements = (bytes / call.unit + call.chunks - 1) / call.chunks;
    bytes = elements * call.unit + bytes % call.unit;
  };
  cut(largest.sizes.each);
  for (auto* sizes : {&largest.sizes.by_rank, &largest.sizes.sent, &largest.sizes.received}) {
    std::for_each(sizes->begin(), sizes->end(), cut);
  }
  return largest;
}

/// Bounds the memory of a program with call.chunks chunks; also with more chunks if nodes may not
/// know how many others need.
Bytes bound_on(const HierarchicalProblem& call, const Nodes& nodes, int node) {
  const Bytes chunk = half_of_node_memory(largest_chunk(call), nodes, node);
  if (call.chunks > 1) return 2 * chunk;
  if (knows_all(call.collective)) return chunk;
  HierarchicalProblem halved = call;
  halved.chunks = 2;
  return std::max(chunk, bound_on(halved, nodes, node));
}

/// The largest bound on the nodes whose sizes node `own` knows.
Bytes max_memory(const HierarchicalProblem& call, const Nodes& nodes, int own) {
  if (!knows_all(call.collective)) return bound_on(call, nodes, own);
  Bytes most = 0;
  std::set<int> seen;
  for (int node = 0; node < nodes.count(); ++node) {
    // With equal blocks, nodes of the same size need the same, except the root's.
    const bool as_others = !is_irregular(call.collective) && node != nodes.node_of(call.root);
    if (as_others && !seen.insert(nodes.size(node)).second) continue;
    most = std::max(most, bound_on(call, nodes, node));
  }
  return most;
}

}  // namespace

Collective form_between(Collective collective, const Nodes& nodes, int leaders) {
  const int ranks = nodes.most();
  if (nodes.even() && ranks % std::clamp(leaders, 1, ranks) == 0) return collective;
  switch (collective) {
    case Collective::gather:
      return Collective::gatherv;
    case Collective::scatter:
      return Collective::scatterv;
    case Collective::alltoall:
      return Collective::alltoallv;
    default:
      return collective;
  }
}

int size_exchange_words(Collective collective, int p, bool at_root) {
  switch (collective) {
    case Collective::alltoallv:
      return 2 * p;
    case Collective::gatherv:
    case Collective::scatterv:
      return at_root ? p + 1 : 1;
    default:
      return 0;
  }
}

void run_in_sequence(Program& program) {
  program.needs.clear();
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    Operation& operation = program.operations[i];
    operation.first_need = static_cast<int>(program.needs.size());
    if (i > 0) program.needs.push_back(static_cast<int>(i) - 1);
    operation.last_need = static_cast<int>(program.needs.size());
  }
}

Result<Program> hierarchical_program(const HierarchicalProblem& call, const Nodes& nodes,
                                     Rank rank) {
  if (!can_be_hierarchical(call.collective)) {
    return Error{std::string(name_of(call.collective)) + " has no hierarchical form"};
  }
  if (reduces(call.collective) && !call.commutative && !nodes.in_rank_order()) {
    return Error{"the operation does not commute and the ranks of a node are not consecutive"};
  }
  Program program = HierarchicalLowerer(call, nodes, rank).done();
  if (call.direct && call.chunks == 1) use_sides(program, call, nodes, rank);
  run_in_sequence(program);
  return program;
}

Bytes hierarchical_memory(const HierarchicalProblem& call, const Nodes& nodes, Rank rank) {
  const Bytes half = half_of_node_memory(call, nodes, nodes.node_of(rank));
  return call.chunks == 1 ? half : 2 * half;
}

std::optional<int> chunks_for(const HierarchicalProblem& call, const Nodes& nodes, Rank rank,
                              Bytes bound) {
  HierarchicalProblem tried = call;
  tried.chunks = 1;
  const int own = nodes.node_of(rank);
  const Bytes whole = max_memory(tried, nodes, own);
  if (whole <= bound) return 1;
  const Bytes most = std::min<Bytes>(max_elements(call), max_chunks);
  for (Bytes chunks = 2 * whole / std::max<Bytes>(bound, 1); tried.chunks < most;
       chunks += 1 + chunks / 8) {
    tried.chunks = static_cast<int>(std::clamp<Bytes>(chunks, 2, most));
    if (max_memory(tried, nodes, own) <= bound) return tried.chunks;
  }
  return std::nullopt;
}

}  // namespace tutti
