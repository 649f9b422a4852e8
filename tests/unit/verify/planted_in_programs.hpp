/// Programs without faults, to plant faults in.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sweep/check.hpp"
#include "unit/call_helpers.hpp"

namespace tutti::testing_support {

/// Some kinds of buffers, see buffers_of.
namespace buffers {
constexpr int contiguous = 0;
constexpr int in_place = 1;
constexpr int packed = 2;
constexpr int typed = 8;
}  // namespace buffers

class PlantedInPrograms : public testing::Test {
 protected:
  /// The programs of an algorithm for p ranks with 2 or more bytes each; without faults.
  void reset(Collective collective, const char* algorithm, int p, int kind = 0, Bytes bytes = 2) {
    const Call call = {collective, 0, std::vector<Bytes>(static_cast<std::size_t>(p), bytes), 0};
    const Specification spec = spec_of(collective, algorithm);
    const Problems problems(spec, call);
    made_.emplace(spec, call, problems, problems.schedules(), kind);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto fault = made_->check(verifier_, seed);
      ASSERT_FALSE(fault) << fault->text;
    }
  }

  Program& program(Rank rank) { return made_->programs[static_cast<std::size_t>(rank)]; }
  Operation& operation(Rank rank, int number) {
    return program(rank).operations[static_cast<std::size_t>(number)];
  }
  /// The number of the n-th operation of a kind.
  int find(Rank rank, OperationKind kind, int n = 0) {
    const auto& operations = program(rank).operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (operations[i].kind == kind && n-- == 0) return static_cast<int>(i);
    }
    ADD_FAILURE() << "rank " << rank << " has no such operation";
    return 0;
  }

  /// The verifier finds the fault at this operation, and its text names the place and says this.
  void expect(Rank rank, int number, const std::string& says) {
    const auto fault = made_->check(verifier_, 1);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->rank, rank) << fault->text;
    EXPECT_EQ(fault->step, number) << fault->text;
    EXPECT_NE(fault->text.find(says), std::string::npos) << fault->text;
    EXPECT_NE(fault->text.find("rank " + std::to_string(rank)), std::string::npos) << fault->text;
    if (number < 0) return;
    EXPECT_NE(fault->text.find("operation " + std::to_string(number)), std::string::npos)
        << fault->text;
  }

  std::optional<Programs> made_;
  ProgramVerifier verifier_;
};

}  // namespace tutti::testing_support
