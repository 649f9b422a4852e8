/// The agreement over an MPI channel, driven by whichever thread is there.
#include "run/mpi_arrival.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "run/mpi_agree.hpp"
#include "run/mpi_end.hpp"

namespace tutti {

namespace {

/// How much the latest gap between two calls counts against all earlier ones.
constexpr double weight = 0.5;
constexpr std::size_t most_sites = 64;
/// Every call is told of until so many after a change, then one in so many.
constexpr CallNumber told_each = 8;
constexpr CallNumber told_one_in = 8;
/// So many in a row end the exchange at its close.
constexpr int most_failures = 64;

bool can_have_thread() {
  if (!can_end_threads()) return false;
  int level = MPI_THREAD_SINGLE;
  mpi().Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE && Background::of_process().start();
}

void say_once_that_there_is_no_thread() {
  static bool said = false;
  if (std::exchange(said, true)) return;
  std::fprintf(stderr,
               "tutti: no background thread, as it needs MPI_THREAD_MULTIPLE on every rank, and on "
               "MPICH a program that calls MPI_Finalize through Tutti: the calling thread runs "
               "everything\n");
}

}  // namespace

int Arrival::open(MPI_Comm comm, std::shared_ptr<Arrival>& made) {
  std::shared_ptr<Arrival> arrival(new Arrival);
  mpi().Comm_rank(comm, &arrival->rank_);
  mpi().Comm_size(comm, &arrival->p_);
  arrival->coordinator_ = ArrivalCoordinator(arrival->p_);
  if (const int error = arrival->agree_on_threads(comm)) return error;
  if (const int error =
          MpiChannel::open(comm, longest_arrival_mail(arrival->p_), arrival->channel_)) {
    return error;
  }
  if (const int error = arrival->clock_.synchronise(comm)) return error;
  arrival->last_exit_ = arrival->computing_since_ = arrival->clock_.now();
  if (arrival->has_thread_) Background::of_process().add(*arrival);
  made = std::move(arrival);
  return MPI_SUCCESS;
}

int Arrival::agree_on_threads(MPI_Comm comm) {
  const int error = true_on_all(comm, can_have_thread(), has_thread_);
  if (error == MPI_SUCCESS && rank_ == 0 && !has_thread_) say_once_that_there_is_no_thread();
  return error;
}

Arrival::~Arrival() {
  if (has_thread_) Background::of_process().remove(*this);
}

void Arrival::begin_close() {
  const std::lock_guard lock(mutex_);
  // Whatever this rank has met: the others wait for its farewell.
  if (!std::exchange(has_left_, true)) keep(tell(ArrivalMember::farewell()));
}

/// No message may be under way when the channel's communicator goes. A rank that has met errors
/// goes on for the others, as long as there are not only errors.
void Arrival::finish_close() {
  begin_close();
  if (channel_ == nullptr) return;
  int failed = 0;
  for (bool over = false; !over;) {
    {
      const std::lock_guard lock(mutex_);
      bool moved = false;
      const int error = keep(exchange(moved));
      failed = moved ? 0 : failed + (error != MPI_SUCCESS ? 1 : 0);
      over = (member_.is_over() && channel_->is_empty()) || failed == most_failures;
    }
    if (!over) sched_yield();
  }
  if (has_thread_) Background::of_process().remove(*this);
  const std::lock_guard lock(mutex_);
  channel_.reset();
}

void Arrival::expect_edges(double fraction) {
  const std::lock_guard lock(mutex_);
  has_edges_ = true;
  fraction_ = fraction;
}

int Arrival::edge() {
  const std::lock_guard lock(mutex_);
  const double now = clock_.now();
  expected_ = computing_since_ + (now - computing_since_) / fraction_;
  return tell_estimate();
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
  if (arrived_ > 1) {
    double& gap = gap_after(last_site_);
    const double measured = now - last_exit_;
    gap = std::isnan(gap) ? measured : gap + weight * (measured - gap);
  }
  last_site_ = site;
  prediction_.ahead = std::exchange(expected_, std::nan("")) - now;
  if (!std::isnan(prediction_.ahead)) forecast_error_.add(std::abs(prediction_.ahead));
  prediction_.error = forecast_error_.mean();
}

void Arrival::note_block(Bytes block) {
  const std::lock_guard lock(mutex_);
  block_ = block;
}

CallPrediction Arrival::prediction_of_call() const {
  const std::lock_guard lock(mutex_);
  return prediction_;
}

int Arrival::leave(CallNumber call, const void* site) {
  const std::lock_guard lock(mutex_);
  under_way_.erase(call);
  member_.forget_before(under_way_.empty() ? begun_ + 1 : under_way_.begin()->first);
  last_exit_ = computing_since_ = clock_.now();
  // Rank 0 answers; what the others are told does not count before the end of what they know.
  if (rank_ == 0) take_mail();
  const double gap = gap_after(site);
  // A program without edges is taken at its habits.
  if (has_edges_ || std::isnan(gap)) return error_;
  expected_ = last_exit_ + gap;
  return tell_estimate();
}

/// NaN where it is not known yet.
double& Arrival::gap_after(const void* site) {
  const auto found =
      std::find_if(gaps_.begin(), gaps_.end(), [&](const Gap& gap) { return gap.site == site; });
  if (found != gaps_.end()) return found->seconds;
  if (gaps_.size() == most_sites) gaps_.erase(gaps_.begin());
  return gaps_.emplace_back(Gap{site, std::nan("")}).seconds;
}

int Arrival::agreed_picture(CallNumber call, std::shared_ptr<const ArrivalVersion>& picture) {
  for (bool asked = false; !find_picture(call, picture); asked = true) {
    {
      const std::lock_guard lock(mutex_);
      if (!asked && error_ == MPI_SUCCESS && !has_left_)
        error_ = tell(ArrivalMember::picture_question(call));
    }
    sched_yield();
  }
  const std::lock_guard lock(mutex_);
  return error_;
}

/// False as long as this rank does not know. True after an error, and at the end of the stream.
bool Arrival::find_picture(CallNumber call, std::shared_ptr<const ArrivalVersion>& picture) {
  const std::lock_guard lock(mutex_);
  const Collective after = under_way_.at(call);
  if (member_.find_picture(call, after, picture)) return true;
  take_mail();
  picture = nullptr;
  return member_.find_picture(call, after, picture) || member_.is_over() || error_ != MPI_SUCCESS;
}

int Arrival::agreed_version(CallNumber call, std::shared_ptr<const ArrivalVersion>& version) {
  for (bool asked = false; !find_agreed_version(call, version); asked = true) {
    {
      const std::lock_guard lock(mutex_);
      if (!asked && error_ == MPI_SUCCESS && !has_left_)
        error_ = tell(ArrivalMember::question(call));
    }
    sched_yield();
  }
  const std::lock_guard lock(mutex_);
  return error_;
}

bool Arrival::find_agreed_version(CallNumber call, std::shared_ptr<const ArrivalVersion>& version) {
  version = nullptr;
  if (!has_thread_) return true;
  const std::lock_guard lock(mutex_);
  versions_until_ = call + told_each;
  take_mail();
  version = member_.version_for(call);
  // Once the stream has ended all ranks have heard the same: what it has not granted is unknown.
  if (version == nullptr) return member_.is_over() || error_ != MPI_SUCCESS;
  if (version->number == 0) version = nullptr;
  return true;
}

bool Arrival::is_open() {
  const std::lock_guard lock(mutex_);
  return !has_left_ && error_ == MPI_SUCCESS;
}

std::shared_ptr<const ArrivalVersion> Arrival::newest_version() {
  const std::lock_guard lock(mutex_);
  versions_until_ = begun_ + told_each;
  take_mail();
  return member_.newest()->number == 0 ? nullptr : member_.newest();
}

BackgroundTask::Progress Arrival::proceed() {
  // Only the coordinator must be there for others; the others' mail can wait for their next call.
  if (rank_ != 0) return Progress::nothing_expected;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Progress::waiting;
  const bool any = take_mail();
  if (member_.is_over()) return Progress::nothing_expected;
  return any ? Progress::moved : Progress::waiting;
}

int Arrival::tell_estimate() {
  const CallNumber call = arrived_ + 1;
  const bool wants_version = call <= versions_until_;
  const bool tells =
      wants_version || call <= member_.changed() + told_each || call % told_one_in == 0;
  if (!tells) return error_;
  take_mail();
  if (error_ != MPI_SUCCESS || has_left_) return error_;
  error_ = tell(ArrivalMember::estimate(
      {call, expected_, forecast_error_.mean(), block_, last_, wants_version}));
  return error_;
}

int Arrival::tell(std::vector<std::int64_t> words) {
  if (rank_ != 0) return channel_->send(0, std::move(words));
  std::vector<ArrivalMail> mail;
  coordinator_.take(0, words, clock_.now(), mail);
  return deliver(mail);
}

/// Those that can be reached hear what they wait for.
int Arrival::deliver(std::vector<ArrivalMail>& mail) {
  int first = MPI_SUCCESS;
  for (ArrivalMail& letter : mail) {
    if (letter.peer == 0) {
      member_.take(letter.words);
      continue;
    }
    const int error = channel_->send(letter.peer, std::move(letter.words));
    if (first == MPI_SUCCESS) first = error;
  }
  return first;
}

/// Calls return the first error. Returns `error`.
int Arrival::keep(int error) {
  if (error_ == MPI_SUCCESS) error_ = error;
  return error;
}

/// Takes all messages that are there; true if there were any.
bool Arrival::take_mail() {
  bool any = false;
  for (bool moved = true; moved; any = any || moved) keep(exchange(moved));
  return any;
}

/// Takes one message, if there is one.
int Arrival::exchange(bool& moved) {
  moved = false;
  if (channel_ == nullptr) return MPI_SUCCESS;  // closed
  Rank from = no_rank;
  std::vector<std::int64_t> words;
  const int received = channel_->receive(from, words);
  moved = !words.empty();
  if (!moved) return received;
  if (rank_ != 0) {
    member_.take(words);
    return received;
  }
  std::vector<ArrivalMail> mail;
  coordinator_.take(from, words, clock_.now(), mail);
  const int delivered = deliver(mail);
  return received == MPI_SUCCESS ? delivered : received;
}

}  // namespace tutti
