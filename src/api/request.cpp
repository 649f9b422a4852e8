/// Opens, starts and finishes persistent requests.
#include "api/request.hpp"

#include <new>

#include "api/call.hpp"
#include "api/report.hpp"
#include "api/selections.hpp"
#include "run/clock.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

int PersistentRequest::open(const MpiCall& call, bool usable, std::function<int()> run_native,
                            std::unique_ptr<PersistentRequest>& made) {
  std::unique_ptr<PersistentRequest> request(new PersistentRequest(call, std::move(run_native)));
  if (environment().on) {
    int error = MPI_SUCCESS;
    Communicator* communicator = Communicator::of(call.comm, error);
    if (communicator == nullptr) return error;
    if (!communicator->stays_native()) {
      error = request->settle(*communicator, usable);
      if (error != MPI_SUCCESS) return error;
    }
  }
  made = std::move(request);
  return MPI_SUCCESS;
}

/// Enters collectives only by what all ranks know, so that no rank waits in vain and the next call
/// has the same number on all ranks.
int PersistentRequest::settle(Communicator& communicator, bool usable) {
  const Decision& usual = communicator.selections().decide(call_.collective);
  communicator.note_algorithm(call_.collective, usual.text);
  settled_ = usual;
  int error = learn_arrivals(communicator, usual);
  arrival_ = communicator.arrival();
  settled_.is_tuned = usual.follows_profiles() && has_thread();
  const bool by_size = usual.table != nullptr;
  const bool plain = usual.is_native() && !settled_.is_tuned && !by_size;
  if (error != MPI_SUCCESS || plain) return error;
  bool all_valid = false;
  error = agree_on_arguments(communicator, usable, all_valid);
  if (error != MPI_SUCCESS) return error;
  if (!all_valid) {
    settled_ = {};
    settled_.text = "native: invalid arguments";
    return MPI_SUCCESS;
  }
  if (settled_.is_tuned) {
    // Each start sets the selected specification.
    return open_schedule(communicator, *specification(call_.collective, "linear"));
  }
  const Decision& decision = communicator.selections().resolved(usual, call_, nullptr, error);
  communicator.end_elsewhere(call_, decision);
  if (error != MPI_SUCCESS) return error;
  // Counts the call that is resolved here: a start may follow much later or never.
  if (by_size && decision.level.hierarchical) communicator.hierarchical().skip();
  settled_ = decision;
  const Specification* const flat = settled_.when_flat();
  return flat != nullptr ? open_schedule(communicator, *flat) : MPI_SUCCESS;
}

int PersistentRequest::agree_on_arguments(Communicator& communicator, bool usable,
                                          bool& all_valid) {
  if (const int error = communicator.open_private()) return error;
  PrivateComm& comm = communicator.private_comm();
  const bool mine = usable && looks_valid(call_, communicator) && comm.learn_types(call_);
  return true_on_all(comm.handle(), mine, all_valid);
}

int PersistentRequest::open_schedule(Communicator& communicator,
                                     const Specification& specification) {
  int error = MPI_SUCCESS;
  if (specification.uses_background()) error = communicator.open_arrival();
  arrival_ = communicator.arrival();
  if (error == MPI_SUCCESS) error = communicator.open_private();
  if (error == MPI_SUCCESS) error = set(specification, communicator);
  if (error != MPI_SUCCESS) return error;
  const PrivateComm& shared = communicator.private_comm();
  error = PrivateComm::duplicate(shared.handle(), shared.settings(), schedule_comm_);
  if (error != MPI_SUCCESS) return error;
  if (is_irregular(call_.collective) && specification.knowledge() != Knowledge::nothing) {
    // Exchanges the sizes now: the thread must not wait for other ranks later.
    const bool lasts =
        specification.knowledge() == Knowledge::tree_neighbours && !specification.needs_arrivals();
    error = lasts ? schedule_comm_->prepare(call_, specification_, context_, plan_)
                  : schedule_comm_->learn_sizes(call_, sizes_);
    if (!lasts) context_.all_sizes = &sizes_;
  }
  if (error == MPI_SUCCESS && has_thread()) Background::of_process().add(*this);
  return error;
}

/// Sets a specification whose sizes open_schedule() has exchanged, or whose runner is the caller,
/// who may wait for others in finish(). Equal on all ranks.
int PersistentRequest::set(const Specification& specification, Communicator& communicator) {
  const int error = communicator.rank_orders(specification, call_.root, context_.rank_orders);
  if (error != MPI_SUCCESS) return error;
  if (specification != specification_) plan_ = nullptr;
  specification_ = specification;
  return MPI_SUCCESS;
}

PersistentRequest::~PersistentRequest() {
  if (schedule_comm_ != nullptr && has_thread()) Background::of_process().remove(*this);
}

int PersistentRequest::start() {
  if (schedule_comm_ != nullptr) {
    // First, so that all ranks count alike: messages that a failed start has left match none of
    // this one.
    const std::lock_guard lock(mutex_);
    MpiCall counted = call_;
    counted.begun = false;
    schedule_comm_->begin(counted);
  }
  if (arrival_ != nullptr) {
    arrival_->begin_computing();
    number_ = arrival_->begin_call(call_.collective);
  }
  const int error = contained([&] { return begin(); });
  active_ = error == MPI_SUCCESS;
  // A hierarchical call gives up after it has run: it runs flat if it is refused.
  if (active_ && schedule_comm_ != nullptr && decision_.when_flat() == nullptr) {
    schedule_comm_->give_up();
  }
  // A call that has begun leaves the exchange of arrivals even if it does not start.
  if (!active_ && arrival_ != nullptr) const ArrivedCall lost(*arrival_, number_, this);
  return error;
}

int PersistentRequest::begin() {
  decision_ = settled_;
  Communicator* communicator = settled_.text.empty() ? nullptr : Communicator::known(call_.comm);
  if (communicator != nullptr) {
    communicator->note_algorithm(call_.collective, settled_.text);
    if (communicator->is_reported()) counted_ = communicator->next_call(call_.collective);
    const int error = settled_.is_tuned ? select(*communicator) : MPI_SUCCESS;
    if (error != MPI_SUCCESS) return error;
  }
  if (runs_schedule()) start_schedule();
  return MPI_SUCCESS;
}

/// Rank 0's thread answers questions on arrivals, so that no rank waits for a late one. After the
/// end of the exchange the MPI's own runs: other calls are compared by other times.
int PersistentRequest::select(Communicator& communicator) {
  noted_ = {};
  if (communicator.arrival() != arrival_) return MPI_SUCCESS;
  Profile profile;
  int error = arrival_->agreed_profile(number_, profile);
  if (error != MPI_SUCCESS) return error;
  MpiCall call = call_;  // each start counts
  const Decision& decision = communicator.selections().resolved(settled_, call, profile, error);
  noted_ = communicator.selections().tuned.take_note();
  communicator.end_elsewhere(call, decision);
  if (error != MPI_SUCCESS) return error;
  // What runs in finish() counts as a call of its own.
  const HierarchicalRunner::Turn turn(nodes_of(decision, communicator));
  decision_ = decision;
  communicator.note_algorithm(call_.collective, decision_.text);
  return runs_schedule() ? set(*decision_.specification, communicator) : MPI_SUCCESS;
}

int PersistentRequest::finish(const void* site) {
  active_ = false;
  CallRecord record;
  record.site = site;
  record.arrival = monotonic_seconds();
  TunedSelection::NotedCall noted = std::exchange(noted_, {});
  noted.began = record.arrival;
  const Inside guard;
  std::optional<ArrivedCall> arrived;
  std::shared_ptr<Communicator> communicator;
  return run_or_native(
      call_.comm,
      [&](bool& is_native) {
        if (arrival_ != nullptr) arrived.emplace(*arrival_, number_, this);
        Communicator* const known =
            settled_.text.empty() ? nullptr : Communicator::known(call_.comm);
        if (known != nullptr) communicator = known->shared_from_this();
        return run(arrived ? &*arrived : nullptr, is_native);
      },
      run_native_,
      [&](int error) {
        arrived.reset();
        if (communicator == nullptr || communicator->is_freed()) return;
        end(*communicator, error, noted, record);
      });
}

void PersistentRequest::end(Communicator& communicator, int error, TunedSelection::NotedCall& noted,
                            CallRecord& record) {
  communicator.selections().tuned.end_call(noted, error);
  if (error != MPI_SUCCESS) return;
  if (runs_schedule() && plan_ != nullptr && plan_->instead) {
    decision_.text = text_of_instead(&*plan_->instead, specification_);
    communicator.note_algorithm(call_.collective, decision_.text);
  }
  if (!communicator.is_reported()) return;
  record.call = counted_;
  record.decision = &decision_.text;
  record.site = program_site(record.site);
  keep_record(call_, communicator, arrival_.get(), record);
}

int PersistentRequest::run(const ArrivedCall* arrived, bool& is_native) {
  if (decision_.level.hierarchical) {
    Communicator& communicator = *Communicator::known(call_.comm);
    const HierarchicalRunner::Turn turn(nodes_of(decision_, communicator));
    communicator.note_algorithm(call_.collective, decision_.text);
    bool is_refused = false;
    bool runs_native = false;
    int error = run_hierarchical(call_, communicator, decision_, arrived, is_refused, runs_native);
    decision_.text = communicator.last(call_.collective);
    is_native = !is_refused && runs_native;
    if (!is_refused) {
      if (schedule_comm_ != nullptr) schedule_comm_->give_up();
      return error;
    }
    if (decision_.when_flat() == nullptr) decision_.specification.reset();
    decision_.level = {};
    if (runs_schedule()) error = set(*decision_.specification, communicator);
    if (error != MPI_SUCCESS) return error;
    // All ranks refuse the same call again: it is flat from now on.
    if (!settled_.is_tuned) settled_ = decision_;
    if (runs_schedule()) start_schedule();
  }
  is_native = !runs_schedule();
  return is_native ? MPI_SUCCESS : finish_schedule(arrived);
}

void PersistentRequest::start_schedule() {
  {
    const std::lock_guard lock(mutex_);
    under_way_ = true;
    is_planned_ = false;
    error_ = MPI_SUCCESS;
    epoch_ = nullptr;
  }
  if (uses_epoch()) arrival_->expect_epoch(number_);
  if (runs_in_background()) Background::of_process().wake();
}

/// Equal on all ranks. If all ranks need the order, but some rank has no thread, no rank would
/// answer.
bool PersistentRequest::uses_epoch() const {
  return arrival_ != nullptr && specification_.needs_arrivals() &&
         (has_thread() || !specification_.order_matters_everywhere());
}

/// Sets `epoch_`; false while it is unknown which epoch counts.
bool PersistentRequest::find_order() {
  const bool needed =
      specification_.order_matters_everywhere() || schedule_comm_->rank() == call_.root;
  // Estimates for this very call make the best order: wait for them until this rank arrives.
  return !needed || !uses_epoch() || arrival_->find_agreed_epoch(number_, epoch_);
}

int PersistentRequest::begin_schedule() {
  context_.epoch = epoch_.get();
  if (plan_ == nullptr || specification_.needs_arrivals()) {
    const int error = schedule_comm_->prepare(call_, specification_, context_, plan_);
    if (error != MPI_SUCCESS) return error;
  }
  std::byte* const scratch = schedule_comm_->scratch().reserve(plan_->program.scratch);
  buffers_.emplace(call_, plan_->order, scratch, iov_);
  schedule_comm_->executor().begin(plan_->program, *buffers_, schedule_comm_->transport());
  return MPI_SUCCESS;
}

BackgroundTask::Progress PersistentRequest::proceed() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !under_way_ || !runs_in_background() || error_ != MPI_SUCCESS) {
    return Progress::nothing_expected;
  }
  Executor& executor = schedule_comm_->executor();
  bool moved = false;
  try {
    if (!is_planned_) {
      if (!find_order()) return Progress::waiting;
      error_ = begin_schedule();
      is_planned_ = moved = error_ == MPI_SUCCESS;
    }
    if (error_ == MPI_SUCCESS) {
      bool more = false;
      error_ = executor.progress(more);
      moved = moved || more;
    }
  } catch (const std::bad_alloc&) {
    error_ = MPI_ERR_NO_MEM;
  }
  if (moved) return Progress::moved;
  return executor.is_done() ? Progress::nothing_expected : Progress::waiting;
}

/// Returns also the error of the background thread's part.
int PersistentRequest::finish_schedule(const ArrivedCall* arrived) {
  const std::lock_guard lock(mutex_);
  try {
    if (!is_planned_ && error_ == MPI_SUCCESS) {
      const bool at_root = schedule_comm_->rank() == call_.root;
      if (arrived != nullptr) error_ = arrived->find_epoch(specification_, at_root, epoch_);
      if (error_ == MPI_SUCCESS) error_ = begin_schedule();
    }
    if (error_ == MPI_SUCCESS) {
      error_ = schedule_comm_->executor().finish();
      schedule_comm_->end();
    }
  } catch (const std::bad_alloc&) {
    error_ = MPI_ERR_NO_MEM;
  }
  under_way_ = false;
  buffers_.reset();
  return error_;
}

}  // namespace tutti
