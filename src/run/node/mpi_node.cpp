/// Finds the ranks of each node and shares memory among them.
#include "run/node/mpi_node.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <new>
#include <string>

#include "core/hash.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"
#include "run/process.hpp"
#include "run/processors.hpp"

namespace tutti {

namespace {

/// Bytes for data in memory with a name, which is allocated at once: /dev/shm may be small.
constexpr Bytes max_named_data = Bytes{256} << 10;
constexpr Bytes bytes_of_rank = sizeof(NodeSignal) + sizeof(RankWords);

/// One rank's part of the exchange of guess_nodes().
struct Entry {
  std::uint64_t system = 0;
  std::uint64_t node = 0;       ///< the system, or one of its emulated nodes
  double oversubscription = 0;  ///< as far as it knows
  RankProcessors processors;
};
static_assert(sizeof(Entry) == 56);

std::string own_system() { return host_name() + " " + line_of("/proc/sys/kernel/random/boot_id"); }

/// The rank of this process in MPI_COMM_WORLD; that in `comm` if the program uses sessions alone.
Rank world_rank(MPI_Comm comm) { return rank_in(has_world() ? mpi().comm_world : comm); }

}  // namespace

int guess_nodes(MPI_Comm comm, const NodeSettings& settings, Nodes& nodes) {
  const std::string& system = of_process([] { return own_system(); });
  std::string node = system;
  if (settings.emulated) {
    node += " " + std::to_string(settings.emulated->node_of(world_rank(comm)));
  }
  const Entry mine = {hash_of(system), hash_of(node), known_oversubscription(), own_processors()};
  std::vector<Entry> all;
  if (const int error = gather_at_all(mine, all, comm)) return error;
  std::map<std::uint64_t, int> numbers;
  std::vector<int> labels;
  std::map<std::uint64_t, std::vector<RankProcessors>> systems;
  double oversubscription = 0;  // ranks per processor of the fullest node
  for (const Entry& one : all) {
    labels.push_back(numbers.try_emplace(one.node, static_cast<int>(numbers.size())).first->second);
    systems[one.system].push_back(one.processors);
    oversubscription = std::max(oversubscription, one.oversubscription);
  }
  nodes = Nodes::of(labels);
  for (const auto& [name, ranks] : systems) {
    oversubscription = std::max(oversubscription, oversubscription_of(ranks));
  }
  if (is_of_world(comm)) note_oversubscription(oversubscription);
  return MPI_SUCCESS;
}

/// The outcome of a rank's attempt to share the memory of its node.
struct SharedNode::Attempt {
  std::int64_t shares;
  std::int64_t capacity;
  std::int64_t group;
};

int SharedNode::open(MPI_Comm comm, Nodes nodes, const NodeSettings& settings,
                     std::unique_ptr<SharedNode>& made) {
  std::unique_ptr<SharedNode> node(new SharedNode(comm, rank_in(comm)));
  const int error = node->find(std::move(nodes), settings);
  if (error == MPI_SUCCESS) made = std::move(node);
  return error;
}

/// Where a rank cannot open the memory of its node, the node tries memory with a name, then divides
/// into the ranks that could and those that could not; a rank that cannot create memory is alone.
/// All ranks know all attempts, and so the same nodes.
int SharedNode::find(Nodes nodes, const NodeSettings& settings) {
  std::vector<Attempt> attempts;
  const auto shares = [&](Rank rank) { return attempts[index(rank)].shares != 0; };
  const auto is_shared = [&](int node) {
    const auto ranks = nodes.ranks(node);
    return ranks.size() == 1 || std::ranges::all_of(ranks, shares);
  };
  bool is_open = false;
  for (auto kind = NodeSegment::Kind::anonymous;;) {
    if (const int error = attempt(nodes, settings, kind, is_open, attempts)) return error;
    bool all = true;
    std::vector<int> labels;
    for (Rank rank = 0; rank < nodes.p(); ++rank) {
      const int node = nodes.node_of(rank);
      const int part = is_shared(node) || shares(rank) ? 0 : nodes.local_of(rank) == 0 ? 1 : 2;
      labels.push_back(3 * node + part);
      all = all && is_shared(node);
    }
    if (all) return take(nodes, attempts);
    is_open = is_shared(nodes.node_of(rank_));
    const bool divides = kind == NodeSegment::Kind::named;
    if (divides) nodes = Nodes::of(labels);
    kind = divides ? NodeSegment::Kind::anonymous : NodeSegment::Kind::named;
  }
}

/// Opens the memory of this rank's node unless it is open, and exchanges all ranks' outcomes.
int SharedNode::attempt(const Nodes& nodes, const NodeSettings& settings, NodeSegment::Kind kind,
                        bool is_open, std::vector<Attempt>& attempts) {
  const int here = nodes.node_of(rank_);
  std::unique_ptr<NodeSegment> segment;
  if (!is_open) {
    ranks_ = nodes.size(here);
    local_ = nodes.local_of(rank_);
    kind_ = kind;
    header_ = whole_pages(ranks_ * bytes_of_rank);
    wanted_ = std::max(settings.memory, header_);  // signals are mandatory
    if (ranks_ > 1 && local_ == 0) segment = make_segment(kind);
  }
  const SegmentName own = segment ? segment->name() : SegmentName();
  std::vector<SegmentName> names;
  // By collectives, because the background thread takes any message on this communicator for an
  // unexpected message.
  if (const int error = gather_at_all(own, names, comm_)) return error;
  if (!is_open && ranks_ > 1) {
    map_segment(names[index(nodes.rank_at(here, 0))], segment);
  } else if (!is_open) {
    map_private();
  }
  const auto& emulated = settings.emulated;
  const Attempt mine = {mapping_ ? 1 : 0, mapping_ ? capacity_ : -1,
                        emulated ? emulated->group_of(world_rank(comm_))
                                 : group_of_processors("/sys", processors_of(0))};
  const int error = gather_at_all(mine, attempts, comm_);
  // All ranks of the node have opened the segment, or have tried to.
  if (segment) segment->take_name_away();
  return error;
}

std::unique_ptr<NodeSegment> SharedNode::make_segment(NodeSegment::Kind kind) const {
  const bool is_named = kind == NodeSegment::Kind::named;
  std::unique_ptr<NodeSegment> segment;
  // If the system refuses, try smaller sizes.
  for (Bytes bytes = is_named ? std::min(wanted_, header_ + max_named_data) : wanted_;
       !segment && bytes >= header_; bytes /= 4) {
    segment = NodeSegment::create(bytes, kind);
    if (segment && !segment->allocate()) segment.reset();
  }
  return segment;
}

/// Maps the segment, which all ranks but its creator open first.
void SharedNode::map_segment(const SegmentName& name, std::unique_ptr<NodeSegment>& segment) {
  mapping_ = {};
  if (local_ != 0 && name.bytes > 0) segment = NodeSegment::open(name);
  if (segment) mapping_ = segment->map(SegmentView::shared);
  capacity_ = name.bytes - header_;
}

/// Maps private memory for a node of one rank.
void SharedNode::map_private() {
  mapping_ = {};
  for (Bytes bytes = wanted_; !mapping_ && bytes >= header_; bytes /= 4) {
    void* address = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) continue;
    mapping_ = Mapping(address, static_cast<std::size_t>(bytes));
    capacity_ = bytes - header_;
  }
}

/// Takes over the nodes that the last attempts found. MPI_ERR_NO_MEM on all ranks if one has no
/// memory.
int SharedNode::take(const Nodes& nodes, const std::vector<Attempt>& attempts) {
  std::vector<int> labels;
  std::vector<int> groups;
  capacity_ = attempts.front().capacity;
  for (const Attempt& attempt : attempts) {
    labels.push_back(nodes.node_of(static_cast<Rank>(labels.size())));
    groups.push_back(static_cast<int>(attempt.group));
    capacity_ = std::min<Bytes>(capacity_, attempt.capacity);
  }
  if (capacity_ < 0) return MPI_ERR_NO_MEM;
  nodes_ = Nodes::of(labels, groups);
  // Zeroed memory holds valid signals and words, so no process constructs them.
  signals_ = std::launder(reinterpret_cast<NodeSignal*>(mapping_.data()));
  words_ = std::launder(reinterpret_cast<RankWords*>(signals_ + ranks_));
  return MPI_SUCCESS;
}

int SharedNode::wait(int first, int last, NodeSignal::Count count) {
  const Patience& patience = each_rank_has_a_core() ? patience_alone : patience_sharing;
  // Drives the progress of the MPI: probes for a message without receiving it. If the MPI detects
  // that a process has died, the probe fails or does not return.
  const WhileWaiting probe = [this] {
    int found = 0;
    return mpi().Iprobe(0, 0, comm_, &found, MPI_STATUS_IGNORE);
  };
  for (int local = first; local < last; ++local) {
    if (const int error = signals_[local].wait(count, patience, probe)) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace tutti
