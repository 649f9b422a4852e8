/// The executor after errors: what the MPI may still use is not freed.
#include <gtest/gtest.h>

#include <vector>

#include "run/plan/executor.hpp"
#include "run/process.hpp"
#include "unit/run/faulty_transport.hpp"

namespace tutti {
namespace {

/// Says when it is freed. What is never freed stays known, so that no tool takes it for lost.
class Told {
 public:
  explicit Told(bool& is_freed) : is_freed_(is_freed) {
    of_process<std::vector<const Told*>>().push_back(this);
  }
  ~Told() { is_freed_ = true; }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

 private:
  bool& is_freed_;
};

Protocol receive_one(bool& is_freed) {
  const Told told(is_freed);
  Exchange exchange;
  exchange.recvs.push_back({1, 0, {0}});
  co_yield exchange;
}

// A receive that has matched may still write into the words after its cancellation.
TEST(Executor, NeverFreesAProtocolThatLeavesMessagesOpen) {
  const auto run = [](int fail_at, bool& is_freed) {
    LastFirst inner;
    FaultyTransport transport(inner, {1, 0.0, fail_at, 7});
    Executor executor;
    const int error = executor.run(receive_one(is_freed), transport);
    EXPECT_EQ(executor.is_done(), error == 0);
    return error;
  };
  bool is_freed = false;
  EXPECT_EQ(run(1, is_freed), 7);
  EXPECT_FALSE(is_freed);
  EXPECT_EQ(run(-1, is_freed), 0);
  EXPECT_TRUE(is_freed);
}

}  // namespace
}  // namespace tutti
