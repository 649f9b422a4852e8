/// Agreeing on the memory of a result.
#include "run/hierarchical/mpi_shared.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "run/mpi/agree.hpp"

namespace tutti {

/// What the first rank of a node tells the others.
struct SharedResults::Order {
  std::int64_t index = -1;  ///< which memory; none was to be had if negative
  std::int64_t count = 0;   ///< of memories, from now on
  SegmentName name;
};

/// What the ranks of this node, and of all, have against a call.
struct SharedResults::Faults {
  Bytes here = 0;
  Bytes all = 0;
};

namespace {

// Where a rank's further words for results begin.
constexpr int fault_word = HierarchicalRunner::further_words;
constexpr int faults_word = fault_word + 1;
constexpr int outcome_word = fault_word + 2;
constexpr int order_words = fault_word + 3;

// What a rank has against the call; sums tell whether any has it, of fewer than 2^32 ranks.
constexpr Bytes no_memory = 1;
constexpr Bytes bad_arguments = Bytes{1} << 32;

Bytes whole_pages(Bytes bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

std::shared_ptr<SharedMemory> mapped(std::optional<NodeSegment> segment) {
  if (!segment || !segment->allocate(segment->bytes())) return nullptr;
  Mapping all = segment->map(SegmentView::shared);
  if (!all) return nullptr;
  return std::make_shared<SharedMemory>(std::move(*segment), std::move(all));
}

/// Where each rank's part begins, and the end of the last one.
std::vector<Bytes> offsets_of(const HierarchicalProblem& call, int p) {
  std::vector<Bytes> at(static_cast<std::size_t>(p) + 1, 0);
  if (call.collective == Collective::bcast) return at;
  const std::vector<Bytes>& sizes = call.sizes.by_rank;
  for (std::size_t rank = 0; rank + 1 < at.size(); ++rank) {
    at[rank + 1] = at[rank] + (sizes.empty() ? call.sizes.each : sizes[rank]);
  }
  return at;
}

/// Brings the result to all nodes from one that has it.
int send_to_all(std::byte* result, Bytes bytes, int from, MPI_Comm comm) {
  constexpr Bytes max_at_once = Bytes{1} << 30;  // calls count in an int
  int error = MPI_SUCCESS;
  for (Bytes at = 0; at < bytes && error == MPI_SUCCESS; at += max_at_once) {
    const auto count = static_cast<int>(std::min(max_at_once, bytes - at));
    error = mpi().Bcast(result + at, count, mpi().byte, from, comm);
  }
  return error;
}

/// Brings each node's part to all others, in place.
int exchange(const HierarchicalProblem& call, const Nodes& nodes, const std::vector<Bytes>& offsets,
             std::byte* result, MPI_Comm comm) {
  const MPI_Datatype byte = mpi().byte;
  if (call.collective == Collective::bcast) {
    return send_to_all(result, call.sizes.each, nodes.node_of(call.root), comm);
  }
  std::vector<int> counts;
  std::vector<int> displacements;
  for (int node = 0; node < nodes.count(); ++node) {
    const auto first = static_cast<std::size_t>(nodes.rank_at(node, 0));
    const auto last = first + static_cast<std::size_t>(nodes.size(node));
    displacements.push_back(static_cast<int>(offsets[first]));
    counts.push_back(static_cast<int>(offsets[last] - offsets[first]));
  }
  const bool equal = std::all_of(counts.begin(), counts.end(),
                                 [&counts](int count) { return count == counts.front(); });
  if (equal) return mpi().Allgather(MPI_IN_PLACE, 0, byte, result, counts.front(), byte, comm);
  return mpi().Allgatherv(MPI_IN_PLACE, 0, byte, result, counts.data(), displacements.data(), byte,
                          comm);
}

}  // namespace

int fill_in_place(HierarchicalRunner& levels, const HierarchicalProblem& call,
                  const SharedPart& own, const SharedMemory& memory) {
  const HierarchicalRunner::Turn turn(levels);
  PrivateComm* others = nullptr;
  int error = levels.first_ranks(others);
  SharedNode& node = levels.node();
  const std::vector<Bytes> offsets = offsets_of(call, node.nodes().p());
  if (own.address != nullptr) {
    std::memcpy(memory.data() + offsets[static_cast<std::size_t>(own.rank)], own.address,
                static_cast<std::size_t>(own.bytes));
  }
  const NodeSignal::Count written = levels.begin() + 1;
  const NodeSignal::Count filled = levels.begin() + 2;
  std::int64_t& outcome = node.further(0)[outcome_word];
  node.signal(node.local()).signal_to(written);
  if (node.local() == 0) {
    for (int local = 1; local < node.ranks() && error == MPI_SUCCESS; ++local) {
      error = node.wait(local, written);
    }
    if (others != nullptr && error == MPI_SUCCESS) {
      error = exchange(call, node.nodes(), offsets, memory.data(), others->handle());
    }
    outcome = error;
    node.signal(0).signal_to(filled);
  } else if (error == MPI_SUCCESS) {
    error = node.wait(0, filled);
    if (error == MPI_SUCCESS) error = static_cast<int>(outcome);
  }
  return error;
}

int share_outcome(HierarchicalRunner& levels, int error) {
  const HierarchicalRunner::Turn turn(levels);
  SharedNode& node = levels.node();
  std::int64_t& outcome = node.further(0)[outcome_word];
  const NodeSignal::Count told = levels.begin() + 1;
  if (node.local() == 0) {
    outcome = error;
    node.signal(0).signal_to(told);
    return error;
  }
  const int failed = node.wait(0, told);
  if (failed != MPI_SUCCESS) return failed;
  return outcome == MPI_SUCCESS ? error : static_cast<int>(outcome);
}

/// What a memory may keep, so that all of them together keep no more than `most`.
Bytes SharedResults::kept_of(std::size_t index, Bytes most) const {
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    if (i != index && memories_[i] != nullptr) most -= memories_[i]->kept();
  }
  const Bytes whole = most / page_bytes() * page_bytes();
  return std::clamp<Bytes>(whole, 0, memories_[index]->capacity());
}

/// The first rank: finds or makes the memory.
int SharedResults::choose(const SharedRequest& wanted, const SharedNode& node, Order& order) {
  const Bytes bytes = *wanted.bytes;
  const auto is_free = [](const auto& memory) { return memory == nullptr || !memory->is_held(); };
  const auto is_empty = [](const auto& memory) { return memory == nullptr || memory->kept() == 0; };
  // Of what keeps nothing only the descriptors would be left.
  while (!memories_.empty() && is_free(memories_.back()) && is_empty(memories_.back())) {
    memories_.pop_back();
  }
  auto at = std::find_if(memories_.begin(), memories_.end(), [&](const auto& memory) {
    return memory != nullptr && is_free(memory) && memory->capacity() >= bytes;
  });
  if (at == memories_.end()) {
    const Bytes size = page_bytes() + whole_pages(std::max<Bytes>(bytes, 1));
    auto made = mapped(NodeSegment::create(size, node.kind()));
    if (made == nullptr && node.ranks() == 1) {  // has never tried which kind works
      made = mapped(NodeSegment::create(size, NodeSegment::Kind::named));
    }
    if (made == nullptr) return MPI_ERR_NO_MEM;
    // What is too small now takes the place of what nobody holds.
    at = std::find_if(memories_.begin(), memories_.end(), is_free);
    if (at == memories_.end()) at = memories_.insert(memories_.end(), nullptr);
    *at = std::move(made);
  } else if (!(*at)->segment().allocate((*at)->segment().bytes())) {
    return MPI_ERR_NO_MEM;
  }
  order.index = at - memories_.begin();
  order.count = static_cast<std::int64_t>(memories_.size());
  order.name = (*at)->segment().name();
  return MPI_SUCCESS;
}

/// Any other rank.
bool SharedResults::open(const Order& order, Bytes bytes) {
  if (order.index < 0) return false;
  memories_.resize(static_cast<std::size_t>(order.count));
  auto& memory = memories_[static_cast<std::size_t>(order.index)];
  if (memory == nullptr || memory->segment().name() != order.name) {
    memory = mapped(NodeSegment::open(order.name));
  }
  return memory != nullptr && memory->capacity() >= bytes;
}

/// The first rank, whose node's ranks wait for it whatever it cannot do. Returns its fault.
Bytes SharedResults::provide(const SharedRequest& wanted, const SharedNode& node, Order& order,
                             void*& address) noexcept {
  if (!wanted.bytes) return bad_arguments;
  try {
    if (choose(wanted, node, order) == MPI_SUCCESS) {
      const auto index = static_cast<std::size_t>(order.index);
      memories_[index]->begin(node.ranks(), kept_of(index, wanted.kept));
      address = HeldResults::all().hold(memories_[index], wanted.view);
      if (address != nullptr) return 0;
      memories_[index] = nullptr;
    }
  } catch (const std::bad_alloc&) {
    if (order.index >= 0) memories_[static_cast<std::size_t>(order.index)] = nullptr;
  }
  order = {};
  return no_memory;
}

/// The same of any other rank.
Bytes SharedResults::follow(const SharedRequest& wanted, const Order& order,
                            void*& address) noexcept {
  if (!wanted.bytes) return bad_arguments;
  try {
    if (!open(order, *wanted.bytes)) return no_memory;
    address =
        HeldResults::all().hold(memories_[static_cast<std::size_t>(order.index)], wanted.view);
    return address == nullptr ? no_memory : 0;
  } catch (const std::bad_alloc&) {
    return no_memory;
  }
}

/// The first rank of a node: have all ranks of the call their node's memory?
int SharedResults::agree(HierarchicalRunner& levels, PrivateComm* others, SharedMemory* memory,
                         Faults& faults) {
  SharedNode& node = levels.node();
  int error = MPI_SUCCESS;
  for (int local = 0; local < node.ranks() && error == MPI_SUCCESS; ++local) {
    if (local > 0) error = node.wait(local, levels.begin() + 2);
    faults.here += node.further(local)[fault_word];
  }
  // Before other nodes go on: until then one that is killed would leave the name.
  if (memory != nullptr) memory->segment().take_name_away();
  faults.all = faults.here;
  if (error == MPI_SUCCESS && others != nullptr) {
    error = sum_on_all(others->handle(), faults.here, faults.all);
  }
  return error;
}

/// The first rank, once all of its node have opened what they can: what becomes of the memory.
void SharedResults::settle(const Order& order, const Faults& faults) {
  if (order.index < 0) return;
  auto& chosen = memories_[static_cast<std::size_t>(order.index)];
  if (faults.all != 0) chosen->withdraw();
  // Not all have it, and its name may be gone.
  if (faults.here != 0) chosen = nullptr;
}

int SharedResults::acquire(HierarchicalRunner& levels, const SharedRequest& wanted,
                           SharedResult& result) {
  const HierarchicalRunner::Turn turn(levels);
  PrivateComm* others = nullptr;
  int error = levels.first_ranks(others);
  SharedNode& node = levels.node();
  const NodeSignal::Count come = levels.begin() + 1;
  std::int64_t& outcome = node.further(0)[faults_word];
  Order order;
  Bytes fault = no_memory;
  void* address = nullptr;
  if (node.local() == 0) {
    // All must have read what was told before, and be there to open what may have a name.
    for (int local = 1; local < node.ranks(); ++local) {
      if (error == MPI_SUCCESS) error = node.wait(local, come);
    }
    if (error == MPI_SUCCESS) fault = provide(wanted, node, order, address);
    std::memcpy(node.further(0) + order_words, &order, sizeof order);
  } else {
    node.signal(node.local()).signal_to(come);
    if (error == MPI_SUCCESS) error = node.wait(0, come);
    std::memcpy(static_cast<void*>(&order), node.further(0) + order_words, sizeof order);
    if (error == MPI_SUCCESS) fault = follow(wanted, order, address);
  }
  if (address != nullptr) result.memory = memories_[static_cast<std::size_t>(order.index)];
  node.further(node.local())[fault_word] = fault;
  node.signal(node.local()).signal_to(node.local() == 0 ? come : come + 1);
  Bytes faults = no_memory;
  if (node.local() == 0) {
    Faults found;
    if (error == MPI_SUCCESS) error = agree(levels, others, result.memory.get(), found);
    if (error != MPI_SUCCESS) found = {no_memory, no_memory};
    settle(order, found);
    faults = found.all;
    outcome = faults;
    node.signal(0).signal_to(come + 1);
  } else if (error == MPI_SUCCESS) {
    error = node.wait(0, come + 1);
    if (error == MPI_SUCCESS) faults = outcome;
  }
  if (error == MPI_SUCCESS && faults != 0) {
    error = faults >= bad_arguments ? MPI_ERR_OTHER : MPI_ERR_NO_MEM;
  }
  if (error == MPI_SUCCESS) {
    result.address.reset(address);
  } else if (address != nullptr) {
    HeldResults::all().withdraw(address);
    result.memory = nullptr;
  }
  return error;
}

}  // namespace tutti
