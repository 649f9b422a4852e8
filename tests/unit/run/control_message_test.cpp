/// Specifications travel in control messages; operations may overtake.
#include "run/rma/control_message.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(ControlMessage, TellsASpecification) {
  for (const char* text :
       {"linear", "paznikov:order=natural", "knomial:k=5,carry=8", "binary:parts=300,carry=0",
        "chain", "binomial:nodes=on", "linear:carry=all", "paznikov:protocol=windows"}) {
    const Specification spec = *specification(Collective::rma_bcast, text);
    RmaControlMessage message;
    message.set(spec);
    EXPECT_EQ(message.specification(), spec) << text;
  }
}

TEST(Arrivals, CountWhatHasComeWithAllBeforeIt) {
  RmaArrivals arrivals;
  arrivals.add(2);
  arrivals.add(4);
  EXPECT_EQ(arrivals.all_up_to(), 0);
  arrivals.add(1);
  EXPECT_EQ(arrivals.all_up_to(), 2);
  arrivals.add(3);
  EXPECT_EQ(arrivals.all_up_to(), 4);
}

}  // namespace
}  // namespace tutti
