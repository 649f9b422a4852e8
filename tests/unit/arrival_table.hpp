/// An agreement on arrivals without any delay.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "protocols/arrival_agreement.hpp"

namespace tutti::testing_support {

/// The coordinator and the members of p ranks, where every message arrives at once.
class Table {
 public:
  explicit Table(int p) : coordinator_(p), members_(static_cast<std::size_t>(p)) {}

  void tell(Rank rank, CallNumber call, double arrival) {
    send(rank, ArrivalMember::estimate({call, arrival}), 0);
  }
  void tell(Rank rank, const ArrivalEstimate& estimate) {
    send(rank, ArrivalMember::estimate(estimate), 0);
  }
  /// The profile for a call after a gather; null where there is none. Asks if need be.
  std::shared_ptr<const ArrivalEpoch> profile(Rank rank, CallNumber call) {
    std::shared_ptr<const ArrivalEpoch> found;
    if (!member(rank).find_profile(call, Collective::gather, found)) {
      ++questions_;
      send(rank, ArrivalMember::profile_question(call), 0);
      EXPECT_TRUE(member(rank).find_profile(call, Collective::gather, found));
    }
    return found;
  }
  [[nodiscard]] int questions() const { return questions_; }
  void ask(Rank rank, CallNumber call, double now) {
    send(rank, ArrivalMember::question(call), now);
  }
  ArrivalMember& member(Rank rank) { return members_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] long messages() const { return messages_; }

 private:
  void send(Rank from, const std::vector<std::int64_t>& words, double now) {
    for (const ArrivalMessage& message : coordinator_.take(from, words, now)) {
      messages_ += static_cast<long>(members_.size());
      for (ArrivalMember& one : members_) one.take(message);
    }
  }

  ArrivalCoordinator coordinator_;
  std::vector<ArrivalMember> members_;
  long messages_ = 0;
  int questions_ = 0;
};

}  // namespace tutti::testing_support
