/// Agreements, candidates and notes.
#include "api/tuned_selection.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "run/mpi/owned_comm.hpp"
#include "select/tuning_candidates.hpp"

namespace tutti {

namespace {

/// Selections as one number, for ranks that do not know their own.
constexpr int max_candidates = 64;

/// What the latest creation of what a candidate needs took in this process; first a guess.
std::atomic<Nanoseconds> latest_creation = 1'000'000;

Nanoseconds nanoseconds(double seconds) { return static_cast<Nanoseconds>(seconds * 1e9); }

}  // namespace

/// Candidates of one collective. Ranks combine their notes on the program's own communicator, on
/// which its calls drive the reduction.
class TunedSelection::MpiAgreement final : public Agreement {
 public:
  MpiAgreement(TunedSelection& selection, State& state) : selection_(selection), state_(state) {}

  /// Where ranks have begun different numbers of nonblocking collectives, this one would not match:
  /// then nothing is explored.
  int begin(std::vector<MaxAndSum> notes) override {
    Communicator& communicator = selection_.communicator_;
    if (!selection_.may_agree_) {
      const int error = OwnedComm::check_nonblocking(communicator.handle());
      selection_.is_closed_ = error == OwnedComm::unmatched;
      if (selection_.is_closed_) communicator.stop_passing();  // calls are not counted any more
      if (error != MPI_SUCCESS) return selection_.is_closed_ ? MPI_SUCCESS : error;
      selection_.may_agree_ = true;
    }
    // Calls with arrivals keep the time themselves.
    notes.push_back({may_wait() ? selection_.clock_.due(state_.tuner.spent()) : 0, 0});
    notes.push_back({TuningClock::cost_of_node(), 0});
    return state_.notes.begin(communicator.handle(), std::move(notes));
  }

  int wait() override { return state_.notes.is_pending() ? state_.notes.wait() : MPI_SUCCESS; }

  /// Starts of persistent requests wait for no rank.
  [[nodiscard]] bool may_wait() const override { return !state_.has_arrivals; }

  int end(std::vector<MaxAndSum>& combined) override {
    int error = state_.notes.end(combined);
    if (error == MPI_SUCCESS) error = selection_.nodes_.guess();
    if (error != MPI_SUCCESS) return error;
    cost_of_node_ = combined.back().max;
    combined.pop_back();
    const std::int64_t comparison = combined.back().max;
    combined.pop_back();
    return selection_.clock_.compare(comparison);
  }

  int candidates(SizeClass size_class) override {
    Candidates& known = state_.candidates[size_class];
    if (!std::exchange(known.are_listed, true)) list(size_class, known.settings);
    add_orders(size_class, known.settings);
    return static_cast<int>(known.settings.size());
  }

  double cost_of_listing(SizeClass size_class) override {
    return tutti::cost_of_listing(features(size_class), has_orders(size_class));
  }

  int prepare(SizeClass size_class, int candidate, bool& ready) override {
    const bool creates = needs_creation(size_class, candidate);
    const double began = monotonic_seconds();
    const int error = selection_.nodes_.open_for(state_.collective, largest_of(size_class),
                                                 *setting_of(size_class, candidate).level, ready);
    if (creates) latest_creation = nanoseconds_since(began);
    return error;
  }

  bool is_informed(SizeClass size_class, int candidate) override {
    const Setting& setting = setting_of(size_class, candidate);
    const bool is_forced = setting.kind == Setting::Kind::forced;
    return !is_forced || !setting.specification.needs_arrivals() || state_.profile != nullptr;
  }

  bool needs_creation(SizeClass size_class, int candidate) override {
    return selection_.nodes_.needs(*setting_of(size_class, candidate).level);
  }

  std::optional<double> cost_of_clock() override { return selection_.clock_.cost(cost_of_node_); }

  int synchronise() override { return selection_.clock_.open(); }

  double cost_of_learning(double max_cost) override {
    const bool may_order = state_.deferred.is_automatic;
    return may_order ? selection_.distances_.cost(state_.collective, max_cost) : 0;
  }

  int learn(double max_cost, bool& has_more) override {
    return selection_.distances_.advance(state_.collective, max_cost, has_more);
  }

  /// The first error of candidates(), which returns none.
  [[nodiscard]] int error() const { return error_; }

  [[nodiscard]] Features features(SizeClass size_class) const {
    const Communicator& communicator = selection_.communicator_;
    Features features = selection_.nodes_.features(state_.collective, largest_of(size_class));
    features.staging = communicator.plan_settings().staging;
    features.native_only = !state_.deferred.is_automatic;
    features.flat_only = state_.deferred.flat_only;
    features.knows_arrivals = state_.has_arrivals;
    features.has_background = state_.has_arrivals && communicator.arrival()->has_thread();
    if (state_.profile != nullptr) features.arrivals = state_.profile->arrivals;
    return features;
  }

 private:
  [[nodiscard]] const Setting& setting_of(SizeClass size_class, int candidate) const {
    return state_.candidates[size_class].settings[index(candidate)];
  }
  [[nodiscard]] bool has_orders(SizeClass size_class) const {
    return size_class > 0 && selection_.distances_.has_orders(state_.collective);
  }

  /// Adds all others. What an earlier run selected keeps its number.
  void list(SizeClass size_class, std::vector<Setting>& known) {
    std::vector<Setting> all =
        tuning_candidates(features(size_class), selection_.communicator_.machine());
    if (known.size() > 1) {
      std::erase(all, known[1]);
      all.insert(all.begin() + 1, known[1]);
    }
    if (all.size() >= max_candidates) all.resize(max_candidates - 1);
    known = std::move(all);
  }

  /// Orders by distance, where the model predicts a gain by what was learned. Collective.
  void add_orders(SizeClass size_class, std::vector<Setting>& all) {
    if (!has_orders(size_class)) return;
    std::vector<Specification> found;
    DistanceOrders& known = selection_.communicator_.distances();
    const auto candidates = candidates_by_distance(features(size_class));
    const int error = known.find_gains(candidates, largest_of(size_class), found);
    if (error_ == MPI_SUCCESS) error_ = error;
    for (const Specification& one : found) {
      if (all.size() < max_candidates) all.push_back({Setting::Kind::forced, one, Level{}});
    }
  }

  TunedSelection& selection_;
  State& state_;
  Nanoseconds cost_of_node_ = 0;  ///< of comparing clocks, as agreed
  int error_ = MPI_SUCCESS;
};

Criterion TunedSelection::criterion_for(Collective of) {
  const bool waits_for_all = !has_root(of) && !is_irregular(of) && !is_scan(of);
  return waits_for_all ? Criterion::shortest : Criterion::last_exit;
}

/// Profiles have growing numbers, and calls after other collectives others.
void TunedSelection::State::follow(const Profile& now) {
  profile = now;
  if (now == nullptr || now->number <= newest_profile) return;
  newest_profile = now->number;
  tuner.reopen();
}

/// Each tuner waits for its next call, because those of a persistent request and others may
/// alternate.
const std::shared_ptr<TunedSelection::State>& TunedSelection::state_of(const Decision& deferred,
                                                                       Collective collective) {
  const bool has_arrivals = communicator_.arrival() != nullptr && is_gather_or_scatter(collective);
  const auto serves = [&](const std::shared_ptr<State>& state) {
    return state->collective == collective && state->has_arrivals == has_arrivals &&
           state->deferred.flat_only == deferred.flat_only &&
           state->deferred.is_automatic == deferred.is_automatic;
  };
  std::shared_ptr<State>& latest = latest_[collective];
  if (latest != nullptr && serves(latest)) return latest;
  const auto found = std::ranges::find_if(states_, serves);
  if (found != states_.end()) return latest = *found;
  latest = std::make_shared<State>(communicator_, collective, deferred, has_arrivals);
  return states_.emplace_back(latest);
}

bool TunedSelection::stays_native(const Decision& deferred, Collective collective,
                                  const Profile& profile) {
  noted_ = {};
  if (is_closed_) return true;
  State& state = *state_of(deferred, collective);
  state.tuner.begin_call();
  state.follow(profile);
  // Which calls these are follows from call numbers alone, so that no node has to count them.
  return !state.tuner.agrees() && state.tuner.runs_native() && !communicator_.is_reported();
}

TunedSelection::NextCalls TunedSelection::next_calls(Collective collective) const {
  const std::shared_ptr<State>& state = latest_[collective];
  if (is_closed_) return {true, 0, std::uint64_t{1} << 30};
  if (state == nullptr) return {};
  const Tuner& tuner = state->tuner;
  return {tuner.selects_native(), tuner.calls_to_note(), tuner.calls_that_pass()};
}

std::optional<SizeClass> TunedSelection::State::class_of_call(const CallSize& size) const {
  if (!size.is_compared) return {};
  return size.block ? class_of(*size.block) : latest;
}

bool TunedSelection::runs_native_later(unsigned later, Collective collective,
                                       const CallSize& size) const {
  const std::shared_ptr<State>& state = latest_[collective];
  return state == nullptr || state->tuner.runs_native_later(later, state->class_of_call(size));
}

void TunedSelection::count_passed(Collective collective, const PassedCalls& passed) {
  const std::shared_ptr<State>& state = latest_[collective];
  if (state == nullptr) return;
  std::uint64_t number = state->tuner.begun();
  for (const PassedCalls::Note& note : passed.notes) {
    const bool failed = note.elapsed < 0;
    const auto size_class = failed ? std::nullopt : state->class_of_call(note.size);
    const RankTime time = {failed ? 0 : note.elapsed, clock_.at(note.ended)};
    state->tuner.note(number++, size_class, note.size.own, time);
  }
  state->tuner.pass(passed.calls);
}

const std::string& TunedSelection::text_of(Collective collective, const CallSize& size) {
  State& state = *latest_[collective];
  return decision_of(state, state.class_of_call(size), 0).text;
}

const Decision& TunedSelection::resolve(const Decision& deferred, Collective collective,
                                        const CallSize& size, int& error) {
  const std::shared_ptr<State> state = state_of(deferred, collective);
  if (state->tuner.call() == 0) {
    const double began = monotonic_seconds();
    error = start(*state);
    begin_inspection();
    state->tuner.charge(nanoseconds(inspected_ - began));
  }
  if (error == MPI_SUCCESS && state->tuner.agrees()) error = agree(*state);
  if (error != MPI_SUCCESS) return deferred;
  return select(state, size, error);
}

/// All ranks are at the first call of the collective, with the same kept rules.
int TunedSelection::start(State& state) {
  const auto of_collective = std::ranges::find(kept_.all, state.collective, &Rule::collective);
  // Which ranks are late may differ from run to run.
  if (of_collective == kept_.all.end() || state.has_arrivals) return MPI_SUCCESS;
  std::optional<QuietErrors> quiet;
  if (!nodes_.are_open()) quiet.emplace(communicator_.handle());
  int error = nodes_.guess();
  for (const Rule& rule : kept_.all) {
    const bool holds =
        error == MPI_SUCCESS && matches(rule, nodes_.kept_features(state.collective));
    if (holds) error = start_class(state, rule);
  }
  if (error != MPI_SUCCESS) state.tuner.stop();
  return error;
}

/// What an earlier run selected becomes the only candidate beside the MPI's own until others are
/// explored: to find those takes long where a job has many ranks. If it cannot run on some rank,
/// the class is explored as any other.
int TunedSelection::start_class(State& state, const Rule& kept) {
  const SizeClass size_class = class_of(kept.bytes.most);
  const TuningEvidence evidence = evidence_of(kept);
  MpiAgreement ranks(*this, state);
  const bool is_other = state.candidates.contains(size_class);  // the file names the class twice
  if (is_other || !may_run(kept.use, ranks.features(size_class))) return MPI_SUCCESS;
  Candidates& known = state.candidates[size_class];
  int error = MPI_SUCCESS;
  known.are_kept = evidence.candidate == 0;
  if (!known.are_kept) {
    known.settings.push_back(kept.use);
    error = ranks.prepare(size_class, evidence.candidate, known.are_kept);
  }
  if (known.are_kept) {
    state.tuner.start_from(size_class, evidence);
  } else {
    state.candidates.erase(size_class);
  }
  return error;
}

int TunedSelection::agree(State& state) {
  const double began = monotonic_seconds();
  const QuietErrors quiet(communicator_.handle());
  communicator_.passing().forget_if_full(state.collective);
  Tuner& tuner = state.tuner;
  const bool ends = tuner.ends_agreement();
  MpiAgreement ranks(*this, state);
  int error = tuner.agree(ranks, latest_creation, clock_.error());
  if (error == MPI_SUCCESS) error = ranks.error();
  if (error != MPI_SUCCESS) tuner.stop();
  const std::optional<Bytes> bytes = tuner.bytes_per_call();
  if (ends && bytes && !is_block_common(state.collective)) {
    const SizeClass found = class_of(mean_of_blocks(state.collective, *bytes, communicator_.p()));
    const auto is_kept = [&](SizeClass one) {
      const auto known = state.candidates.find(one);
      return known != state.candidates.end() && known->second.are_kept;
    };
    state.latest = class_by_mean(found, state.latest, state.mean, is_kept);
    state.mean = found;
  }
  begin_inspection();
  tuner.charge_agreement(nanoseconds(inspected_ - began));
  return error;
}

void TunedSelection::end_agreements() {
  communicator_.stop_passing();
  is_closed_ = true;
  std::vector<Combination> pending;
  for (const std::shared_ptr<State>& state : states_) pending.push_back(std::move(state->notes));
}

const Decision& TunedSelection::select(const std::shared_ptr<State>& selecting,
                                       const CallSize& size, int& error) {
  State& state = *selecting;
  const bool is_valid = size.block || !is_block_common(state.collective);
  if (size.block) state.latest = class_of(*size.block);
  const std::optional<SizeClass> size_class = state.class_of_call(size);
  int number = size_class.value_or(0) * max_candidates + state.tuner.candidate_of(size_class);
  if (nodes_.are_open()) {
    error = communicator_.hierarchical().broadcast_selection(is_valid, number);
  }
  if (number < 0) number = size_class.value_or(0) * max_candidates;  // it has passed at others
  const int candidate = number % max_candidates;
  // What cannot be explored runs the MPI's own. A rank with an invalid type only thinks so.
  const auto decides =
      size_class || number != 0 ? std::optional(number / max_candidates) : std::nullopt;
  Decision& selected = decision_of(state, decides, candidate);
  selected.measured = {};
  if (size_class) {
    const bool explores = !state.tuner.is_selected(size_class);
    selected.measured = {state.case_of(*size_class), candidate, explores};
  }
  if (is_valid && state.tuner.is_noted()) {
    noted_ = {selecting, state.tuner.call(), size_class, size.own, inspected_, monotonic_seconds()};
  }
  return selected;
}

Decision& TunedSelection::decision_of(State& state, std::optional<SizeClass> size_class,
                                      int candidate) {
  Decision& decision = state.decisions[{size_class, candidate}];
  const bool is_new = decision.text.empty();
  if (is_new) {
    decision = state.deferred;
    decision.is_tuned = false;
  }
  if (!size_class) return decision;
  const auto known = state.candidates.find(*size_class);
  const bool is_known = known != state.candidates.end();
  const Setting& setting = is_known ? known->second.settings[index(candidate)] : flat_native;
  const std::string_view reason = state.tuner.reason(*size_class, candidate);
  if (is_new || !decision.text.ends_with(reason)) decision.follow({setting, std::string(reason)});
  return decision;
}

void TunedSelection::end_call(NotedCall& noted, int error) {
  if (noted.state == nullptr) return;
  noted.ended = monotonic_seconds();
  const RankTime time = {nanoseconds(noted.ended - noted.began), clock_.at(noted.ended)};
  const auto size_class = error == MPI_SUCCESS ? noted.size_class : std::nullopt;
  noted.state->tuner.note(noted.number, size_class, noted.bytes, time);
}

void TunedSelection::charge_inspection(const NotedCall& noted) {
  if (noted.state == nullptr) return;
  const double before = noted.began - noted.inspected;
  noted.state->tuner.charge(nanoseconds(before) + nanoseconds_since(noted.ended));
}

}  // namespace tutti
