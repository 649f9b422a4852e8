/// Schedules without faults, to plant faults in.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sweep/check.hpp"
#include "unit/call_helpers.hpp"

namespace tutti::testing_support {

class PlantedInSchedules : public testing::Test {
 protected:
  /// The schedules of an algorithm for p ranks with `bytes` bytes each; without faults.
  void reset(Collective collective, const char* algorithm, int p, Bytes bytes, Rank root = 0) {
    call_ = {collective, root, std::vector<Bytes>(static_cast<std::size_t>(p), bytes), 0};
    specification_ = spec_of(collective, algorithm);
    schedules_ = Problems(specification_, call_).schedules();
    expect_none();
  }

  /// The fault of the programs for contiguous buffers.
  std::string fault() {
    return fault_of(verifier_, specification_, call_, Problems(specification_, call_), schedules_);
  }
  void expect_none() { ASSERT_EQ(fault(), ""); }
  /// The fault is at this step, or at none if `step` is -1, and its text says this.
  void expect(Rank rank, StepId step, const std::string& says) {
    const std::string text = fault();
    const std::string who = "rank " + std::to_string(rank) + " ";
    const std::string at = "step " + std::to_string(step) + " ";
    const bool names_step = text.starts_with(who + at);
    EXPECT_TRUE(step < 0 ? text.starts_with(who) && !names_step : names_step) << who << at << text;
    EXPECT_NE(text.find(says), std::string::npos) << says << "\n" << text;
  }

  std::vector<Step>& steps(Rank rank) { return schedules_[static_cast<std::size_t>(rank)].steps; }
  Step& step(Rank rank, StepId step) { return steps(rank)[static_cast<std::size_t>(step)]; }
  void erase(Rank rank, StepId step) { steps(rank).erase(steps(rank).begin() + step); }
  void insert(Rank rank, StepId before, const Step& step) {
    steps(rank).insert(steps(rank).begin() + before, step);
  }
  static Step wait(StepId first, StepId last) {
    Step wait;
    wait.kind = StepKind::wait;
    wait.first = first;
    wait.last = last;
    return wait;
  }
  static Step message(StepKind kind, Rank peer, BlockRange blocks, Bytes bytes) {
    Step step;
    step.kind = kind;
    step.peer = peer;
    step.blocks = blocks;
    step.bytes = bytes;
    return step;
  }

  Call call_;
  Specification specification_;
  std::vector<Schedule> schedules_;
  ProgramVerifier verifier_;
};

}  // namespace tutti::testing_support
