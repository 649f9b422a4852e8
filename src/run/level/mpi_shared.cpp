/// Agreeing on the memory of a result.
#include "run/level/mpi_shared.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "run/mpi/agree.hpp"

namespace tutti {

/// What the first rank of a node tells the others.
struct SharedResults::Order {
  std::int64_t index = -1;  ///< which memory; none was to be had if negative
  SegmentName name;
};

namespace {

/// Where a rank's further words for results begin (see SharedNode::told).
constexpr int fault_word = 3;
constexpr int order_words = 4;
constexpr int outcome_word = 20;

// What a rank has against the call; sums tell whether any has it, of fewer than 2^32 ranks.
constexpr Bytes no_memory = 1;
constexpr Bytes bad_arguments = Bytes{1} << 32;

Bytes whole_pages(Bytes bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

std::shared_ptr<SharedMemory> mapped(std::optional<NodeSegment> segment) {
  if (!segment) return nullptr;
  Mapping all = segment->map(SegmentView::shared);
  if (!all) return nullptr;
  return std::make_shared<SharedMemory>(std::move(*segment), std::move(all));
}

/// Where each rank's part begins, and the end of the last one.
std::vector<Bytes> offsets_of(const LevelCall& call, int p) {
  std::vector<Bytes> at(static_cast<std::size_t>(p) + 1, 0);
  if (call.collective == Collective::bcast) return at;
  const std::vector<Bytes>& sizes = call.sizes.by_rank;
  for (std::size_t rank = 0; rank + 1 < at.size(); ++rank) {
    at[rank + 1] = at[rank] + (sizes.empty() ? call.sizes.each : sizes[rank]);
  }
  return at;
}

/// Brings each node's part to all others, in place.
int exchange(const LevelCall& call, const Nodes& nodes, const std::vector<Bytes>& offsets,
             std::byte* result, MPI_Comm comm) {
  const MPI_Datatype byte = mpi().byte;
  if (call.collective == Collective::bcast) {
    return mpi().Bcast(result, static_cast<int>(call.sizes.each), byte, nodes.node_of(call.root),
                       comm);
  }
  std::vector<int> counts;
  std::vector<int> places;
  for (int node = 0; node < nodes.count(); ++node) {
    const auto first = static_cast<std::size_t>(nodes.rank_at(node, 0));
    const auto last = first + static_cast<std::size_t>(nodes.size(node));
    places.push_back(static_cast<int>(offsets[first]));
    counts.push_back(static_cast<int>(offsets[last] - offsets[first]));
  }
  const bool equal = std::all_of(counts.begin(), counts.end(),
                                 [&counts](int count) { return count == counts.front(); });
  if (equal) return mpi().Allgather(MPI_IN_PLACE, 0, byte, result, counts.front(), byte, comm);
  return mpi().Allgatherv(MPI_IN_PLACE, 0, byte, result, counts.data(), places.data(), byte, comm);
}

}  // namespace

int fill_in_place(LevelRunner& levels, const LevelCall& call, const SharedPart& own,
                  const SharedMemory& memory) {
  const LevelRunner::Turn turn(levels);
  PrivateComm* others = nullptr;
  int error = levels.first_ranks(others);
  SharedNode& node = levels.node();
  const std::vector<Bytes> offsets = offsets_of(call, node.nodes().p());
  if (own.address != nullptr) {
    std::memcpy(memory.data() + offsets[static_cast<std::size_t>(own.rank)], own.address,
                static_cast<std::size_t>(own.bytes));
  }
  const NodeFlag::Count written = levels.begin() + 1;
  const NodeFlag::Count filled = levels.begin() + 2;
  std::int64_t& outcome = node.told(0)[2 * node.nodes().p() + outcome_word];
  node.flag(node.local()).raise_to(written);
  if (node.local() == 0) {
    for (int local = 1; local < node.ranks() && error == MPI_SUCCESS; ++local) {
      error = node.wait(local, written);
    }
    if (others != nullptr && error == MPI_SUCCESS) {
      error = exchange(call, node.nodes(), offsets, memory.data(), others->handle());
    }
    outcome = error;
    node.flag(0).raise_to(filled);
  } else if (error == MPI_SUCCESS) {
    error = node.wait(0, filled);
    if (error == MPI_SUCCESS) error = static_cast<int>(outcome);
  }
  return error;
}

/// The first rank: finds or makes the memory.
int SharedResults::choose(Bytes bytes, Order& order) {
  const auto free = std::find_if(memories_.begin(), memories_.end(), [bytes](const auto& memory) {
    return memory != nullptr && memory->capacity() >= bytes && memory->held() == 0;
  });
  auto at = free;
  if (free == memories_.end()) {
    auto made = mapped(NodeSegment::create(page_bytes() + whole_pages(std::max<Bytes>(bytes, 1))));
    if (made == nullptr) return MPI_ERR_NO_MEM;
    // What is too small now takes the place of what nobody holds.
    at = std::find_if(memories_.begin(), memories_.end(),
                      [](const auto& memory) { return memory == nullptr || memory->held() == 0; });
    if (at == memories_.end()) at = memories_.insert(memories_.end(), nullptr);
    *at = std::move(made);
  }
  order.index = at - memories_.begin();
  order.name = (*at)->name();
  return MPI_SUCCESS;
}

/// Any other rank.
bool SharedResults::open(const Order& order, Bytes bytes) {
  if (order.index < 0) return false;
  const auto index = static_cast<std::size_t>(order.index);
  if (memories_.size() <= index) memories_.resize(index + 1);
  auto& memory = memories_[index];
  if (memory == nullptr || memory->name() != order.name) {
    memory = mapped(NodeSegment::open(order.name));
  }
  return memory != nullptr && memory->capacity() >= bytes;
}

/// The first rank, whose node's ranks wait for it whatever it cannot do. Returns its fault.
Bytes SharedResults::provide(std::optional<Bytes> bytes, const SharedNode& node,
                             Order& order) noexcept {
  if (!bytes) return bad_arguments;
  try {
    if (choose(*bytes, order) != MPI_SUCCESS) return no_memory;
  } catch (const std::bad_alloc&) {
    order = {};
    return no_memory;
  }
  memories_[static_cast<std::size_t>(order.index)]->held() = node.ranks();
  return 0;
}

/// The same of any other rank.
Bytes SharedResults::follow(std::optional<Bytes> bytes, const Order& order) noexcept {
  if (!bytes) return bad_arguments;
  try {
    return open(order, *bytes) ? 0 : no_memory;
  } catch (const std::bad_alloc&) {
    return no_memory;
  }
}

/// The first rank of a node: have all ranks of the call their node's memory?
int SharedResults::agree(LevelRunner& levels, PrivateComm* others, NodeFlag::Count told,
                         Bytes& faults) {
  SharedNode& node = levels.node();
  int error = MPI_SUCCESS;
  faults = 0;
  for (int local = 0; local < node.ranks() && error == MPI_SUCCESS; ++local) {
    error = node.wait(local, told);
    faults += node.told(local)[2 * node.nodes().p() + fault_word];
  }
  if (error == MPI_SUCCESS && others != nullptr) {
    const Bytes here = faults;
    error = sum_on_all(others->handle(), here, faults);
  }
  return error;
}

int SharedResults::acquire(LevelRunner& levels, std::optional<Bytes> bytes,
                           std::shared_ptr<SharedMemory>& memory) {
  const LevelRunner::Turn turn(levels);
  PrivateComm* others = nullptr;
  int error = levels.first_ranks(others);
  SharedNode& node = levels.node();
  const NodeFlag::Count told = levels.begin() + 1;
  const int words = 2 * node.nodes().p();
  std::int64_t& outcome = node.told(0)[words + outcome_word];
  Order order;
  Bytes fault = no_memory;
  if (node.local() == 0) {
    // Until all have read what was told before.
    for (int local = 1; local < node.ranks(); ++local) {
      if (error == MPI_SUCCESS) error = node.wait(local, levels.begin());
    }
    if (error == MPI_SUCCESS) fault = provide(bytes, node, order);
    std::memcpy(node.told(0) + words + order_words, &order, sizeof order);
  } else {
    if (error == MPI_SUCCESS) error = node.wait(0, told);
    std::memcpy(static_cast<void*>(&order), node.told(0) + words + order_words, sizeof order);
    if (error == MPI_SUCCESS) fault = follow(bytes, order);
  }
  node.told(node.local())[words + fault_word] = fault;
  node.flag(node.local()).raise_to(told);
  Bytes faults = no_memory;
  if (node.local() == 0) {
    if (error == MPI_SUCCESS) error = agree(levels, others, told, faults);
    outcome = faults;
    node.flag(0).raise_to(told + 1);
  } else if (error == MPI_SUCCESS) {
    error = node.wait(0, told + 1);
    faults = outcome;
  }
  if (error == MPI_SUCCESS && faults != 0) {
    error = faults >= bad_arguments ? MPI_ERR_OTHER : MPI_ERR_NO_MEM;
  }
  if (fault != 0) return error;
  const auto& chosen = memories_[static_cast<std::size_t>(order.index)];
  if (error == MPI_SUCCESS) memory = chosen;
  if (error != MPI_SUCCESS && node.local() == 0) chosen->held() = 0;
  return error;
}

}  // namespace tutti
