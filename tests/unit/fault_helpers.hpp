/// What tests of planted faults share.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "verify/verify.hpp"

namespace tutti::testing_support {

/// The fault must have been caught at this place, and its text must say this.
inline void expect_fault(const std::optional<Fault>& fault, Rank rank, StepId step, Block block,
                         const std::string& says) {
  ASSERT_TRUE(fault) << "not caught";
  EXPECT_EQ(fault->rank, rank) << fault->text;
  EXPECT_EQ(fault->step, step) << fault->text;
  EXPECT_EQ(fault->block, block) << fault->text;
  EXPECT_NE(fault->text.find(says), std::string::npos) << fault->text;
}

}  // namespace tutti::testing_support
