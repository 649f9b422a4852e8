/// Executes one plan in two threads that alternate.
#include "run/communicator/mpi_persistent.hpp"

#include <new>

#include "protocols/fixed_tree.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

int PersistentCall::open(Setup setup, std::unique_ptr<PrivateComm> comm,
                         std::unique_ptr<PersistentCall>& made) {
  std::unique_ptr<PersistentCall> call(new PersistentCall(std::move(setup), std::move(comm)));
  const Specification& spec = call->setup_.specification;
  int error = MPI_SUCCESS;
  if (is_irregular(call->setup_.call.collective) && spec.knowledge() != Knowledge::nothing) {
    // Exchanges the sizes now: the thread must not wait for other ranks later.
    const bool lasts = spec.knowledge() == Knowledge::tree_neighbours && !spec.needs_arrivals();
    error = lasts ? call->begin() : call->learn_sizes();
  }
  if (error != MPI_SUCCESS) return error;
  made = std::move(call);
  if (made->has_thread()) Background::of_process().add(*made);
  return MPI_SUCCESS;
}

PersistentCall::~PersistentCall() {
  if (has_thread()) Background::of_process().remove(*this);
}

int PersistentCall::learn_sizes() {
  return comm_->calls().learn_sizes(setup_.call, sizes_.emplace());
}

void PersistentCall::change(const Specification& specification, bool agrees_on_order,
                            const RankOrders* rank_orders) {
  const std::lock_guard lock(mutex_);
  if (specification == setup_.specification) return;
  setup_.specification = specification;
  setup_.context.agrees_on_order = agrees_on_order;
  setup_.context.rank_orders = rank_orders;
  plan_ = nullptr;
}

void PersistentCall::start(CallNumber number) {
  {
    const std::lock_guard lock(mutex_);
    under_way_ = true;
    begun_ = false;
    error_ = MPI_SUCCESS;
    epoch_ = nullptr;
    number_ = number;
  }
  if (uses_epoch()) setup_.context.arrival->expect_epoch(number);
  if (runs_in_background()) Background::of_process().wake();
}

/// Equal on all ranks. If all ranks need the order, but some rank has no thread, no rank would
/// answer.
bool PersistentCall::uses_epoch() const {
  return setup_.context.arrival != nullptr && setup_.specification.needs_arrivals() &&
         (setup_.context.arrival->has_thread() || !setup_.context.agrees_on_order);
}

/// Sets `epoch_`; false while it is unknown which epoch counts.
bool PersistentCall::find_order(bool arrived, int& error) {
  const bool needed = setup_.context.agrees_on_order || setup_.at_root;
  if (!needed || !uses_epoch()) return true;
  Arrival& arrival = *setup_.context.arrival;
  // Estimates for this very call make the best order: wait for them until this rank arrives.
  if (!arrived) return arrival.find_agreed_epoch(number_, epoch_);
  if (setup_.context.agrees_on_order) {
    error = arrival.agreed_epoch(number_, epoch_);
  } else {
    epoch_ = arrival.newest_epoch();
  }
  return true;
}

int PersistentCall::begin() {
  CallContext context = setup_.context;
  context.epoch = epoch_.get();
  if (sizes_) context.all_sizes = &*sizes_;
  if (plan_ == nullptr || setup_.specification.needs_arrivals()) {
    const int error = comm_->calls().prepare(setup_.call, setup_.specification, context, plan_);
    if (error != MPI_SUCCESS) return error;
  }
  buffers_.emplace(setup_.call, plan_->order, scratch_.reserve(plan_->program.scratch), iov_);
  comm_->executor().begin(plan_->program);
  return MPI_SUCCESS;
}

BackgroundTask::Progress PersistentCall::proceed() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !under_way_ || !runs_in_background() || error_ != MPI_SUCCESS) {
    return Progress::nothing_expected;
  }
  bool moved = false;
  try {
    if (!begun_) {
      if (!find_order(false, error_)) return Progress::waiting;
      error_ = begin();
      begun_ = moved = error_ == MPI_SUCCESS;
    }
    if (error_ == MPI_SUCCESS) {
      bool more = false;
      error_ = comm_->executor().progress(plan_->program, *buffers_, comm_->transport(), more);
      moved = moved || more;
    }
  } catch (const std::bad_alloc&) {
    error_ = MPI_ERR_NO_MEM;
  }
  if (moved) return Progress::moved;
  return comm_->executor().is_done() ? Progress::nothing_expected : Progress::waiting;
}

int PersistentCall::finish() {
  const std::lock_guard lock(mutex_);
  if (!under_way_) return MPI_SUCCESS;
  try {
    if (!begun_ && error_ == MPI_SUCCESS) {
      find_order(true, error_);
      if (error_ == MPI_SUCCESS) error_ = begin();
    }
    if (error_ == MPI_SUCCESS) {
      error_ = comm_->executor().finish(plan_->program, *buffers_, comm_->transport());
    }
  } catch (const std::bad_alloc&) {
    error_ = MPI_ERR_NO_MEM;
  }
  under_way_ = false;
  buffers_.reset();
  return error_;
}

}  // namespace tutti
