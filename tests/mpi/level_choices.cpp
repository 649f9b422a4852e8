/// The automatic choice of the node level, on emulated nodes and a made-up machine where it pays.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "exchange.hpp"
#include "harness.hpp"
#include "movement.hpp"

namespace tutti::test {
namespace {

/// More calls than those at first that stay flat.
constexpr int calls = 12;

/// On a machine where only messages cost, and flags and copies nothing.
constexpr const char* slow_messages =
    "latency 1e-3\nper_byte 1e-9\nsender_per_byte 1e-9\nnode_gap 1e-3\nlocal_latency 1e-2\n"
    "copy_per_byte 1e-11\nshared_per_byte 1e-12\nflag 1e-9\ncrowding 64\n";

using Text = std::array<char, 200>;

Text last(MPI_Comm comm, const char* collective) {
  Text text{};
  int length = static_cast<int>(text.size());
  TUTTI_Algorithm_last(comm, collective, text.data(), &length);
  return text;
}

bool went_through_nodes(MPI_Comm comm, const char* collective) {
  return std::string(last(comm, collective).data()).find("level=node") != std::string::npos;
}

/// What the last call ran must be what rank 0's did, and that through nodes or not where it is
/// known.
void expect(Context& context, MPI_Comm comm, const char* collective, std::optional<bool> nodes) {
  const Text mine = last(comm, collective);
  Text of_rank_0 = mine;
  PMPI_Bcast(of_rank_0.data(), static_cast<int>(of_rank_0.size()), MPI_CHAR, 0, comm);
  if (mine != of_rank_0) {
    context.fail(std::string("ran \"") + mine.data() + "\", rank 0 \"" + of_rank_0.data() + '"');
  }
  if (nodes && went_through_nodes(comm, collective) != *nodes) {
    context.fail(std::string(collective) + (*nodes ? " stayed flat: " : " went through nodes: ") +
                 mine.data());
  }
}

/// What the world's ranks should find: several nodes, and ranks enough on them. Others may find
/// anything.
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

void gathers(Context& context, MPI_Comm comm, int most) {
  const int p = ranks_of(comm);
  std::mt19937 random(71);
  for (const Kind kind : all_kinds) {
    for (int call = 0; call < calls; ++call) {
      const int units = 1 + call * most / calls;
      Exchange exchange =
          draw(kind, comm, call % p, std::vector<int>(static_cast<std::size_t>(p), units), random);
      spare_native(exchange);
      check(context, exchange);
    }
    expect(context, comm, name_of(kind), false);
  }
}

void movements(Context& context, MPI_Comm comm, std::optional<bool> nodes, int most) {
  const int p = ranks_of(comm);
  std::mt19937 random(72);
  for (const Motion motion : all_motions) {
    for (int call = 0; call < calls; ++call) {
      Movement movement = draw(motion, comm, p, 8, random);
      movement.sent = movement.received = &layouts_of_ints()[0];
      movement.placement = Placement::dense;
      std::fill(movement.units.begin(), movement.units.end(), 1 + call * most / calls);
      context.step(to_text(movement));
      context.expect_empty(run(movement, false));
    }
    const bool known = motion < Motion::alltoallv;
    expect(context, comm, setting_of(motion), known ? nodes : false);
  }
  for (int call = 0; call < calls; ++call) TUTTI_Barrier(comm);
  expect(context, comm, "barrier", nodes);
}

void world(Context& context) {
  const OwnComm comm;
  gathers(context, comm.get(), 6);
  movements(context, comm.get(), nodes_pay(context), 6);
}

/// One after the other and in turn, of parts of the world and in other sequences.
void other_communicators(Context& context) {
  const OwnComm half(context.rank() % 2, context.rank());
  const OwnComm reversed(0, -context.rank());
  const OwnComm dealt(0, context.rank() * 7 % 11 * context.size() + context.rank());
  for (const OwnComm* comm : {&half, &reversed, &dealt}) {
    gathers(context, comm->get(), 40);
    movements(context, comm->get(), std::nullopt, 40);
  }
  for (int i = 0; i < 20; ++i) {
    const OwnComm brief(half.get());
    movements(context, i % 2 == 0 ? dealt.get() : brief.get(), std::nullopt, 4);
  }
}

/// Nothing goes through nodes in chunks without being asked to.
void more_bytes_than_memory(Context& context) {
  const OwnComm comm;
  movements(context, comm.get(), std::nullopt, 9000);
  constexpr int many = 40000;
  std::vector<int> all(std::size_t{many} * static_cast<std::size_t>(comm.size()));
  TUTTI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all.data(), many, MPI_INT, comm.get());
  expect(context, comm.get(), "allgather", false);
}

/// Associations are part of a result: only who asks for it has them by nodes.
void reductions(Context& context) {
  const OwnComm comm;
  const int p = comm.size();
  const auto sum = [&] {
    for (int call = 0; call < calls; ++call) {
      std::array<int, 2> values = {comm.rank(), call};
      TUTTI_Allreduce(MPI_IN_PLACE, values.data(), 2, MPI_INT, MPI_SUM, comm.get());
      if (values != std::array{p * (p - 1) / 2, p * call}) context.fail("a wrong sum");
    }
  };
  sum();
  expect(context, comm.get(), "allreduce", false);
  TUTTI_Algorithm_set("allreduce", "native:level=auto", nullptr, nullptr);
  sum();
  expect(context, comm.get(), "allreduce", nodes_pay(context));
  TUTTI_Algorithm_set("allreduce", "native:level=node", nullptr, nullptr);
  sum();
  expect(context, comm.get(), "allreduce", true);
  TUTTI_Algorithm_set("allreduce", "auto", nullptr, nullptr);
}

/// A rank with bad arguments does as the others do, who have company on its node.
void bad_arguments_of_one_rank(Context& context) {
  const OwnComm comm;
  std::vector<int> all(static_cast<std::size_t>(comm.size()), -1);
  const auto gather = [&](int count) {
    return TUTTI_Allgather(&count, count, MPI_INT, all.data(), count, MPI_INT, comm.get());
  };
  for (int call = 0; call < calls; ++call) gather(1);
  if (!went_through_nodes(comm.get(), "allgather")) return;
  const bool bad = context.rank() == 2;
  context.step("bad counts");
  const int code = gather(bad ? -1 : 1);
  if ((code != MPI_SUCCESS) != bad) context.fail("an error at the wrong rank");
  for (int call = 0; call < 2; ++call) {
    std::fill(all.begin(), all.end(), -1);
    gather(1);
    if (std::count(all.begin(), all.end(), 1) != comm.size()) context.fail("wrong data after it");
  }
}

}  // namespace

MadeUpMachine::MadeUpMachine() : file_(temporary_name("machine")) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::ofstream(file_) << slow_messages;
  PMPI_Barrier(MPI_COMM_WORLD);
  setenv("TUTTI_MACHINE", rank == 0 ? file_.c_str() : "built-in", 1);
  if (rank % 2 == 1) setenv("TUTTI_LEVEL", "flat", 1);
}

MadeUpMachine::~MadeUpMachine() {
  PMPI_Barrier(MPI_COMM_WORLD);
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void add_level_choices(Suite& suite) {
  const auto add = [&suite](const char* name, void (*body)(Context&)) {
    suite.add(name, [body](Context& context) {
      if (!context.options().native) body(context);
    });
  };
  add("levels by choice, world", world);
  add("levels by choice, other communicators", other_communicators);
  add("levels by choice, more bytes than memory", more_bytes_than_memory);
  add("levels by choice, reductions", reductions);
  add("levels by choice, bad arguments of one rank", bad_arguments_of_one_rank);
}

}  // namespace tutti::test
