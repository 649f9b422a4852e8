/// Telling sizes, planning, and following a level plan.
#include "run/hierarchical/mpi_hierarchical.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace tutti {

namespace {

/// Flags go on by so much in each call, whatever its plan, so that ranks that planned differently,
/// which only a faulty program makes them do, begin the next one alike.
constexpr NodeFlag::Count ticks_of_call = 1 << 20;
// No more than five ticks for each chunk, and few for the call (see level_plan).
static_assert(ticks_of_call > 6 * NodeFlag::Count{most_chunks});
// Ticks before those of the plan: the way is told, then sizes, and in calls that tell all of them,
// how many chunks there are.
constexpr NodeFlag::Count way_tick = 1;
constexpr NodeFlag::Count sizes_tick = 2;
constexpr NodeFlag::Count chunks_tick = 3;

// Where a rank's further words begin: of some there is one for each of so many calls in turn, as
// ranks may be calls ahead of one another where none waits.
constexpr int calls_in_turn = 8;
constexpr int chunks_word = 0;
constexpr int size_words = 1;
constexpr int way_words = size_words + calls_in_turn;
static_assert(way_words + calls_in_turn <= LevelRunner::further_words);

/// Words of calls in turn hold a number below this, and above it that of the call, so that who
/// reads one that is of a later call already, or of an earlier one still, takes it for none.
constexpr std::int64_t most_noted = std::int64_t{1} << 48;
constexpr std::int64_t calls_told_apart = std::int64_t{1} << 15;

/// Of a call that does not fit into some node's memory: it stays flat on all.
constexpr int refused_chunks = most_chunks + 1;

bool tells(Collective collective) { return told(collective, 1, false) > 0; }

void keep_first(int& error, int another) {
  if (error == MPI_SUCCESS) error = another;
}

}  // namespace

int LevelRunner::open(MPI_Comm comm, const NodeSettings& settings,
                      std::unique_ptr<LevelRunner>& made) {
  std::unique_ptr<LevelRunner> runner(new LevelRunner(comm));
  runner->staging_ = settings.staging;
  mpi().Comm_rank(comm, &runner->rank_);
  const int error = SharedNode::open(comm, settings, runner->node_);
  if (error == MPI_SUCCESS) made = std::move(runner);
  return error;
}

int LevelRunner::lanes_of(int leaders, Lanes*& lanes) {
  const Nodes& nodes = node_->nodes();
  leaders = std::clamp(leaders, 1, nodes.most());
  lanes = &lanes_[leaders];
  if (!lanes->empty() || nodes.count() == 1) return MPI_SUCCESS;
  Lanes made(static_cast<std::size_t>(leaders));
  int error = MPI_SUCCESS;
  // Also after an error, which other ranks may not have.
  for (int lane = 0; lane < leaders; ++lane) {
    keep_first(error,
               lane_of_leaders(leaders_of(lane, leaders), made[static_cast<std::size_t>(lane)]));
  }
  if (error == MPI_SUCCESS) *lanes = std::move(made);
  return error;
}

/// The local number of each node's leader.
std::vector<int> LevelRunner::leaders_of(int lane, int leaders) const {
  const Nodes& nodes = node_->nodes();
  std::vector<int> locals;
  for (int node = 0; node < nodes.count(); ++node) {
    locals.push_back(lane_leader(lane, leaders, nodes.size(node)));
  }
  return locals;
}

bool LevelRunner::is_prepared(int leaders) const {
  const Nodes& nodes = node_->nodes();
  const auto lanes = lanes_.find(std::clamp(leaders, 1, nodes.most()));
  return nodes.count() == 1 || (lanes != lanes_.end() && !lanes->second.empty());
}

int LevelRunner::prepare(int leaders) {
  Lanes* lanes = nullptr;
  return lanes_of(leaders, lanes);
}

void LevelRunner::forget(int leaders) {
  lanes_.erase(std::clamp(leaders, 1, node_->nodes().most()));
  std::set<std::vector<int>> needed;
  for (const auto& [others, lanes] : lanes_) {
    for (int lane = 0; lane < others; ++lane) needed.insert(leaders_of(lane, others));
  }
  std::erase_if(communicators_, [&](const auto& made) { return !needed.contains(made.first); });
}

int LevelRunner::lane_of_leaders(const std::vector<int>& locals, PrivateComm*& lane) {
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

int LevelRunner::first_ranks(PrivateComm*& comm) {
  Lanes* lanes = nullptr;
  const int error = lanes_of(1, lanes);
  comm = error == MPI_SUCCESS && !lanes->empty() ? lanes->front() : nullptr;
  return error;
}

int LevelRunner::run(LevelledCall& levelled, std::string& refused) {
  const Turn turn(*this);
  Lanes* lanes = nullptr;
  if (const int error = lanes_of(levelled.call.leaders, lanes)) return error;
  base_ = begin_ + sizes_tick;
  refused.clear();
  if (tells(levelled.call.collective) && !node_->holds_sizes()) {
    refused = "node memory does not hold the sizes that ranks tell each other";
    return MPI_SUCCESS;
  }
  int error = learn(levelled, *lanes);
  const int misfit = error == MPI_SUCCESS && !fits(levelled) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  if (misfit != MPI_SUCCESS) {
    levelled.receive = {};
    // What the others have of an alltoallv fits what this rank sends.
    if (has_root(levelled.call.collective)) levelled.send = {};
    levelled.call.direct = false;
  }
  if (error == MPI_SUCCESS) {
    const LevelPlan* plan = plan_of(levelled.call, refused);
    if (plan != nullptr) error = follow(*plan, levelled, *lanes);
  }
  return error == MPI_SUCCESS ? misfit : error;
}

void LevelRunner::skip() {
  begin_ += ticks_of_call;
  node_->flag(node_->local()).raise_to(begin_);
}

int LevelRunner::share_way(bool knows, int& way) {
  note(way_words, knows ? std::optional(way) : std::nullopt);
  node_->flag(node_->local()).raise_to(begin_ + way_tick);
  for (int local = 0; local < node_->ranks() && !knows; ++local) {
    if (local == node_->local()) continue;
    if (const int error = node_->wait(local, begin_ + way_tick)) return error;
    const std::optional<std::int64_t> told = noted(way_words, local);
    knows = told.has_value();
    if (told) way = static_cast<int>(*told);
  }
  return MPI_SUCCESS;
}

std::atomic_ref<std::int64_t> LevelRunner::word_of_call(int words, int local) const {
  const int turn = static_cast<int>(begin_ / ticks_of_call % calls_in_turn);
  return std::atomic_ref(node_->further(local)[words + turn]);
}

/// For whoever sees this rank's flag raised after it: a number from 0 on of the call that begins
/// now, or none. Calls are counted alike on all ranks, whatever went wrong in others.
void LevelRunner::note(int words, std::optional<std::int64_t> number) {
  const std::int64_t call = begin_ / ticks_of_call % calls_told_apart;
  word_of_call(words, node_->local())
      .store(call * most_noted + (number ? *number + 1 : 0), std::memory_order_relaxed);
}

std::optional<std::int64_t> LevelRunner::noted(int words, int local) const {
  const std::int64_t word = word_of_call(words, local).load(std::memory_order_relaxed);
  const std::int64_t call = begin_ / ticks_of_call % calls_told_apart;
  const bool is_known = word / most_noted == call && word % most_noted > 0;
  return is_known ? std::optional(word % most_noted - 1) : std::nullopt;
}

/// As far as its node knows: is this rank's size what the root says (gatherv, scatterv), is what it
/// expects what it gets (alltoallv)?
bool LevelRunner::fits(const LevelledCall& levelled) const {
  const Collective collective = levelled.call.collective;
  if (levelled.attends || !tells(collective)) return true;
  const LevelSizes& sizes = levelled.call.sizes;
  const Nodes& nodes = node_->nodes();
  const auto rank = static_cast<std::size_t>(rank_);
  const auto p = static_cast<std::size_t>(nodes.p());
  if (has_root(collective)) return sizes.by_rank[rank] == levelled.tells[0];
  for (int local = 0; local < node_->ranks(); ++local) {
    const auto from = static_cast<std::size_t>(nodes.rank_at(nodes.node_of(rank_), local));
    const Bytes sent = sizes.sent[static_cast<std::size_t>(local) * p + rank];
    if (sent != levelled.tells[p + from]) return false;
  }
  return true;
}

/// Sets the sizes that are not arguments.
int LevelRunner::learn(LevelledCall& levelled, Lanes& lanes) {
  int error = MPI_SUCCESS;
  if (tells(levelled.call.collective)) {
    error = tell(levelled);
    if (error == MPI_SUCCESS) read_sizes(levelled);
  } else {
    error = learn_size(levelled);
  }
  if (!agrees_on_chunks(levelled.call)) return error;
  if (error == MPI_SUCCESS) error = agree_on_chunks(levelled, lanes);
  base_ = begin_ + chunks_tick;
  return error;
}

int LevelRunner::learn_size(LevelledCall& levelled) {
  Bytes& each = levelled.call.sizes.each;
  note(size_words, levelled.attends ? std::nullopt : std::optional(each));
  if (!levelled.attends) {
    // Who attends may be the one that the others wait for then.
    if (agrees_on_chunks(levelled.call)) {
      node_->flag(node_->local()).raise_to(begin_ + sizes_tick);
    }
    return MPI_SUCCESS;
  }
  // The others' sizes, as what this rank does between nodes must fit what they do.
  const int error = raise_and_await(begin_ + sizes_tick, 0, node_->ranks());
  for (int local = 0; local < node_->ranks(); ++local) {
    each = std::max<Bytes>(each, noted(size_words, local).value_or(0));
  }
  return error;
}

int LevelRunner::raise_and_await(NodeFlag::Count tick, int first, int last) {
  node_->flag(node_->local()).raise_to(tick);
  return await(tick, first, last);
}

int LevelRunner::await(NodeFlag::Count tick, int first, int last) {
  for (int local = first; local < last; ++local) {
    if (const int error = node_->wait(local, tick)) return error;
  }
  return MPI_SUCCESS;
}

int LevelRunner::tell(LevelledCall& levelled) {
  // Until all have read what was told in the last call.
  if (const int error = await(begin_, 0, node_->ranks())) return error;
  std::copy(levelled.tells.begin(), levelled.tells.end(), node_->told(node_->local()));
  return raise_and_await(begin_ + sizes_tick, 0, node_->ranks());
}

void LevelRunner::read_sizes(LevelledCall& levelled) const {
  const Nodes& nodes = node_->nodes();
  const auto p = static_cast<std::size_t>(nodes.p());
  LevelSizes& sizes = levelled.call.sizes;
  const int here = nodes.node_of(rank_);
  if (levelled.call.collective == Collective::alltoallv) {
    for (int local = 0; local < node_->ranks(); ++local) {
      const std::int64_t* told = node_->told(local);
      sizes.sent.insert(sizes.sent.end(), told, told + p);
      sizes.received.insert(sizes.received.end(), told + p, told + 2 * p);
    }
    // Where ranks of the node contradict one another, what is sent counts (see fits).
    for (int from = 0; from < node_->ranks(); ++from) {
      const auto sender = static_cast<std::size_t>(nodes.rank_at(here, from));
      for (int to = 0; to < node_->ranks(); ++to) {
        sizes.received[static_cast<std::size_t>(to) * p + sender] =
            node_->told(from)[nodes.rank_at(here, to)];
      }
    }
    return;
  }
  if (nodes.node_of(levelled.call.root) == here) {
    // What the root says counts.
    const std::int64_t* told = node_->told(nodes.local_of(levelled.call.root)) + 1;
    sizes.by_rank.assign(told, told + p);
    return;
  }
  sizes.by_rank.assign(p, 0);
  for (int local = 0; local < node_->ranks(); ++local) {
    const auto rank = static_cast<std::size_t>(nodes.rank_at(here, local));
    sizes.by_rank[rank] = node_->told(local)[0];
  }
}

/// All nodes go in as many chunks as the one that needs most; the first rank of each asks.
int LevelRunner::agree_on_chunks(LevelledCall& levelled, Lanes& lanes) {
  int error = MPI_SUCCESS;
  if (node_->local() == 0) {
    // Until all have read the number of the last call.
    if (node_->grows()) error = await(begin_, 0, node_->ranks());
    keep_first(error, grow_for(levelled.call, lanes));
    const int chunks = chunks_for(levelled.call, node_->nodes(), rank_, node_->capacity())
                           .value_or(refused_chunks);
    std::vector<int> all(static_cast<std::size_t>(node_->nodes().count()), chunks);
    if (!lanes.empty()) {
      keep_first(error, mpi().Allgather(&chunks, sizeof chunks, mpi().byte, all.data(),
                                        sizeof chunks, mpi().byte, lanes.front()->handle()));
    }
    node_->further(0)[chunks_word] = *std::max_element(all.begin(), all.end());
  }
  keep_first(error, raise_and_await(begin_ + chunks_tick, 0, 1));
  levelled.call.chunks = static_cast<int>(node_->further(0)[chunks_word]);
  return error;
}

/// The plan of this rank; null if the call must stay flat, with the reason in `refused`.
const LevelPlan* LevelRunner::plan_of(const LevelCall& call, std::string& refused) {
  for (const Planned& known : planned_) {
    if (known.plan.ticks > 0 && known.call == call) return &known.plan;
  }
  const Nodes& nodes = node_->nodes();
  LevelCall cut = call;
  if (!agrees_on_chunks(call)) {
    cut.chunks = chunks_for(call, nodes, rank_, node_->sure_capacity()).value_or(refused_chunks);
  }
  if (cut.chunks == refused_chunks) {
    refused = "node memory does not hold one element of each block";
    return nullptr;
  }
  Result<LevelPlan> plan = level_plan(cut, nodes, rank_);
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

/// Takes all steps, also after an error, so that nobody waits for this rank in vain.
int LevelRunner::follow(const LevelPlan& plan, LevelledCall& levelled, Lanes& lanes) {
  int error = MPI_SUCCESS;
  for (const LevelStep& step : plan.steps) keep_first(error, take(plan, step, levelled, lanes));
  return error;
}

int LevelRunner::take(const LevelPlan& plan, const LevelStep& step, LevelledCall& levelled,
                      Lanes& lanes) {
  std::byte* at = node_->data() + step.at;
  switch (step.kind) {
    case LevelKind::copy_in:
      levelled.send.visit(step.blocks, step.offset, step.bytes,
                          [&at](const std::byte* from, Bytes bytes) {
                            const auto size = static_cast<std::size_t>(bytes);
                            if (from != nullptr) std::memcpy(at, from, size);
                            if (from == nullptr) std::memset(at, 0, size);
                            at += bytes;
                          });
      return MPI_SUCCESS;
    case LevelKind::copy_out:
      levelled.receive.visit(step.blocks, step.offset, step.bytes,
                             [&at](std::byte* to, Bytes bytes) {
                               if (to != nullptr)
                                 std::memcpy(to, at, static_cast<std::size_t>(bytes));
                               at += bytes;
                             });
      return MPI_SUCCESS;
    case LevelKind::reduce:
      if (levelled.attends) return MPI_SUCCESS;
      return mpi().Reduce_local(node_->data() + step.from, at,
                                static_cast<int>(step.bytes / levelled.call.unit), levelled.type,
                                levelled.op);
    case LevelKind::raise:
      node_->flag(node_->local()).raise_to(count_of(step.tick));
      return MPI_SUCCESS;
    case LevelKind::await:
      for (int local = step.first; local < step.last; ++local) {
        const int error = node_->wait(local, count_of(step.tick));
        if (error != MPI_SUCCESS) return error;
      }
      return MPI_SUCCESS;
    case LevelKind::inner:
      break;
  }
  const InnerCall& call = plan.calls[static_cast<std::size_t>(step.call)];
  const auto end = [&](const InnerEnd& inner) {
    if (inner.area == LevelArea::send) return levelled.send.base + inner.at;
    if (inner.area == LevelArea::receive) return levelled.receive.base + inner.at;
    return node_->data() + inner.at;
  };
  return run_inner(call, levelled, *lanes[static_cast<std::size_t>(call.lane)], end(call.send),
                   end(call.receive));
}

}  // namespace tutti
