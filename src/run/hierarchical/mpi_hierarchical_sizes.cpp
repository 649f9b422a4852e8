/// Exchanges selections and sizes within nodes, and agrees on the number of chunks.
#include <algorithm>

#include "run/hierarchical/mpi_hierarchical.hpp"

namespace tutti {

namespace {

/// A word of RankWords::ByCall, or `chunks`, holds a number below this, plus the mark of its call.
/// So a reader ignores the word of an earlier or later call.
constexpr std::int64_t max_recorded = std::int64_t{1} << 48;
constexpr NodeSignal::Count distinguished_calls = 1 << 15;
/// Instead of a selection, which is an int.
constexpr std::int64_t passed_selection = std::int64_t{1} << 32;

}  // namespace

void HierarchicalRunner::pass() {
  note(&RankWords::selections, passed_selection);
  skip();
}

int HierarchicalRunner::broadcast_selection(bool knows, int& candidate) {
  note(&RankWords::selections, knows ? std::optional(candidate) : std::nullopt);
  node_->signal(node_->local()).signal_to(begin_ + selection_sequence);
  for (int local = 0; local < node_->ranks() && !knows; ++local) {
    if (local == node_->local()) continue;
    if (const int error = node_->wait(local, begin_ + selection_sequence)) return error;
    const auto selected = recorded(&RankWords::selections, local, passed_selection);
    knows = selected.has_value();
    if (selected) candidate = *selected == passed_selection ? -1 : static_cast<int>(*selected);
  }
  return MPI_SUCCESS;
}

std::atomic_ref<std::int64_t> HierarchicalRunner::word_of_call(WordsByCall words, int local) const {
  RankWords::ByCall& by_call = node_->words(local).*words;
  return std::atomic_ref(by_call[begin_ / sequence_numbers_of_call % by_call.size()]);
}

/// A multiple of max_recorded for the call that begins now. All ranks count calls alike, even after
/// errors.
std::int64_t HierarchicalRunner::mark_of_call() const {
  return static_cast<std::int64_t>(begin_ / sequence_numbers_of_call % distinguished_calls) *
         max_recorded;
}

/// Records a number from 0, or none, for the call that begins now. Ranks that then see this rank's
/// signal may read it.
void HierarchicalRunner::note(WordsByCall words, std::optional<std::int64_t> number) {
  word_of_call(words, node_->local())
      .store(mark_of_call() + (number ? *number + 1 : 0), std::memory_order_relaxed);
}

/// The number that a rank which has counted this call has recorded for it, or none. `otherwise` if
/// it has recorded one of a later call in its place, or has left: then it waited for nobody.
std::optional<std::int64_t> HierarchicalRunner::recorded(WordsByCall words, int local,
                                                         std::int64_t otherwise) const {
  const std::int64_t word = word_of_call(words, local).load(std::memory_order_relaxed);
  const std::int64_t number = word - mark_of_call();
  if (number < 0 || number >= max_recorded) return otherwise;
  return number > 0 ? std::optional(number - 1) : std::nullopt;
}

/// Do the sizes match, as far as the node knows? A gatherv or scatterv compares this rank's size
/// with the root's count, an alltoallv what it expects with what ranks of its node send.
bool HierarchicalRunner::fits(const HierarchicalCall& hierarchical) const {
  const Collective collective = hierarchical.call.collective;
  if (hierarchical.is_dummy || !exchanges_sizes(collective)) return true;
  const CallSizes& sizes = hierarchical.call.sizes;
  const Nodes& nodes = node_->nodes();
  const auto rank = index(node_->rank());
  const auto p = index(nodes.p());
  if (has_root(collective)) return sizes.by_rank[rank] == sizes.own;
  const std::int64_t* const received = exchanged_sizes(node_->local()) + p;
  for (int local = 0; local < node_->ranks(); ++local) {
    const auto from = index(nodes.rank_at(nodes.node_of(node_->rank()), local));
    if (sizes.sent[index(local) * p + rank] != received[from]) return false;
  }
  return true;
}

/// Sets the sizes that do not follow from this rank's arguments.
int HierarchicalRunner::learn(HierarchicalCall& hierarchical, Lanes& lanes) {
  if (!exchanges_sizes(hierarchical.call.collective)) return learn_size(hierarchical);
  if (const int error = exchange_sizes(hierarchical)) return error;
  read_sizes(hierarchical);
  return agree_on_chunks(hierarchical, lanes);
}

int HierarchicalRunner::learn_size(HierarchicalCall& hierarchical) {
  Bytes& each = hierarchical.call.sizes.each;
  note(&RankWords::sizes, hierarchical.is_dummy ? std::nullopt : std::optional(each));
  if (!hierarchical.is_dummy) return MPI_SUCCESS;
  // Take the others' sizes, because this rank's inner calls must match theirs.
  const int error = signal_and_await(begin_ + sizes_sequence, 0, node_->ranks());
  for (int local = 0; local < node_->ranks(); ++local) {
    each = std::max<Bytes>(each, recorded(&RankWords::sizes, local, 0).value_or(0));
  }
  return error;
}

/// All nodes use as many chunks as the one that needs most. Their first ranks agree on the number.
int HierarchicalRunner::agree_on_chunks(HierarchicalCall& hierarchical, Lanes& lanes) {
  int error = MPI_SUCCESS;
  if (node_->local() == 0) {
    const int chunks = chunks_for(hierarchical.call, node_->nodes(), node_->rank(),
                                  *capacity_for(hierarchical.call.collective))
                           .value_or(refused_chunks);
    std::vector<int> all = {chunks};
    if (!lanes.empty()) error = gather_at_all(chunks, all, lanes.front()->handle());
    node_->words(0).chunks = mark_of_call() + std::ranges::max(all);
  }
  keep_first(error, signal_and_await(begin_ + chunks_sequence, 0, 1));
  const std::int64_t chunks = node_->words(0).chunks - mark_of_call();
  // A first rank that has left the call has signalled, but has recorded no number for it.
  if (chunks < 1 || chunks > refused_chunks) keep_first(error, MPI_ERR_OTHER);
  if (error == MPI_SUCCESS) hierarchical.call.chunks = static_cast<int>(chunks);
  return error;
}

int HierarchicalRunner::signal_and_await(NodeSignal::Count sequence, int first, int last) {
  node_->signal(node_->local()).signal_to(sequence);
  return node_->wait(first, last, sequence);
}

Bytes HierarchicalRunner::size_exchange_bytes(Collective collective) const {
  if (!exchanges_sizes(collective)) return 0;
  const Nodes& nodes = node_->nodes();
  const Bytes bytes = Bytes{2 * sizeof(std::int64_t)} * nodes.p() * nodes.most();
  return (bytes + 63) / 64 * 64;  // whole cache lines
}

int HierarchicalRunner::exchange_sizes(HierarchicalCall& hierarchical) {
  // Wait until all have read the sizes of the last call.
  if (const int error = node_->wait(0, node_->ranks(), begin_)) return error;
  const CallSizes& own = hierarchical.call.sizes;
  std::int64_t* next = exchanged_sizes(node_->local());
  if (has_root(hierarchical.call.collective)) *next++ = own.own;
  for (const auto* some : {&own.by_rank, &own.sent, &own.received}) {
    next = std::ranges::copy(*some, next).out;
  }
  node_->words(node_->local()).exchanged = hierarchical.is_dummy ? 0 : mark_of_call() + 1;
  return signal_and_await(begin_ + sizes_sequence, 0, node_->ranks());
}

/// Ranks that have left the call without their sizes count as ranks with empty blocks.
void HierarchicalRunner::read_sizes(HierarchicalCall& hierarchical) const {
  const Nodes& nodes = node_->nodes();
  const auto p = index(nodes.p());
  CallSizes& sizes = hierarchical.call.sizes;
  const int here = nodes.node_of(node_->rank());
  const std::vector<std::int64_t> none(2 * p, 0);
  const auto sizes_of = [&](int local) -> const std::int64_t* {
    const bool is_current = node_->words(local).exchanged == mark_of_call() + 1;
    return is_current ? exchanged_sizes(local) : none.data();
  };
  if (hierarchical.call.collective == Collective::alltoallv) {
    sizes = {};
    for (int local = 0; local < node_->ranks(); ++local) {
      const std::int64_t* exchanged = sizes_of(local);
      sizes.sent.insert(sizes.sent.end(), exchanged, exchanged + p);
      sizes.received.insert(sizes.received.end(), exchanged + p, exchanged + 2 * p);
    }
    // If ranks of the node contradict one another, the sender's size counts (see fits).
    for (int from = 0; from < node_->ranks(); ++from) {
      const auto sender = index(nodes.rank_at(here, from));
      for (int to = 0; to < node_->ranks(); ++to) {
        sizes.received[index(to) * p + sender] = sizes_of(from)[nodes.rank_at(here, to)];
      }
    }
    return;
  }
  if (nodes.node_of(hierarchical.call.root) == here) {
    // The root's counts apply.
    const std::int64_t* exchanged = sizes_of(nodes.local_of(hierarchical.call.root)) + 1;
    sizes.by_rank.assign(exchanged, exchanged + p);
    return;
  }
  sizes.by_rank.assign(p, 0);
  for (int local = 0; local < node_->ranks(); ++local) {
    const auto rank = index(nodes.rank_at(here, local));
    sizes.by_rank[rank] = sizes_of(local)[0];
  }
}

}  // namespace tutti
