/// Tests what a failing check says about the line in the list.
#include "sweep/check.hpp"

#include <gtest/gtest.h>

#include "schedule/builder.hpp"

namespace tutti {
namespace {

#ifdef NDEBUG  // else an assertion ends the program where a rank reads a size that it does not know
TEST(Check, NamesKnowledgeThatTheListDoesNotGive) {
  Algorithm wrong = *specification(Collective::gatherv, "bine")->algorithm;
  wrong.knowledge = Knowledge::nothing;
  Specification specification = *tutti::specification(Collective::gatherv, "bine");
  specification.algorithm = &wrong;
  const Call call{Collective::gatherv, 0, {3, 1, 4, 1, 5}};
  const Problems problems(specification, call);
  ProgramVerifier verifier;
  ASSERT_NE(fault_of(verifier, specification, call, problems, problems.schedules()), "");
  EXPECT_EQ(
      lack_of_knowledge(verifier, specification, call),
      "; its line in list.inc gives a rank the knowledge 'nothing', but it reads sizes beyond "
      "that: with 'all_sizes' this case passes");
}
#endif

TEST(Check, BlamesNoKnowledgeForOtherFaults) {
  Algorithm wrong = *specification(Collective::gatherv, "bine")->algorithm;
  wrong.knowledge = Knowledge::nothing;
  wrong.schedule = [](const Problem& problem) { return ScheduleBuilder(problem).done(); };
  Specification specification = *tutti::specification(Collective::gatherv, "bine");
  specification.algorithm = &wrong;
  ProgramVerifier verifier;
  EXPECT_EQ(lack_of_knowledge(verifier, specification, {Collective::gatherv, 0, {3, 1, 4, 1, 5}}),
            "");
}

}  // namespace
}  // namespace tutti
