/// A call whose ranks exchange their arrivals.
#pragma once

#include "api/communicator.hpp"

namespace tutti {

/// One rank's call, from its arrival to its exit. Functions take a pointer to it, which is null
/// where arrivals are not exchanged.
class ArrivedCall : NotCopied {
 public:
  ArrivedCall(Arrival& arrival, Collective collective, const void* site);
  /// A call with number `begun`. It compares no clocks, because other ranks may not come to it.
  ArrivedCall(Arrival& arrival, CallNumber begun, const void* site);
  ~ArrivedCall();

  /// The exchange of arrivals has ended: nothing but the end of this object may follow.
  void forget() { arrival_ = nullptr; }
  /// Finds the arrivals that all ranks expect in this call, if exploration decides it. Returns an
  /// MPI error code.
  int find_profile(const Decision& decision);
  /// Null if they are unknown.
  [[nodiscard]] const Profile& profile() const { return profile_; }
  /// True if every rank has a background thread.
  [[nodiscard]] bool has_thread() const { return arrival_->has_thread(); }
  [[nodiscard]] CallNumber number() const { return number_; }
  /// Sets `epoch`, null before, to the expected arrivals at this call. It stays null if this rank
  /// does not need them or no rank knows them. Returns an MPI error code.
  int find_epoch(const Specification& specification, bool at_root, Profile& epoch) const;

 private:
  Arrival* arrival_;  ///< null after forget()
  const void* site_;
  CallNumber number_ = 0;
  bool may_wait_ = false;
  bool follows_profiles_ = false;
  Profile profile_;
};

}  // namespace tutti
