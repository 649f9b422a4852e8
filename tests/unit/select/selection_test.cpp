/// The choice follows the setting, or the model, from what all ranks know alike.
#include "select/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <locale>

#include "cost/machine.hpp"

namespace tutti {
namespace {

TEST(Setting, ReadsBackFromItsText) {
  for (const char* text : {"auto", "native", "linear", "knomial:k=4", "ordered_tree:promote=off"}) {
    const auto read = setting(Collective::gatherv, text);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(to_text(*read), text);
  }
}

TEST(Choose, ObeysTheUser) {
  const Features features{Collective::gatherv, 64};
  const Choice native = choose(*setting(Collective::gatherv, "native"), features, {});
  EXPECT_EQ(native.setting, flat_native);
  EXPECT_EQ(native.reason, "requested");
  const Choice forced = choose(*setting(Collective::gatherv, "TUW"), features, {});
  EXPECT_EQ(to_text(forced.setting), "ordered_tree:rule=gather_time,promote=off");
  EXPECT_EQ(forced.reason, "requested");
}

TEST(Choose, LeavesToTheMpiWhatNobodyHasMeasured) {
  for (const Collective collective : matched_collectives) {
    if (reduces(collective)) continue;
    for (const int p : {2, 3, 8, 47, 100, 4096, 10000}) {
      for (const Bytes block : {Bytes{0}, Bytes{8}, Bytes{1} << 30}) {
        const Features features{collective, p, is_irregular(collective) ? 0 : block};
        const Choice choice = choose({}, features, {});
        EXPECT_EQ(choice.setting, flat_native) << name_of(collective) << " of " << p;
        EXPECT_EQ(choice.reason, "no measurement shows a faster algorithm");
        EXPECT_TRUE(choice.candidates.empty()) << "no model is asked";
      }
    }
  }
}

TEST(Choose, LeavesARankAloneToTheMpi) {
  // Most modelled times are 0 here; none may be taken for a gain over native's 0.
  for (const Collective collective : all_collectives) {
    for (const Bytes block : {Bytes{0}, Bytes{8}}) {
      const Choice choice = choose({}, {collective, 1, block}, {});
      EXPECT_EQ(choice.setting, flat_native) << name_of(collective);
      EXPECT_EQ(choice.reason, "the communicator has a single rank");
    }
  }
  const auto forced = setting(Collective::gather, "knomial:k=4");
  EXPECT_NE(choose(*forced, {Collective::gather, 1, 8}, {}).setting, flat_native);
}

TEST(Machine, ReadsBackFromItsText) {
  Machine machine = {1.23456789e-6, 3.3e-10, 1e-7, 5e-7};
  machine.signal = 3e-7;
  machine.node_gap = 7e-7;
  EXPECT_EQ(*machine_from_text(to_text(machine)), machine);
  EXPECT_EQ(machine_from_text("gap 4e-7\n")->gap, 4e-7);
  EXPECT_EQ(machine_from_text("node_gap 4e-7\n")->node_gap, 4e-7);
  EXPECT_EQ(machine_from_text("latency 1e-6\nlatency 2e-6\n")->latency, 2e-6) << "the last one";
  EXPECT_EQ(machine_from_text("# note\nlatency 3e-6 # measured\nunknown 7\n")->latency, 3e-6);
  EXPECT_EQ((Machine{2e-6, 2e-10, 1e-7, 1e-7}.half_performance_length()), 10000);
}

/// A program's own locale, in which a comma stands before the digits and dots between thousands.
class ForeignNumbers : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Machine, ReadsBackUnderAForeignLocale) {
  const std::string text = to_text(Machine{1.5e-3, 3.3e-10, 1e-7, 5e-7});
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new ForeignNumbers));
  const std::string foreign = to_text(Machine{1.5e-3, 3.3e-10, 1e-7, 5e-7});
  const Result<Machine> read = machine_from_text(text);
  std::locale::global(before);
  EXPECT_EQ(foreign, text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->latency, 1.5e-3);
  EXPECT_EQ(read->per_byte, 3.3e-10);
}

TEST(ChooseOneSided, TakesTheCheapestAndNeverTheMpis) {
  const auto chosen = [](int p, Bytes bytes) {
    return to_text(choose({}, {Collective::rma_bcast, p, bytes}, {}).setting);
  };
  EXPECT_EQ(chosen(3, 8), "linear");
  EXPECT_NE(chosen(256, 8), "linear");
  EXPECT_EQ(chosen(48, 16 << 20), "binary");
  EXPECT_FALSE(setting(Collective::rma_bcast, "native"));
  EXPECT_FALSE(setting(Collective::rma_bcast, "hierarchical(binomial)"));
}

Choice choice_of(Collective collective, const char* asked, bool commutative, bool reproducible) {
  Features features{collective, 8, 8};
  features.commutative = commutative;
  features.reproducible = reproducible;
  return choose(*setting(collective, asked), features, {});
}

TEST(ChooseReduction, LeavesResultsAsTheyWereUnlessAsked) {
  for (const Collective collective : all_collectives) {
    if (!reduces(collective) || is_one_sided(collective)) continue;
    EXPECT_EQ(choice_of(collective, "auto", true, false).setting, flat_native);
    EXPECT_EQ(choice_of(collective, "native", true, true).setting, flat_native);
    const auto fixed = specification_for(collective, "fixed");
    ASSERT_TRUE(fixed) << name_of(collective);
    EXPECT_EQ(choice_of(collective, "auto", true, true).setting.specification, fixed);
    EXPECT_FALSE(fixed->algorithm->commutative);
    EXPECT_FALSE(fixed->needs_arrivals());
    EXPECT_FALSE(fixed->needs_distances());
  }
}

TEST(ChooseReduction, RunsNoAlgorithmForCommutingOperationsWithAnother) {
  const Choice commuting = choice_of(Collective::allreduce, "ring", true, false);
  EXPECT_EQ(to_text(commuting.setting), "ring");
  const Choice other = choice_of(Collective::allreduce, "ring", false, false);
  EXPECT_EQ(other.setting, flat_native);
  EXPECT_EQ(other.reason, "ring was requested, but the operation does not commute");
  EXPECT_NE(choice_of(Collective::allreduce, "recursive_doubling", false, false).setting,
            flat_native);
  EXPECT_EQ(choice_of(Collective::allreduce, "ring", false, true).setting.specification,
            *specification_for(Collective::allreduce, "fixed"));
}

TEST(ChooseReduction, GivesWholeVectorsToOperationsThatAreToGetThem) {
  const auto chosen = [](Collective collective, const char* asked) {
    Features features{collective, 8, 8};
    features.whole = true;
    return choose(*setting(collective, asked), features, {});
  };
  EXPECT_EQ(chosen(Collective::allreduce, "ring").reason,
            "ring was requested, but it would split the vectors of a user-defined operation");
  for (const char* cuts : {"ring", "halving_doubling", "circulant"}) {
    EXPECT_EQ(chosen(Collective::allreduce, cuts).setting, flat_native) << cuts;
  }
  for (const char* whole :
       {"linear", "binomial", "knomial:k=3", "knomial_ordered", "chain:parts=1"}) {
    EXPECT_NE(chosen(Collective::reduce, whole).setting, flat_native) << whole;
  }
  for (const char* whole : {"recursive_doubling", "reduce_bcast"}) {
    EXPECT_NE(chosen(Collective::allreduce, whole).setting, flat_native) << whole;
  }
  EXPECT_EQ(chosen(Collective::reduce, "chain").setting, flat_native);
  EXPECT_EQ(chosen(Collective::reduce, "chain:parts=3").setting, flat_native);
  EXPECT_EQ(chosen(Collective::reduce_scatter, "linear").setting, flat_native);
}

TEST(ChooseReduction, RunsTheValidPartOfAHierarchicalRequest) {
  const auto chosen = [](const char* asked, Features features) {
    features.collective = Collective::allreduce;
    features.p = 8;
    const Choice choice = choose(*setting(features.collective, asked), features, {});
    return to_text(choice.setting) + ": " + choice.reason;
  };
  EXPECT_EQ(chosen("hierarchical(ring)", {}), "hierarchical(ring,leaders=1): requested");
  EXPECT_EQ(chosen("native:hierarchy=auto", {}), "native: requested");
  EXPECT_EQ(chosen("hierarchical(ring)", {.commutative = false}),
            "hierarchical(native,leaders=1): hierarchical(ring,leaders=1) was requested, but the "
            "operation does not commute");
  const std::string splits =
      " was requested, but it would split the vectors of a user-defined operation";
  EXPECT_EQ(chosen("hierarchical(ring)", {.whole = true}),
            "native: hierarchical(ring,leaders=1)" + splits);
  EXPECT_EQ(chosen("hierarchical(native)", {.whole = true}),
            "native: hierarchical(native,leaders=1)" + splits);
  EXPECT_EQ(chosen("hierarchical(recursive_doubling)", {.whole = true}),
            "recursive_doubling: hierarchical(recursive_doubling,leaders=1)" + splits);
  const std::string depends =
      " was requested, but its results depend on arrivals, distances or nodes";
  EXPECT_EQ(chosen("hierarchical(native)", {.reproducible = true}),
            "native: hierarchical(native,leaders=1)" + depends);
  EXPECT_EQ(chosen("hierarchical(ring)", {.reproducible = true}),
            to_text(*specification_for(Collective::allreduce, "fixed")) +
                ": hierarchical(ring,leaders=1)" + depends);
}

TEST(ChooseReduction, IsReproducibleWhereverRanksSitAndWheneverTheyCome) {
  EXPECT_NE(choice_of(Collective::allreduce, "ring", true, true).setting, flat_native);
  const Choice late = choice_of(Collective::reduce, "knomial:order=arrival", true, true);
  EXPECT_EQ(late.setting.specification, *specification_for(Collective::reduce, "fixed"));
  EXPECT_EQ(late.reason,
            "knomial:order=arrival was requested, but its results depend on arrivals, distances or "
            "nodes");
  EXPECT_EQ(choice_of(Collective::reduce, "auto", true, true).reason,
            "results must be reproducible");
  EXPECT_EQ(to_text(choice_of(Collective::reduce, "knomial:order=arrival", true, false).setting),
            "knomial:order=arrival");
}

}  // namespace
}  // namespace tutti
