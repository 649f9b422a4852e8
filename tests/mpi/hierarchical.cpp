/// Tests gathers and scatters through node memory, on nodes emulated by --nodes, else the real one.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

const std::vector<std::string>& hierarchical(bool native) {
  static const std::vector<std::string> none = {"native"};
  static const std::vector<std::string> all = {
      "hierarchical(native)", "hierarchical(native,leaders=3)", "hierarchical(binomial,leaders=2)",
      "hierarchical(linear)"};
  return native ? none : all;
}

/// Runs all drawn sizes, datatypes and buffer layouts, with changing roots.
void tour(Context& context, MPI_Comm comm, unsigned seed) {
  const bool native = context.options().native;
  int p = 0;
  PMPI_Comm_size(comm, &p);
  std::mt19937 random(seed);
  for (const Kind kind : all_kinds) {
    for (const std::string& name : hierarchical(native)) {
      const Forced forced(kind, name, native);
      context.expect_empty(forced.error());
      for (int round = 0; round < 4 * context.options().effort; ++round) {
        const auto& shapes = size_shapes();
        std::vector<int> units(static_cast<std::size_t>(p), static_cast<int>(random() % 300));
        if (is_irregular(kind)) units = sizes(shapes[random() % shapes.size()], p, random);
        const int root = static_cast<int>(random() % static_cast<unsigned>(p));
        Exchange exchange = draw(kind, comm, root, std::move(units), random);
        native_fallback(exchange);
        check(context, exchange);
        context.expect_empty(forced.wrongly_ran(comm));
      }
    }
  }
}

/// Runs persistent calls; the second run of each reuses its plan.
void persistent(Context& context) {
  const OwnComm comm;
  const int p = comm.size();
  std::mt19937 random(51);
  for (const Kind kind : all_kinds) {
    for (const std::string& name : hierarchical(false)) {
      const Forced forced(kind, name, false);
      for (const int scale : {1, 40}) {
        std::vector<int> units(static_cast<std::size_t>(p), scale);
        if (is_irregular(kind)) units = sizes(size_shapes().back(), p, random);
        Exchange exchange = draw(kind, comm.get(), scale % p, std::move(units), random);
        native_fallback(exchange);
        context.step(name + " " + to_text(exchange));
        context.expect_empty(run(exchange, persistent_calls()));
        context.expect_empty(forced.wrongly_ran(comm.get()));
      }
    }
  }
}

/// Node memory has a page for signals, and none for data: each start runs flat.
void persistent_without_memory(Context& context) {
  if (context.options().node_memory != "64K") return context.skip("needs --node-memory 64K");
  for (const std::string inner : {"linear", "native"}) {
    const Forced forced(Kind::gather, "hierarchical(" + inner + ")", false);
    const OwnComm comm;
    const int p = comm.size();
    std::vector<int> all(static_cast<std::size_t>(p));
    int own = 0;
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit page = {static_cast<rlim_t>(sysconf(_SC_PAGESIZE)), usual.rlim_max};
    setrlimit(RLIMIT_FSIZE, &page);
    TUTTI_Request request = TUTTI_REQUEST_NULL;
    expect(context,
           TUTTI_Gather_init(&own, 1, MPI_INT, all.data(), 1, MPI_INT, p - 1, comm.get(), &request),
           "TUTTI_Gather_init");
    setrlimit(RLIMIT_FSIZE, &usual);
    for (int round = 0; round < 3; ++round) {
      own = 10 * round + comm.rank();
      expect(context, TUTTI_Start(&request), "TUTTI_Start");
      expect(context, TUTTI_Wait(&request), "TUTTI_Wait");
      for (int rank = 0; rank < p && comm.rank() == p - 1; ++rank) {
        if (all[static_cast<std::size_t>(rank)] != 10 * round + rank) context.fail("wrong data");
      }
      const std::string why = ": runs flat because node memory is too small for the call";
      const std::string ran = forced.last(comm.get());
      if (ran != inner + why) context.fail("ran " + ran);
    }
    expect(context, TUTTI_Request_free(&request), "TUTTI_Request_free");
  }
}

/// Runs calls with more bytes than node memory.
void in_chunks(Context& context) {
  const bool native = context.options().native;
  const OwnComm comm;
  const int p = comm.size();
  std::mt19937 random(31);
  for (const Kind kind : all_kinds) {
    const Forced forced(kind, hierarchical(native).front(), native);
    for (const int units : {1 << 14, 3}) {
      Exchange exchange = draw(kind, comm.get(), p / 2,
                               std::vector<int>(static_cast<std::size_t>(p), units), random);
      exchange.leaf = &layouts_of_ints()[0];
      exchange.at_root = &layouts_of_ints()[1];
      native_fallback(exchange);
      check(context, exchange);
      context.expect_empty(forced.wrongly_ran(comm.get()));
    }
  }
}

/// Runs on other sequences of ranks: those of a node are not consecutive.
void other_mappings(Context& context) {
  const OwnComm reversed(0, -context.rank());
  tour(context, reversed.get(), 42);
  const OwnComm dealt(0, context.rank() * 7 % 11 * context.size() + context.rank());
  tour(context, dealt.get(), 43);
}

void parts_of_the_world(Context& context) {
  const OwnComm half(context.rank() % 2, context.rank());
  tour(context, half.get(), 44);
  tour(context, MPI_COMM_SELF, 45);
}

/// A rank with invalid arguments that shares its node gets its MPI's own error, and no rank waits
/// for it: with equal blocks, the others know what they send to it and expect from it.
void bad_arguments_of_one_rank(Context& context) {
  if (context.options().nodes == "1" || context.size() < 3)
    return context.skip("needs 3 ranks, on nodes of 2");
  for (const Kind kind : {Kind::gather, Kind::scatter}) {
    for (const std::string& name : hierarchical(false)) {
      const Forced forced(kind, name, false);
      const OwnComm comm;
      context.step(std::string(name_of(kind)) + " " + name);
      const bool bad = context.rank() == 1;
      std::vector<int> all(static_cast<std::size_t>(comm.size()));
      int own = 0;
      const int count = bad ? -1 : 1;
      const int code =
          kind == Kind::gather
              ? TUTTI_Gather(&own, count, MPI_INT, all.data(), 1, MPI_INT, 0, comm.get())
              : TUTTI_Scatter(all.data(), 1, MPI_INT, &own, count, MPI_INT, 0, comm.get());
      if (bad && code == MPI_SUCCESS) context.fail("a negative count is no error");
      std::mt19937 random(61);
      check(context, draw(kind, comm.get(), 1,
                          std::vector<int>(static_cast<std::size_t>(comm.size()), 3), random));
    }
  }
}

}  // namespace

void add_hierarchical(Suite& suite) {
  suite.add("levels, world", [](Context& context) {
    const OwnComm comm;
    tour(context, comm.get(), 41);
  });
  suite.add_tutti_only("levels, persistent", persistent);
  suite.add_tutti_only("levels, persistent without memory", persistent_without_memory);
  suite.add("levels, more bytes than memory", in_chunks);
  suite.add("levels, other mappings", other_mappings);
  suite.add("levels, parts of the world", parts_of_the_world);
  suite.add_tutti_only("levels, bad arguments of one rank", bad_arguments_of_one_rank);
}

}  // namespace tutti::test
