/// Windows, contests and their trials.
#include "api/hierarchical_selection.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "run/clock.hpp"
#include "run/mpi/agree.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

namespace {

/// Before that many calls of a communicator nothing is done for its level.
constexpr unsigned calls_at_first = 8;

/// Between trials, for each call before, so that they cost little however many there are
/// (docs/hierarchical.md bounds it).
constexpr std::uint64_t calls_between_trials = 8;
constexpr std::uint64_t least_calls_between_trials = 2048;
/// The same where the model has seen nothing to try.
constexpr std::uint64_t calls_between_looks = 128;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

constexpr int unknown = 64;

constexpr std::size_t most_roots = 4;

/// Blocks of (2^(n-1), 2^n] bytes; 0 of none, 1 of one byte.
int range_of(std::optional<Bytes> block) {
  if (!block) return unknown;
  if (*block <= 0) return 0;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*block - 1))) + 1;
}

Bytes largest_of(int range) { return range == 0 ? 0 : Bytes{1} << (range - 1); }
Bytes least_of(int range) { return range < 2 ? largest_of(range) : largest_of(range - 1) + 1; }

std::string name_of(const Decision& decision) {
  if (decision.specification) return to_text(*decision.specification);
  const bool flat = !decision.level.node;
  return to_text(
      Setting{Setting::Kind::native, {}, flat ? std::nullopt : std::optional(decision.level)});
}

}  // namespace

LevelDecisions::CountedCall::~CountedCall() {
  if (decisions_ == nullptr || !decisions_->nodes_.are_open()) return;
  int error = MPI_SUCCESS;
  decisions_->communicator_.levels(error)->skip();
}

bool LevelDecisions::stays_flat(Collective collective) {
  tried_ = nullptr;
  if (calls_ < calls_at_first) {
    ++calls_;
    return true;
  }
  Course& course = courses_[static_cast<std::size_t>(collective)];
  course.is_in_window = course.windows.begin_call();
  if (course.is_in_window || course.has_ways) return false;
  const CountedCall counted(*this);
  return true;
}

/// None once nodes are open, where all calls count.
std::uint64_t LevelDecisions::calls_that_pass(Collective collective) const {
  const Course& course = courses_[static_cast<std::size_t>(collective)];
  if (calls_ < calls_at_first || course.has_ways || nodes_.are_open()) return 0;
  return course.windows.calls_to_next();
}

const Decision& LevelDecisions::close(const Decision& open, Collective collective,
                                      const BlockOfCall& given, int& error) {
  error = MPI_SUCCESS;
  tried_ = nullptr;
  BlockOfCall block = given;
  const bool asks_for_nodes = open.open == OpenLevel::leaders;
  CountedCall counted(*this);
  Course& course = courses_[static_cast<std::size_t>(collective)];
  const Decision& closed = asks_for_nodes ? close_leaders(open, collective, block, error)
                           : course.is_in_window
                               ? close_in_window(open, collective, block, course, error)
                               : close_outside(open, collective, block, error);
  if (error == MPI_SUCCESS && closed.level.node) counted.pass_on();
  return closed;
}

const Decision& LevelDecisions::close_in_window(const Decision& open, Collective collective,
                                                BlockOfCall& block, Course& course, int& error) {
  // Before nodes are open ranks tell each other things on the program's own communicator.
  std::optional<QuietErrors> quiet;
  if (!nodes_.are_open()) quiet.emplace(communicator_.handle());
  error = end_trials(course);
  if (error == MPI_SUCCESS) error = agree(collective, block);
  if (error != MPI_SUCCESS) return open;
  if (goes_by_root(collective)) note_root(block.root);
  const Key key = key_of(open, collective, block);
  Contest& contest = contest_of(key, open);
  if (!contest.trial && contest.next_trial <= course.windows.calls()) {
    error = begin_trial(open, key, block, contest);
  }
  if (course.windows.is_last()) abandon(course);
  if (course.on_trial.empty()) course.windows.close();
  if (error != MPI_SUCCESS) return open;
  return contest.trial ? begin_call(block, contest, error) : contest.taken;
}

/// By what trials have shown. Who does not know which call this is asks others of its node.
const Decision& LevelDecisions::close_outside(const Decision& open, Collective collective,
                                              BlockOfCall& block, int& error) {
  const bool knows = is_known(collective, block);
  const auto known = contests_.find(key_of(open, collective, block));
  int number = known == contests_.end() ? 0 : known->second.number;
  if (nodes_.are_open()) error = communicator_.levels(error)->share_way(knows, number);
  return number == 0 ? open : numbered_[static_cast<std::size_t>(number - 1)]->taken;
}

/// Do this rank's arguments tell what decisions go by?
bool LevelDecisions::is_known(Collective collective, const BlockOfCall& block) const {
  const bool is_root = block.root >= 0 && block.root < communicator_.p();
  return (block.common || !is_block_common(collective)) && (is_root || !goes_by_root(collective));
}

/// Contests come up in windows, in the same sequence on all ranks.
LevelDecisions::Contest& LevelDecisions::contest_of(const Key& key, const Decision& open) {
  Contest& contest = contests_[key];
  if (contest.number == 0) {
    numbered_.push_back(&contest);
    contest.number = static_cast<int>(numbered_.size());
    contest.taken = flat(open);
  }
  return contest;
}

/// By the block of the call before where this rank's arguments are bad, and by the same root.
LevelDecisions::Key LevelDecisions::key_of(const Decision& open, Collective collective,
                                           BlockOfCall& block) {
  std::optional<Bytes>& latest = latest_[static_cast<std::size_t>(collective)];
  if (block.common) latest = block.common;
  block.common = latest;
  return {collective, range_of(block.common), root_of(collective, block.root), open.is_automatic};
}

/// What a rank with bad arguments does not know, the others do.
int LevelDecisions::agree(Collective collective, BlockOfCall& block) {
  const bool has_block = is_block_common(collective) && collective != Collective::barrier;
  if (!has_block && !goes_by_root(collective)) return MPI_SUCCESS;
  const bool is_root = block.root >= 0 && block.root < communicator_.p();
  std::array<Bytes, 2> most = {block.common.value_or(-1), is_root ? block.root : -1};
  const int error = most_on_all(nodes_.comm(), most);
  if (has_block && most[0] >= 0) block.common = most[0];
  block.root = static_cast<Rank>(most[1]);
  return error;
}

/// Through nodes in any case, by as many leaders as the model finds best.
const Decision& LevelDecisions::close_leaders(const Decision& open, Collective collective,
                                              BlockOfCall& block, int& error) {
  const bool knows = is_known(collective, block);
  int leaders = 1;
  error = nodes_.take();
  if (error == MPI_SUCCESS) error = find_leaders(key_of(open, collective, block), block, leaders);
  if (error != MPI_SUCCESS) return open;
  error = communicator_.levels(error)->share_way(knows, leaders);
  Decision& closed = through_nodes_[{&open, leaders}];
  if (closed.epoch != open.epoch) {
    closed = open;
    closed.open = OpenLevel::none;
    closed.level.leaders = leaders;
  }
  return closed;
}

int LevelDecisions::find_leaders(const Key& key, const BlockOfCall& block, int& leaders) {
  int& known = leaders_[key];
  if (known == 0) {
    std::optional<Bytes> size;
    if (const int error = find_block(key.collective, block, size)) return error;
    known = leaders_for(nodes_.situation(key.collective, size), communicator_.node_machine());
  }
  leaders = known;
  return MPI_SUCCESS;
}

/// What all ranks know, or the mean of this call.
int LevelDecisions::find_block(Collective collective, const BlockOfCall& own,
                               std::optional<Bytes>& block) {
  block = own.common;
  if (is_block_common(collective)) return MPI_SUCCESS;
  Bytes sum = 0;
  const int error = sum_on_all(nodes_.comm(), own.own(), sum);
  const Bytes blocks = Bytes{communicator_.p()} *
                       (block_kind(collective) == BlockKind::pairs ? communicator_.p() : 1);
  block = (sum + blocks - 1) / blocks;
  return error;
}

int LevelDecisions::begin_trial(const Decision& open, const Key& key, const BlockOfCall& block,
                                Contest& contest) {
  Course& course = courses_[static_cast<std::size_t>(key.collective)];
  const std::uint64_t calls = course.windows.calls();
  const int before = contest.count;
  const int error = find_ways(open, key, block, contest);
  // What nothing can change stays as it is.
  const bool may_change = contest.count > 1 || !is_block_common(key.collective);
  const std::uint64_t least = contest.count > 1 ? least_calls_between_trials : calls_between_looks;
  contest.next_trial = may_change ? calls + std::max(least, calls_between_trials * calls) : never;
  if (contest.count > 1) {
    course.has_ways = true;
    contest.trial.emplace(contest.count, contest.count != before);
    course.on_trial.push_back(&contest);
  } else {
    contest.taken = contest.ways[0];
  }
  return error;
}

/// Sets the ways that calls may go.
int LevelDecisions::find_ways(const Decision& open, const Key& key, const BlockOfCall& block,
                              Contest& contest) {
  contest.ways[0] = flat(open);
  contest.count = 1;
  std::optional<Bytes> size;
  if (const int error = find_block(key.collective, block, size)) return error;
  if (const int error = add_levels(key, size, contest)) return error;
  return open.is_automatic ? add_order(key, size, contest) : MPI_SUCCESS;
}

Decision LevelDecisions::flat(const Decision& open) {
  Decision closed = open;
  closed.open = OpenLevel::none;
  return closed;
}

Decision& LevelDecisions::add_way(Contest& contest) {
  Decision& way = contest.ways[static_cast<std::size_t>(contest.count++)];
  way = contest.ways[0];
  return way;
}

/// Through nodes.
int LevelDecisions::add_levels(const Key& key, std::optional<Bytes> size, Contest& contest) {
  const bool is_range = is_block_common(key.collective) && size && key.range > 0;
  const BlockRangeOfCalls blocks = {is_range ? least_of(key.range) : size,
                                    is_range ? largest_of(key.range) : size};
  LevelChoice choice;
  if (const int error = nodes_.open_for(key.collective, blocks, choice)) return error;
  // What stays flat is what it was in the report too; tutti explain says why.
  if (!choice.level.node) return MPI_SUCCESS;
  for (const int leaders : leaders_to_try(choice.level.leaders, nodes_.most_ranks())) {
    bool ready = false;
    if (const int error = nodes_.prepare(leaders, ready)) return error;
    if (!ready) continue;
    Decision& way = add_way(contest);
    way.level = {true, leaders};
    way.text = name_of(way) + ": on trial, " + choice.reason;
  }
  return MPI_SUCCESS;
}

/// In an order by distance, where distances are known.
int LevelDecisions::add_order(const Key& key, std::optional<Bytes> size, Contest& contest) {
  if (!communicator_.had_distances() || key.root == any_root || size.value_or(0) == 0) {
    return MPI_SUCCESS;
  }
  int error = MPI_SUCCESS;
  DistanceOrders* distances = communicator_.distances(error);
  if (distances == nullptr) return error;
  std::optional<Specification> found;
  error = distances->find_gain(key.collective, largest_of(key.range), key.root, found);
  if (error != MPI_SUCCESS || !found) return error;
  Decision& way = add_way(contest);
  way.specification = std::move(found);
  way.text = name_of(way) + ": on trial, modelled to gain a quarter or more by distances";
  return MPI_SUCCESS;
}

bool LevelDecisions::goes_by_root(Collective collective) const {
  return has_root(collective) && communicator_.had_distances();
}

Rank LevelDecisions::root_of(Collective collective, Rank root) {
  if (!goes_by_root(collective)) return 0;
  // Who has a bad root goes on as before: most likely with the others' one.
  Rank& latest = latest_root_[static_cast<std::size_t>(collective)];
  if (root >= 0 && root < communicator_.p()) latest = root;
  const bool known = std::find(roots_.begin(), roots_.end(), latest) != roots_.end();
  return known ? latest : any_root;
}

/// Each root has orders of its own, and the work of finding them is bounded.
void LevelDecisions::note_root(Rank root) {
  const bool known = std::find(roots_.begin(), roots_.end(), root) != roots_.end();
  if (!known && root >= 0 && roots_.size() < most_roots) roots_.push_back(root);
}

/// Those whose calls are over, and turns of those that go on.
int LevelDecisions::end_trials(Course& course) {
  for (Contest* contest : course.on_trial) {
    if (contest->trial->is_turn_over()) {
      TrialOutcome outcome;
      if (const int error = outcome_on_all(nodes_.comm(), *contest->trial, outcome)) return error;
      contest->trial->leave_out(outcome.is_slow);
    }
    if (!contest->trial->is_over()) continue;
    if (const int error = end_trial(*contest)) return error;
  }
  std::erase_if(course.on_trial, [](const Contest* contest) { return !contest->trial; });
  return MPI_SUCCESS;
}

/// The program makes no more such calls, or few: they stay as they were.
void LevelDecisions::abandon(Course& course) {
  for (Contest* contest : course.on_trial) contest->trial.reset();
  course.on_trial.clear();
}

int LevelDecisions::end_trial(Contest& contest) {
  TrialOutcome outcome;
  const int error = outcome_on_all(nodes_.comm(), *contest.trial, outcome);
  contest.trial.reset();
  contest.taken = contest.ways[static_cast<std::size_t>(outcome.way)];
  Decision& taken = contest.taken;
  taken.text = name_of(taken) + (outcome.way > 0 ? ": measured to gain a tenth or more"
                                                 : ": nothing else was measured to gain a tenth");
  return error;
}

/// Ranks that begin together end by the same clock, however far apart their clocks are.
const Decision& LevelDecisions::begin_call(const BlockOfCall& block, Contest& contest, int& error) {
  const auto way = static_cast<std::size_t>(contest.trial->begin());
  tried_ = &contest;
  bytes_ = block.common ? 0 : block.own();
  error = mpi().Barrier(nodes_.comm());
  began_ = monotonic_seconds();
  return contest.ways[way];
}

void LevelDecisions::end_call() {
  if (tried_ == nullptr) return;
  tried_->trial->end({monotonic_seconds() - began_, bytes_});
  tried_ = nullptr;
}

}  // namespace tutti
