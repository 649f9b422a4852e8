/// Tests automatic selection of hierarchical calls, on emulated nodes and a fictitious machine
/// where they gain.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "exchange.hpp"
#include "harness.hpp"
#include "movement.hpp"
#include "reduction.hpp"

namespace tutti::test {
namespace {

constexpr int calls = 40;
/// What creating a candidate costs must be earned first, so that more calls may be needed.
constexpr int max_calls = 4000;

/// A machine on which only messages take time, and signals and copies almost none.
constexpr const char* slow_messages =
    "latency 1e-3\nper_byte 1e-9\nsender_per_byte 2e-8\nnode_gap 1e-3\nlocal_latency 1e-2\n"
    "copy_per_byte 1e-11\nshared_per_byte 1e-12\nflag 1e-9\ncrowding 64\n";

bool last_is_native(MPI_Comm comm) { return last_run(comm, "allreduce").starts_with("native"); }

bool went_through_nodes(MPI_Comm comm, const char* collective) {
  return last_run(comm, collective).find("hierarchical(") != std::string::npos;
}

/// Counts the hierarchical calls of one collective. Which candidate is faster depends on the
/// machine. But all are explored if the model predicts a gain.
class Tries {
 public:
  Tries(Context& context, MPI_Comm comm, const char* collective)
      : context_(context), comm_(comm), collective_(collective) {}

  /// Call it after each call, which must have run the same as on rank 0.
  void note() {
    const std::string mine = last_run(comm_, collective_);
    std::string of_rank_0 = mine;
    of_rank_0.resize(200);  // a broadcast needs a length
    PMPI_Bcast(of_rank_0.data(), static_cast<int>(of_rank_0.size()), MPI_CHAR, 0, comm_);
    of_rank_0.resize(std::strlen(of_rank_0.c_str()));
    if (mine.compare(0, 200, of_rank_0) != 0) {
      context_.fail("ran \"" + mine + "\", rank 0 \"" + of_rank_0 + '"');
    }
    through_nodes_ += went_through_nodes(comm_, collective_) ? 1 : 0;
  }
  /// Are hierarchical calls still to come?
  [[nodiscard]] bool waits_for(std::optional<bool> nodes) const {
    return nodes.value_or(false) && through_nodes_ == 0;
  }
  /// Were some calls hierarchical, or none, as expected? None: unknown.
  void expect(std::optional<bool> nodes) const {
    if (nodes && (through_nodes_ > 0) != *nodes) {
      context_.fail(std::string(collective_) +
                    (*nodes ? " stayed flat: " : " went through nodes: ") +
                    last_run(comm_, collective_));
    }
  }

 private:
  Context& context_;
  MPI_Comm comm_;
  const char* collective_;
  int through_nodes_ = 0;
};

/// Do the nodes of the world gain by hierarchical calls? None: either result is valid.
std::optional<bool> nodes_pay(const Context& context) {
  const std::string& nodes = context.options().nodes;
  if (nodes == "1") return false;
  return context.size() == 11 ? std::optional(true) : std::nullopt;
}

int ranks_of(MPI_Comm comm) {
  int p = 0;
  PMPI_Comm_size(comm, &p);
  return p;
}

/// Calls of one size class, so that candidates come soon.
void gathers(Context& context, MPI_Comm comm, std::optional<bool> nodes) {
  const int p = ranks_of(comm);
  std::mt19937 random(71);
  for (const Kind kind : all_kinds) {
    Tries tries(context, comm, name_of(kind));
    // Agreements may cost more than the calls of an irregular one.
    const std::optional<bool> expected = is_irregular(kind) ? std::nullopt : nodes;
    for (int call = 0; call < calls || (call < max_calls && tries.waits_for(expected)); ++call) {
      Exchange exchange =
          draw(kind, comm, call % p, std::vector<int>(static_cast<std::size_t>(p), 3), random);
      native_fallback(exchange);
      check(context, exchange);
      tries.note();
    }
    tries.expect(expected);
  }
}

void movements(Context& context, MPI_Comm comm, std::optional<bool> nodes, int units,
               int count = calls) {
  const int p = ranks_of(comm);
  std::mt19937 random(72);
  for (const Motion motion : all_motions) {
    Tries tries(context, comm, setting_of(motion));
    // It shares its tuner with alltoallv, which has explored by then.
    const std::optional<bool> expected = motion == Motion::alltoallw ? std::nullopt : nodes;
    for (int call = 0; call < count || (call < max_calls && tries.waits_for(expected)); ++call) {
      Movement movement = draw(motion, comm, p, 8, random);
      movement.sent = movement.received = &layouts_of_ints()[0];
      movement.block_layout = BlockLayout::contiguous;
      std::fill(movement.units.begin(), movement.units.end(), units);
      context.step(to_text(movement));
      context.expect_empty(run(movement, false));
      tries.note();
    }
    if (expected) tries.expect(expected);
  }
  Tries barriers(context, comm, "barrier");
  for (int call = 0; call < count || (call < max_calls && barriers.waits_for(nodes)); ++call) {
    TUTTI_Barrier(comm);
    barriers.note();
  }
  barriers.expect(nodes);
}

void world(Context& context) {
  const OwnComm comm;
  gathers(context, comm.get(), nodes_pay(context));
  movements(context, comm.get(), nodes_pay(context), 6);
}

/// Runs on parts of the world and other sequences of ranks, one after the other and alternating.
void other_communicators(Context& context) {
  const OwnComm half(context.rank() % 2, context.rank());
  const OwnComm reversed(0, -context.rank());
  const OwnComm dealt(0, context.rank() * 7 % 11 * context.size() + context.rank());
  for (const OwnComm* comm : {&half, &reversed, &dealt}) {
    gathers(context, comm->get(), std::nullopt);
    movements(context, comm->get(), std::nullopt, 40);
  }
  for (int i = 0; i < 20; ++i) {
    const OwnComm brief(half.get());
    movements(context, i % 2 == 0 ? dealt.get() : brief.get(), std::nullopt, 4, 10);
  }
}

/// `auto` also runs calls that node memory holds only in chunks.
void more_bytes_than_memory(Context& context) {
  const OwnComm comm;
  movements(context, comm.get(), std::nullopt, 5000, 10);
  constexpr int count = 40000;
  constexpr std::size_t many = count;
  const auto p = static_cast<std::size_t>(comm.size());
  const auto mine = many * static_cast<std::size_t>(comm.rank());
  const std::optional<bool> nodes = nodes_pay(context);
  std::vector<int> all(many * p);
  Tries tries(context, comm.get(), "allgather");
  for (int call = 0; call < 5 * calls || (call < max_calls && tries.waits_for(nodes)); ++call) {
    all[mine] = all[mine + many - 1] = 100 * call + comm.rank();
    TUTTI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all.data(), count, MPI_INT, comm.get());
    tries.note();
    for (std::size_t from = 0; from < p; ++from) {
      const int expected = 100 * call + static_cast<int>(from);
      const bool is_right = all[many * from] == expected && all[many * (from + 1) - 1] == expected;
      if (!is_right) context.fail("wrong data");
    }
  }
  tries.expect(nodes);
}

/// Sums of floating-point numbers never change with time; those of integers may take any way.
void reductions(Context& context) {
  const OwnComm comm;
  const int p = comm.size();
  Tries floats(context, comm.get(), "allreduce");
  for (int call = 0; call < calls; ++call) {
    double value = 1;
    TUTTI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm.get());
    if (value != p) context.fail("a wrong sum of numbers");
    floats.note();
    if (!last_is_native(comm.get())) context.fail("explored a sum of numbers");
  }
  const auto sum = [&](std::optional<bool> nodes) {
    Tries tries(context, comm.get(), "allreduce");
    for (int call = 0; call < 10 * calls; ++call) {  // the tuner notes some calls of 128
      std::array<int, 2> values = {comm.rank(), call};
      TUTTI_Allreduce(MPI_IN_PLACE, values.data(), 2, MPI_INT, MPI_SUM, comm.get());
      if (values != std::array{p * (p - 1) / 2, p * call}) context.fail("a wrong sum");
      tries.note();
    }
    tries.expect(nodes);
  };
  sum(nodes_pay(context));
  {
    const Forced level(context, "allreduce", "native:level=auto");
    sum(nodes_pay(context));
  }
  const Forced nodes(context, "allreduce", "hierarchical(native)");
  sum(true);
  context.expect_empty(nodes.wrongly_ran(comm.get()));
}

/// One specification leads to two decisions: operations that do not commute run another algorithm
/// than those that do.
void operations_in_turn(Context& context) {
  const OwnComm comm;
  if (comm.size() == 1) return context.skip("needs 2 ranks");
  const Forced forced(context, "allreduce", "hierarchical(ring)");
  bool is_first = true;
  for (const bool commutes : {true, false, true}) {
    for (const Values& values : Values::all()) {
      if (values.commutes != commutes || values.is_odd) continue;
      const Reduction reduction = {.comm = comm.get(), .counts = {5}, .values = &values};
      context.step(to_text(reduction));
      context.expect_empty(run(reduction));
      if (std::exchange(is_first, false)) context.expect_empty(forced.wrongly_ran(comm.get()));
    }
  }
}

/// The class follows what calls move, which no rank knows of the others.
void own_sizes(Context& context) {
  const OwnComm comm;
  const auto p = static_cast<std::size_t>(comm.size());
  std::vector<int> zeros(p), ones(p, 1), at(p);
  for (std::size_t i = 0; i < p; ++i) at[i] = static_cast<int>(i);
  const std::optional<bool> nodes = nodes_pay(context);
  Tries tries(context, comm.get(), "alltoallv");
  for (int call = 0; call < 200 || (call < max_calls && tries.waits_for(nodes)); ++call) {
    const bool moves = call >= calls;
    const std::vector<int>& counts = moves ? ones : zeros;
    const std::vector<int> sent(p, 100 * call + comm.rank());
    std::vector<int> received(p, -1);
    TUTTI_Alltoallv(sent.data(), counts.data(), at.data(), MPI_INT, received.data(), counts.data(),
                    at.data(), MPI_INT, comm.get());
    tries.note();
    for (std::size_t i = 0; i < p; ++i) {
      if (received[i] != (moves ? 100 * call + at[i] : -1)) context.fail("wrong data");
    }
  }
  tries.expect(nodes);
}

}  // namespace

MadeUpMachine::MadeUpMachine() : file_(temporary_name("machine")) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::ofstream(file_) << slow_messages;
  PMPI_Barrier(MPI_COMM_WORLD);
  setenv("TUTTI_EXPLORE", "1", 1);
  setenv("TUTTI_MACHINE", rank == 0 ? file_.c_str() : "built-in", 1);
  if (rank % 2 == 1) setenv("TUTTI_HIERARCHY", "flat", 1);
}

MadeUpMachine::~MadeUpMachine() {
  PMPI_Barrier(MPI_COMM_WORLD);
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void add_hierarchical_choices(Suite& suite) {
  suite.add_tutti_only("levels by choice, world", world);
  suite.add_tutti_only("levels by choice, other communicators", other_communicators);
  suite.add_tutti_only("levels by choice, more bytes than memory", more_bytes_than_memory);
  suite.add_tutti_only("levels by choice, reductions", reductions);
  suite.add_tutti_only("levels by choice, operations in turn", operations_in_turn);
  suite.add_tutti_only("levels by choice, sizes that only their rank knows", own_sizes);
}

}  // namespace tutti::test
