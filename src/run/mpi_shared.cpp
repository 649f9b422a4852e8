/// Agreeing on the memory of a result.
#include "run/mpi_shared.hpp"

#include <algorithm>
#include <cstring>

namespace tutti {

/// What the first rank of a node tells the others.
struct SharedResults::Order {
  std::int64_t index = -1;  ///< which memory; none was to be had if negative
  SegmentName name;
};

namespace {

/// Where a rank's further words for results begin (see SharedNode::told).
constexpr int opened_word = 3;
constexpr int order_words = 4;

Bytes whole_pages(Bytes bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

std::shared_ptr<SharedMemory> mapped(std::optional<NodeSegment> segment) {
  if (!segment) return nullptr;
  Mapping all = segment->map(SegmentView::shared);
  if (!all) return nullptr;
  return std::make_shared<SharedMemory>(std::move(*segment), std::move(all));
}

}  // namespace

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
bool SharedResults::open(const Order& order) {
  if (order.index < 0) return false;
  const auto index = static_cast<std::size_t>(order.index);
  if (memories_.size() <= index) memories_.resize(index + 1);
  auto& memory = memories_[index];
  if (memory == nullptr || std::memcmp(&memory->name(), &order.name, sizeof order.name) != 0) {
    memory = mapped(NodeSegment::open(order.name));
  }
  return memory != nullptr;
}

int SharedResults::acquire(LevelRunner& levels, Bytes bytes,
                           std::shared_ptr<SharedMemory>& memory) {
  SharedNode& node = levels.node();
  const NodeFlag::Count told = levels.begin() + 1;
  const int words = 2 * node.nodes().p();
  Order order;
  bool opened = false;
  int error = MPI_SUCCESS;
  if (node.local() == 0) {
    // Until all have read what was told before.
    for (int local = 1; local < node.ranks(); ++local) {
      if (error == MPI_SUCCESS) error = node.wait(local, levels.begin());
    }
    opened = error == MPI_SUCCESS && choose(bytes, order) == MPI_SUCCESS;
    if (opened) memories_[static_cast<std::size_t>(order.index)]->held() = node.ranks();
    std::memcpy(node.told(0) + words + order_words, &order, sizeof order);
  } else {
    error = node.wait(0, told);
    std::memcpy(static_cast<void*>(&order), node.told(0) + words + order_words, sizeof order);
    opened = error == MPI_SUCCESS && open(order);
  }
  node.told(node.local())[words + opened_word] = opened ? 1 : 0;
  node.flag(node.local()).raise_to(told);
  bool all = opened;
  for (int local = 0; local < node.ranks() && error == MPI_SUCCESS; ++local) {
    error = node.wait(local, told);
    all = all && node.told(local)[words + opened_word] == 1;
  }
  levels.skip();
  if (error != MPI_SUCCESS) return error;
  if (all) memory = memories_[static_cast<std::size_t>(order.index)];
  return all ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

}  // namespace tutti
