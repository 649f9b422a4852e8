/// Describes calls as hierarchical calls.
#include <algorithm>

#include "run/hierarchical/mpi_sides.hpp"

namespace tutti {

namespace {

TypedBlock block_of(const CallSide& side, Rank rank) {
  auto* base = static_cast<std::byte*>(side.address);
  return {base + side.displacement(rank), side.blocks.count(rank), side.type_for(rank),
          side.info_for(rank)};
}

std::vector<TypedBlock> blocks_of(const CallSide& side, int p) {
  std::vector<TypedBlock> blocks;
  for (Rank rank = 0; rank < p; ++rank) blocks.push_back(block_of(side, rank));
  return blocks;
}

/// Does each element of a type lie within its extent, apart from the next one?
bool are_apart(MPI_Datatype type, const TypeInfo& info) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  return info.extent > 0 && mpi().Type_get_true_extent(type, &lower, &extent) == MPI_SUCCESS &&
         lower >= 0 && lower + extent <= info.extent;
}

/// Describes one call, by the kind of its collective.
class Description {
 public:
  Description(const MpiCall& call, Rank rank, int p, SideMemory& memory,
              HierarchicalCall& hierarchical)
      : call_(call), rank_(rank), p_(p), memory_(memory), hierarchical_(hierarchical) {}

  int make(std::string& refused) {
    if (reduces(call_.collective)) return reduced(refused);
    if (block_kind(call_.collective) == BlockKind::pairs) return pairs();
    if (block_kind(call_.collective) == BlockKind::parts) return vector();
    return has_root(call_.collective) ? rooted() : gathered();
  }

 private:
  using Use = SideMemory::Use;

  int rooted();
  int vector();
  int gathered();
  int pairs();
  int reduced(std::string& refused);
  /// One block for or from each rank.
  int hold_all(const CallSide& side, Use use, HierarchicalSide& held) {
    if (!is_plain(side)) return memory_.hold(blocks_of(side, p_), use, held);
    TypedBlock whole = block_of(side, 0);
    whole.count *= p_;
    return memory_.hold(whole, use, held);
  }
  [[nodiscard]] Use receives() const { return call_.in_place() ? Use::both : Use::receive; }
  [[nodiscard]] static bool is_plain(const CallSide& side) {
    return side.blocks.are_equal() && side.types == nullptr;
  }
  /// A vector with the gaps of its elements, because reductions work on the program's layout. The
  /// bytes in gaps, such as those of MPI_DOUBLE_INT, belong to the program.
  [[nodiscard]] TypedBlock vector_of(const CallSide& side, MPI_Count count) const {
    TypeInfo whole = call_.receive.info.extent > 0 ? call_.receive.info : call_.send.info;
    whole.size = whole.extent;
    return {side.address, count, side.type, whole, !whole.contiguous};
  }
  int scattered();

  const MpiCall& call_;
  Rank rank_;
  int p_;
  SideMemory& memory_;
  HierarchicalCall& hierarchical_;
};

/// Describes a gather or scatter.
int Description::rooted() {
  const bool at_root = rank_ == call_.root;
  const bool regular = !is_irregular(call_.collective);
  const CallSide& whole = call_.whole();
  const TypedBlock own = call_.in_place() ? block_of(whole, rank_) : block_of(call_.own(), 0);
  Bytes& each = hierarchical_.call.sizes.each;
  each = at_root && regular ? whole.bytes(0) : own.bytes();
  if (!regular) {
    hierarchical_.own_sizes[0] = own.bytes();
    for (Rank other = 0; at_root && other < p_; ++other) {
      hierarchical_.own_sizes[static_cast<std::size_t>(other) + 1] = whole.bytes(other);
    }
  }
  if (regular && each != own.bytes()) return MPI_ERR_TRUNCATE;
  int error = MPI_SUCCESS;
  if (call_.is_scatter()) {
    if (!call_.in_place()) error = memory_.hold(own, Use::receive, hierarchical_.receive);
    if (at_root && error == MPI_SUCCESS) error = hold_all(whole, Use::send, hierarchical_.send);
  } else {
    if (!call_.in_place()) error = memory_.hold(own, Use::send, hierarchical_.send);
    if (at_root && error == MPI_SUCCESS) error = hold_all(whole, receives(), hierarchical_.receive);
  }
  return error;
}

/// Describes the buffer of a bcast.
int Description::vector() {
  const TypedBlock buffer = block_of(call_.receive, 0);
  hierarchical_.call.sizes.each = buffer.bytes();
  if (rank_ == call_.root) return memory_.hold(buffer, Use::send, hierarchical_.receive);
  return memory_.hold(buffer, Use::receive, hierarchical_.receive);
}

int Description::gathered() {
  const CallSide& side = call_.receive;
  const TypedBlock own = call_.in_place() ? block_of(side, rank_) : block_of(call_.send, 0);
  HierarchicalSizes& sizes = hierarchical_.call.sizes;
  for (Rank rank = 0; rank < p_ && is_irregular(call_.collective); ++rank) {
    sizes.by_rank.push_back(side.bytes(rank));
  }
  if (!is_irregular(call_.collective)) sizes.each = side.bytes(0);
  const int error = hold_all(side, receives(), hierarchical_.receive);
  if (own.bytes() != side.bytes(rank_)) return MPI_ERR_TRUNCATE;
  if (error != MPI_SUCCESS || call_.in_place()) return error;
  return memory_.hold(own, Use::send, hierarchical_.send);
}

int Description::pairs() {
  const CallSide& sent = call_.in_place() ? call_.receive : call_.send;
  HierarchicalSizes& sizes = hierarchical_.call.sizes;
  if (call_.collective == Collective::alltoall) {
    sizes.each = call_.receive.bytes(0);
    if (sent.bytes(0) != sizes.each) return MPI_ERR_TRUNCATE;
  } else {
    for (Rank rank = 0; rank < p_; ++rank) {
      hierarchical_.own_sizes[static_cast<std::size_t>(rank)] = sent.bytes(rank);
      hierarchical_.own_sizes[static_cast<std::size_t>(p_ + rank)] = call_.receive.bytes(rank);
    }
  }
  const int error = call_.in_place() ? MPI_SUCCESS : hold_all(sent, Use::send, hierarchical_.send);
  return error == MPI_SUCCESS ? hold_all(call_.receive, receives(), hierarchical_.receive) : error;
}

/// Describes the vectors of a reduction.
int Description::reduced(std::string& refused) {
  const CallSide& sent = call_.in_place() ? call_.receive : call_.send;
  const TypeInfo& info = call_.receive.info;
  int commutes = 0;
  if (!info.named && !are_apart(sent.type, info)) {
    refused = "elements of the reduction reach beyond their extent";
    return MPI_SUCCESS;
  }
  if (const int error = mpi().Op_commutative(call_.op, &commutes)) return error;
  hierarchical_.type = sent.type;
  hierarchical_.op = call_.op;
  hierarchical_.call.commutative = commutes != 0;
  hierarchical_.call.unit = info.extent;
  if (block_kind(call_.collective) == BlockKind::ranks) return scattered();
  const TypedBlock given = vector_of(sent, sent.blocks.count(0));
  hierarchical_.call.sizes.each = given.bytes();
  if (!call_.in_place()) {
    if (const int error = memory_.hold(given, Use::send, hierarchical_.send)) return error;
  }
  if (call_.collective == Collective::reduce && rank_ != call_.root) return MPI_SUCCESS;
  return memory_.hold(vector_of(call_.receive, given.count), receives(), hierarchical_.receive);
}

/// Describes the vectors of a reduce_scatter(_block).
int Description::scattered() {
  const CallSide& sent = call_.in_place() ? call_.receive : call_.send;
  const RankBlocks& counts = call_.receive.blocks;
  std::vector<TypedBlock> blocks;
  TypedBlock next = vector_of(sent, 0);
  for (Rank rank = 0; rank < p_; ++rank) {
    next.count = counts.count(rank);
    blocks.push_back(next);
    next.address = static_cast<std::byte*>(next.address) + next.bytes();
    if (is_irregular(call_.collective)) hierarchical_.call.sizes.by_rank.push_back(next.bytes());
  }
  hierarchical_.call.sizes.each = is_irregular(call_.collective) ? 0 : blocks.front().bytes();
  if (const int error = memory_.hold(blocks, Use::send, hierarchical_.send)) return error;
  if (call_.in_place()) {
    if (const int error = memory_.part(hierarchical_.send)) return error;
  }
  return memory_.hold(vector_of(call_.receive, counts.count(rank_)), Use::receive,
                      hierarchical_.receive);
}

}  // namespace

int describe(const MpiCall& call, Rank rank, int p, bool is_dummy, SideMemory& memory,
             HierarchicalCall& hierarchical, std::string& refused) {
  HierarchicalProblem& plain = hierarchical.call;
  plain.collective = call.collective;
  plain.root = has_root(call.collective) ? call.root : 0;
  hierarchical.is_dummy = is_dummy;
  hierarchical.own_sizes.assign(
      static_cast<std::size_t>(size_exchange_words(call.collective, p, rank == plain.root)), 0);
  if (is_irregular(call.collective) && hierarchical.own_sizes.empty()) {
    plain.sizes.by_rank.reserve(static_cast<std::size_t>(p));
    if (is_dummy) plain.sizes.by_rank.assign(static_cast<std::size_t>(p), 0);
  }
  if (is_dummy || call.collective == Collective::barrier) return MPI_SUCCESS;
  Description description(call, rank, p, memory, hierarchical);
  const int error = description.make(refused);
  const bool in_place = call.in_place() && call.collective != Collective::bcast;
  plain.in_place = in_place && can_be_in_place(call.collective);
  plain.direct = error == MPI_SUCCESS && !in_place && can_be_inner_buffers(hierarchical);
  return error;
}

}  // namespace tutti
