/// Exchanges sizes, plans hierarchical calls and executes the plans.
#include "run/hierarchical/mpi_hierarchical.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace tutti {

namespace {

/// The advance of signals in each call, whatever its plan. So ranks whose plans differ, in an
/// erroneous program, begin the next call in step.
constexpr NodeSignal::Count sequence_numbers_of_call = 1 << 20;
// At most 5 sequence numbers per chunk, and few per call (see hierarchical_plan).
static_assert(sequence_numbers_of_call > 6 * NodeSignal::Count{max_chunks});
// Sequence numbers before those of the plan: the selection, then sizes, then the number of chunks
// in calls that agree on it.
constexpr NodeSignal::Count selection_sequence = 1;
constexpr NodeSignal::Count sizes_sequence = 2;
constexpr NodeSignal::Count chunks_sequence = 3;

// Offsets of a rank's further words. Some exist once for each of `calls_in_turn` successive calls,
// as ranks may be calls ahead of one another if none waits.
constexpr int calls_in_turn = 8;
constexpr int chunks_word = 0;
constexpr int size_words = 1;
constexpr int selection_words = size_words + calls_in_turn;
static_assert(selection_words + calls_in_turn <= HierarchicalRunner::further_words);

/// Such a word holds a number below this, plus a multiple that identifies the call. So a reader
/// ignores the word of an earlier or later call.
constexpr std::int64_t max_recorded = std::int64_t{1} << 48;
constexpr std::int64_t distinguished_calls = std::int64_t{1} << 15;

/// Marks a call that does not fit into the memory of some node: it stays flat on all ranks.
constexpr int refused_chunks = max_chunks + 1;

bool exchanges_sizes(Collective collective) {
  return size_exchange_words(collective, 1, false) > 0;
}

void keep_first(int& error, int another) {
  if (error == MPI_SUCCESS) error = another;
}

}  // namespace

int HierarchicalRunner::open(MPI_Comm comm, const NodeSettings& settings,
                             std::unique_ptr<HierarchicalRunner>& made) {
  std::unique_ptr<HierarchicalRunner> runner(new HierarchicalRunner(comm));
  runner->staging_ = settings.staging;
  mpi().Comm_rank(comm, &runner->rank_);
  const int error = SharedNode::open(comm, settings, runner->node_);
  if (error == MPI_SUCCESS) made = std::move(runner);
  return error;
}

int HierarchicalRunner::lanes_of(int leaders, Lanes*& lanes) {
  const Nodes& nodes = node_->nodes();
  leaders = std::clamp(leaders, 1, nodes.most());
  lanes = &lanes_[leaders];
  if (!lanes->empty() || nodes.count() == 1) return MPI_SUCCESS;
  Lanes made(static_cast<std::size_t>(leaders));
  int error = MPI_SUCCESS;
  // Continue after an error, which other ranks may not have.
  for (int lane = 0; lane < leaders; ++lane) {
    keep_first(error,
               lane_of_leaders(leaders_of(lane, leaders), made[static_cast<std::size_t>(lane)]));
  }
  if (error == MPI_SUCCESS) *lanes = std::move(made);
  return error;
}

/// The local rank of the leader of `lane` on each node.
std::vector<int> HierarchicalRunner::leaders_of(int lane, int leaders) const {
  const Nodes& nodes = node_->nodes();
  std::vector<int> locals;
  for (int node = 0; node < nodes.count(); ++node) {
    locals.push_back(lane_leader(lane, leaders, nodes.size(node)));
  }
  return locals;
}

bool HierarchicalRunner::is_prepared(int leaders) const {
  const Nodes& nodes = node_->nodes();
  const auto lanes = lanes_.find(std::clamp(leaders, 1, nodes.most()));
  return nodes.count() == 1 || (lanes != lanes_.end() && !lanes->second.empty());
}

int HierarchicalRunner::prepare(int leaders) {
  Lanes* lanes = nullptr;
  return lanes_of(leaders, lanes);
}

void HierarchicalRunner::forget(int leaders) {
  lanes_.erase(std::clamp(leaders, 1, node_->nodes().most()));
  std::set<std::vector<int>> needed;
  for (const auto& [others, lanes] : lanes_) {
    for (int lane = 0; lane < others; ++lane) needed.insert(leaders_of(lane, others));
  }
  std::erase_if(communicators_, [&](const auto& made) { return !needed.contains(made.first); });
}

int HierarchicalRunner::lane_of_leaders(const std::vector<int>& locals, PrivateComm*& lane) {
  const auto known = communicators_.find(locals);
  if (known != communicators_.end()) {
    lane = known->second.get();
    return MPI_SUCCESS;
  }
  const int here = node_->nodes().node_of(rank_);
  const bool leads = locals[static_cast<std::size_t>(here)] == node_->local();
  std::unique_ptr<PrivateComm> made;
  const int error = PrivateComm::split(comm_, leads, here, made);
  if (made != nullptr) made->limit_staging(staging_);
  if (error != MPI_SUCCESS) return error;
  lane = made.get();
  communicators_.emplace(locals, std::move(made));
  return MPI_SUCCESS;
}

int HierarchicalRunner::first_ranks(PrivateComm*& comm) {
  Lanes* lanes = nullptr;
  const int error = lanes_of(1, lanes);
  comm = error == MPI_SUCCESS && !lanes->empty() ? lanes->front() : nullptr;
  return error;
}

int HierarchicalRunner::run(HierarchicalCall& hierarchical, std::string& refused) {
  const Turn turn(*this);
  Lanes* lanes = nullptr;
  if (const int error = lanes_of(hierarchical.call.leaders, lanes)) return error;
  base_ = begin_ + sizes_sequence;
  refused.clear();
  if (exchanges_sizes(hierarchical.call.collective) && !node_->holds_sizes()) {
    refused = "node memory cannot hold the sizes that ranks exchange";
    return MPI_SUCCESS;
  }
  int error = learn(hierarchical, *lanes);
  const int count_mismatch =
      error == MPI_SUCCESS && !fits(hierarchical) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  if (count_mismatch != MPI_SUCCESS) {
    hierarchical.receive = {};
    // An alltoallv still sends: the others' receive counts match what this rank sends.
    if (has_root(hierarchical.call.collective)) hierarchical.send = {};
    hierarchical.call.direct = false;
  }
  if (error == MPI_SUCCESS) {
    const HierarchicalPlan* plan = plan_of(hierarchical.call, refused);
    if (plan != nullptr) error = follow(*plan, hierarchical, *lanes);
  }
  return error == MPI_SUCCESS ? count_mismatch : error;
}

void HierarchicalRunner::skip() {
  begin_ += sequence_numbers_of_call;
  node_->signal(node_->local()).signal_to(begin_);
}

int HierarchicalRunner::broadcast_selection(bool knows, int& candidate) {
  note(selection_words, knows ? std::optional(candidate) : std::nullopt);
  node_->signal(node_->local()).signal_to(begin_ + selection_sequence);
  for (int local = 0; local < node_->ranks() && !knows; ++local) {
    if (local == node_->local()) continue;
    if (const int error = node_->wait(local, begin_ + selection_sequence)) return error;
    const std::optional<std::int64_t> selected = recorded(selection_words, local);
    knows = selected.has_value();
    if (selected) candidate = static_cast<int>(*selected);
  }
  return MPI_SUCCESS;
}

std::atomic_ref<std::int64_t> HierarchicalRunner::word_of_call(int words, int local) const {
  const int turn = static_cast<int>(begin_ / sequence_numbers_of_call % calls_in_turn);
  return std::atomic_ref(node_->further(local)[words + turn]);
}

/// Records a number from 0, or none, for the call that begins now. Ranks that then see this rank's
/// signal may read it. All ranks count calls alike, even after errors.
void HierarchicalRunner::note(int words, std::optional<std::int64_t> number) {
  const std::int64_t call = begin_ / sequence_numbers_of_call % distinguished_calls;
  word_of_call(words, node_->local())
      .store(call * max_recorded + (number ? *number + 1 : 0), std::memory_order_relaxed);
}

std::optional<std::int64_t> HierarchicalRunner::recorded(int words, int local) const {
  const std::int64_t word = word_of_call(words, local).load(std::memory_order_relaxed);
  const std::int64_t call = begin_ / sequence_numbers_of_call % distinguished_calls;
  const bool is_known = word / max_recorded == call && word % max_recorded > 0;
  return is_known ? std::optional(word % max_recorded - 1) : std::nullopt;
}

/// Do the sizes match, as far as the node knows? A gatherv or scatterv compares this rank's size
/// with the root's count, an alltoallv what it expects with what ranks of its node send.
bool HierarchicalRunner::fits(const HierarchicalCall& hierarchical) const {
  const Collective collective = hierarchical.call.collective;
  if (hierarchical.is_dummy || !exchanges_sizes(collective)) return true;
  const HierarchicalSizes& sizes = hierarchical.call.sizes;
  const Nodes& nodes = node_->nodes();
  const auto rank = static_cast<std::size_t>(rank_);
  const auto p = static_cast<std::size_t>(nodes.p());
  if (has_root(collective)) return sizes.by_rank[rank] == hierarchical.own_sizes[0];
  for (int local = 0; local < node_->ranks(); ++local) {
    const auto from = static_cast<std::size_t>(nodes.rank_at(nodes.node_of(rank_), local));
    const Bytes sent = sizes.sent[static_cast<std::size_t>(local) * p + rank];
    if (sent != hierarchical.own_sizes[p + from]) return false;
  }
  return true;
}

/// Sets the sizes that do not follow from this rank's arguments.
int HierarchicalRunner::learn(HierarchicalCall& hierarchical, Lanes& lanes) {
  int error = MPI_SUCCESS;
  if (exchanges_sizes(hierarchical.call.collective)) {
    error = exchange_sizes(hierarchical);
    if (error == MPI_SUCCESS) read_sizes(hierarchical);
  } else {
    error = learn_size(hierarchical);
  }
  if (!agrees_on_chunks(hierarchical.call)) return error;
  if (error == MPI_SUCCESS) error = agree_on_chunks(hierarchical, lanes);
  base_ = begin_ + chunks_sequence;
  return error;
}

int HierarchicalRunner::learn_size(HierarchicalCall& hierarchical) {
  Bytes& each = hierarchical.call.sizes.each;
  note(size_words, hierarchical.is_dummy ? std::nullopt : std::optional(each));
  if (!hierarchical.is_dummy) {
    // The first rank of the node may be a dummy: it waits for this before it agrees on chunks.
    if (agrees_on_chunks(hierarchical.call)) {
      node_->signal(node_->local()).signal_to(begin_ + sizes_sequence);
    }
    return MPI_SUCCESS;
  }
  // Take the others' sizes, because this rank's inner calls must match theirs.
  const int error = signal_and_await(begin_ + sizes_sequence, 0, node_->ranks());
  for (int local = 0; local < node_->ranks(); ++local) {
    each = std::max<Bytes>(each, recorded(size_words, local).value_or(0));
  }
  return error;
}

int HierarchicalRunner::signal_and_await(NodeSignal::Count sequence, int first, int last) {
  node_->signal(node_->local()).signal_to(sequence);
  return await(sequence, first, last);
}

int HierarchicalRunner::await(NodeSignal::Count sequence, int first, int last) {
  for (int local = first; local < last; ++local) {
    if (const int error = node_->wait(local, sequence)) return error;
  }
  return MPI_SUCCESS;
}

int HierarchicalRunner::exchange_sizes(HierarchicalCall& hierarchical) {
  // Wait until all have read the sizes of the last call.
  if (const int error = await(begin_, 0, node_->ranks())) return error;
  std::copy(hierarchical.own_sizes.begin(), hierarchical.own_sizes.end(),
            node_->exchanged_sizes(node_->local()));
  return signal_and_await(begin_ + sizes_sequence, 0, node_->ranks());
}

void HierarchicalRunner::read_sizes(HierarchicalCall& hierarchical) const {
  const Nodes& nodes = node_->nodes();
  const auto p = static_cast<std::size_t>(nodes.p());
  HierarchicalSizes& sizes = hierarchical.call.sizes;
  const int here = nodes.node_of(rank_);
  if (hierarchical.call.collective == Collective::alltoallv) {
    for (int local = 0; local < node_->ranks(); ++local) {
      const std::int64_t* exchanged = node_->exchanged_sizes(local);
      sizes.sent.insert(sizes.sent.end(), exchanged, exchanged + p);
      sizes.received.insert(sizes.received.end(), exchanged + p, exchanged + 2 * p);
    }
    // If ranks of the node contradict one another, the sender's size counts (see fits).
    for (int from = 0; from < node_->ranks(); ++from) {
      const auto sender = static_cast<std::size_t>(nodes.rank_at(here, from));
      for (int to = 0; to < node_->ranks(); ++to) {
        sizes.received[static_cast<std::size_t>(to) * p + sender] =
            node_->exchanged_sizes(from)[nodes.rank_at(here, to)];
      }
    }
    return;
  }
  if (nodes.node_of(hierarchical.call.root) == here) {
    // The root's counts apply.
    const std::int64_t* exchanged =
        node_->exchanged_sizes(nodes.local_of(hierarchical.call.root)) + 1;
    sizes.by_rank.assign(exchanged, exchanged + p);
    return;
  }
  sizes.by_rank.assign(p, 0);
  for (int local = 0; local < node_->ranks(); ++local) {
    const auto rank = static_cast<std::size_t>(nodes.rank_at(here, local));
    sizes.by_rank[rank] = node_->exchanged_sizes(local)[0];
  }
}

/// All nodes use as many chunks as the one that needs most. Their first ranks agree on the number.
int HierarchicalRunner::agree_on_chunks(HierarchicalCall& hierarchical, Lanes& lanes) {
  int error = MPI_SUCCESS;
  if (node_->local() == 0) {
    // Wait until all have read the number of the last call.
    if (node_->grows()) error = await(begin_, 0, node_->ranks());
    keep_first(error, grow_for(hierarchical.call, lanes));
    const int chunks = chunks_for(hierarchical.call, node_->nodes(), rank_, node_->capacity())
                           .value_or(refused_chunks);
    std::vector<int> all(static_cast<std::size_t>(node_->nodes().count()), chunks);
    if (!lanes.empty()) {
      keep_first(error, mpi().Allgather(&chunks, sizeof chunks, mpi().byte, all.data(),
                                        sizeof chunks, mpi().byte, lanes.front()->handle()));
    }
    node_->further(0)[chunks_word] = *std::max_element(all.begin(), all.end());
  }
  keep_first(error, signal_and_await(begin_ + chunks_sequence, 0, 1));
  hierarchical.call.chunks = static_cast<int>(node_->further(0)[chunks_word]);
  return error;
}

/// The plan of this rank; null if the call must stay flat, with the reason in `refused`.
const HierarchicalPlan* HierarchicalRunner::plan_of(const HierarchicalProblem& call,
                                                    std::string& refused) {
  for (const Planned& known : planned_) {
    if (known.plan.sequence_numbers > 0 && known.call == call) return &known.plan;
  }
  const Nodes& nodes = node_->nodes();
  HierarchicalProblem cut = call;
  if (!agrees_on_chunks(call)) {
    cut.chunks = chunks_for(call, nodes, rank_, node_->sure_capacity()).value_or(refused_chunks);
  }
  if (cut.chunks == refused_chunks) {
    refused = "node memory cannot hold one element of each block";
    return nullptr;
  }
  Result<HierarchicalPlan> plan = hierarchical_plan(cut, nodes, rank_);
  if (!plan) {
    refused = plan.error();
    return nullptr;
  }
  Planned& kept = planned_[next_planned_];
  next_planned_ = (next_planned_ + 1) % planned_.size();
  kept.call = call;
  kept.plan = std::move(*plan);
  return &kept.plan;
}

/// Executes all steps, even after an error, so that no rank waits for this one in vain.
int HierarchicalRunner::follow(const HierarchicalPlan& plan, HierarchicalCall& hierarchical,
                               Lanes& lanes) {
  int error = MPI_SUCCESS;
  for (const HierarchicalStep& step : plan.steps)
    keep_first(error, take(plan, step, hierarchical, lanes));
  return error;
}

int HierarchicalRunner::take(const HierarchicalPlan& plan, const HierarchicalStep& step,
                             HierarchicalCall& hierarchical, Lanes& lanes) {
  std::byte* at = node_->data() + step.at;
  switch (step.kind) {
    case HierarchicalStepKind::copy_in:
      hierarchical.send.visit(step.blocks, step.offset, step.bytes,
                              [&at](const std::byte* from, Bytes bytes) {
                                const auto size = static_cast<std::size_t>(bytes);
                                if (from != nullptr) std::memcpy(at, from, size);
                                if (from == nullptr) std::memset(at, 0, size);
                                at += bytes;
                              });
      return MPI_SUCCESS;
    case HierarchicalStepKind::copy_out:
      hierarchical.receive.visit(step.blocks, step.offset, step.bytes,
                                 [&at](std::byte* to, Bytes bytes) {
                                   if (to != nullptr)
                                     std::memcpy(to, at, static_cast<std::size_t>(bytes));
                                   at += bytes;
                                 });
      return MPI_SUCCESS;
    case HierarchicalStepKind::reduce:
      if (hierarchical.is_dummy) return MPI_SUCCESS;
      return mpi().Reduce_local(node_->data() + step.from, at,
                                static_cast<int>(step.bytes / hierarchical.call.unit),
                                hierarchical.type, hierarchical.op);
    case HierarchicalStepKind::signal:
      node_->signal(node_->local()).signal_to(count_of(step.sequence));
      return MPI_SUCCESS;
    case HierarchicalStepKind::await:
      for (int local = step.first; local < step.last; ++local) {
        const int error = node_->wait(local, count_of(step.sequence));
        if (error != MPI_SUCCESS) return error;
      }
      return MPI_SUCCESS;
    case HierarchicalStepKind::inner:
      break;
  }
  const InnerCall& call = plan.calls[static_cast<std::size_t>(step.call)];
  const auto end = [&](const InnerBuffer& inner) {
    if (inner.area == HierarchicalArea::send) return hierarchical.send.base + inner.at;
    if (inner.area == HierarchicalArea::receive) return hierarchical.receive.base + inner.at;
    return node_->data() + inner.at;
  };
  return run_inner(call, hierarchical, *lanes[static_cast<std::size_t>(call.lane)], end(call.send),
                   end(call.receive));
}

}  // namespace tutti
