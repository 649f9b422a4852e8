/// Sampling windows, tuning cases and their explorations.
#include "api/hierarchical_selection.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>

#include "run/clock.hpp"
#include "run/mpi/agree.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

namespace {

/// The first calls of a communicator, which stay flat.
constexpr unsigned calls_at_first = 8;

/// Calls between explorations, for each earlier call: bounds their cost (docs/hierarchical.md).
constexpr std::uint64_t calls_per_interval = 8;
constexpr std::uint64_t min_calls_between_explorations = 2048;
/// The least number of calls before the model is evaluated again, if it found no candidate.
constexpr std::uint64_t calls_between_evaluations = 128;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

constexpr int unknown = 64;

constexpr std::size_t max_roots = 4;

/// The range of a block: n + 1 for (2^(n-1), 2^n] bytes, so 1 for one byte; 0 for none.
int range_of(std::optional<Bytes> block) {
  if (!block) return unknown;
  if (*block <= 0) return 0;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*block - 1))) + 1;
}

Bytes largest_of(int range) { return range == 0 ? 0 : Bytes{1} << (range - 1); }
Bytes min_of(int range) { return range < 2 ? largest_of(range) : largest_of(range - 1) + 1; }

std::string name_of(const Decision& decision) {
  if (decision.specification) return to_text(*decision.specification);
  const bool flat = !decision.level.hierarchical;
  return to_text(
      Setting{Setting::Kind::native, {}, flat ? std::nullopt : std::optional(decision.level)});
}

/// Alike on all ranks, as the outcome is.
std::string measured_gain(const ExplorationOutcome& outcome, const std::string& usual,
                          std::size_t calls) {
  const double seconds = outcome.seconds[static_cast<std::size_t>(outcome.candidate)];
  char text[96];
  std::snprintf(text, sizeof text, ": measured %.1fx faster than %s over %zu calls",
                outcome.seconds[0] / seconds, usual == "native" ? "the MPI's own" : usual.c_str(),
                calls);
  return text;
}

}  // namespace

HierarchicalSelection::CountedCall::~CountedCall() {
  if (decisions_ == nullptr || !decisions_->nodes_.are_open()) return;
  int error = MPI_SUCCESS;
  decisions_->communicator_.levels(error)->skip();
}

bool HierarchicalSelection::stays_flat(Collective collective) {
  tried_ = nullptr;
  if (calls_ < calls_at_first) {
    ++calls_;
    return true;
  }
  TunerState& tuner_state = tuner_states_[static_cast<std::size_t>(collective)];
  tuner_state.is_in_window = tuner_state.windows.begin_call();
  if (tuner_state.is_in_window || tuner_state.has_candidates) return false;
  const CountedCall counted(*this);
  return true;
}

/// 0 once nodes are open: then all calls count.
std::uint64_t HierarchicalSelection::calls_that_pass(Collective collective) const {
  const TunerState& tuner_state = tuner_states_[static_cast<std::size_t>(collective)];
  if (calls_ < calls_at_first || tuner_state.has_candidates || nodes_.are_open()) return 0;
  return tuner_state.windows.calls_to_next();
}

const Decision& HierarchicalSelection::resolve(const Decision& deferred, Collective collective,
                                               const BlockOfCall& given, int& error) {
  error = MPI_SUCCESS;
  tried_ = nullptr;
  BlockOfCall block = given;
  const bool asks_for_hierarchical = deferred.deferred == DeferredLevel::leaders;
  CountedCall counted(*this);
  TunerState& tuner_state = tuner_states_[static_cast<std::size_t>(collective)];
  const Decision& resolved =
      asks_for_hierarchical ? resolve_leaders(deferred, collective, block, error)
      : tuner_state.is_in_window
          ? resolve_in_window(deferred, collective, block, tuner_state, error)
          : resolve_outside(deferred, collective, block, error);
  if (error == MPI_SUCCESS && resolved.level.hierarchical) counted.pass_on();
  return resolved;
}

const Decision& HierarchicalSelection::resolve_in_window(const Decision& deferred,
                                                         Collective collective, BlockOfCall& block,
                                                         TunerState& tuner_state, int& error) {
  // Until nodes are open, ranks agree on the program's own communicator.
  std::optional<QuietErrors> quiet;
  if (!nodes_.are_open()) quiet.emplace(communicator_.handle());
  error = end_explorations(tuner_state);
  if (error == MPI_SUCCESS) error = agree(collective, block);
  if (error != MPI_SUCCESS) return deferred;
  if (depends_on_root(collective)) note_root(block.root);
  const Key key = key_of(deferred, collective, block);
  TuningCase& tuning_case = tuning_case_of(key, deferred);
  if (!tuning_case.exploration && tuning_case.next_exploration <= tuner_state.windows.calls()) {
    error = begin_exploration(deferred, key, block, tuning_case);
  }
  if (tuner_state.windows.is_last()) abandon(tuner_state);
  if (tuner_state.exploring.empty()) tuner_state.windows.end_window();
  if (error != MPI_SUCCESS) return deferred;
  return tuning_case.exploration ? begin_call(block, tuning_case, error) : tuning_case.selected;
}

/// Uses the outcome of explorations. A rank that does not know the key gets the selection from its
/// node.
const Decision& HierarchicalSelection::resolve_outside(const Decision& deferred,
                                                       Collective collective, BlockOfCall& block,
                                                       int& error) {
  const bool knows = is_known(collective, block);
  const auto known = tuning_cases_.find(key_of(deferred, collective, block));
  int number = known == tuning_cases_.end() ? 0 : known->second.number;
  if (nodes_.are_open()) error = communicator_.levels(error)->broadcast_selection(knows, number);
  return number == 0 ? deferred : numbered_[static_cast<std::size_t>(number - 1)]->selected;
}

/// Do this rank's arguments determine the key?
bool HierarchicalSelection::is_known(Collective collective, const BlockOfCall& block) const {
  const bool is_root = block.root >= 0 && block.root < communicator_.p();
  return (block.common || !is_block_common(collective)) &&
         (is_root || !depends_on_root(collective));
}

/// Tuning cases begin in windows, in the same sequence on all ranks.
HierarchicalSelection::TuningCase& HierarchicalSelection::tuning_case_of(const Key& key,
                                                                         const Decision& deferred) {
  TuningCase& tuning_case = tuning_cases_[key];
  if (tuning_case.number == 0) {
    numbered_.push_back(&tuning_case);
    tuning_case.number = static_cast<int>(numbered_.size());
    tuning_case.selected = flat(deferred);
  }
  return tuning_case;
}

/// A rank with invalid arguments assumes the block and root of its previous call.
HierarchicalSelection::Key HierarchicalSelection::key_of(const Decision& deferred,
                                                         Collective collective,
                                                         BlockOfCall& block) {
  std::optional<Bytes>& latest = latest_[static_cast<std::size_t>(collective)];
  if (block.common) latest = block.common;
  block.common = latest;
  return {collective, range_of(block.common), root_of(collective, block.root),
          deferred.is_automatic};
}

/// Sets block and root to those that other ranks know, for a rank with invalid arguments.
int HierarchicalSelection::agree(Collective collective, BlockOfCall& block) {
  const bool has_block = is_block_common(collective) && collective != Collective::barrier;
  if (!has_block && !depends_on_root(collective)) return MPI_SUCCESS;
  const bool is_root = block.root >= 0 && block.root < communicator_.p();
  std::array<Bytes, 2> most = {block.common.value_or(-1), is_root ? block.root : -1};
  const int error = max_on_all(nodes_.comm(), most);
  if (has_block && most[0] >= 0) block.common = most[0];
  block.root = static_cast<Rank>(most[1]);
  return error;
}

/// Sets the number of leaders that the model finds fastest, for calls that must use node memory.
const Decision& HierarchicalSelection::resolve_leaders(const Decision& deferred,
                                                       Collective collective, BlockOfCall& block,
                                                       int& error) {
  const bool knows = is_known(collective, block);
  int leaders = 1;
  error = nodes_.take();
  if (error == MPI_SUCCESS)
    error = find_leaders(key_of(deferred, collective, block), block, leaders);
  if (error != MPI_SUCCESS) return deferred;
  error = communicator_.levels(error)->broadcast_selection(knows, leaders);
  Decision& resolved = through_nodes_[{&deferred, leaders}];
  if (resolved.epoch != deferred.epoch) {
    resolved = deferred;
    resolved.deferred = DeferredLevel::none;
    resolved.level.leaders = leaders;
  }
  return resolved;
}

int HierarchicalSelection::find_leaders(const Key& key, const BlockOfCall& block, int& leaders) {
  int& known = leaders_[key];
  if (known == 0) {
    std::optional<Bytes> size;
    if (const int error = find_block(key.collective, block, size)) return error;
    known = leaders_for(nodes_.features(key.collective, size), communicator_.node_machine());
  }
  leaders = known;
  return MPI_SUCCESS;
}

/// The block that all ranks know, or the mean of this call.
int HierarchicalSelection::find_block(Collective collective, const BlockOfCall& own,
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

int HierarchicalSelection::begin_exploration(const Decision& deferred, const Key& key,
                                             const BlockOfCall& block, TuningCase& tuning_case) {
  TunerState& tuner_state = tuner_states_[static_cast<std::size_t>(key.collective)];
  const std::uint64_t calls = tuner_state.windows.calls();
  const int before = tuning_case.count;
  const int error = find_candidates(deferred, key, block, tuning_case);
  // Without candidates, only blocks that ranks do not know of each other can change the outcome.
  const bool may_change = tuning_case.count > 1 || !is_block_common(key.collective);
  const std::uint64_t least =
      tuning_case.count > 1 ? min_calls_between_explorations : calls_between_evaluations;
  tuning_case.next_exploration =
      may_change ? calls + std::max(least, calls_per_interval * calls) : never;
  if (tuning_case.count > 1) {
    tuner_state.has_candidates = true;
    tuning_case.exploration.emplace(tuning_case.count, tuning_case.count != before);
    tuner_state.exploring.push_back(&tuning_case);
  } else {
    tuning_case.selected = tuning_case.candidates[0];
  }
  return error;
}

/// Sets the candidates of a tuning case.
int HierarchicalSelection::find_candidates(const Decision& deferred, const Key& key,
                                           const BlockOfCall& block, TuningCase& tuning_case) {
  tuning_case.candidates[0] = flat(deferred);
  tuning_case.count = 1;
  std::optional<Bytes> size;
  if (const int error = find_block(key.collective, block, size)) return error;
  if (const int error = add_hierarchical_candidates(key, size, tuning_case)) return error;
  return deferred.is_automatic ? add_order(key, size, tuning_case) : MPI_SUCCESS;
}

Decision HierarchicalSelection::flat(const Decision& deferred) {
  Decision resolved = deferred;
  resolved.deferred = DeferredLevel::none;
  return resolved;
}

Decision& HierarchicalSelection::add_candidate(TuningCase& tuning_case) {
  Decision& candidate = tuning_case.candidates[static_cast<std::size_t>(tuning_case.count++)];
  candidate = tuning_case.candidates[0];
  return candidate;
}

/// Adds hierarchical candidates.
int HierarchicalSelection::add_hierarchical_candidates(const Key& key, std::optional<Bytes> size,
                                                       TuningCase& tuning_case) {
  const bool is_range = is_block_common(key.collective) && size && key.range > 0;
  const BlockRangeOfCalls blocks = {is_range ? min_of(key.range) : size,
                                    is_range ? largest_of(key.range) : size};
  HierarchicalChoice choice;
  if (const int error = nodes_.open_for(key.collective, blocks, choice)) return error;
  // Calls that stay flat keep their text in the report; tutti explain gives the reason.
  if (!choice.level.hierarchical) return MPI_SUCCESS;
  for (const int leaders : leaders_to_try(choice.level.leaders, nodes_.max_ranks())) {
    bool ready = false;
    if (const int error = nodes_.prepare(leaders, ready)) return error;
    if (!ready) continue;
    Decision& candidate = add_candidate(tuning_case);
    candidate.level = {true, leaders};
    candidate.text = name_of(candidate) + ": explored, " + choice.reason;
  }
  return MPI_SUCCESS;
}

/// Adds an order by distance, if distances are known.
int HierarchicalSelection::add_order(const Key& key, std::optional<Bytes> size,
                                     TuningCase& tuning_case) {
  if (!communicator_.had_distances() || key.root == any_root || size.value_or(0) == 0) {
    return MPI_SUCCESS;
  }
  int error = MPI_SUCCESS;
  DistanceOrders* distances = communicator_.distances(error);
  if (distances == nullptr) return error;
  std::optional<Specification> found;
  error = distances->find_gain(key.collective, largest_of(key.range), key.root, found);
  if (error != MPI_SUCCESS || !found) return error;
  Decision& candidate = add_candidate(tuning_case);
  candidate.specification = std::move(found);
  candidate.text = name_of(candidate) + ": explored, predicted at least 25 % faster by distances";
  return MPI_SUCCESS;
}

bool HierarchicalSelection::depends_on_root(Collective collective) const {
  return has_root(collective) && communicator_.had_distances();
}

Rank HierarchicalSelection::root_of(Collective collective, Rank root) {
  if (!depends_on_root(collective)) return 0;
  // A rank with an invalid root keeps its previous one, most likely that of the others.
  Rank& latest = latest_root_[static_cast<std::size_t>(collective)];
  if (root >= 0 && root < communicator_.p()) latest = root;
  const bool known = std::find(roots_.begin(), roots_.end(), latest) != roots_.end();
  return known ? latest : any_root;
}

/// Registers a root. Each has orders of its own, so their number is bounded.
void HierarchicalSelection::note_root(Rank root) {
  const bool known = std::find(roots_.begin(), roots_.end(), root) != roots_.end();
  if (!known && root >= 0 && roots_.size() < max_roots) roots_.push_back(root);
}

/// Ends explorations whose calls are done, and completed rounds of the others.
int HierarchicalSelection::end_explorations(TunerState& tuner_state) {
  for (TuningCase* tuning_case : tuner_state.exploring) {
    if (tuning_case->exploration->is_round_over()) {
      ExplorationOutcome outcome;
      if (const int error = outcome_on_all(nodes_.comm(), *tuning_case->exploration, outcome))
        return error;
      tuning_case->exploration->leave_out(outcome.is_slow);
    }
    if (!tuning_case->exploration->is_over()) continue;
    if (const int error = end_exploration(*tuning_case)) return error;
  }
  std::erase_if(tuner_state.exploring,
                [](const TuningCase* tuning_case) { return !tuning_case->exploration; });
  return MPI_SUCCESS;
}

/// Abandons explorations: the program makes too few such calls, which keep their selection.
void HierarchicalSelection::abandon(TunerState& tuner_state) {
  for (TuningCase* tuning_case : tuner_state.exploring) tuning_case->exploration.reset();
  tuner_state.exploring.clear();
}

int HierarchicalSelection::end_exploration(TuningCase& tuning_case) {
  ExplorationOutcome outcome;
  const int error = outcome_on_all(nodes_.comm(), *tuning_case.exploration, outcome);
  const std::size_t calls = tuning_case.exploration->calls().size();
  tuning_case.exploration.reset();
  tuning_case.selected = tuning_case.candidates[static_cast<std::size_t>(outcome.candidate)];
  Decision& selected = tuning_case.selected;
  selected.text =
      name_of(selected) + (outcome.candidate > 0
                               ? measured_gain(outcome, name_of(tuning_case.candidates[0]), calls)
                               : ": no other candidate measured 10 % faster");
  return error;
}

/// Times the call from a barrier on, so ranks need no synchronised clocks.
const Decision& HierarchicalSelection::begin_call(const BlockOfCall& block, TuningCase& tuning_case,
                                                  int& error) {
  const auto candidate = static_cast<std::size_t>(tuning_case.exploration->begin());
  tried_ = &tuning_case;
  bytes_ = block.common ? 0 : block.own();
  error = mpi().Barrier(nodes_.comm());
  began_ = monotonic_seconds();
  return tuning_case.candidates[candidate];
}

void HierarchicalSelection::end_call() {
  if (tried_ == nullptr) return;
  tried_->exploration->end({monotonic_seconds() - began_, bytes_});
  tried_ = nullptr;
}

}  // namespace tutti
