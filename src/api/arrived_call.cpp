/// Exchanges the arrivals of calls.
#include "api/arrived_call.hpp"

namespace tutti {

ArrivedCall::ArrivedCall(Arrival& arrival, Collective collective, const void* site)
    : ArrivedCall(arrival, arrival.begin_call(collective), site) {
  may_wait_ = true;
}

ArrivedCall::ArrivedCall(Arrival& arrival, CallNumber begun, const void* site)
    : arrival_(&arrival), site_(site), number_(begun) {
  arrival_->arrive(site_);
}

ArrivedCall::~ArrivedCall() {
  if (arrival_ == nullptr) return;
  if (may_wait_) arrival_->keep_time();
  arrival_->leave(number_, site_);
}

int ArrivedCall::find_profile(const Decision& decision) {
  follows_profiles_ = decision.follows_profiles();
  return follows_profiles_ ? arrival_->agreed_profile(number_, profile_) : MPI_SUCCESS;
}

int ArrivedCall::find_epoch(const Specification& specification, bool at_root,
                            Profile& epoch) const {
  if (!specification.needs_arrivals()) return MPI_SUCCESS;
  // Threads find the order of a call by its number, and progress hints give each call an epoch of
  // its own. Otherwise the profile is as accurate, and needs no exchange.
  const bool is_by_number =
      arrival_->has_progress_hints() || specification.runner == Runner::background;
  const bool has_own_epoch = is_by_number && arrival_->has_thread();
  if (follows_profiles_ && !has_own_epoch) {
    epoch = profile_;
    return MPI_SUCCESS;
  }
  const bool everywhere = specification.order_matters_everywhere();
  if (everywhere && !arrival_->has_thread()) return MPI_SUCCESS;  // no thread would answer
  arrival_->expect_epoch(number_);
  if (everywhere) return arrival_->agreed_epoch(number_, epoch);
  if (at_root) epoch = arrival_->newest_epoch();
  return MPI_SUCCESS;
}

}  // namespace tutti
