/// Packs buffers with gaps, and describes calls as hierarchical calls.
#include "run/hierarchical/mpi_sides.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace tutti {

namespace {

/// Consecutive elements in a buffer of the program.
struct SideBlock {
  Region region;
  Bytes bytes = 0;          ///< in staging
  bool keeps_gaps = false;  ///< staging has the gaps of the type too; `bytes` includes them

  [[nodiscard]] bool is_contiguous() const { return region.type == 0; }
};

enum class Use : std::uint8_t {
  send,
  copied,  ///< the same, if the call overwrites the buffer before all of it is read
  receive,
  both
};

/// The same elements in staging.
Region staged(const SideBlock& block, std::byte* at) {
  if (block.keeps_gaps) return {at, block.region.count, block.region.type};
  return {at, block.bytes, 0};
}

/// The blocks, in staging if `packed` is set. Empty ones may have any address.
HierarchicalSide side_of(std::span<const SideBlock> blocks, std::byte* packed) {
  HierarchicalSide side;
  side.base = packed;
  bool follow = true;
  for (const SideBlock& block : blocks) {
    auto* const address = static_cast<std::byte*>(block.region.address);
    if (block.bytes == 0) continue;
    if (side.base == nullptr) side.base = address - side.bytes;
    follow = follow && (packed != nullptr || address == side.base + side.bytes);
    side.bytes += block.bytes;
  }
  if (follow) return side;
  Bytes begin = 0;
  for (const SideBlock& block : blocks) {
    if (block.bytes == 0) continue;
    side.blocks.push_back({static_cast<std::byte*>(block.region.address), begin, block.bytes});
    begin += block.bytes;
  }
  side.base = nullptr;
  return side;
}

/// Are all blocks contiguous? The types of empty ones do not matter.
bool are_contiguous(std::span<const SideBlock> blocks) {
  return std::ranges::all_of(
      blocks, [](const SideBlock& block) { return block.bytes == 0 || block.is_contiguous(); });
}

/// Is a buffer missing? It would be read as zeros. With types that have gaps, null is MPI_BOTTOM.
bool is_nowhere(const SideBlock& block) {
  return block.bytes > 0 && block.region.address == nullptr && block.is_contiguous();
}

/// Packs the blocks if they are sent. If memory is short, returns an error instead of an exception:
/// others need this rank's part all the same.
int pack(std::span<const SideBlock> blocks, Use use, HostCopies& copies, std::byte*& packed) {
  Bytes bytes = 0;
  for (const SideBlock& block : blocks) bytes += block.bytes;
  packed = copies.reserve(bytes);
  if (packed == nullptr) return MPI_ERR_NO_MEM;
  std::byte* at = packed;
  for (const SideBlock& block : blocks) {
    if (block.bytes == 0) continue;
    const Region staging = staged(block, at);
    if (use == Use::receive || use == Use::both) copies.receive(block.region, staging);
    if (use != Use::receive) {
      if (const int error = copies.send(block.region, staging)) return error;
    }
    at += block.bytes;
  }
  return MPI_SUCCESS;
}

/// Describes the blocks of a send buffer, a receive buffer, or one that has the rank's contribution
/// too. Contiguous ones are used in place. Returns an MPI error code, and then leaves `side`
/// without memory. MPI_ERR_BUFFER: a null buffer with bytes to move.
int hold(std::span<const SideBlock> blocks, Use use, HostCopies& copies, HierarchicalSide& side) {
  if (std::ranges::any_of(blocks, is_nowhere)) return MPI_ERR_BUFFER;
  std::byte* packed = nullptr;
  if (use == Use::copied || !are_contiguous(blocks)) {
    if (const int error = pack(blocks, use, copies, packed)) return error;
  }
  side = side_of(blocks, packed);
  return MPI_SUCCESS;
}

int hold(const SideBlock& whole, Use use, HostCopies& copies, HierarchicalSide& side) {
  return hold(std::span(&whole, 1), use, copies, side);
}

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

/// A vector with the gaps of its elements, because reductions work on the program's layout. The
/// bytes in gaps, such as those of MPI_DOUBLE_INT, belong to the program.
SideBlock vector_of(const MpiCall& call, const CallSide& side, MPI_Count count) {
  const TypeInfo& info = call.receive.info;
  return {region_of(side.address, count, side.type, info), count * info.extent, !info.contiguous};
}

int hold(const MpiCall& call, int p, Area area, Use use, HostCopies& copies,
         HierarchicalSide& held) {
  const CallSide& side = area == Area::send ? call.send : call.receive;
  const bool is_one = has_one_block(call.collective, area);
  if (!is_one && (!side.blocks.are_equal() || side.types != nullptr)) {
    return hold(blocks_of(side, p), use, copies, held);
  }
  return hold(block_of(side, 0, is_one ? 1 : p), use, copies, held);
}

/// Do this rank's two sides contradict one another? Where ranks exchange sizes, that shows it.
bool disagrees(const MpiCall& call, const CallSizes& sizes, Rank rank) {
  if (exchanges_sizes(call.collective)) return false;
  if (is_gather_or_scatter(call.collective)) return sizes.own != sizes.each;
  return call.own_bytes(rank) != sizes.of(rank);
}

/// Describes a call that moves data.
int describe_moved(const MpiCall& call, Rank rank, int p, HostCopies& copies,
                   HierarchicalCall& hierarchical) {
  CallSizes& sizes = hierarchical.call.sizes;
  find_sizes(call, rank, p, sizes);
  const bool has_both = is_gather_or_scatter(call.collective) && rank == call.root;
  // If its sides differ, the root's inner calls still match those of the other ranks.
  if (has_both && !is_irregular(call.collective)) sizes.each = call.whole().bytes(0);
  if (disagrees(call, sizes, rank)) return MPI_ERR_TRUNCATE;
  const bool is_bcast = call.collective == Collective::bcast;
  const Use use = is_bcast          ? rank == call.root ? Use::send : Use::receive
                  : call.in_place() ? Use::both
                                    : Use::receive;
  int error = MPI_SUCCESS;
  if (call.sends(rank)) error = hold(call, p, Area::send, Use::send, copies, hierarchical.send);
  if (error != MPI_SUCCESS || !call.receives(rank)) return error;
  return hold(call, p, Area::receive, use, copies, hierarchical.receive);
}

/// Describes the vectors of a reduction.
int describe_reduced(const MpiCall& call, Rank rank, int p, HostCopies& copies,
                     HierarchicalCall& hierarchical, std::string& refused) {
  const TypeInfo& info = call.receive.info;
  const CallSide& sent = call.contribution();
  if (!info.named && !are_apart(sent.type, info)) {
    refused = "elements of the reduction reach beyond their extent";
    return MPI_SUCCESS;
  }
  hierarchical.type = sent.type;
  hierarchical.op = call.op;
  HierarchicalProblem& plain = hierarchical.call;
  plain.commutative = commutes(call.op);
  plain.unit = info.extent;
  const bool scatters = is_reduce_scatter(call.collective);
  const RankBlocks& counts = call.receive.blocks;
  find_sizes(call, rank, p, plain.sizes, info.extent);
  const MPI_Count all = scatters ? counts.total(p) : sent.blocks.count(0);
  const MPI_Count mine = scatters ? counts.count(rank) : all;
  const bool in_place = call.in_place();
  const bool is_copied = in_place && scatters;
  int error = MPI_SUCCESS;
  if (!in_place || is_copied) {
    error = hold(vector_of(call, sent, all), is_copied ? Use::copied : Use::send, copies,
                 hierarchical.send);
  }
  if (error != MPI_SUCCESS || !has_result(call.collective, rank, call.root)) return error;
  return hold(vector_of(call, call.receive, mine),
              in_place && !is_copied ? Use::both : Use::receive, copies, hierarchical.receive);
}

}  // namespace

int describe(const MpiCall& call, Rank rank, int p, bool is_dummy, HostCopies& copies,
             HierarchicalCall& hierarchical, std::string& refused) {
  HierarchicalProblem& plain = hierarchical.call;
  plain.collective = call.collective;
  plain.root = has_root(call.collective) ? call.root : 0;
  hierarchical.is_dummy = is_dummy;
  if (is_dummy && is_irregular(call.collective) && !exchanges_sizes(call.collective)) {
    plain.sizes.by_rank.assign(index(p), 0);
  }
  if (is_dummy && reduces(call.collective)) {
    // Its inner calls must match those of other nodes, so that later ones do.
    hierarchical.type = mpi().byte;
    hierarchical.op = mpi().combining[MpiFunctions::bitwise_or];
  }
  if (is_dummy || call.collective == Collective::barrier) return MPI_SUCCESS;
  const int error = reduces(call.collective)
                        ? describe_reduced(call, rank, p, copies, hierarchical, refused)
                        : describe_moved(call, rank, p, copies, hierarchical);
  const bool in_place = call.in_place() && call.collective != Collective::bcast;
  plain.in_place = in_place && !is_reduce_scatter(call.collective);
  plain.direct = error == MPI_SUCCESS && !in_place && can_be_inner_buffer(hierarchical.send) &&
                 can_be_inner_buffer(hierarchical.receive);
  return error;
}

}  // namespace tutti
