/// Exchanges the arrivals of calls, and selects algorithms by them.
#include "api/arrived_call.hpp"

#include "api/call.hpp"

namespace tutti {

bool order_matters_everywhere(const Specification& specification) {
  return !has_root(specification.algorithm->collective) ||
         !specification.algorithm->name.starts_with("linear");
}

int learn_arrivals(Communicator& communicator, const Decision& decision) {
  if (!communicator.wants_background()) return MPI_SUCCESS;
  const auto& specification = decision.specification;
  const bool useful = (decision.is_automatic && communicator.p() > 1) || decision.uses_arrivals ||
                      (specification && (specification->needs_arrivals() ||
                                         specification->runner == Runner::background));
  return useful ? communicator.open_arrival() : MPI_SUCCESS;
}

ArrivedCall::ArrivedCall(Arrival* arrival, Collective collective, const void* site)
    : ArrivedCall(arrival, arrival == nullptr ? 0 : arrival->begin_call(collective), site) {
  may_wait_ = true;
}

ArrivedCall::ArrivedCall(Arrival* arrival, CallNumber begun, const void* site)
    : arrival_(arrival), site_(site), number_(begun) {
  if (arrival_ != nullptr) arrival_->arrive(site_);
}

ArrivedCall::~ArrivedCall() {
  if (arrival_ == nullptr) return;
  if (may_wait_) arrival_->keep_time(number_);
  arrival_->leave(number_, site_);
}

int ArrivedCall::weigh(MpiCall& call, Communicator& communicator, const Decision*& decision) {
  if (arrival_ == nullptr || !decision->is_automatic || communicator.p() == 1) return MPI_SUCCESS;
  std::shared_ptr<const ArrivalEpoch> profile;
  int error = arrival_->agreed_profile(number_, profile);
  if (error != MPI_SUCCESS) return error;
  const bool counts = profile != nullptr && communicator.weighs(*profile);
  const bool irregular = is_irregular(call.collective);
  PrivateComm* comm = nullptr;
  error = communicator.open_private(comm);
  if (comm == nullptr) return error;
  // Every rank counts this call, whatever it runs, so that the next one has the same tags.
  if (counts) comm->begin(call);
  const auto choose_for = [&](Bytes block) {
    decision =
        &communicator.decide({call.collective, call.root, block, progress_capability(), profile});
    profile_ = profile;
  };
  // Irregular calls use only what all ranks know: a rank with invalid arguments takes part too.
  const bool has_root = call.root >= 0 && call.root < communicator.p();
  if (counts && irregular && has_root) choose_for(profile->block);
  if (looks_valid(call, communicator) && comm->calls().learn_types(call)) {
    const Bytes own = call.own_bytes(communicator.rank());
    if (irregular) arrival_->note_block(own);
    if (counts && !irregular) choose_for(own);
    // Equal blocks on all ranks give equal signatures.
    if (!irregular)
      arrival_->note_algorithm(number_, {call.collective, call.root, own}, decision->mark);
  }
  if (counts && !decision->specification) comm->give_up();
  return MPI_SUCCESS;
}

/// Threads find the order of a call by its number, not in a profile, so they forward blocks only
/// where progress hints announce each call.
ProgressCapability ArrivedCall::progress_capability() const {
  if (!has_thread()) return ProgressCapability::none;
  return arrival_->has_progress_hints() ? ProgressCapability::runs : ProgressCapability::receives;
}

int ArrivedCall::find_epoch(const Specification& specification, bool at_root,
                            std::shared_ptr<const ArrivalEpoch>& epoch) const {
  if (arrival_ == nullptr || !specification.needs_arrivals()) return MPI_SUCCESS;
  // Progress hints give this call its own epoch. Without them the profile is as accurate, and needs
  // no exchange.
  const bool has_own_epoch = arrival_->has_progress_hints() && arrival_->has_thread();
  if (profile_ != nullptr && !has_own_epoch) {
    epoch = profile_;
    return MPI_SUCCESS;
  }
  const bool everywhere = order_matters_everywhere(specification);
  if (everywhere && !arrival_->has_thread()) return MPI_SUCCESS;  // no thread would answer
  arrival_->expect_epoch(number_);
  if (everywhere) return arrival_->agreed_epoch(number_, epoch);
  if (at_root) epoch = arrival_->newest_epoch();
  return MPI_SUCCESS;
}

}  // namespace tutti
