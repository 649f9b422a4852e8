/// Agrees on the memory of results and fills them in place.
#include "run/hierarchical/mpi_shared.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

// The faults of a rank. Their sum shows which occurred, for fewer than 2^32 ranks.
constexpr Bytes no_memory = 1;
constexpr Bytes bad_arguments = Bytes{1} << 32;

std::shared_ptr<SharedMemory> mapped(std::unique_ptr<NodeSegment> segment) {
  if (segment == nullptr || !segment->allocate()) return nullptr;
  Mapping all = segment->map(SegmentView::shared);
  if (!all) return nullptr;
  return std::make_shared<SharedMemory>(std::move(segment), std::move(all));
}

/// Broadcasts the result of node `from` to all nodes.
int send_to_all(std::byte* result, Bytes bytes, int from, MPI_Comm comm) {
  constexpr Bytes max_at_once = Bytes{1} << 30;  // counts are int
  int error = MPI_SUCCESS;
  for (Bytes at = 0; at < bytes && error == MPI_SUCCESS; at += max_at_once) {
    const auto count = static_cast<int>(std::min(max_at_once, bytes - at));
    error = mpi().Bcast(result + at, count, mpi().byte, from, comm);
  }
  return error;
}

/// Exchanges the nodes' parts among all nodes, in place.
int exchange(const HierarchicalProblem& call, const Nodes& nodes, const ResultParts& parts,
             std::byte* result, MPI_Comm comm) {
  const MPI_Datatype byte = mpi().byte;
  if (call.collective == Collective::bcast) {
    return send_to_all(result, call.sizes.each, nodes.node_of(call.root), comm);
  }
  const std::vector<int>& counts = parts.counts;
  const bool equal = std::ranges::count(counts, counts.front()) == nodes.count();
  if (equal) return mpi().Allgather(MPI_IN_PLACE, 0, byte, result, counts.front(), byte, comm);
  return mpi().Allgatherv(MPI_IN_PLACE, 0, byte, result, counts.data(), parts.displacements.data(),
                          byte, comm);
}

/// The error of the first rank of the node, which writes its class to a word and then signals
/// `sequence`; else that of this rank. Codes beyond the classes are known to one process.
int error_of_first(SharedNode& node, std::int64_t RankWords::*word, NodeSignal::Count sequence,
                   int error) {
  std::int64_t& outcome = node.words(0).*word;
  if (node.local() == 0) {
    int known_to_all = error;
    if (error != MPI_SUCCESS) mpi().Error_class(error, &known_to_all);
    outcome = known_to_all;
    node.signal(0).signal_to(sequence);
    return error;
  }
  if (const int failed = node.wait(0, sequence)) return failed;
  return outcome == MPI_SUCCESS ? error : static_cast<int>(outcome);
}

}  // namespace

ResultParts parts_of(const HierarchicalProblem& call, const Nodes& nodes, Rank rank) {
  ResultParts parts;
  if (block_kind(call.collective) == BlockKind::parts) return parts;
  Bytes at = 0;
  for (int node = 0; node < nodes.count(); ++node) {
    const Bytes begin = at;
    for (const Rank one : nodes.ranks(node)) {
      if (one == rank) parts.own = at;
      at += call.sizes.of(one);
    }
    parts.displacements.push_back(static_cast<int>(begin));
    parts.counts.push_back(static_cast<int>(at - begin));
  }
  return parts;
}

int fill_in_place(HierarchicalRunner& runner, const HierarchicalProblem& call,
                  const ResultParts& parts, const HierarchicalSide& own,
                  const SharedMemory& memory) {
  const HierarchicalRunner::Turn turn(runner);
  PrivateComm* others = nullptr;
  int error = runner.first_ranks(others);
  SharedNode& node = runner.node();
  if (own.base != nullptr) {
    std::memcpy(memory.data() + parts.own, own.base, static_cast<std::size_t>(own.bytes));
  }
  const NodeSignal::Count written = runner.begin() + 1;
  node.signal(node.local()).signal_to(written);
  if (node.local() == 0 && error == MPI_SUCCESS) {
    error = node.wait(1, node.ranks(), written);
    if (others != nullptr && error == MPI_SUCCESS) {
      error = exchange(call, node.nodes(), parts, memory.data(), others->handle());
    }
  }
  return error_of_first(node, &RankWords::outcome, written + 1, error);
}

int share_outcome(HierarchicalRunner& runner, int error) {
  const HierarchicalRunner::Turn turn(runner);
  return error_of_first(runner.node(), &RankWords::outcome, runner.begin() + 1, error);
}

/// Bytes that memory `at` may keep, so that all memories together keep at most `most`.
Bytes SharedResults::kept_of(std::size_t at, Bytes most) const {
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    if (i != at && memories_[i] != nullptr) most -= memories_[i]->kept();
  }
  const Bytes whole = most / page_bytes() * page_bytes();
  return std::clamp<Bytes>(whole, 0, memories_[at]->capacity());
}

/// On the first rank: finds or creates the memory. False if that fails.
bool SharedResults::choose(const SharedRequest& wanted, const SharedNode& node, Order& order) {
  const Bytes bytes = *wanted.bytes;
  const auto is_free = [](const auto& memory) { return memory == nullptr || !memory->is_held(); };
  const auto is_empty = [](const auto& memory) { return memory == nullptr || memory->kept() == 0; };
  // A free memory that keeps nothing would only hold its descriptor.
  while (!memories_.empty() && is_free(memories_.back()) && is_empty(memories_.back())) {
    memories_.pop_back();
  }
  auto at = std::ranges::find_if(memories_, [&](const auto& memory) {
    return memory != nullptr && is_free(memory) && memory->capacity() >= bytes;
  });
  if (at == memories_.end()) {
    const Bytes size = page_bytes() + whole_pages(std::max<Bytes>(bytes, 1));
    auto made = mapped(NodeSegment::create(size, node.kind()));
    if (made == nullptr && node.ranks() == 1) {  // no earlier attempt has shown which kind works
      made = mapped(NodeSegment::create(size, NodeSegment::Kind::named));
    }
    if (made == nullptr) return false;
    // Replace a free memory, which is too small.
    at = std::ranges::find_if(memories_, is_free);
    if (at == memories_.end()) at = memories_.insert(memories_.end(), nullptr);
    *at = std::move(made);
  } else if (!(*at)->segment().allocate()) {
    return false;
  }
  order.index = at - memories_.begin();
  order.count = static_cast<std::int64_t>(memories_.size());
  order.name = (*at)->segment().name();
  return true;
}

/// On the other ranks: opens the selected memory. False if that fails.
bool SharedResults::open(const Order& order, Bytes bytes) {
  if (order.index < 0) return false;
  memories_.resize(index(order.count));
  auto& memory = memories_[index(order.index)];
  if (memory == nullptr || memory->segment().name() != order.name) {
    memory = mapped(NodeSegment::open(order.name));
  }
  return memory != nullptr && memory->capacity() >= bytes;
}

/// Maps the memory, which the first rank selects and the others open. Throws nothing, because its
/// node waits for it. Returns the rank's fault.
Bytes SharedResults::take(const SharedRequest& wanted, const SharedNode& node, Order& order,
                          void*& address) noexcept {
  if (!wanted.bytes) return bad_arguments;
  const bool is_first = node.local() == 0;
  try {
    if (is_first ? choose(wanted, node, order) : open(order, *wanted.bytes)) {
      const std::size_t at = index(order.index);
      if (is_first) memories_[at]->begin(node.ranks(), kept_of(at, wanted.kept));
      address = of_process<HeldResults>().hold(memories_[at], wanted.view);
      if (address != nullptr) return 0;
    }
  } catch (const std::bad_alloc&) {
    // It has no memory.
  }
  if (is_first) {
    if (order.index >= 0) memories_[index(order.index)] = nullptr;
    order = {};
  }
  return no_memory;
}

/// On the first rank, once all of its node have tried to open the memory: adds up the faults of all
/// ranks, and keeps the memory or drops it. Returns the error of all.
int SharedResults::agree(HierarchicalRunner& runner, PrivateComm* others, const Order& order) {
  SharedNode& node = runner.node();
  int error = node.wait(1, node.ranks(), runner.begin() + 2);
  Bytes here = 0;
  for (int local = 0; local < node.ranks(); ++local) here += node.words(local).fault;
  std::shared_ptr<SharedMemory>* const chosen =
      order.index < 0 ? nullptr : &memories_[index(order.index)];
  // Before other nodes continue: a process killed until then leaves the name.
  if (chosen != nullptr) (*chosen)->segment().take_name_away();
  Bytes all = here;
  if (error == MPI_SUCCESS && others != nullptr) error = sum_on_all(others->handle(), here, all);
  if (error != MPI_SUCCESS) here = all = no_memory;
  if (chosen != nullptr && all != 0) (*chosen)->withdraw();
  // Not all ranks have it, and its name may be gone.
  if (chosen != nullptr && here != 0) *chosen = nullptr;
  if (error != MPI_SUCCESS || all == 0) return error;
  return all >= bad_arguments ? MPI_ERR_OTHER : MPI_ERR_NO_MEM;
}

int SharedResults::acquire(HierarchicalRunner& runner, const SharedRequest& wanted,
                           SharedResult& result) {
  const HierarchicalRunner::Turn turn(runner);
  PrivateComm* others = nullptr;
  int error = runner.first_ranks(others);
  SharedNode& node = runner.node();
  const NodeSignal::Count come = runner.begin() + 1;
  Order order;
  Bytes fault = no_memory;
  void* address = nullptr;
  if (node.local() == 0) {
    // All must have read the last order, and be present to open a segment that has a name.
    if (error == MPI_SUCCESS) error = node.wait(1, node.ranks(), come);
    if (error == MPI_SUCCESS) fault = take(wanted, node, order, address);
    node.words(0).order = order;
  } else {
    node.signal(node.local()).signal_to(come);
    if (error == MPI_SUCCESS) error = node.wait(0, come);
    order = node.words(0).order;
    if (error == MPI_SUCCESS) fault = take(wanted, node, order, address);
  }
  if (address != nullptr) result.memory = memories_[index(order.index)];
  node.words(node.local()).fault = fault;
  node.signal(node.local()).signal_to(node.local() == 0 ? come : come + 1);
  if (node.local() == 0 && error == MPI_SUCCESS) error = agree(runner, others, order);
  error = error_of_first(node, &RankWords::acquired, come + 1, error);
  if (error == MPI_SUCCESS) {
    result.address.reset(address);
  } else if (address != nullptr) {
    of_process<HeldResults>().withdraw(address);
    result.memory = nullptr;
  }
  return error;
}

}  // namespace tutti
