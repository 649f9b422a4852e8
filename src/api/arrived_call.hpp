/// A call as those see it who exchange their arrivals.
#pragma once

#include <memory>

#include "api/gather_scatter_call.hpp"

namespace tutti {

/// Do all ranks need the order? In linear shapes with a root only this one looks at it.
[[nodiscard]] bool order_matters_everywhere(const Specification& specification);

/// Opens the exchange of arrivals where rank 0's environment asks for it and `decision` has a use
/// for it. Collective whenever that is so. Returns an MPI error code.
int learn_arrivals(Communicator& communicator, const Decision& decision);

/// One rank's call, from its arrival to its exit. Does nothing where `arrival` is null.
class ArrivedCall {
 public:
  ArrivedCall(Arrival* arrival, Collective collective, const void* site);
  /// A call that has begun before, and need not wait for any rank that does not come to it.
  ArrivedCall(Arrival* arrival, CallNumber begun, const void* site);
  ~ArrivedCall();
  ArrivedCall(const ArrivedCall&) = delete;
  ArrivedCall& operator=(const ArrivedCall&) = delete;

  /// Replaces a `decision` that is Tutti's own by one that weighs when ranks are expected, where
  /// they are expected apart. All ranks do the same, even one whose arguments are bad. Returns an
  /// MPI error code.
  int weigh(GatherScatterCall& call, Communicator& communicator, const Decision*& decision);
  /// Is there a background thread?
  [[nodiscard]] bool has_thread() const { return arrival_ != nullptr && arrival_->has_thread(); }
  /// Of this call; 0 where there is no exchange of arrivals.
  [[nodiscard]] CallNumber number() const { return number_; }
  /// When the ranks are expected at this call, as far as this rank must know; null where it need
  /// not or nobody does. Returns an MPI error code.
  int find_epoch(const Specification& specification, bool at_root,
                 std::shared_ptr<const ArrivalEpoch>& epoch) const;
  /// The same for a call through nodes: any rank of the root's node may be the root between them.
  int find_epoch_between(const Decision& decision,
                         std::shared_ptr<const ArrivalEpoch>& epoch) const {
    return decision.specification ? find_epoch(*decision.specification, true, epoch) : MPI_SUCCESS;
  }

 private:
  [[nodiscard]] ProgressCapability progress_capability() const;

  Arrival* arrival_;
  const void* site_;
  CallNumber number_ = 0;
  bool may_wait_ = false;
  std::shared_ptr<const ArrivalEpoch> profile_;  ///< by which the call was decided; else null
};

}  // namespace tutti
