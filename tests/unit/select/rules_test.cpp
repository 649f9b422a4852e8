/// Rules: reading, matching, spans of message sizes, and what a call does not permit.
#include "select/rules.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

std::string file_with(const std::string& rules) {
  return "{\"schema\": \"tutti-rules-1\", \"date\": \"2026-11-22\",\n\"rules\": [\n" + rules +
         "\n]}";
}

Rules rules_of(const std::string& rules) {
  const Result<Rules> read = rules_from_text(file_with(rules), "site.json");
  EXPECT_TRUE(read) << (read ? "" : read.error());
  return read ? *read : Rules{};
}

std::string error_of(const std::string& rules) {
  const Result<Rules> read = rules_from_text(file_with(rules), "site.json");
  return read ? "no error" : read.error();
}

Features bcast_of(int p) { return {Collective::bcast, p}; }

/// "most:use most:use .."; "-" without a rule.
std::string spans_text(const Rules& rules, const Features& features) {
  std::string text;
  for (const RuleSpan& span : spans_of(rules, features)) {
    const std::string use = span.rule == nullptr ? "-" : to_text(span.rule->use);
    const std::string most = span.most == NumberRange::inf ? "inf" : std::to_string(span.most);
    text += (text.empty() ? "" : " ") + most + "=" + use;
  }
  return text;
}

TEST(Rules, AreMatchedByEveryKey) {
  const Rules rules = rules_of(R"({"collective": "bcast", "p": "8..64", "nodes": 2,
      "ranks_per_node": "4..inf", "mpi": "openmpi", "version": "4.1", "network": "cxi",
      "use": "chain"})");
  const Rule& rule = rules.all.at(0);
  Features features = bcast_of(8);
  features.nodes = 2;
  features.ranks_per_node = 4;
  EXPECT_TRUE(matches(rule, features));
  const auto differs = [&](auto change) {
    Features other = features;
    change(other);
    return !matches(rule, other);
  };
  EXPECT_TRUE(differs([](Features& f) { f.collective = Collective::reduce; }));
  EXPECT_TRUE(differs([](Features& f) { f.p = 7; }));
  EXPECT_TRUE(differs([](Features& f) { f.p = 65; }));
  EXPECT_TRUE(differs([](Features& f) { f.nodes = 1; }));
  EXPECT_TRUE(differs([](Features& f) { f.ranks_per_node = 3; }));
  EXPECT_EQ(rules_for(rules, 8, {{"openmpi", "4.1.4"}, "cxi"}).all.size(), 1U);
  EXPECT_TRUE(rules_for(rules, 8, {{"mpich", "4.1.4"}, "cxi"}).all.empty());
  EXPECT_TRUE(rules_for(rules, 8, {{"openmpi", "4.10.0"}, "cxi"}).all.empty());
  EXPECT_EQ(rules_for(rules, 8, {{"openmpi", "4.1"}, "cxi"}).all.size(), 1U);
  EXPECT_TRUE(rules_for(rules, 8, {{"openmpi", "4.1.4"}, "cxi2"}).all.empty());
  EXPECT_TRUE(rules_for(rules, 8, {{"openmpi", "4.1.4"}, "unknown"}).all.empty());
}

TEST(Rules, DecideByTheFirstMatchAtEachMessageSize) {
  const Rules rules = rules_of(R"({"collective": "bcast", "bytes": "1K..64K", "use": "chain"},
      {"collective": "bcast", "bytes": "32K..inf", "use": "circulant:parts=8"},
      {"collective": "allgather", "use": "ring"})");
  // chain ends at 65,536, circulant begins behind it; nothing matches below 1,024.
  EXPECT_EQ(spans_text(rules, bcast_of(8)), "1023=- 65536=chain inf=circulant:parts=8");
}

/// A rule with the times of 3 sizes.
constexpr const char* sized_rule = R"({"collective": "bcast", "bytes": "32K..8M", "use": "chain",
    "evidence": {"native_us": 20, "choice_us": 10, "sizes": [
      {"bytes": 65536, "native_us": 20, "choice_us": 10},
      {"bytes": 1048576, "native_us": 300, "native_interval_us": [290, 310], "choice_us": 100},
      {"bytes": 4194304, "native_us": 4000, "choice_us": 400, "choice_interval_us": [390, 420]}]}})";

TEST(Rules, QuoteTheTimesOfTheNearestSize) {
  const Rules rules = rules_of(sized_rule);
  std::string text;
  for (const RuleSpan& span : spans_of(rules, bcast_of(8))) {
    text += std::to_string(span.most) + ":";
    text +=
        span.times == nullptr ? "- " : std::to_string(std::lround(*span.times->native_us)) + " ";
  }
  // 2^16 and 2^20 meet at 2^18, 2^20 and 2^22 at 2^21; the rule ends at 2^23.
  EXPECT_EQ(text, "32767:- 262144:20 2097152:300 8388608:4000 9223372036854775807:- ");
}

TEST(Rules, OfTheMpisOwnAndOfUnknownSizesAreOneSpan) {
  Rules rules = rules_of(sized_rule);
  rules.all.at(0).use = flat_native;
  EXPECT_EQ(spans_text(rules, bcast_of(8)), "32767=- 8388608=native inf=-");
  rules = rules_of(sized_rule);
  Rule& rule = rules.all.at(0);
  rule.collective = Collective::gatherv;
  rule.bytes = {};
  const std::vector<RuleSpan> spans = spans_of(rules, {Collective::gatherv, 8});
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].times, &rule.evidence);
}

TEST(Irregularity, IsTheLargestBlockOverTheMeanRoundedUpFromFivePercentOn) {
  EXPECT_EQ(irregularity_of(5, 20, 4), 1);
  EXPECT_EQ(irregularity_of(126, 126 + 7 * 125, 8), 1);  // 1.007
  EXPECT_EQ(irregularity_of(105, 400, 4), 1);            // 1.05
  EXPECT_EQ(irregularity_of(106, 400, 4), 2);
  EXPECT_EQ(irregularity_of(6, 20, 4), 2);  // 1.2
  EXPECT_EQ(irregularity_of(10, 20, 4), 2);
  EXPECT_EQ(irregularity_of(20, 20, 4), 4);
  EXPECT_EQ(irregularity_of(0, 0, 4), 1);
  // Elements or bytes: the same.
  EXPECT_EQ(irregularity_of(11 * 24, 20 * 24, 4), irregularity_of(11, 20, 4));
}

TEST(Rules, AreMatchedByIrregularityWhereAllRanksKnowIt) {
  const Rules rules = rules_of(
      R"({"collective": "allgatherv", "irregularity": "1..2", "bytes": "1K..inf", "use": "ring"},
      {"collective": "allgatherv", "irregularity": "4..5", "use": "bruck"},
      {"collective": "gatherv", "irregularity": "1..2", "use": "linear"},
      {"collective": "bcast", "irregularity": "2..inf", "use": "chain"},
      {"collective": "bcast", "irregularity": "1..2", "use": "linear"})");
  Features features = {Collective::allgatherv, 8};
  EXPECT_EQ(irregularities_of(rules, features),
            (std::vector<std::int64_t>{2, 3, 5, NumberRange::inf}));
  EXPECT_EQ(spans_text(rules, features), "1023=- inf=ring");
  features.irregularity = 3;
  EXPECT_EQ(spans_text(rules, features), "inf=-");
  features.irregularity = 4;
  EXPECT_EQ(spans_text(rules, features), "inf=bruck");
  features.irregularity = 6;
  EXPECT_EQ(spans_text(rules, features), "inf=-");
  // No rank knows the blocks of a gatherv; those of a bcast are equal.
  EXPECT_EQ(spans_text(rules, {Collective::gatherv, 8}), "inf=-");
  EXPECT_EQ(spans_text(rules, bcast_of(8)), "inf=linear");
  const std::vector<std::int64_t> any = {NumberRange::inf};
  EXPECT_EQ(irregularities_of(rules, {Collective::gatherv, 8}), any);
  EXPECT_EQ(irregularities_of(rules, bcast_of(8)), any);
  // Rules for other jobs ask nothing.
  const Rules of_others =
      rules_of(R"({"collective": "allgatherv", "p": 4, "irregularity": 1, "use": "ring"})");
  EXPECT_EQ(irregularities_of(of_others, features), any);
}

TEST(Rules, WithBytesNeverMatchWhereNoRankKnowsAllSizes) {
  const Rules rules = rules_of(R"({"collective": "gatherv", "bytes": "1K..inf", "use": "binomial"},
      {"collective": "gatherv", "use": "linear"})");
  EXPECT_EQ(spans_text(rules, {Collective::gatherv, 8}), "inf=linear");
}

TEST(Rules, BecomeNativeWhereTheCallDoesNotPermitThem) {
  const auto chosen = [](const std::string& collective, const std::string& use, Features features) {
    const Rules rules =
        rules_of("{\"collective\": \"" + collective + "\", \"use\": \"" + use + "\"}");
    features.collective = rules.all.at(0).collective;
    features.p = 8;
    const Choice choice = choice_of(rules.all.at(0), features);
    return to_text(choice.setting) + ": " + choice.reason;
  };
  Features whole;
  whole.whole = true;
  EXPECT_EQ(chosen("allreduce", "recursive_doubling", whole),
            "recursive_doubling: rules: selected without a measurement (site.json, 2026-11-22)");
  EXPECT_EQ(
      chosen("allreduce", "ring", whole),
      "native: rules: not ring, because it would split the vectors of a user-defined operation "
      "(site.json, 2026-11-22)");
  EXPECT_NE(chosen("allreduce", "hierarchical(native,leaders=2)", whole).find("native: rules: not"),
            std::string::npos);
  Features ordered;
  ordered.commutative = false;
  EXPECT_NE(chosen("allreduce", "ring", ordered).find("does not commute"), std::string::npos);
  Features restricted;
  restricted.has_distances = restricted.has_background = false;
  restricted.flat_only = true;
  EXPECT_NE(chosen("bcast", "binomial:runner=background", restricted).find("TUTTI_BACKGROUND"),
            std::string::npos);
  EXPECT_EQ(chosen("bcast", "binomial:runner=background", {}).find("native"), std::string::npos);
  EXPECT_NE(chosen("bcast", "binomial:order=distance", restricted).find("TUTTI_DISTANCES"),
            std::string::npos);
  EXPECT_NE(chosen("bcast", "hierarchical(native)", restricted).find("hierarchy=flat"),
            std::string::npos);
}

TEST(Rules, NameTheirMeasurement) {
  const Rules rules = rules_of(R"({"collective": "bcast", "use": "chain",
      "evidence": {"native_us": 812, "choice_us": 400, "date": "2026-01-02"}})");
  EXPECT_EQ(choice_of(rules.all.at(0), {}).reason,
            "rules: measured 2.03x faster than the MPI's own (site.json, 2026-01-02)");
}

TEST(Rules, ReadBackAsTheSame) {
  const Rules rules = rules_of(R"x({"collective": "allreduce", "p": "2..inf", "bytes": "1K..1M",
      "irregularity": "1..2", "commutative": true, "mpi": "mpich", "version": "5",
      "network": "mlx5 100 Gb/sec (4X EDR)", "use": "hierarchical(ring,leaders=2)", "evidence": {"native_us": 1.5, "choice_us": 1,
      "native_interval_us": [1.25, 1.75], "choice_interval_us": [1, 1], "calls": 30,
      "sizes": [{"bytes": 0, "native_us": 1.5, "choice_us": 1},
                {"bytes": 1024, "native_us": 3, "choice_interval_us": [0, 2.5]}],
      "command": "a \"b\""}})x");
  const Result<Rules> again = rules_from_text(to_text(rules), "other");
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(to_text(*again), to_text(rules));
  // Both texts might lack the same field.
  const Rule& rule = again->all.at(0);
  EXPECT_EQ(rule.collective, Collective::allreduce);
  EXPECT_EQ(to_text(rule.p), "2..inf");
  EXPECT_TRUE(rule.nodes.is_all() && rule.ranks_per_node.is_all());
  EXPECT_EQ(to_text(rule.bytes), "1K..1M");
  EXPECT_EQ(to_text(rule.irregularity), "1..2");
  EXPECT_TRUE(rule.commutative.value_or(false));
  EXPECT_EQ(rule.mpi, "mpich");
  EXPECT_EQ(rule.version, "5");
  EXPECT_EQ(rule.network, "mlx5 100 Gb/sec (4X EDR)");
  EXPECT_EQ(to_text(rule.use), "hierarchical(ring,leaders=2)");
  EXPECT_EQ(rule.evidence.native_us.value_or(0), 1.5);
  EXPECT_EQ(rule.evidence.choice_us.value_or(0), 1);
  ASSERT_TRUE(rule.evidence.native_interval_us && rule.evidence.choice_interval_us);
  EXPECT_EQ(rule.evidence.native_interval_us->least, 1.25);
  EXPECT_EQ(rule.evidence.native_interval_us->most, 1.75);
  EXPECT_EQ(rule.evidence.choice_interval_us->least, 1);
  ASSERT_EQ(rule.evidence.sizes.size(), 2U);
  const SizedRuleTimes& second = rule.evidence.sizes[1];
  EXPECT_EQ(second.bytes, 1024);
  EXPECT_EQ(second.native_us.value_or(0), 3);
  EXPECT_FALSE(second.choice_us || second.native_interval_us);
  ASSERT_TRUE(second.choice_interval_us);
  EXPECT_EQ(second.choice_interval_us->most, 2.5);
  EXPECT_EQ(rule.evidence.calls.value_or(0), 30);
  EXPECT_EQ(rule.evidence.command, "a \"b\"");
  EXPECT_EQ(rule.evidence.source, "site.json");
  EXPECT_EQ(rule.evidence.date, "2026-11-22");
}

TEST(Rules, OfReductionsAreMatchedByTheOperation) {
  const Rules rules =
      rules_of(R"({"collective": "allreduce", "commutative": false, "use": "native"},
      {"collective": "bcast", "commutative": false, "use": "native"})");
  Features reduction = {Collective::allreduce, 8};
  EXPECT_FALSE(matches(rules.all.at(0), reduction));
  reduction.commutative = false;
  EXPECT_TRUE(matches(rules.all.at(0), reduction));
  EXPECT_TRUE(matches(rules.all.at(1), bcast_of(8))) << "it combines nothing";
}

TEST(NumberRange, ReadsBackAsTheSame) {
  for (const char* text :
       {"0", "8", "1K", "1..1023", "0..64K", "1M..inf", "3G", "2G..4097G", "1024G"}) {
    const Result<NumberRange> range = number_range(text);
    ASSERT_TRUE(range) << text;
    EXPECT_EQ(to_text(*range), text);
  }
  const NumberRange above_an_int = *number_range("2G..3G");
  EXPECT_FALSE(above_an_int.contains((Bytes{1} << 31) - 1));
  EXPECT_TRUE(above_an_int.contains(Bytes{1} << 31));
  EXPECT_TRUE(above_an_int.contains(Bytes{3} << 30));
  EXPECT_FALSE(above_an_int.contains((Bytes{3} << 30) + 1));
  EXPECT_TRUE(number_range("8589934591G"));
  for (const char* text : {"", "..", "1..", "..8", "1..2..3", "8K..1K", "inf", "inf..inf", "-1",
                           "1.5K", "8589934592G", "1..8589934592G"}) {
    EXPECT_FALSE(number_range(text)) << text;
  }
}

TEST(Rules, ErrorsNameLineFieldValueAndWhatIsAccepted) {
  EXPECT_EQ(error_of("\n{\"collective\": \"bcast\", \"bytes\": \"64X\"}"),
            "line 4: bytes \"64X\": expected a number or a range such as 8, 1K..64K or 1M..inf");
  EXPECT_EQ(error_of("{\"collective\": \"bcast\", \"p\": \"9..8\"}")
                .find("line 3: p \"9..8\": the range "
                      "is empty"),
            0U);
  EXPECT_EQ(error_of(R"({"collective": "bcast", "bytes": "inf..inf", "use": "native"})")
                .find("line 3: bytes \"inf..inf\": expected a number or a range"),
            0U);
  EXPECT_NE(error_of("{\"collective\": \"bcst\"}").find("did you mean bcast?"), std::string::npos);
  EXPECT_NE(error_of("{\"collective\": \"rma_bcast\"}").find("valid collectives: gather"),
            std::string::npos);
  // `use` is named by its own line although its collective follows.
  EXPECT_EQ(
      error_of("{\"use\": \"rong\",\n\"collective\": \"allgather\"}").find("line 3: use \"rong\""),
      0U);
  EXPECT_NE(error_of(R"({"collective": "bcast", "use": "auto"})").find("not auto"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"collective": "bcast"})").find("has no use"), std::string::npos);
  EXPECT_NE(error_of(R"({"use": "native"})").find("has no collective"), std::string::npos);
  EXPECT_NE(error_of(R"({"commutative": 1})").find("neither true nor false"), std::string::npos);
  EXPECT_EQ(error_of(R"({"evidence": {"native_us": -1}})"),
            "line 3: a time in microseconds is not negative");
  for (const char* ends : {"[2, 1]", "[1]", "[1, 2, 3]", "[-1, 1]"}) {
    EXPECT_EQ(error_of("{\"evidence\": {\"choice_interval_us\": " + std::string(ends) + "}}"),
              "line 3: choice_interval_us: expected 2 times in microseconds, ascending");
  }
  EXPECT_EQ(error_of(R"({"evidence": {"sizes": [{"bytes": 8}, {"bytes": 8}]}})"),
            "line 3: sizes: expected ascending bytes");
  EXPECT_EQ(error_of(R"({"irregularity": "much"})").find("line 3: irregularity \"much\": expected"),
            0U);
  EXPECT_EQ(error_of(R"({"p": 1.5})"),
            "line 3: expected an integer from 0 to 9007199254740992, found 1.5");
  EXPECT_NE(error_of(R"({"mpi": "OpenMPI"})").find("did you mean openmpi?"), std::string::npos);
  EXPECT_EQ(rules_from_text(R"({"rules": []})", "").error(),
            "the file names no schema; expected \"schema\": \"tutti-rules-1\"");
  EXPECT_EQ(rules_from_text(R"({"schema": "tutti-rules-2"})", "").error(),
            "line 1: unknown schema \"tutti-rules-2\"; expected tutti-rules-1");
}

TEST(Rules, IgnoreUnknownFieldsAndRemarkThem) {
  const Rules rules =
      rules_of(R"({"collective": "bcast", "byte": {"a": [1, null]}, "use": "native"})");
  EXPECT_EQ(rules.all.size(), 1U);
  ASSERT_EQ(rules.remarks.size(), 1U);
  EXPECT_EQ(rules.remarks[0], "line 3: unknown field \"byte\" is ignored; did you mean bytes?");
}

TEST(Rules, AreReducedToThoseOfACommunicator) {
  const Rules rules = rules_of(R"({"collective": "bcast", "p": 4, "use": "chain"},
      {"collective": "bcast", "mpi": "mpich", "use": "chain"},
      {"collective": "bcast", "version": "4", "use": "native"})");
  EXPECT_EQ(rules_for(rules, 8, {{"openmpi", "4.1.4"}, "cxi"}).all.size(), 1U);
  EXPECT_EQ(rules_for(rules, 4, {{"mpich", "5.0.2"}, "cxi"}).all.size(), 2U);
}

TEST(MpiVersion, IsReadFromTheLibrarysText) {
  const auto text = [](std::string_view library) {
    const MpiVersion version = mpi_version(library);
    return version.name + " " + version.version;
  };
  EXPECT_EQ(text("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "openmpi 4.1.4");
  EXPECT_EQ(text("MPICH Version:      5.0.2\nMPICH Release date: x"), "mpich 5.0.2");
  EXPECT_EQ(text("Intel(R) MPI Library 2021.18 for Linux* OS\n"), "intel 2021.18");
  EXPECT_EQ(text("MVAPICH Version        :     3.0\nMVAPICH Release"), "mvapich 3.0");
  EXPECT_EQ(text("MPI VERSION    : CRAY MPICH version 8.1.25 (ANL base 3.4a2)"), "cray 8.1.25");
  EXPECT_EQ(text("something"), "other ");
}

}  // namespace
}  // namespace tutti
