/// A call whose ranks exchange their arrivals.
#pragma once

#include "api/communicator.hpp"

namespace tutti {

/// Do the calls of such a decision follow arrival profiles, where arrivals are exchanged?
[[nodiscard]] bool follows_profiles(const Decision& decision);

/// Opens the exchange of arrivals if rank 0's environment asks for it and `decision` can use it.
/// Collective in this case. Returns an MPI error code.
int learn_arrivals(Communicator& communicator, const Decision& decision);

/// One rank's call, from its arrival to its exit. Does nothing if `arrival` is null.
class ArrivedCall : NotCopied {
 public:
  ArrivedCall(Arrival* arrival, Collective collective, const void* site);
  /// A call with number `begun`. It compares no clocks, because other ranks may not come to it.
  ArrivedCall(Arrival* arrival, CallNumber begun, const void* site);
  ~ArrivedCall();

  /// The exchange of arrivals has ended.
  void forget() { arrival_ = nullptr; }
  /// Finds the arrivals that all ranks expect in this call, if exploration decides it. Returns an
  /// MPI error code.
  int find_profile(const Decision& decision);
  /// Null if they are unknown.
  [[nodiscard]] const Profile& profile() const { return profile_; }
  /// True if every rank has a background thread.
  [[nodiscard]] bool has_thread() const { return arrival_ != nullptr && arrival_->has_thread(); }
  /// The call's number; 0 without an exchange of arrivals.
  [[nodiscard]] CallNumber number() const { return number_; }
  /// Sets `epoch`, null before, to the expected arrivals at this call. It stays null if this rank
  /// does not need them or no rank knows them. Returns an MPI error code.
  int find_epoch(const Specification& specification, bool at_root, Profile& epoch) const;

 private:
  Arrival* arrival_;
  const void* site_;
  CallNumber number_ = 0;
  bool may_wait_ = false;
  bool follows_profiles_ = false;
  Profile profile_;
};

}  // namespace tutti
