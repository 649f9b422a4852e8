/// Assigns each collective's data to node memory, for one chunk.
#include "lowering/hierarchical_chunk.hpp"

#include <algorithm>
#include <utility>

#include "core/index.hpp"

namespace tutti {

namespace {

/// Rounds up to whole cache lines, where the memory of the second chunk begins.
Bytes aligned(Bytes bytes) { return (bytes + 63) / 64 * 64; }

bool is_alltoall(Collective collective) { return block_kind(collective) == BlockKind::pairs; }
bool is_scatter(Collective collective) {
  return collective == Collective::scatter || collective == Collective::scatterv;
}
bool scatters_sums(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::reduce_scatter_block;
}
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

LaneLayout written_by(const HierarchicalView& view, bool at_root_node) {
  const Collective collective = view.call().collective;
  if (collective == Collective::barrier) return {};
  if (is_vector(collective)) return layout_of_vector(view);
  if (is_alltoall(collective)) return layout_to_all(view);
  if (scatters_sums(collective)) return layout_of_all(view);
  if (is_scatter(collective)) return at_root_node ? layout_of_all(view) : LaneLayout{};
  return layout_of_node(view);
}

LaneLayout result_of(const HierarchicalView& view, bool at_root_node) {
  const Collective collective = view.call().collective;
  if (collective == Collective::barrier) return {};
  if (is_vector(collective)) {
    const bool wanted = collective != Collective::reduce || at_root_node;
    return wanted ? layout_of_vector(view) : LaneLayout{};
  }
  if (is_alltoall(collective)) return layout_from_all(view);
  if (is_scatter(collective) || scatters_sums(collective)) return layout_of_node(view);
  return is_gather(collective) && !at_root_node ? LaneLayout{} : layout_of_all(view);
}

/// The result of a reduction overwrites the first vector, which has been combined into the last one
/// by then. On a single node the written data is the result.
Regions regions_of(const HierarchicalView& view) {
  const Collective collective = view.call().collective;
  const bool at_root_node =
      has_root(collective) && view.nodes().node_of(view.call().root) == view.node();
  Regions regions;
  regions.written = written_by(view, at_root_node);
  if (reduces(collective)) regions.vectors = view.ranks();
  regions.bytes = regions.written.bytes * regions.vectors;
  if (view.nodes().count() == 1 || collective == Collective::bcast) {
    regions.result = regions.written;
    regions.result_at = regions.written_at();
    return regions;
  }
  regions.result = result_of(view, at_root_node);
  if (regions.vectors == 1) regions.result_at = aligned(regions.bytes);
  regions.bytes = std::max(regions.bytes, regions.result_at + regions.result.bytes);
  return regions;
}

/// Lowers one chunk.
class ChunkLowerer {
 public:
  ChunkLowerer(const HierarchicalView& view, Rank rank, Bytes base)
      : view_(view),
        collective_(view.call().collective),
        rank_(rank),
        local_(view.nodes().local_of(rank)),
        base_(base),
        root_(view.call().root),
        root_node_(view.nodes().node_of(root_)),
        regions_(regions_of(view)) {}

  HierarchicalChunk done() {
    chunk_.combines = reduces(collective_) && view_.ranks() > 1;
    write();
    if (chunk_.combines) {
      chunk_.combining = combining_of(view_, local_, regions_.written.bytes, base_);
    }
    if (!alone()) call();
    if (wants_result()) read();
    return std::move(chunk_);
  }

 private:
  /// Is there only one node?
  [[nodiscard]] bool alone() const { return view_.nodes().count() == 1; }
  [[nodiscard]] bool at_root() const { return rank_ == root_; }
  [[nodiscard]] bool in_place() const { return view_.call().in_place; }
  [[nodiscard]] bool at_root_node() const { return view_.node() == root_node_; }
  [[nodiscard]] bool root_sends() const {
    return is_scatter(collective_) || collective_ == Collective::bcast;
  }
  [[nodiscard]] bool wants_result() const {
    if (collective_ == Collective::bcast) return !at_root();
    if (is_scatter(collective_) && in_place()) return false;
    return !flows_to_root(collective_) || at_root();
  }
  [[nodiscard]] int leader_of(int lane) const {
    return lane_leader(lane, view_.lanes(), view_.ranks());
  }

  /// Adds a copy of this chunk's part of a block, `before` bytes into a buffer, or extends the last
  /// copy if both are consecutive in buffer and node memory.
  void copy(std::vector<Operation>& copies, bool in, Bytes before, Bytes size, Bytes at) const {
    const BytePart part = view_.part(size);
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

  void write() {
    const Bytes at = base_ + (reduces(collective_) ? local_ * regions_.written.bytes : 0);
    Bytes before = 0;
    const auto put = [&](Bytes size, std::size_t piece) {
      copy(chunk_.in, true, before, size, at + regions_.written.at[piece]);
      before += size;
    };
    if (collective_ == Collective::barrier || (root_sends() && !at_root())) return;
    if (is_vector(collective_)) return put(view_.size(0), 0);
    if (!is_alltoall(collective_) && !is_scatter(collective_) && !scatters_sums(collective_)) {
      for (Rank rank = 0; in_place() && rank < rank_; ++rank) before += view_.size(rank);
      return put(view_.size(rank_), index(local_));
    }
    for (Rank to = 0; to < view_.nodes().p(); ++to) {
      if (is_alltoall(collective_)) {
        put(view_.sent(local_, to), index(local_) * index(view_.nodes().p()) + index(to));
      } else {
        put(view_.size(to), index(to));
      }
    }
  }

  void call() {
    const int lanes = collective_ == Collective::barrier ? 1 : view_.lanes();
    for (int lane = 0; lane < lanes; ++lane) {
      if (leader_of(lane) == local_) chunk_.calls.push_back(inner(lane));
    }
    if (chunk_.calls.empty()) return;
    chunk_.inner_needs = needs_of_calls();
    // The root has awaited free memory before it wrote, and these ranks await the root.
    if (root_sends() && at_root_node()) return;
    for (const InnerCall& call : chunk_.calls) chunk_.writes |= !call.receive.counts.empty();
  }

  /// The ranks that write what the calls read.
  [[nodiscard]] LocalRange needs_of_calls() const {
    if (root_sends()) {
      const int root = view_.nodes().local_of(root_);
      return at_root_node() ? LocalRange{root, root + 1} : LocalRange{};
    }
    const bool own_lanes = is_gather(collective_) || collective_ == Collective::allgather ||
                           collective_ == Collective::allgatherv;
    if (!own_lanes) return {0, view_.ranks()};
    const int first = chunk_.calls.front().lane;
    const int last = chunk_.calls.back().lane;
    const auto locals = [&](int lane) {
      return locals_of_lane(lane, view_.lanes(), view_.ranks());
    };
    return {static_cast<int>(locals(first).begin), static_cast<int>(locals(last).end)};
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
      return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) ==
             counts.end();
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
        call.collective = form_between(collective_, view_.nodes(), view_.lanes());
        break;
    }
  }

  /// Sets the ranks that copies out await: those that wrote, or the leaders whose lanes bring the
  /// data.
  void need_for_result() {
    const bool from_root =
        root_sends() && (alone() || (collective_ == Collective::bcast && at_root_node()));
    if (alone() || from_root) {
      const int root = view_.nodes().local_of(root_);
      chunk_.out_after = HierarchicalStage::written;
      chunk_.out_needs = {from_root ? LocalRange{root, root + 1} : LocalRange{0, view_.ranks()}};
      return;
    }
    const bool own_lane =
        is_alltoall(collective_) || is_scatter(collective_) || scatters_sums(collective_);
    const int own = lane_of(local_, view_.lanes(), view_.ranks());
    const int lanes = collective_ == Collective::barrier ? 1 : view_.lanes();
    int last = -1;
    for (int lane = own_lane ? own : 0; lane < (own_lane ? own + 1 : lanes); ++lane) {
      const int leader = leader_of(lane);
      if (leader != last) chunk_.out_needs.push_back({leader, leader + 1});
      last = leader;
    }
  }

  void read() {
    Bytes before = 0;
    const auto get = [&](Rank from, Bytes size, std::size_t piece) {
      const bool kept = in_place() && from == rank_;
      const Bytes at = base_ + regions_.result_at + regions_.result.at[piece];
      if (!kept) copy(chunk_.out, false, before, size, at);
      before += size;
    };
    const int p = view_.nodes().p();
    if (is_vector(collective_)) {
      get(no_rank, view_.size(0), 0);
    } else if (is_alltoall(collective_)) {
      read_pairs(get);
    } else if (is_scatter(collective_) || scatters_sums(collective_)) {
      get(no_rank, view_.size(rank_), result_by_rank() ? index(rank_) : index(local_));
    } else if (collective_ != Collective::barrier) {
      for (Rank from = 0; from < p; ++from) {
        get(from, view_.size(from), result_by_rank() ? index(from) : piece_of(from));
      }
    }
    if (!chunk_.out.empty() || collective_ == Collective::barrier) need_for_result();
  }

  /// Are pieces of the result numbered by rank? On a single node the result is the written data.
  [[nodiscard]] bool result_by_rank() const {
    const bool scatters = is_scatter(collective_) || scatters_sums(collective_);
    return scatters == alone();
  }
  [[nodiscard]] std::size_t piece_of(Rank from) const {
    return index(view_.nodes().local_of(from));
  }

  template <class Get>
  void read_pairs(Get get) {
    const int p = view_.nodes().p();
    for (Rank from = 0; from < p; ++from) {
      const std::size_t received = index(local_) * index(p) + index(from);
      const std::size_t sent = index(view_.nodes().local_of(from)) * index(p) + index(rank_);
      get(from, view_.received(local_, from), alone() ? sent : received);
    }
  }

  const HierarchicalView& view_;
  Collective collective_;
  Rank rank_;
  int local_;
  Bytes base_;
  Rank root_;
  int root_node_;
  Regions regions_;
  HierarchicalChunk chunk_;
};

}  // namespace

HierarchicalChunk hierarchical_chunk(const HierarchicalView& view, Rank rank, Bytes base) {
  return ChunkLowerer(view, rank, base).done();
}

Bytes half_of_node_memory(const HierarchicalProblem& call, const Nodes& nodes, int node) {
  Bytes most = 0;
  for (int i = 0; i < call.chunks; ++i) {
    most = std::max(most, regions_of(HierarchicalView(call, nodes, node, i)).bytes);
  }
  return aligned(most);
}

}  // namespace tutti
