/// Tests node memory if a rank is far ahead, contradicts others, or has an invalid root in the
/// first call.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "exchange.hpp"
#include "harness.hpp"
#include "movement.hpp"

namespace tutti::test {
namespace {

/// Two ranks of one node; the first one leads if there is one leader.
struct Pair {
  int first;
  int other;
};

/// The first rank that shares a node with another one, but not with rank 0, and that other one;
/// none, and the case is skipped, if no rank does.
std::optional<Pair> ranks_together(Context& context) {
  const std::vector<int> nodes = nodes_of_world(context);
  for (auto first = nodes.begin(); ++first < nodes.end();) {
    const auto other = std::find(first + 1, nodes.end(), *first);
    if (other == nodes.end() || *first == nodes.front()) continue;
    return Pair{static_cast<int>(first - nodes.begin()), static_cast<int>(other - nodes.begin())};
  }
  context.skip("needs 2 ranks of one node, without rank 0");
  return {};
}

/// No rank waits in an empty bcast, so one may be thousands of calls ahead of another, and must
/// still wait for its data.
void far_ahead(Context& context) {
  const std::optional<Pair> pair = ranks_together(context);
  if (!pair) return;
  const Forced nodes(context, "bcast", "hierarchical(native,leaders=1)");
  const OwnComm comm;
  constexpr int calls = 2100;
  const auto cast = [&](int value) {
    std::vector<int> vector(8, comm.rank() == pair->first ? value : -1);
    TUTTI_Bcast(vector.data(), 8, MPI_INT, pair->first, comm.get());
    if (vector != std::vector<int>(8, value)) context.fail("stale or no data");
  };
  cast(1);
  int token = 0;
  if (comm.rank() == pair->first)
    PMPI_Recv(&token, 1, MPI_INT, pair->other, 0, comm.get(), MPI_STATUS_IGNORE);
  for (int call = 0; call < calls; ++call) TUTTI_Bcast(&token, 0, MPI_INT, 0, comm.get());
  if (comm.rank() == pair->other) PMPI_Send(&token, 1, MPI_INT, pair->first, 0, comm.get());
  cast(2);
}

/// A rank expects much more than is sent, or nothing: it gets an error, and no access is out of
/// bounds.
void contradicting_sizes(Context& context) {
  const std::optional<Pair> pair = ranks_together(context);
  if (!pair) return;
  const Forced nodes(context, "alltoallv", "hierarchical(native)");
  const OwnComm comm;
  const auto p = static_cast<std::size_t>(comm.size());
  constexpr int many = 1'000'000;
  for (const int wrong : {many, 0, 1}) {
    context.step("a rank expects " + std::to_string(wrong));
    const bool bad = comm.rank() == pair->other && wrong != 1;
    std::vector<int> counts(p, 1);
    std::vector<int> places(p);
    std::iota(places.begin(), places.end(), 0);
    std::vector<int> expected = counts;
    std::vector<int> expected_at = places;
    if (bad) {
      const auto sender = static_cast<std::size_t>(pair->first);
      expected[sender] = wrong;
      expected_at[sender] = comm.size();
    }
    const std::vector<int> sent(p, comm.rank());
    std::vector<int> received(p + many, -1);
    const int code =
        TUTTI_Alltoallv(sent.data(), counts.data(), places.data(), MPI_INT, received.data(),
                        expected.data(), expected_at.data(), MPI_INT, comm.get());
    if (class_of(code) != (bad ? MPI_ERR_TRUNCATE : MPI_SUCCESS)) {
      context.fail("the error is " + error_text(code));
    }
    const auto end = received.begin() + comm.size();
    if (std::count(end, received.end(), -1) != many) context.fail("written beyond what there is");
    if (!bad && !std::equal(received.begin(), end, places.begin())) context.fail("wrong data");
  }
}

/// One rank has an invalid root in the very first call, which creates communicators.
void bad_root_at_first(Context& context) {
  const std::optional<Pair> pair = ranks_together(context);
  if (!pair) return;
  const Forced nodes(context, "bcast", "hierarchical(native,leaders=1)");
  const OwnComm comm;
  const bool bad = comm.rank() == pair->other;
  int value = comm.rank() == 0 ? 7 : -1;
  const int code = TUTTI_Bcast(&value, 1, MPI_INT, bad ? comm.size() : 0, comm.get());
  if ((code != MPI_SUCCESS) != bad) context.fail("the error is " + error_text(code));
  if (!bad && value != 7) context.fail("wrong data");
}

/// The leader of a node has an invalid datatype in a reduction. The next one, in which its inner
/// call must match those of the other leaders, is sound.
void bad_type_of_a_leader(Context& context) {
  const std::optional<Pair> pair = ranks_together(context);
  if (!pair) return;
  for (const char* name : {"hierarchical(native,leaders=1)", "hierarchical(binomial,leaders=1)",
                           "hierarchical(recursive_doubling,leaders=1)"}) {
    const std::string specification = name;
    const bool is_reduce = specification.find("binomial") != std::string::npos;
    const Forced nodes(context, is_reduce ? "reduce" : "allreduce", name);
    context.step(specification);
    const OwnComm comm;
    for (const int call : {0, 1, 2}) {
      const bool bad = call == 1 && comm.rank() == pair->first;
      const MPI_Datatype type = bad ? MPI_DATATYPE_NULL : MPI_INT;
      const std::vector<int> sent(8, (call + 1) * (comm.rank() + 1));
      std::vector<int> received(8, -1);
      const int code =
          is_reduce ? TUTTI_Reduce(sent.data(), received.data(), 8, type, MPI_SUM, 0, comm.get())
                    : TUTTI_Allreduce(sent.data(), received.data(), 8, type, MPI_SUM, comm.get());
      if (bad && code == MPI_SUCCESS) context.fail("no error");
      const int sum = (call + 1) * comm.size() * (comm.size() + 1) / 2;
      const bool has_result = call != 1 && (!is_reduce || comm.rank() == 0);
      if (has_result && received != std::vector<int>(8, sum)) context.fail("wrong data");
    }
  }
}

/// The first rank of a node has an invalid root where ranks exchange sizes: the others get an
/// error, and the next call is sound.
void bad_root_before_sizes(Context& context) {
  if (!ranks_together(context)) return;
  const Forced nodes(context, "gatherv", "hierarchical(native)");
  const std::vector<int> node_of = nodes_of_world(context);
  const OwnComm world;
  const OwnComm comm(node_of[static_cast<std::size_t>(world.rank())], world.rank());
  if (comm.size() == 1) return;
  std::vector<int> places(static_cast<std::size_t>(comm.size()));
  std::iota(places.begin(), places.end(), 0);
  const std::vector<int> counts(places.size(), 1);
  for (const bool wrong : {true, false}) {
    const int root = wrong && comm.rank() == 0 ? comm.size() : 1;
    const int sent = comm.rank();
    std::vector<int> received(places.size(), -1);
    const int code = TUTTI_Gatherv(&sent, 1, MPI_INT, received.data(), counts.data(), places.data(),
                                   MPI_INT, root, comm.get());
    if ((code != MPI_SUCCESS) != wrong) context.fail("the error is " + error_text(code));
    if (!wrong && comm.rank() == 1 && received != places) context.fail("wrong data");
  }
}

/// A leader that does not know the size asks the others, which may be calls ahead by then.
void late_leader(Context& context) {
  const std::optional<Pair> pair = ranks_together(context);
  if (!pair) return;
  const Forced nodes(context, "bcast", "hierarchical(native,leaders=1)");
  const OwnComm comm;
  const auto cast = [&](int count, int value) {
    std::vector<int> vector(8, comm.rank() == pair->other ? value : -1);
    const int code = TUTTI_Bcast(vector.data(), count, MPI_INT, pair->other, comm.get());
    if ((code != MPI_SUCCESS) != (count < 0)) context.fail("the error is " + error_text(code));
    if (count == 8 && vector != std::vector<int>(8, value)) context.fail("wrong data");
  };
  cast(8, 1);
  constexpr int ahead = 6;
  const bool is_late = comm.rank() == pair->first;
  int token = 0;
  if (is_late) PMPI_Recv(&token, 1, MPI_INT, pair->other, 0, comm.get(), MPI_STATUS_IGNORE);
  cast(is_late ? -1 : 8, 2);
  for (int call = 0; call < ahead; ++call) TUTTI_Bcast(&token, 0, MPI_INT, 0, comm.get());
  if (comm.rank() == pair->other) PMPI_Send(&token, 1, MPI_INT, pair->first, 0, comm.get());
  cast(8, 3);
}

/// Runs with orders between nodes by fictitious distances, and by arrivals if known.
void orders_between_nodes(Context& context) {
  const OwnComm comm;
  const auto p = static_cast<std::size_t>(comm.size());
  std::mt19937 random(71);
  for (const char* name :
       {"hierarchical(binomial:order=distance)", "hierarchical(linear:order=arrival)",
        "hierarchical(knomial:k=3,order=arrival,leaders=2)"}) {
    for (const Kind kind : {Kind::gather, Kind::scatter}) {
      const Forced forced(kind, name, false);
      context.expect_empty(forced.error());
      for (int root = 0; root < comm.size(); root += 2) {
        Exchange exchange = draw(kind, comm.get(), root, std::vector<int>(p, 30), random);
        native_fallback(exchange);
        check(context, exchange);
        context.expect_empty(forced.wrongly_ran(comm.get()));
      }
    }
  }
}

}  // namespace

void add_hierarchical_faults(Suite& suite) {
  suite.add_tutti_only("levels, a rank far ahead", far_ahead);
  suite.add_tutti_only("levels, contradicting sizes", contradicting_sizes);
  suite.add_tutti_only("levels, a bad root at first", bad_root_at_first);
  suite.add_tutti_only("levels, a bad root before sizes", bad_root_before_sizes);
  suite.add_tutti_only("levels, a bad type of a leader", bad_type_of_a_leader);
  suite.add_tutti_only("levels, a leader that is late", late_leader);
  suite.add_tutti_only("levels, orders between nodes", orders_between_nodes);
}

}  // namespace tutti::test
