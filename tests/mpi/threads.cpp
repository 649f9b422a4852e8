/// Several threads in collectives at once, each on its own communicator.
#include <memory>
#include <mutex>
#include <thread>

#include "exchange.hpp"
#include "harness.hpp"
#include "movement.hpp"
#include "reduction.hpp"

namespace tutti::test {
namespace {

/// Open MPI 4.1 itself sometimes fails if two threads make or free datatypes at once.
std::mutex making_types;

void work(Context& context, MPI_Comm comm, unsigned seed) {
  const bool native = context.options().native;
  int p = 0;
  PMPI_Comm_size(comm, &p);
  std::mt19937 random(seed);
  for (int call = 0; call < 12; ++call) {
    const Kind kind = all_kinds[random() % 4];
    std::vector<int> units = is_irregular(kind) ? sizes("random", p, random)
                                                : std::vector<int>(static_cast<std::size_t>(p), 8);
    std::unique_lock alone(making_types);
    auto exchange =
        std::make_unique<Exchange>(draw(kind, comm, call % p, std::move(units), random));
    exchange->bottom = false;  // run() would make a type
    alone.unlock();
    // No step: the text of one thread would hide the others'.
    context.expect_empty(run(*exchange, calls_under_test(native)));
    alone.lock();
    exchange.reset();
  }
}

/// Runs `body` in several threads at once, each with a communicator of its own and its number. All
/// make their first call, which sets up the state of a communicator, at once.
void in_threads(Context& context, void (*body)(Context&, MPI_Comm, unsigned)) {
  constexpr unsigned count = 3;
  const OwnComm comms[count];
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < count; ++i) {
    const MPI_Comm comm = comms[i].get();
    all.emplace_back([&context, body, comm, i] { body(context, comm, i); });
  }
}

void threads(Context& context) {
  const bool native = context.options().native;
  if (!context.threads()) return context.fail("the MPI does not grant MPI_THREAD_MULTIPLE");
  for (const std::string& name : algorithms(Kind::gatherv, native)) {
    context.step("threads, " + name);
    const Forced gather(Kind::gather, name, native);
    const Forced gatherv(Kind::gatherv, name, native);
    const Forced scatter(Kind::scatter, name, native);
    const Forced scatterv(Kind::scatterv, name, native);
    in_threads(context, work);
  }
}

void move(Context& context, MPI_Comm comm, unsigned seed) {
  int p = 0;
  PMPI_Comm_size(comm, &p);
  std::mt19937 random(seed);
  for (int call = 0; call < 18; ++call) {
    std::unique_lock alone(making_types);
    auto movement = std::make_unique<Movement>(draw(all_motions[call % 6], comm, p, 9, random));
    // Calls that the MPI may run use types that it handles correctly.
    movement->sent = movement->received = layouts_of_ints().data();
    movement->bottom = false;
    alone.unlock();
    context.expect_empty(run(*movement, context.options().native));
    if (TUTTI_Barrier(comm) != MPI_SUCCESS) context.fail("the barrier fails");
  }
}

void movements(Context& context) {
  const bool native = context.options().native;
  const Forced bcast("bcast", "chain", native);
  const Forced allgather("allgather", "bruck", native);
  const Forced allgatherv("allgatherv", "gather_bcast", native);
  const Forced alltoall("alltoall", "bruck", native);
  const Forced alltoallv("alltoallv", "pairwise", native);
  const Forced barrier("barrier", "dissemination", native);
  in_threads(context, move);
}

/// Sums of ints, and an operation of the program's own that does not commute.
void combine(Context& context, MPI_Comm comm, unsigned seed) {
  int p = 0;
  PMPI_Comm_size(comm, &p);
  std::mt19937 random(seed);
  for (int call = 0; call < 18; ++call) {
    const char* const collective = all_reductions[call % 6];
    Reduction reduction{collective, comm, call % p, counts_of(collective, 5 + call, p)};
    const std::size_t kind = random() % 2 == 0 ? 0 : 3;
    reduction.values = &Values::all()[kind];
    reduction.native = context.options().native;
    reduction.keeps_rest = false;  // the MPI may run it
    const std::string wrong = run(reduction);
    if (!wrong.empty()) context.fail(to_text(reduction) + ": " + wrong);
  }
}

void reductions(Context& context) {
  const bool native = context.options().native;
  if (!context.threads()) return context.fail("the MPI does not grant MPI_THREAD_MULTIPLE");
  // Makes the types before the threads.
  if (Values::all().empty()) return context.fail("there are no values");
  const Forced reduce("reduce", "chain", native);
  const Forced allreduce("allreduce", "recursive_doubling", native);
  const Forced reduce_scatter("reduce_scatter", "linear", native);
  const Forced reduce_scatter_block("reduce_scatter_block", "linear", native);
  const Forced scan("scan", "up_down", native);
  const Forced exscan("exscan", "doubling_123", native);
  in_threads(context, combine);
}

}  // namespace

void add_threads(Suite& suite) {
  suite.add("threads", threads);
  suite.add("threads, movements", movements);
  suite.add("threads, reductions", reductions);
}

}  // namespace tutti::test
