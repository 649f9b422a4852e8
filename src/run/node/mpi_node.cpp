/// Finds the ranks of each node and shares memory among them.
#include "run/node/mpi_node.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <new>

#include "run/mpi/agree.hpp"
#include "run/mpi/oversubscription.hpp"
#include "run/node/groups.hpp"
#include "run/node/mpi_known_nodes.hpp"

namespace tutti {

namespace {

/// Bytes for data that growing memory begins with: enough for small calls.
constexpr Bytes grows_from = 16384;

/// Sets `all` to whether `own` is true on all ranks of the group.
int agree_on(MPI_Comm group, bool own, bool& all) {
  int mine = own ? 1 : 0;
  std::vector<int> everyone;
  int ranks = 0;
  mpi().Comm_size(group, &ranks);
  everyone.resize(static_cast<std::size_t>(ranks));
  const int error = mpi().Allgather(&mine, sizeof mine, mpi().byte, everyone.data(), sizeof mine,
                                    mpi().byte, group);
  all = std::all_of(everyone.begin(), everyone.end(), [](int one) { return one != 0; });
  return error;
}

}  // namespace

int world_rank(Rank rank) {
  int initialized = 0;
  mpi().Initialized(&initialized);
  int world = rank;
  if (initialized != 0) mpi().Comm_rank(mpi().comm_world, &world);
  return world;
}

/// Bytes of the signals and numbers of the ranks, in whole pages.
Bytes SharedNode::header_bytes() const {
  const Bytes bytes =
      ranks_ * (Bytes{sizeof(NodeSignal)} + words_of_rank() * Bytes{sizeof(std::int64_t)});
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

/// Signals are mandatory. Exchanged sizes are included if the header takes at most 50 % of
/// `memory`; data gets the rest.
void SharedNode::lay_out(Bytes memory) {
  has_room_ = true;
  if (header_bytes() > memory / 2) has_room_ = false;
  header_ = header_bytes();
  wanted_ = std::max(memory, header_);
}

CommHandle::~CommHandle() {
  if (comm_ != mpi().comm_null) mpi().Comm_free(&comm_);
}

int MpiProgress::progress() {
  int found = 0;
  MPI_Status status;
  return mpi().Iprobe(0, 0, comm_, &found, &status);
}

int SharedNode::open(MPI_Comm comm, const NodeSettings& settings,
                     std::unique_ptr<SharedNode>& made) {
  Rank rank = 0;
  int p = 0;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  std::unique_ptr<SharedNode> node(new SharedNode(comm, rank, p));
  bool is_open = false;
  if (const int error = node->open_known(settings, is_open)) return error;
  if (!is_open) {
    node.reset(new SharedNode(comm, rank, p));
    if (const int error = node->find(settings)) return error;
  }
  made = std::move(node);
  return MPI_SUCCESS;
}

/// Opens the nodes that an earlier communicator found. Clears `is_open` on all ranks if one does
/// not know them, because one of its threads is still busy there, or cannot share memory now.
int SharedNode::open_known(const NodeSettings& settings, bool& is_open) {
  const std::vector<int> labels = known_labels(comm_, settings, kind_);
  int error = true_on_all(comm_, !labels.empty(), is_open);
  if (error != MPI_SUCCESS || !is_open) return error;
  const Nodes nodes = Nodes::of(labels);
  const int here = nodes.node_of(rank_);
  ranks_ = nodes.size(here);
  local_ = nodes.local_of(rank_);
  lay_out(settings.memory);
  std::optional<NodeSegment> segment;
  if (ranks_ > 1 && local_ == 0) segment = make_segment(kind_);
  SegmentName name;
  if (segment) name = segment->name();
  if ((error = pass_name(nodes, name)) != MPI_SUCCESS) return error;
  if (ranks_ > 1) {
    map_segment(name, segment);
  } else {
    map_private();
  }
  if (!mapping_) capacity_ = -1;
  error = agree(nodes.rank_at(here, 0), settings);
  keep(segment);
  is_open = error == MPI_SUCCESS;
  return error == MPI_ERR_NO_MEM ? MPI_SUCCESS : error;
}

/// Passes the segment's name from the first rank of each node to the others. By a collective,
/// because the background thread takes any message on this communicator for an unexpected message.
int SharedNode::pass_name(const Nodes& nodes, SegmentName& name) {
  constexpr int bytes = sizeof name;
  std::vector<SegmentName> names(static_cast<std::size_t>(nodes.p()));
  const int error =
      mpi().Allgather(&name, bytes, mpi().byte, names.data(), bytes, mpi().byte, comm_);
  name = names[static_cast<std::size_t>(nodes.rank_at(nodes.node_of(rank_), 0))];
  return error;
}

int SharedNode::find(const NodeSettings& settings) {
  CommHandle group;
  if (const int error = join(settings, group)) return error;
  if (const int error = share(settings, std::move(group))) return error;
  if (is_usual_) note_nodes(comm_, settings, nodes_, kind_);
  return MPI_SUCCESS;
}

/// Sets `group` to the ranks that share memory according to MPI, split by emulated nodes.
int SharedNode::join(const NodeSettings& settings, CommHandle& group) {
  CommHandle near;
  int error =
      mpi().Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, mpi().info_null, near.put());
  if (error != MPI_SUCCESS) return error;
  if (!settings.emulated) {
    group = std::move(near);
    return MPI_SUCCESS;
  }
  return mpi().Comm_split(near.get(), settings.emulated->node_of(world_rank(rank_)), rank_,
                          group.put());
}

/// Shares a segment among the ranks of the group that can open it; the others try among themselves.
int SharedNode::share(const NodeSettings& settings, CommHandle group) {
  for (;;) {
    mpi().Comm_size(group.get(), &ranks_);
    mpi().Comm_rank(group.get(), &local_);
    lay_out(settings.memory);
    bool all = false;
    bool own = false;
    if (ranks_ > 1) {
      for (const auto kind : {NodeSegment::Kind::anonymous, NodeSegment::Kind::named}) {
        if (const int error = try_segment(group.get(), kind, all, own)) return error;
        kind_ = kind;
        if (all) break;
      }
    }
    if (all) break;
    if (ranks_ == 1) {
      map_private();
      break;
    }
    // Groups shrink: one of the ranks that opened the segment, one of those that did not. A rank
    // that could not create one is alone.
    const int part = own ? 0 : local_ == 0 ? 1 : 2;
    CommHandle smaller;
    const int error = mpi().Comm_split(group.get(), part, rank_, smaller.put());
    if (error != MPI_SUCCESS) return error;
    group = std::move(smaller);
    is_usual_ = false;
  }
  if (!mapping_) capacity_ = -1;
  Rank lowest = rank_;
  if (const int error = mpi().Bcast(&lowest, sizeof lowest, mpi().byte, 0, group.get())) {
    return error;
  }
  return agree(lowest, settings);
}

int SharedNode::try_segment(MPI_Comm group, NodeSegment::Kind kind, bool& all, bool& own) {
  std::optional<NodeSegment> segment;
  SegmentName name;
  if (local_ == 0) segment = make_segment(kind);
  if (segment) name = segment->name();
  if (const int error = mpi().Bcast(&name, sizeof name, mpi().byte, 0, group)) return error;
  map_segment(name, segment);
  // Do not keep nodes if the segment was not created in full: that may succeed later, unlike
  // opening an unreachable one.
  if (kind == NodeSegment::Kind::anonymous) is_usual_ = is_usual_ && name.bytes == wanted_;
  own = static_cast<bool>(mapping_);
  const int error = agree_on(group, own, all);
  keep(segment);
  return error;
}

std::optional<NodeSegment> SharedNode::make_segment(NodeSegment::Kind kind) const {
  std::optional<NodeSegment> segment;
  // If the system refuses, try smaller sizes.
  for (Bytes bytes = wanted_; !segment && bytes >= header_; bytes /= 4) {
    segment = NodeSegment::create(bytes, kind);
    if (segment && !segment->allocate(std::min(bytes, header_ + grows_from))) segment.reset();
  }
  return segment;
}

/// Maps the segment, which all ranks but its creator open first.
void SharedNode::map_segment(const SegmentName& name, std::optional<NodeSegment>& segment) {
  mapping_ = {};
  if (local_ != 0 && name.bytes > 0) segment = NodeSegment::open(name);
  if (segment) mapping_ = segment->map(SegmentView::shared);
  capacity_ = name.bytes - header_;
}

/// Call it once all ranks of the node have opened the segment, or have tried to.
void SharedNode::keep(std::optional<NodeSegment>& segment) {
  if (!segment) return;
  segment->take_name_away();
  if (local_ == 0 && segment->kind() == NodeSegment::Kind::named) segment_ = std::move(segment);
}

bool SharedNode::allocate(Bytes data) const {
  return !segment_ || segment_->allocate(header_ + data);
}

/// Maps private memory for a node of one rank.
void SharedNode::map_private() {
  for (Bytes bytes = wanted_; !mapping_ && bytes >= header_; bytes /= 4) {
    void* address = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) continue;
    mapping_ = Mapping(address, static_cast<std::size_t>(bytes));
    capacity_ = bytes - header_;
  }
}

/// Exchanges nodes and capacities among all ranks. MPI_ERR_NO_MEM on all of them if one has no
/// memory.
int SharedNode::agree(Rank lowest, const NodeSettings& settings) {
  struct Word {
    std::int64_t lowest;
    std::int64_t capacity;
    std::int64_t group;
    std::int64_t has_room;
    std::int64_t grows;
  };
  const auto& emulated = settings.emulated;
  Word mine{lowest, capacity_,
            emulated ? emulated->group_of(world_rank(rank_)) : group_on_node("/sys"),
            has_room_ ? 1 : 0, ranks_ > 1 && kind_ == NodeSegment::Kind::named ? 1 : 0};
  std::vector<Word> words(static_cast<std::size_t>(p_));
  const int error =
      mpi().Allgather(&mine, sizeof mine, mpi().byte, words.data(), sizeof mine, mpi().byte, comm_);
  if (error != MPI_SUCCESS) return error;
  std::vector<int> labels;
  std::vector<int> groups;
  holds_sizes_ = true;
  for (const Word& word : words) {
    labels.push_back(static_cast<int>(word.lowest));
    groups.push_back(static_cast<int>(word.group));
    capacity_ = std::min<Bytes>(capacity_, word.capacity);
    holds_sizes_ = holds_sizes_ && word.has_room != 0;
    grows_ = grows_ || word.grows != 0;
  }
  if (capacity_ < 0) return MPI_ERR_NO_MEM;
  usable_ = sure_ = grows_ ? std::min(capacity_, grows_from) : capacity_;
  nodes_ = Nodes::of(labels, groups);
  // Zeroed memory holds valid signals, so no process constructs them.
  signals_ = std::launder(reinterpret_cast<NodeSignal*>(mapping_.data()));
  words_ = reinterpret_cast<std::int64_t*>(
      mapping_.data() + std::ptrdiff_t{ranks_} * std::ptrdiff_t{sizeof(NodeSignal)});
  return MPI_SUCCESS;
}

int SharedNode::wait(int local, NodeSignal::Count count) {
  const Patience& patience = each_rank_has_a_core() ? patience_alone : patience_sharing;
  return signals_[local].wait(count, patience, progress_);
}

}  // namespace tutti
