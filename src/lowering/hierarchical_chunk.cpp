/// Assigns each collective's data to node memory, chunk by chunk.
#include "lowering/hierarchical_chunk.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace tutti {

namespace {

/// Rounds up to whole cache lines, where the memory of the second chunk begins.
Bytes aligned(Bytes bytes) { return (bytes + 63) / 64 * 64; }

bool is_alltoall(Collective collective) { return block_kind(collective) == BlockKind::pairs; }
bool is_vector(Collective collective) { return block_kind(collective) == BlockKind::parts; }

/// The regions of node memory that ranks and inner calls write in a chunk.
struct Regions {
  LaneLayout written;
  LaneLayout result;
  Bytes vectors = 1;  ///< consecutive copies of `written`; the last becomes the sum
  Bytes result_at = 0;
  Bytes bytes = 0;

  /// The offset at which inner calls read.
  [[nodiscard]] Bytes written_at() const { return (vectors - 1) * written.bytes; }
};

/// What ranks of the view's node write or read if `holders` hold the blocks of all.
LaneLayout layout_of(const HierarchicalView& view, Holders holders) {
  const Collective collective = view.call.collective;
  const bool at_root_node = view.nodes.node_of(view.call.root) == view.node;
  if (collective == Collective::barrier || (holders == Holders::root && !at_root_node)) return {};
  if (is_vector(collective)) return layout_of_vector(view);
  return layout_of_blocks(view, holders != Holders::own);
}

/// The result of a reduction overwrites the first vector, which has been combined into the last one
/// by then. On a single node the written data is the result.
Regions regions_of(const HierarchicalView& view) {
  const Collective collective = view.call.collective;
  const CollectiveProperties& properties = properties_of(collective);
  Regions regions;
  // Nodes receive the vector of a bcast where the root's node has it.
  const Holders before = collective == Collective::bcast ? Holders::all : properties.before;
  regions.written = is_alltoall(collective) ? layout_to_all(view) : layout_of(view, before);
  if (reduces(collective)) regions.vectors = view.ranks();
  regions.bytes = regions.written.bytes * regions.vectors;
  if (view.nodes.count() == 1 || collective == Collective::bcast) {
    regions.result = regions.written;
    regions.result_at = regions.written_at();
    return regions;
  }
  regions.result =
      is_alltoall(collective) ? layout_from_all(view) : layout_of(view, properties.after);
  if (regions.vectors == 1) regions.result_at = aligned(regions.bytes);
  regions.bytes = std::max(regions.bytes, regions.result_at + regions.result.bytes);
  return regions;
}

/// Appends one rank's part in one chunk to its program, step by step.
class ChunkLowerer {
 public:
  ChunkLowerer(const HierarchicalView& view, Rank rank, Bytes base, NodeProgramBuilder& program)
      : view_(view),
        collective_(view.call.collective),
        rank_(rank),
        local_(program.local()),
        base_(base),
        root_(view.call.root),
        root_node_(view.nodes.node_of(root_)),
        regions_(regions_of(view)),
        program_(program) {}

  /// Copies to node memory.
  void enter() {
    std::vector<Operation> copies;
    write(copies);
    if (!copies.empty()) program_.await_free(view_.chunk);
    program_.add(copies);
    program_.signal(NodeProgramBuilder::entered(view_.chunk));
  }
  /// Combines vectors of the node's ranks.
  void combine() {
    if (combines()) combine_vectors(view_, regions_.written.bytes, base_, program_);
  }
  /// Makes the calls of the lanes that this rank leads.
  void call() {
    std::vector<int> led;
    for (int lane = 0; lane < lanes() && !alone(); ++lane) {
      if (leader_of(lane) == local_) led.push_back(lane);
    }
    if (led.empty()) return;
    const BlockRange needs = writers_for(led.front(), led.back());
    program_.await(all_written(), static_cast<int>(needs.begin), static_cast<int>(needs.end));
    // The root has awaited free memory before it wrote, and these ranks await the root.
    const bool awaits_root = root_sends() && at_root_node();
    if (!regions_.result.lanes.empty() && !awaits_root) program_.await_free(view_.chunk);
    for (const int lane : led) program_.add(inner(lane));
    program_.signal(NodeProgramBuilder::released(view_.chunk));
  }
  /// Copies from node memory.
  void leave() {
    std::vector<Operation> copies;
    if (wants_result()) read(copies);
    if (!copies.empty() || collective_ == Collective::barrier) await_result();
    program_.add(copies);
    program_.signal(NodeProgramBuilder::left(view_.chunk));
  }

 private:
  /// Is there only one node? Its ranks have their own numbers as local ones.
  [[nodiscard]] bool alone() const { return view_.nodes.count() == 1; }
  [[nodiscard]] bool combines() const { return reduces(collective_) && view_.ranks() > 1; }
  [[nodiscard]] bool at_root() const { return rank_ == root_; }
  [[nodiscard]] bool in_place() const { return view_.call.in_place; }
  [[nodiscard]] bool at_root_node() const { return view_.node == root_node_; }
  [[nodiscard]] bool root_sends() const {
    return is_scatter(collective_) || collective_ == Collective::bcast;
  }
  [[nodiscard]] bool brings_own_block() const {
    return !is_alltoall(collective_) && properties_of(collective_).before == Holders::own;
  }
  [[nodiscard]] bool wants_result() const {
    if (collective_ == Collective::bcast) return !at_root();
    if (is_scatter(collective_) && in_place()) return false;
    return !flows_to_root(collective_) || at_root();
  }
  [[nodiscard]] int lanes() const { return collective_ == Collective::barrier ? 1 : view_.lanes; }
  [[nodiscard]] int leader_of(int lane) const {
    return lane_leader(lane, view_.lanes, view_.ranks());
  }
  /// The signal of ranks that have written node memory, and combined it in reductions.
  [[nodiscard]] int all_written() const {
    return combines() ? NodeProgramBuilder::combined(view_.chunk)
                      : NodeProgramBuilder::entered(view_.chunk);
  }

  /// Adds a copy of this chunk's part of a block, `before` bytes into a buffer, or extends the last
  /// copy if both are consecutive in buffer and node memory.
  void copy(std::vector<Operation>& copies, bool in, Bytes before, Bytes size, Bytes at) const {
    const ByteRange part = view_.part(size);
    if (part.bytes() == 0) return;
    const bool has_one =
        collective_ == Collective::bcast || (in_place() && !is_scatter(collective_));
    const bool reads_input = in && !has_one;
    const BufferRef side = {
        reads_input ? Area::send : Area::receive, {}, before + part.begin, part.bytes()};
    const BufferRef node = {Area::node, {}, at, part.bytes()};
    const Operation next = {
        .kind = OperationKind::copy, .from = in ? side : node, .to = in ? node : side};
    const auto follows = [](const BufferRef& last, const BufferRef& ref) {
      return last.offset + last.bytes == ref.offset;
    };
    if (copies.empty() || !follows(copies.back().from, next.from) ||
        !follows(copies.back().to, next.to)) {
      return copies.push_back(next);
    }
    copies.back().from.bytes += part.bytes();
    copies.back().to.bytes += part.bytes();
  }

  void write(std::vector<Operation>& copies) const {
    const Bytes at = base_ + (reduces(collective_) ? local_ * regions_.written.bytes : 0);
    Bytes before = 0;
    const auto put = [&](Bytes size, std::size_t piece) {
      copy(copies, true, before, size, at + regions_.written.at[piece]);
      before += size;
    };
    if (collective_ == Collective::barrier || (root_sends() && !at_root())) return;
    if (is_vector(collective_)) return put(view_.size(0), 0);
    if (brings_own_block()) {
      for (Rank rank = 0; in_place() && rank < rank_; ++rank) before += view_.size(rank);
      return put(view_.size(rank_), index(local_));
    }
    for (Rank to = 0; to < view_.nodes.p(); ++to) {
      if (is_alltoall(collective_)) {
        put(view_.sent(local_, to), index(local_) * index(view_.nodes.p()) + index(to));
      } else {
        put(view_.size(to), index(to));
      }
    }
  }

  /// The local ranks that write what the calls of these lanes read.
  [[nodiscard]] BlockRange writers_for(int first_lane, int last_lane) const {
    if (root_sends()) {
      const int root = view_.nodes.local_of(root_);
      return at_root_node() ? BlockRange{root, root + 1} : BlockRange{};
    }
    if (!brings_own_block()) return {0, view_.ranks()};
    return {leader_of(first_lane), leader_of(last_lane + 1)};
  }

  [[nodiscard]] InnerCall inner(int lane) const {
    InnerCall call;
    call.collective = collective_;
    call.lane = lane;
    if (has_root(collective_)) call.root = root_node_;
    if (!regions_.written.lanes.empty()) {
      call.send = regions_.written.end(lane, base_ + regions_.written_at());
    }
    if (!regions_.result.lanes.empty()) {
      call.receive = regions_.result.end(lane, base_ + regions_.result_at);
    }
    choose_form(call);
    return call;
  }

  /// Selects the regular collective if all counts are equal and every rank knows that.
  void choose_form(InnerCall& call) const {
    const auto equal = [](const std::vector<Bytes>& counts) {
      return std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end();
    };
    switch (collective_) {
      case Collective::allgather:
      case Collective::allgatherv:
        call.collective =
            equal(call.receive.counts) ? Collective::allgather : Collective::allgatherv;
        break;
      case Collective::reduce_scatter:
      case Collective::reduce_scatter_block:
        call.collective =
            equal(call.send.counts) ? Collective::reduce_scatter_block : Collective::reduce_scatter;
        break;
      default:
        call.collective = form_between(collective_, view_.nodes, view_.lanes);
        break;
    }
  }

  /// Awaits the ranks that wrote what this rank copies out, or the leaders whose lanes bring it.
  void await_result() {
    const bool from_root =
        root_sends() && (alone() || (collective_ == Collective::bcast && at_root_node()));
    if (from_root) {
      const int root = view_.nodes.local_of(root_);
      return program_.await(all_written(), root, root + 1);
    }
    if (alone()) return program_.await(all_written(), 0, view_.ranks());
    const bool own_lane = properties_of(collective_).after == Holders::own;
    const int own = lane_of(local_, view_.lanes, view_.ranks());
    for (int lane = own_lane ? own : 0; lane < (own_lane ? own + 1 : lanes()); ++lane) {
      const int leader = leader_of(lane);
      program_.await(NodeProgramBuilder::released(view_.chunk), leader, leader + 1);
    }
  }

  void read(std::vector<Operation>& copies) const {
    Bytes before = 0;
    const auto get = [&](Rank from, Bytes size, std::size_t piece) {
      const bool kept = in_place() && from == rank_;
      const Bytes at = base_ + regions_.result_at + regions_.result.at[piece];
      if (!kept) copy(copies, false, before, size, at);
      before += size;
    };
    if (collective_ == Collective::barrier) return;
    if (is_vector(collective_)) return get(no_rank, view_.size(0), 0);
    if (!is_alltoall(collective_) && properties_of(collective_).after == Holders::own) {
      return get(no_rank, view_.size(rank_), index(local_));
    }
    const int p = view_.nodes.p();
    for (Rank from = 0; from < p; ++from) {
      if (is_alltoall(collective_)) {
        // On a single node the result is the written data.
        const int piece = alone() ? from * p + rank_ : local_ * p + from;
        get(from, view_.received(local_, from), index(piece));
      } else {
        get(from, view_.size(from), index(from));
      }
    }
  }

  HierarchicalView view_;
  Collective collective_;
  Rank rank_;
  int local_;
  Bytes base_;
  Rank root_;
  int root_node_;
  Regions regions_;
  NodeProgramBuilder& program_;
};

}  // namespace

void NodeProgramBuilder::await(int sequence, int first, int last) {
  bool known = true;
  for (int local = first; local < last; ++local) {
    int& awaited = awaited_[index(local)];
    known = known && (local == local_ || awaited >= sequence);
    awaited = std::max(awaited, sequence);
  }
  if (known) return;
  program_.operations.push_back(
      {.kind = OperationKind::await, .first = first, .last = last, .sequence = sequence});
}

void NodeProgramBuilder::await(int sequence, const std::vector<int>& locals) {
  for (auto first = locals.begin(), last = first; first != locals.end(); first = last) {
    while (last != locals.end() && *last - *first == last - first) ++last;
    await(sequence, *first, *(last - 1) + 1);
  }
}

void NodeProgramBuilder::append_signal(int sequence) {
  std::vector<Operation>& operations = program_.operations;
  const bool again = !operations.empty() && operations.back().kind == OperationKind::signal;
  if (again) operations.pop_back();
  operations.push_back({.kind = OperationKind::signal, .sequence = sequence});
}

void NodeProgramBuilder::add(InnerCall call) {
  program_.operations.push_back(
      {.kind = OperationKind::call, .call = static_cast<int>(program_.calls.size())});
  program_.calls.push_back(std::move(call));
}

Program NodeProgramBuilder::done(int count) {
  program_.sequence_numbers = left(count - 1);
  append_signal(program_.sequence_numbers);
  return std::move(program_);
}

Program hierarchical_chunks(const HierarchicalProblem& call, const Nodes& nodes, Rank rank) {
  const int node = nodes.node_of(rank);
  const int count = call.collective == Collective::barrier ? 1 : call.chunks;  // it has no data
  const Bytes memory = hierarchical_memory(call, nodes, node);
  NodeProgramBuilder program(nodes.local_of(rank), nodes.size(node));
  std::array<std::optional<ChunkLowerer>, 2> under_way;
  const auto enter = [&](int i) {
    const HierarchicalView view{call, nodes, node, i};
    under_way[index(i % 2)].emplace(view, rank, i % 2 * (memory / 2), program).enter();
  };
  enter(0);
  for (int i = 0; i < count; ++i) {
    if (i + 1 < count) enter(i + 1);
    ChunkLowerer& chunk = *under_way[index(i % 2)];
    chunk.combine();
    chunk.call();
    chunk.leave();
  }
  Program done = program.done(count);
  done.lanes = std::clamp(call.leaders, 1, nodes.most());
  done.node_memory = memory;
  return done;
}

HierarchicalProblem largest_chunk(const HierarchicalProblem& call) {
  HierarchicalProblem largest = call;
  largest.chunks = 1;
  const auto cut = [&call](Bytes& bytes) {
    const Bytes elements = (bytes / call.unit + call.chunks - 1) / call.chunks;
    bytes = elements * call.unit + bytes % call.unit;
  };
  cut(largest.sizes.each);
  for (auto* sizes : {&largest.sizes.by_rank, &largest.sizes.sent, &largest.sizes.received}) {
    std::ranges::for_each(*sizes, cut);
  }
  return largest;
}

Bytes hierarchical_memory(const HierarchicalProblem& call, const Nodes& nodes, int node) {
  const HierarchicalProblem largest = largest_chunk(call);
  const Bytes chunk = aligned(regions_of(HierarchicalView{largest, nodes, node, 0}).bytes);
  return call.chunks == 1 ? chunk : 2 * chunk;
}

}  // namespace tutti
