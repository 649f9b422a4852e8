/// Numbers, arrivals and exits of calls.
#include "api/arrived_call.hpp"

namespace tutti {

bool order_matters_everywhere(const Specification& specification) {
  return !specification.algorithm->name.starts_with("linear");
}

int learn_arrivals(Communicator& communicator, const std::optional<Specification>& specification) {
  if (!communicator.wants_background() || !specification) return MPI_SUCCESS;
  const bool useful =
      specification->needs_arrivals() || specification->runner == Runner::background;
  return useful ? communicator.open_arrival() : MPI_SUCCESS;
}

ArrivedCall::ArrivedCall(Arrival* arrival, const void* site) : arrival_(arrival), site_(site) {
  if (arrival_ == nullptr) return;
  number_ = arrival_->begin_call();
  arrival_->arrive(site_);
}

ArrivedCall::~ArrivedCall() {
  if (arrival_ != nullptr) arrival_->leave(number_, site_);
}

int ArrivedCall::find_version(const Specification& specification, bool at_root,
                              std::shared_ptr<const ArrivalVersion>& version) const {
  if (arrival_ == nullptr || !specification.needs_arrivals()) return MPI_SUCCESS;
  if (order_matters_everywhere(specification)) return arrival_->agreed_version(number_, version);
  if (at_root) version = arrival_->newest_version();
  return MPI_SUCCESS;
}

}  // namespace tutti
