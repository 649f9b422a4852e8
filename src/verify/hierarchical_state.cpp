/// Checks accesses to bytes.
#include "verify/hierarchical_state.hpp"

#include <algorithm>
#include <bit>

#include "core/index.hpp"

namespace tutti {

namespace {

std::string in_words(const NodeByte& byte) {
  if (byte.origin < 0) return "nothing";
  const std::string ranks =
      byte.ranks == 0 ? "" : " of " + std::to_string(std::popcount(byte.ranks)) + " ranks";
  return "byte " + std::to_string(byte.origin) + " of the blocks" + ranks;
}

}  // namespace

HierarchicalState::HierarchicalState(const HierarchicalCase& call, const Nodes& nodes,
                                     std::span<const HierarchicalPlan> plans)
    : call_(call), nodes_(nodes), ranks_(index(nodes.p())), memory_(index(nodes.count())) {
  Bytes origin = 0;
  for (const Bytes bytes : call_.sizes) {
    origins_.push_back(origin);
    origin += bytes;
  }
  for (Rank rank = 0; rank < nodes_.p(); ++rank) {
    HierarchicalRank& state = at(rank);
    state.seen.assign(index(nodes_.p()), 0);
    state.seen[index(rank)] = state.now;
    state.signalled.emplace_back(state.signal, state.seen);
    state.send = side(call_.contract.before(rank), rank);
    state.receive.assign(side(call_.contract.after(rank), rank).size(), {});
  }
  for (int node = 0; node < nodes_.count(); ++node) {
    memory_[index(node)].start(plans[index(nodes_.rank_at(node, 0))].memory, nodes_.ranks(node));
  }
}

std::vector<NodeByte> HierarchicalState::side(const BlockSeries& blocks, Rank rank) const {
  const bool combined = reduces(call_.contract.collective);
  std::vector<NodeByte> bytes;
  for (int i = 0; i < blocks.count; ++i) {
    for (Bytes byte = 0; byte < call_.sizes[index(blocks[i])]; ++byte) {
      bytes.push_back({origins_[index(blocks[i])] + byte,
                       combined ? std::uint64_t{1} << rank : std::uint64_t{0}});
    }
  }
  return bytes;
}

void HierarchicalState::refuse(Rank rank, const std::string& text) {
  if (fault_) return;
  const int step = at(rank).step;
  fault_ = HierarchicalFault{
      rank, step, "rank " + std::to_string(rank) + " step " + std::to_string(step) + ": " + text};
}

NodeByte HierarchicalState::read(Rank rank, Bytes byte) {
  HierarchicalMemory& memory = memory_[index(nodes_.node_of(rank))];
  if (byte < 0 || byte >= memory.bytes()) {
    refuse(rank, "reads beyond node memory");
    return {};
  }
  Rank racing = no_rank;
  const NodeByte value = memory.read(byte, rank, at(rank).now, at(rank).seen, racing);
  if (racing != no_rank) {
    refuse(rank, "reads byte " + std::to_string(byte) + " of node memory, which rank " +
                     std::to_string(racing) + " may be writing");
  }
  return value;
}

void HierarchicalState::write(Rank rank, Bytes byte, const NodeByte& value) {
  HierarchicalMemory& memory = memory_[index(nodes_.node_of(rank))];
  if (byte < 0 || byte >= memory.bytes()) return refuse(rank, "writes beyond node memory");
  Rank racing = no_rank;
  memory.write(byte, value, rank, at(rank).now, at(rank).seen, racing);
  if (racing != no_rank) {
    refuse(rank, "writes byte " + std::to_string(byte) + " of node memory, which rank " +
                     std::to_string(racing) + " may be using");
  }
}

void HierarchicalState::put(Rank rank, Bytes byte, const NodeByte& value) {
  if (byte < 0 || byte >= static_cast<Bytes>(at(rank).receive.size())) {
    return refuse(rank, "writes beyond its receive side");
  }
  NodeByte& place = at(rank).receive[index(byte)];
  if (place.origin >= 0) {
    return refuse(rank, "writes byte " + std::to_string(byte) + " of its receive side again");
  }
  place = value;
}

NodeByte HierarchicalState::read_end(Rank rank, HierarchicalArea area, Bytes byte) {
  if (area == HierarchicalArea::node) return read(rank, byte);
  const std::vector<NodeByte>& side =
      area == HierarchicalArea::send ? at(rank).send : at(rank).receive;
  if (byte < 0 || byte >= static_cast<Bytes>(side.size())) {
    refuse(rank, "reads beyond its side");
    return {};
  }
  return side[index(byte)];
}

NodeByte HierarchicalState::combined(Rank rank, const NodeByte& left, const NodeByte& right) {
  if (left.origin < 0 || left.origin != right.origin) {
    refuse(rank, "combines " + in_words(left) + " with " + in_words(right));
  } else if ((left.ranks & right.ranks) != 0) {
    refuse(rank, "combines a contribution twice");
  } else if (!call_.contract.commutative &&
             static_cast<int>(std::bit_width(left.ranks)) > std::countr_zero(right.ranks)) {
    refuse(rank, "combines out of order");
  }
  return {left.origin, left.ranks | right.ranks};
}

void HierarchicalState::check_elements(Rank rank, Bytes bytes, const NodeByte& first) {
  if (bytes % call_.unit != 0 || (bytes > 0 && first.origin % call_.unit != 0)) {
    refuse(rank, "combines a part of an element");
  }
}

void HierarchicalState::check_result(Rank rank) {
  if (call_.contract.collective == Collective::bcast && rank == call_.contract.root) return;
  std::vector<NodeByte> wanted = side(call_.contract.after(rank), rank);
  const std::uint64_t all =
      nodes_.p() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (nodes_.p() % 64)) - 1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (reduces(call_.contract.collective)) wanted[i].ranks = all;
    if (at(rank).receive[i] == wanted[i]) continue;
    return refuse(rank, "byte " + std::to_string(i) + " of its receive side is " +
                            in_words(at(rank).receive[i]) + " instead of " + in_words(wanted[i]));
  }
}

void HierarchicalState::join(HierarchicalClock& seen, const HierarchicalClock& other) {
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = std::max(seen[i], other[i]);
}

}  // namespace tutti
