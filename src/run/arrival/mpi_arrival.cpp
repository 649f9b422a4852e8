/// The agreement on arrivals over an MPI channel, driven by any thread.
#include "run/arrival/mpi_arrival.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <new>
#include <optional>

#include "run/mpi/end.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

/// Weight of the latest gap between two calls; all earlier ones share the rest.
constexpr double weight = 0.5;
constexpr std::size_t max_sites = 64;
/// Each call gets an estimate up to this number after a change, then one in `estimate_interval`.
constexpr CallNumber estimated_calls = 8;
constexpr CallNumber estimate_interval = 8;
/// One call in this number may compare the clocks.
constexpr CallNumber timed_one_in = 64;
/// While rank 0 is in a call its thread leaves MPI to it, and takes a turn only this often.
constexpr double seconds_left_to_a_call = 20e-3;

void say_once_that_there_is_no_thread() {
  static std::atomic<bool> said = false;
  if (said.exchange(true)) return;
  std::fprintf(stderr,
               "tutti: arrivals are exchanged without a background thread: it needs "
               "MPI_THREAD_MULTIPLE on every rank, and on MPICH an MPI_Finalize that goes through "
               "Tutti\n");
}

}  // namespace

int Arrival::open(MPI_Comm comm, std::shared_ptr<Arrival>& made) {
  std::shared_ptr<Arrival> arrival(new Arrival);
  arrival->rank_ = rank_in(comm);
  arrival->p_ = size_of(comm);
  arrival->coordinator_ = ArrivalCoordinator(arrival->p_);
  arrival->gaps_.reserve(max_sites);
  if (const int error = true_on_all(comm, start_thread(), arrival->has_thread_)) return error;
  if (arrival->rank_ == 0 && !arrival->has_thread_) say_once_that_there_is_no_thread();
  std::unique_ptr<ControlChannel> channel;
  if (const int error = open_channel(comm, max_arrival_words(arrival->p_), channel)) return error;
  arrival->queue_.open(std::move(channel),
                       [read = arrival.get()](Rank from, const std::vector<std::int64_t>& words) {
                         read->take(from, words);
                       });
  bool has_clock = false;
  if (const int error = arrival->clock_.synchronise(comm, has_clock)) return error;
  if (!has_clock) return MPI_ERR_OTHER;
  arrival->last_exit_ = arrival->computing_since_ = arrival->clock_.now();
  if (arrival->has_thread_) Background::of_process().add(*arrival);
  made = std::move(arrival);
  return MPI_SUCCESS;
}

Arrival::~Arrival() {
  if (has_thread_) Background::of_process().remove(*this);
}

/// No message may be in flight when the channel's communicator is freed. An error of the MPI ends
/// the exchange at this rank; without memory the next call tries again.
bool Arrival::try_close() {
  bool over = false;
  int error = MPI_SUCCESS;
  try {
    say_farewell();
    error = queue_.take_own_turn(over);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (!(over && is_over()) && error == MPI_SUCCESS) return false;
  if (has_thread_) Background::of_process().remove(*this);
  queue_.close();
  clock_.close();
  return true;
}

/// Sends the farewell even after an error, because the other ranks wait for it.
void Arrival::say_farewell() {
  const std::lock_guard lock(mutex_);
  if (!has_left_) send(ArrivalMember::farewell());
  has_left_ = true;
}

bool Arrival::is_over() const {
  const std::lock_guard lock(mutex_);
  return member_.is_over();
}

void Arrival::expect_progress_hints(double fraction) {
  const std::lock_guard lock(mutex_);
  has_progress_hints_ = true;
  fraction_ = fraction;
}

int Arrival::progress_hint() {
  bool has_message = false;
  {
    const std::lock_guard lock(mutex_);
    const double now = hint_time_ = clock_.now();
    expected_ = computing_since_ + (now - computing_since_) / fraction_;
    has_message = send_estimate();
  }
  if (has_message) queue_.take_turn();
  return queue_.first_error();
}

void Arrival::begin_computing() {
  const std::lock_guard lock(mutex_);
  computing_since_ = clock_.now();
}

CallNumber Arrival::begin_call(Collective collective) {
  const std::lock_guard lock(mutex_);
  under_way_.emplace(++begun_, std::exchange(last_, collective));
  return begun_;
}

void Arrival::arrive(const void* site) {
  const std::lock_guard lock(mutex_);
  ++arrived_;
  const double now = clock_.now();
  left_to_call_until_ = now + seconds_left_to_a_call;
  if (arrived_ > 1) {
    double& gap = gap_after(last_site_);
    const double measured = now - last_exit_;
    gap = std::isnan(gap) ? measured : gap + weight * (measured - gap);
  }
  last_site_ = site;
  prediction_.ahead = std::exchange(expected_, std::nan("")) - now;
  if (!std::isnan(prediction_.ahead)) forecast_error_.add(std::abs(prediction_.ahead));
  prediction_.progress_hint = now - std::exchange(hint_time_, std::nan(""));
}

CallPrediction Arrival::prediction_of_call() const {
  const std::lock_guard lock(mutex_);
  return prediction_;
}

int Arrival::compare_clocks() {
  MpiClock::Compared compared;
  const int error = clock_.compare(compared);
  if (error != MPI_SUCCESS) return error;
  const std::lock_guard lock(mutex_);
  clock_.adopt(compared);
  return MPI_SUCCESS;
}

void Arrival::keep_time() noexcept {
  if (clock_.is_shared() || ++timed_ % timed_one_in != 0) return;
  std::optional<MpiClock::Compared> compared;
  const int error = clock_.compare_again(compared);
  if (error != MPI_SUCCESS) queue_.fail(error);
  if (!compared || error != MPI_SUCCESS) return;
  const std::lock_guard lock(mutex_);
  clock_.adopt(*compared);
}

int Arrival::leave(CallNumber call, const void* site) noexcept {
  try {
    if (estimate_next_call(call, site)) queue_.take_turn();
  } catch (const std::bad_alloc&) {
    queue_.fail(MPI_ERR_NO_MEM);
  }
  return queue_.first_error();
}

/// True if there may be messages to send or to receive.
bool Arrival::estimate_next_call(CallNumber call, const void* site) {
  const std::lock_guard lock(mutex_);
  ++left_;
  under_way_.erase(call);
  member_.forget_before(under_way_.empty() ? begun_ + 1 : under_way_.begin()->first);
  last_exit_ = computing_since_ = clock_.now();
  // Rank 0 answers estimates for this call, and no rank leaves its messages to the MPI for long.
  const bool takes_message = sends_estimate(call);
  const double gap = gap_after(site);
  // Without progress hints, earlier gaps predict the arrival.
  if (has_progress_hints_ || std::isnan(gap)) return takes_message;
  expected_ = last_exit_ + gap;
  return send_estimate() || takes_message;
}

/// NaN while unknown.
double& Arrival::gap_after(const void* site) {
  const auto found = std::ranges::find(gaps_, site, &Gap::site);
  if (found != gaps_.end()) return found->seconds;
  if (gaps_.size() == max_sites) gaps_.erase(gaps_.begin());
  return gaps_.emplace_back(Gap{site, std::nan("")}).seconds;
}

int Arrival::agreed_profile(CallNumber call, std::shared_ptr<const ArrivalEpoch>& profile) {
  for (bool asked = false; !knows_profile(call, profile); asked = true) {
    queue_.take_turn();
    const bool cut_off = is_cut_off();
    if (knows_profile(call, profile) || cut_off) break;
    if (!asked) ask(ArrivalMember::profile_question(call));
    sched_yield();
  }
  return queue_.first_error();
}

bool Arrival::knows_profile(CallNumber call, std::shared_ptr<const ArrivalEpoch>& profile) {
  const std::lock_guard lock(mutex_);
  profile = nullptr;
  return member_.find_profile(call, under_way_.at(call), profile);
}

void Arrival::expect_epoch(CallNumber call) {
  const std::lock_guard lock(mutex_);
  epochs_until_ = std::max(epochs_until_, call + estimated_calls);
}

int Arrival::agreed_epoch(CallNumber call, std::shared_ptr<const ArrivalEpoch>& epoch) {
  for (bool asked = false; !find_agreed_epoch(call, epoch); asked = true) {
    if (!asked) ask(ArrivalMember::question(call));
    sched_yield();
  }
  return queue_.first_error();
}

bool Arrival::find_agreed_epoch(CallNumber call, std::shared_ptr<const ArrivalEpoch>& epoch) {
  epoch = nullptr;
  if (!has_thread_) return true;
  queue_.take_turn();
  // After the end of the stream all ranks have received the same: a call without an epoch has none.
  const bool cut_off = is_cut_off();
  const std::lock_guard lock(mutex_);
  epoch = member_.epoch_for(call);
  if (epoch == nullptr) return cut_off;
  if (epoch->number == 0) epoch = nullptr;
  return true;
}

/// True if no more messages will come, or may not after an error.
bool Arrival::is_cut_off() const { return is_over() || queue_.first_error() != MPI_SUCCESS; }

bool Arrival::is_open() {
  const std::lock_guard lock(mutex_);
  return !has_left_ && queue_.first_error() == MPI_SUCCESS;
}

std::shared_ptr<const ArrivalEpoch> Arrival::newest_epoch() {
  queue_.take_turn();
  const std::lock_guard lock(mutex_);
  return member_.newest()->number == 0 ? nullptr : member_.newest();
}

BackgroundTask::Progress Arrival::proceed() {
  // Only the coordinator serves other ranks; messages to the others can wait for their next call.
  if (rank_ != 0) return Progress::nothing_expected;
  if (leaves_mpi_to_call()) return Progress::waiting;
  bool any = false;
  try {
    any = queue_.take_turn();
  } catch (const std::bad_alloc&) {
    queue_.fail(MPI_ERR_NO_MEM);
  }
  if (is_over()) return Progress::nothing_expected;
  return any && expects_more() ? Progress::moved : Progress::waiting;
}

/// True if a rank may wait for an answer soon. Occasional estimates do not justify frequent turns.
bool Arrival::expects_more() {
  const std::lock_guard lock(mutex_);
  return std::exchange(has_answered_, false) || coordinator_.owes_epoch();
}

/// True while rank 0 is in a call. A rank that waits for an answer then waits for this call too, or
/// not for long.
bool Arrival::leaves_mpi_to_call() {
  const std::lock_guard lock(mutex_);
  if (arrived_ == left_) return false;
  // Estimates for this call may be in flight, from which its epoch is made.
  if (arrived_ <= epochs_until_ && member_.epoch_for(arrived_) == nullptr) return false;
  const double now = clock_.now();
  if (now < left_to_call_until_) return true;
  left_to_call_until_ = now + seconds_left_to_a_call;
  return false;
}

/// True if `call` gets an estimate, as far as this rank knows.
bool Arrival::sends_estimate(CallNumber call) const {
  return call <= epochs_until_ || call <= member_.changed() + estimated_calls ||
         call % estimate_interval == 0;
}

/// True if it queued an estimate.
bool Arrival::send_estimate() {
  const CallNumber call = arrived_ + 1;
  if (!sends_estimate(call) || has_left_ || queue_.first_error() != MPI_SUCCESS) return false;
  send(ArrivalMember::estimate(
      {call, expected_, forecast_error_.mean() + clock_.error(), last_, call <= epochs_until_}));
  return true;
}

void Arrival::ask(std::vector<std::int64_t> question) {
  {
    const std::lock_guard lock(mutex_);
    if (has_left_ || queue_.first_error() != MPI_SUCCESS) return;
    send(std::move(question));
  }
  queue_.take_turn();
}

/// Sends a message to rank 0; rank 0, the coordinator, takes its own directly.
void Arrival::send(std::vector<std::int64_t> words) {
  if (rank_ != 0) {
    queue_.write(0, std::make_shared<const ArrivalMessage>(std::move(words)));
  } else {
    coordinate(0, words);
  }
}

void Arrival::take(Rank from, const std::vector<std::int64_t>& words) {
  const std::lock_guard lock(mutex_);
  if (rank_ != 0) {
    member_.take(words);
  } else {
    coordinate(from, words);
  }
}

/// Requires `mutex_`, so that all ranks receive the messages in the same sequence.
void Arrival::coordinate(Rank from, const std::vector<std::int64_t>& words) {
  const std::vector<ArrivalMessage> messages = coordinator_.take(from, words, clock_.now());
  has_answered_ = has_answered_ || !messages.empty();
  for (const ArrivalMessage& message : messages) {
    member_.take(message);
    const auto words_for_all = std::make_shared<const ArrivalMessage>(message);
    for (Rank rank = 1; rank < p_; ++rank) queue_.write(rank, words_for_all);
  }
}

}  // namespace tutti
