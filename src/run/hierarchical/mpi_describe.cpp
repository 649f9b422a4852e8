/// Describes calls as hierarchical calls.
#include "run/hierarchical/mpi_sides.hpp"

namespace tutti {

namespace {

Region region_of(void* address, MPI_Count count, MPI_Datatype type, const TypeInfo& info) {
  if (info.contiguous) return {address, count * info.size, 0};
  return {address, count, handle_bits(type)};
}

/// The blocks of `ranks` ranks, which follow one another, from that of `rank` on.
SideBlock block_of(const CallSide& side, Rank rank, int ranks = 1) {
  auto* const address = static_cast<std::byte*>(side.address) + side.displacement(rank);
  const MPI_Count count = side.blocks.count(rank) * ranks;
  const TypeInfo& info = side.info_for(rank);
  return {region_of(address, count, side.type_for(rank), info), count * info.size};
}

std::vector<SideBlock> blocks_of(const CallSide& side, int p) {
  std::vector<SideBlock> blocks;
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

/// Is the buffer contiguous, and within the counts of inner calls?
bool can_be_inner_buffer(const HierarchicalSide& side) {
  return side.bytes == 0 || (side.base != nullptr && side.bytes <= max_node_memory);
}

/// Describes one call.
class Description {
 public:
  Description(const MpiCall& call, Rank rank, int p, SideMemory& memory,
              HierarchicalCall& hierarchical)
      : call_(call), rank_(rank), p_(p), memory_(memory), hierarchical_(hierarchical) {}

  int make(std::string& refused) { return reduces(call_.collective) ? reduced(refused) : moved(); }

 private:
  using Use = SideMemory::Use;

  int moved();
  int reduced(std::string& refused);
  int measure();
  int hold(const CallSide& side, Area area, Use use, HierarchicalSide& held);
  /// A vector with the gaps of its elements, because reductions work on the program's layout. The
  /// bytes in gaps, such as those of MPI_DOUBLE_INT, belong to the program.
  [[nodiscard]] SideBlock vector_of(const CallSide& side, MPI_Count count) const {
    const TypeInfo& info = call_.receive.info;
    return {region_of(side.address, count, side.type, info), count * info.extent, !info.contiguous};
  }

  const MpiCall& call_;
  Rank rank_;
  int p_;
  SideMemory& memory_;
  HierarchicalCall& hierarchical_;
};

int Description::hold(const CallSide& side, Area area, Use use, HierarchicalSide& held) {
  const bool is_one = has_one_block(call_.collective, area);
  if (!is_one && (!side.blocks.are_equal() || side.types != nullptr)) {
    return memory_.hold(blocks_of(side, p_), use, held);
  }
  return memory_.hold(block_of(side, 0, is_one ? 1 : p_), use, held);
}

/// Sets the sizes that follow from this rank's arguments. MPI_ERR_TRUNCATE if these contradict one
/// another.
int Description::measure() {
  HierarchicalSizes& sizes = hierarchical_.call.sizes;
  std::vector<Bytes>& words = hierarchical_.own_sizes;
  const bool irregular = is_irregular(call_.collective);
  if (is_gather_or_scatter(call_.collective)) {
    const Bytes own = call_.own_bytes(rank_);
    const bool at_root = rank_ == call_.root;
    sizes.each = at_root && !irregular ? call_.whole().bytes(0) : own;
    if (!irregular) return sizes.each == own ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
    words[0] = own;
    for (Rank other = 0; at_root && other < p_; ++other) {
      words[index(other) + 1] = call_.whole().bytes(other);
    }
    return MPI_SUCCESS;
  }
  const CallSide& received = call_.receive;
  if (!irregular) {
    sizes.each = received.bytes(0);
    return call_.contribution().bytes(0) == sizes.each ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
  }
  if (block_kind(call_.collective) == BlockKind::pairs) {
    for (Rank rank = 0; rank < p_; ++rank) {
      words[index(rank)] = call_.contribution().bytes(rank);
      words[index(p_ + rank)] = received.bytes(rank);
    }
    return MPI_SUCCESS;
  }
  for (Rank rank = 0; rank < p_; ++rank) sizes.by_rank.push_back(received.bytes(rank));
  const Bytes own = call_.contribution().bytes(call_.in_place() ? rank_ : 0);
  return own == received.bytes(rank_) ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

/// Describes a call that moves data.
int Description::moved() {
  if (const int error = measure()) return error;
  const bool is_bcast = call_.collective == Collective::bcast;
  const Use use = is_bcast           ? rank_ == call_.root ? Use::send : Use::receive
                  : call_.in_place() ? Use::both
                                     : Use::receive;
  int error = MPI_SUCCESS;
  if (call_.sends(rank_)) error = hold(call_.send, Area::send, Use::send, hierarchical_.send);
  if (error != MPI_SUCCESS || !call_.receives(rank_)) return error;
  return hold(call_.receive, Area::receive, use, hierarchical_.receive);
}

/// Describes the vectors of a reduction.
int Description::reduced(std::string& refused) {
  const TypeInfo& info = call_.receive.info;
  const CallSide& sent = call_.contribution();
  if (!info.named && !are_apart(sent.type, info)) {
    refused = "elements of the reduction reach beyond their extent";
    return MPI_SUCCESS;
  }
  hierarchical_.type = sent.type;
  hierarchical_.op = call_.op;
  HierarchicalProblem& plain = hierarchical_.call;
  plain.commutative = commutes(call_.op);
  plain.unit = info.extent;
  const bool scatters = block_kind(call_.collective) == BlockKind::ranks;
  const bool irregular = is_irregular(call_.collective);
  const RankBlocks& counts = call_.receive.blocks;
  for (Rank rank = 0; irregular && rank < p_; ++rank) {
    plain.sizes.by_rank.push_back(counts.count(rank) * info.extent);
  }
  const MPI_Count all = scatters ? counts.total(p_) : sent.blocks.count(0);
  const MPI_Count mine = scatters ? counts.count(rank_) : all;
  if (!irregular) plain.sizes.each = mine * info.extent;
  const bool in_place = call_.in_place();
  const bool is_copied = in_place && !can_be_in_place(call_.collective);
  int error = MPI_SUCCESS;
  if (!in_place || is_copied) {
    error =
        memory_.hold(vector_of(sent, all), is_copied ? Use::copied : Use::send, hierarchical_.send);
  }
  if (error != MPI_SUCCESS || !has_result(call_.collective, rank_, call_.root)) return error;
  return memory_.hold(vector_of(call_.receive, mine),
                      in_place && !is_copied ? Use::both : Use::receive, hierarchical_.receive);
}

}  // namespace

int describe(const MpiCall& call, Rank rank, int p, bool is_dummy, SideMemory& memory,
             HierarchicalCall& hierarchical, std::string& refused) {
  HierarchicalProblem& plain = hierarchical.call;
  plain.collective = call.collective;
  plain.root = has_root(call.collective) ? call.root : 0;
  hierarchical.is_dummy = is_dummy;
  hierarchical.own_sizes.assign(index(size_exchange_words(call.collective, p, rank == plain.root)),
                                0);
  if (is_irregular(call.collective) && hierarchical.own_sizes.empty()) {
    plain.sizes.by_rank.reserve(index(p));
    if (is_dummy) plain.sizes.by_rank.assign(index(p), 0);
  }
  if (is_dummy || call.collective == Collective::barrier) return MPI_SUCCESS;
  Description description(call, rank, p, memory, hierarchical);
  const int error = description.make(refused);
  const bool in_place = call.in_place() && call.collective != Collective::bcast;
  plain.in_place = in_place && can_be_in_place(call.collective);
  plain.direct = error == MPI_SUCCESS && !in_place && can_be_inner_buffer(hierarchical.send) &&
                 can_be_inner_buffer(hierarchical.receive);
  return error;
}

}  // namespace tutti
