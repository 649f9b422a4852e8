/// Tests automatic selection of hierarchical calls, on emulated nodes and a fictitious machine
/// where they gain.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "exchange.hpp"
#include "harness.hpp"
#include "movement.hpp"
#include "reduction.hpp"

namespace tutti::test {
namespace {

/// The first calls of a communicator, which stay flat.
constexpr int first_calls = 8;
/// Enough calls for an exploration and its outcome.
constexpr int calls = 24;

/// A machine on which only messages take time, and signals and copies almost none.
constexpr const char* slow_messages =
    "latency 1e-3\nper_byte 1e-9\nsender_per_byte 2e-8\nnode_gap 1e-3\nlocal_latency 1e-2\n"
    "copy_per_byte 1e-11\nshared_per_byte 1e-12\nflag 1e-9\ncrowding 64\n";

using Text = std::array<char, 200>;

Text last(MPI_Comm comm, const char* collective) {
  Text text{};
  int length = static_cast<int>(text.size());
  TUTTI_Algorithm_last(comm, collective, text.data(), &length);
  return text;
}

bool went_through_nodes(MPI_Comm comm, const char* collective) {
  return std::string(last(comm, collective).data()).find("hierarchical(") != std::string::npos;
}

/// Counts the hierarchical calls of one collective. Which candidate is faster depends on the
/// machine. But all are explored if the model predicts a gain.
class Tries {
 public:
  Tries(Context& context, MPI_Comm comm, const char* collective)
      : context_(context), comm_(comm), collective_(collective) {}

  /// Call it after each call, which must have run the same as on rank 0.
  void note() {
    const Text mine = last(comm_, collective_);
    Text of_rank_0 = mine;
    PMPI_Bcast(of_rank_0.data(), static_cast<int>(of_rank_0.size()), MPI_CHAR, 0, comm_);
    if (mine != of_rank_0) {
      context_.fail(std::string("ran \"") + mine.data() + "\", rank 0 \"" + of_rank_0.data() + '"');
    }
    through_nodes_ += went_through_nodes(comm_, collective_) ? 1 : 0;
  }
  /// Were some calls hierarchical, or none, as expected? None: unknown.
  void expect(std::optional<bool> nodes) const {
    if (nodes && (through_nodes_ > 0) != *nodes) {
      context_.fail(std::string(collective_) +
                    (*nodes ? " stayed flat: " : " went through nodes: ") +
                    last(comm_, collective_).data());
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

/// Calls that `auto` leaves to the MPI are hierarchical if that gains; irregular ones never are.
void gathers(Context& context, MPI_Comm comm, std::optional<bool> nodes, int most) {
  const int p = ranks_of(comm);
  std::mt19937 random(71);
  for (const Kind kind : all_kinds) {
    Tries tries(context, comm, name_of(kind));
    bool is_native = true;
    for (int call = 0; call < first_calls + 2; ++call) {
      const int units = 1 + call * most / first_calls;
      Exchange exchange =
          draw(kind, comm, call % p, std::vector<int>(static_cast<std::size_t>(p), units), random);
      native_fallback(exchange);
      check(context, exchange);
      tries.note();
      is_native = is_native && last(comm, name_of(kind)).front() == 'n';
    }
    if (is_irregular(kind) || !is_native) {
      tries.expect(false);
    } else {
      tries.expect(nodes);
    }
  }
}

void movements(Context& context, MPI_Comm comm, std::optional<bool> nodes, int most,
               int count = calls) {
  const int p = ranks_of(comm);
  std::mt19937 random(72);
  for (const Motion motion : all_motions) {
    Tries tries(context, comm, setting_of(motion));
    for (int call = 0; call < count; ++call) {
      Movement movement = draw(motion, comm, p, 8, random);
      movement.sent = movement.received = &layouts_of_ints()[0];
      movement.block_layout = BlockLayout::contiguous;
      std::fill(movement.units.begin(), movement.units.end(), 1 + call * most / count);
      context.step(to_text(movement));
      context.expect_empty(run(movement, false));
      tries.note();
    }
    // Alltoallv, whose setting it follows, has been explored by then.
    const bool is_decided = motion == Motion::alltoallw;
    if (!is_decided) tries.expect(nodes);
  }
  Tries barriers(context, comm, "barrier");
  for (int call = 0; call < count; ++call) {
    TUTTI_Barrier(comm);
    barriers.note();
  }
  barriers.expect(nodes);
}

void world(Context& context) {
  const OwnComm comm;
  gathers(context, comm.get(), nodes_pay(context), 6);
  movements(context, comm.get(), nodes_pay(context), 6);
}

/// Runs on parts of the world and other sequences of ranks, one after the other and alternating.
void other_communicators(Context& context) {
  const OwnComm half(context.rank() % 2, context.rank());
  const OwnComm reversed(0, -context.rank());
  const OwnComm dealt(0, context.rank() * 7 % 11 * context.size() + context.rank());
  for (const OwnComm* comm : {&half, &reversed, &dealt}) {
    gathers(context, comm->get(), std::nullopt, 40);
    movements(context, comm->get(), std::nullopt, 40);
  }
  for (int i = 0; i < 20; ++i) {
    const OwnComm brief(half.get());
    movements(context, i % 2 == 0 ? dealt.get() : brief.get(), std::nullopt, 4, 10);
  }
}

/// `auto` never runs hierarchical calls in chunks.
void more_bytes_than_memory(Context& context) {
  const OwnComm comm;
  movements(context, comm.get(), std::nullopt, 5000, 10);
  constexpr int many = 40000;
  std::vector<int> all(std::size_t{many} * static_cast<std::size_t>(comm.size()));
  Tries tries(context, comm.get(), "allgather");
  TUTTI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all.data(), many, MPI_INT, comm.get());
  tries.note();
  tries.expect(false);
}

/// Associations are part of a result: reductions are hierarchical only on request.
void reductions(Context& context) {
  const OwnComm comm;
  const int p = comm.size();
  const auto sum = [&](std::optional<bool> nodes) {
    Tries tries(context, comm.get(), "allreduce");
    for (int call = 0; call < calls; ++call) {
      std::array<int, 2> values = {comm.rank(), call};
      TUTTI_Allreduce(MPI_IN_PLACE, values.data(), 2, MPI_INT, MPI_SUM, comm.get());
      if (values != std::array{p * (p - 1) / 2, p * call}) context.fail("a wrong sum");
      tries.note();
    }
    tries.expect(nodes);
  };
  sum(false);
  TUTTI_Algorithm_set("allreduce", "native:level=auto", nullptr, nullptr);
  sum(nodes_pay(context));
  TUTTI_Algorithm_set("allreduce", "hierarchical(native)", nullptr, nullptr);
  sum(true);
  TUTTI_Algorithm_set("allreduce", "auto", nullptr, nullptr);
}

/// One specification leads to two decisions: operations that do not commute run another algorithm
/// than those that do.
void operations_in_turn(Context& context) {
  const OwnComm comm;
  if (comm.size() == 1) return;
  TUTTI_Algorithm_set("allreduce", "hierarchical(ring)", nullptr, nullptr);
  for (const bool commutes : {true, false, true}) {
    for (const Values& values : Values::all()) {
      if (values.commutes != commutes || values.is_odd) continue;
      const Reduction reduction = {.comm = comm.get(), .counts = {5}, .values = &values};
      context.step(to_text(reduction));
      context.expect_empty(run(reduction));
    }
  }
  TUTTI_Algorithm_set("allreduce", "auto", nullptr, nullptr);
}

/// A rank with invalid arguments follows the others of its node, here in an exploration.
void bad_arguments_of_one_rank(Context& context) {
  const OwnComm comm;
  std::vector<int> all(static_cast<std::size_t>(comm.size()), -1);
  const auto gather = [&](int count) {
    return TUTTI_Allgather(&count, count, MPI_INT, all.data(), count, MPI_INT, comm.get());
  };
  for (int call = 0; call <= first_calls; ++call) gather(1);
  if (!went_through_nodes(comm.get(), "allgather")) return;
  const bool bad = context.rank() == 2;
  context.step("bad counts");
  const int code = gather(bad ? -1 : 1);
  if ((code != MPI_SUCCESS) != bad) context.fail("an error at the wrong rank");
  Tries tries(context, comm.get(), "allgather");
  for (int call = 0; call < calls; ++call) {
    std::fill(all.begin(), all.end(), -1);
    gather(1);
    tries.note();
    if (std::count(all.begin(), all.end(), 1) != comm.size()) context.fail("wrong data after it");
  }
}

/// Two alternating blocks have two explorations at once. A rank that does not know to which a call
/// belongs follows the others, and stays in step with both.
void bad_arguments_between_two_trials(Context& context) {
  const OwnComm comm;
  if (!nodes_pay(context).value_or(false)) return;
  constexpr int large = 8;
  std::vector<int> own(large, comm.rank());
  std::vector<int> all(large * static_cast<std::size_t>(comm.size()));
  const auto gather = [&](int given, int each) {
    return TUTTI_Allgather(own.data(), given, MPI_INT, all.data(), given < 0 ? given : each,
                           MPI_INT, comm.get());
  };
  for (int call = 0; call <= first_calls; ++call) gather(1, 1);
  gather(large, large);
  const bool bad = context.rank() == 2;
  // The second uncounted call of a hierarchical candidate.
  context.step("bad counts");
  const int code = gather(bad ? -1 : 1, 1);
  if ((code != MPI_SUCCESS) != bad) context.fail("an error at the wrong rank");
  Tries tries(context, comm.get(), "allgather");
  for (int call = 0; call < 3 * calls; ++call) {
    const int each = call % 2 == 0 ? large : 1;
    context.step("blocks of " + std::to_string(each));
    std::fill(all.begin(), all.end(), -1);
    gather(each, each);
    tries.note();
    for (int i = 0; i < each * comm.size(); ++i) {
      if (all[static_cast<std::size_t>(i)] != i / each) return context.fail("wrong data after it");
    }
  }
}

/// The model selects more leaders for large blocks; a rank that does not know the block asks the
/// others.
void bad_arguments_where_leaders_differ(Context& context) {
  const OwnComm comm;
  if (!nodes_pay(context).value_or(false)) return;
  constexpr int large = 100'000;
  TUTTI_Algorithm_set("bcast", "hierarchical(native)", nullptr, nullptr);
  std::vector<int> vector(large);
  const auto cast = [&](int count, int value) {
    std::fill(vector.begin(), vector.end(), comm.rank() == 0 ? value : -1);
    return TUTTI_Bcast(vector.data(), count, MPI_INT, 0, comm.get());
  };
  const bool bad = context.rank() == 2;
  for (int call = 0; call < 12; ++call) {
    const int count = call % 2 == 0 ? 1 : large;
    context.step("call " + std::to_string(call));
    const bool is_wrong = bad && call == 6;
    const int code = cast(is_wrong ? -1 : count, call);
    if ((code != MPI_SUCCESS) != is_wrong) context.fail("an error at the wrong rank");
    if (!is_wrong && vector[static_cast<std::size_t>(count) - 1] != call) {
      context.fail("wrong data");
    }
  }
  TUTTI_Algorithm_set("bcast", "auto", nullptr, nullptr);
}

/// Explorations repeat, because calls may move other sizes later, which ranks do not know of each
/// other.
void trials_come_back(Context& context) {
  const OwnComm comm;
  const std::optional<bool> nodes = nodes_pay(context);
  const auto p = static_cast<std::size_t>(comm.size());
  std::vector<int> zeros(p), ones(p, 1), at(p), sent(p, comm.rank()), received(p);
  for (std::size_t i = 0; i < p; ++i) at[i] = static_cast<int>(i);
  const auto exchange = [&](const std::vector<int>& counts) {
    return TUTTI_Alltoallv(sent.data(), counts.data(), at.data(), MPI_INT, received.data(),
                           counts.data(), at.data(), MPI_INT, comm.get());
  };
  Tries nothing(context, comm.get(), "alltoallv");
  for (int call = 0; call < first_calls + calls; ++call) {
    exchange(zeros);
    nothing.note();
  }
  nothing.expect(false);
  Tries one(context, comm.get(), "alltoallv");
  for (int call = 0; call < 140; ++call) {
    exchange(ones);
    one.note();
    if (received != at) context.fail("wrong data");
  }
  one.expect(nodes);
}

}  // namespace

MadeUpMachine::MadeUpMachine() : file_(temporary_name("machine")) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::ofstream(file_) << slow_messages;
  PMPI_Barrier(MPI_COMM_WORLD);
  setenv("TUTTI_MACHINE", rank == 0 ? file_.c_str() : "built-in", 1);
  if (rank % 2 == 1) setenv("TUTTI_HIERARCHY", "flat", 1);
}

MadeUpMachine::~MadeUpMachine() {
  PMPI_Barrier(MPI_COMM_WORLD);
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void add_hierarchical_choices(Suite& suite) {
  const auto add = [&suite](const char* name, void (*body)(Context&)) {
    suite.add(name, [body](Context& context) {
      if (!context.options().native) body(context);
    });
  };
  add("levels by choice, world", world);
  add("levels by choice, other communicators", other_communicators);
  add("levels by choice, more bytes than memory", more_bytes_than_memory);
  add("levels by choice, reductions", reductions);
  add("levels by choice, operations in turn", operations_in_turn);
  add("levels by choice, bad arguments of one rank", bad_arguments_of_one_rank);
  add("levels by choice, bad arguments between two trials", bad_arguments_between_two_trials);
  add("levels by choice, bad arguments where leaders differ", bad_arguments_where_leaders_differ);
  add("levels by choice, trials come back", trials_come_back);
}

}  // namespace tutti::test
