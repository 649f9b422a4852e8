/// Orders by arrival give right data, whatever the ranks' estimates and arrivals.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "delays.hpp"

namespace tutti::test {
namespace {

/// All algorithm names of Proficz 2020 (some are synonyms), and orders beyond the paper.
constexpr std::array names = {"LIN",
                              "SLIN",
                              "BSLN",
                              "LS",
                              "SLS",
                              "BSLS",
                              "BNOM",
                              "SBN",
                              "BSBN",
                              "linear:order=arrival",
                              "binomial:order=late_leaf",
                              "knomial:k=3,order=arrival",
                              "ordered_tree:arrivals=on"};

/// Calls with every root, to which ranks come after random delays.
void calls_after_delays(Context& context, MPI_Comm comm, Kind kind, const DelayCase& delay_case) {
  int p = 0;
  int rank = 0;
  PMPI_Comm_size(comm, &p);
  PMPI_Comm_rank(comm, &rank);
  std::mt19937 common(7);
  std::mt19937 own(static_cast<unsigned>(rank));
  const unsigned calls = static_cast<unsigned>(std::max(2 * p, 5) * context.options().effort);
  for (unsigned call = 0; call < calls; ++call) {
    compute(context, comm, delay_case, call, own);
    const auto shapes = is_irregular(kind) ? size_shapes().size() : equal_sizes.size();
    const int root = root_of_call(static_cast<int>(call), p, static_cast<int>(shapes));
    check(context, draw(kind, comm, root, units_for(kind, p, call, common), common));
  }
}

void all_names(Context& context, Kind kind) {
  const OwnComm comm;
  begin_exchange(context, comm.get());
  std::vector<std::string> all(names.begin(), names.end());
  if (!is_gather(kind)) all.emplace_back("relay:late=1");
  for (const std::string& name : all) {
    const Forced forced(kind, name, context.options().native);
    context.expect_empty(forced.error());
    calls_after_delays(context, comm.get(), kind, {});
  }
}

void incomplete_hints(Context& context, Hints hints) {
  const OwnComm comm;
  begin_exchange(context, comm.get());
  for (const Kind kind : {Kind::gather, Kind::scatterv}) {
    for (const char* name : {"SBN", "SLIN"}) {
      const Forced forced(kind, name, context.options().native);
      calls_after_delays(context, comm.get(), kind, {hints, 200});
    }
  }
}

/// Without estimates, order=arrival is the rotated order.
void no_arrivals_known(Context& context) {
  const OwnComm comm;
  for (const char* name : {"SBN", "SLS"}) {
    const Forced forced(Kind::gather, name, context.options().native);
    calls_after_delays(context, comm.get(), Kind::gather, {Hints::none, 0});
  }
}

void two_communicators(Context& context) {
  const OwnComm one;
  const OwnComm other(0, -context.rank());
  begin_exchange(context, one.get());
  begin_exchange(context, other.get());
  const Forced forced(Kind::gatherv, "SBN", context.options().native);
  std::mt19937 random(3);
  for (unsigned call = 0; call < 12; ++call) {
    if (!context.options().native) {
      expect(context, TUTTI_Arrival_edge(one.get()), "TUTTI_Arrival_edge");
      expect(context, TUTTI_Arrival_edge(other.get()), "TUTTI_Arrival_edge");
    }
    for (const OwnComm* comm : {&other, &one}) {
      const int p = comm->size();
      check(context, draw(Kind::gatherv, comm->get(), static_cast<int>(call) % p,
                          units_for(Kind::gatherv, p, call, random), random));
    }
  }
}

/// Exploration runs one candidate after the other, also orders by arrival and threads.
void explored(Context& context, Kind kind) {
  const OwnComm comm;
  begin_exchange(context, comm.get());
  const Forced automatic(kind, "auto", context.options().native);
  std::mt19937 common(5);
  std::mt19937 own(static_cast<unsigned>(context.rank()));
  const int p = comm.size();
  const std::vector<int> units(static_cast<std::size_t>(p), 500);
  for (unsigned call = 0; call < 150U * static_cast<unsigned>(context.options().effort); ++call) {
    // Other ranks are late after 100 calls.
    if (context.rank() == (call < 100 ? p - 1 : 0)) usleep(300);
    compute(context, comm.get(), {Hints::none, 50}, call, own);
    Exchange exchange = draw(kind, comm.get(), 0, units, common);
    native_fallback(exchange);
    check(context, exchange);
  }
}

/// The thread works while the communicator is freed; a new one may get its handle.
void freed_while_the_thread_works(Context& context) {
  for (int round = 0; round < 10 * context.options().effort; ++round) {
    const OwnComm comm;
    begin_exchange(context, comm.get());
    const Forced forced(Kind::gather, "SBN", context.options().native);
    if (round % 3 == 1) continue;
    if (!context.options().native && context.rank() % 2 == round % 2) {
      expect(context, TUTTI_Arrival_edge(comm.get()), "TUTTI_Arrival_edge");
    }
    if (round % 3 == 2) calls_after_delays(context, comm.get(), Kind::gather, {Hints::some, 50});
  }
}

void signal_to(MPI_Comm comm, int rank) { PMPI_Send(nullptr, 0, MPI_BYTE, rank, 3, comm); }
void await_signal(MPI_Comm comm, int rank) {
  PMPI_Recv(nullptr, 0, MPI_BYTE, rank, 3, comm, MPI_STATUS_IGNORE);
}

/// Two ranks alternate in giving the first progress hint and arriving first. The second one does
/// not arrive before the first one is served, so a call that uses an earlier call's order hangs.
void own_order_by(Context& context, int root) {
  const OwnComm comm;
  expect(context, TUTTI_Arrival_init(comm.get(), 1), "TUTTI_Arrival_init");
  const Forced forced(context, "gather", "BSLS");
  const int p = comm.size();
  const int rank = comm.rank();
  constexpr int count = 20000;  // sent by rendezvous
  std::vector<int> mine(count, rank);
  std::vector<int> all(static_cast<std::size_t>(p) * count);
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  expect(context,
         TUTTI_Gather_init(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, root,
                           comm.get(), &request),
         "TUTTI_Gather_init");
  for (int call = 0; call < 14; ++call) {
    context.step("root " + std::to_string(root) + ", call " + std::to_string(call));
    const int first = (root + 1 + call % 2) % p;
    const int second = (root + 2 - call % 2) % p;
    expect(context, TUTTI_Start(&request), "TUTTI_Start");
    if (rank == second) await_signal(comm.get(), first);
    expect(context, TUTTI_Arrival_edge(comm.get()), "TUTTI_Arrival_edge");
    if (rank == first) signal_to(comm.get(), second);
    if (rank == second) await_signal(comm.get(), first);
    if (rank == root) await_signal(comm.get(), second);
    expect(context, TUTTI_Wait(&request), "TUTTI_Wait");
    if (rank == first) signal_to(comm.get(), second);
    if (rank == second) signal_to(comm.get(), root);
  }
  expect(context, TUTTI_Request_free(&request), "TUTTI_Request_free");
}

void own_orders(Context& context) {
  if (context.size() < 3) return context.skip("needs 3 ranks");
  for (const int root : {0, context.size() - 1}) own_order_by(context, root);
}

/// A child process has neither the thread nor MPI, and exits without them.
void forked_while_the_thread_works(Context& context) {
  const OwnComm comm;
  begin_exchange(context, comm.get());
  const Forced forced(Kind::scatter, "BSLN", context.options().native);
  for (int round = 0; round < 5; ++round) {
    calls_after_delays(context, comm.get(), Kind::scatter, {Hints::all, 50});
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) context.fail("a child process failed");
  }
}

void begun_and_ended(Context& context) {
  const OwnComm comm;
  const Forced forced(context, "scatter", "SBN");
  // Ranks exchange arrivals here if rank 0's environment asks for it.
  calls_after_delays(context, comm.get(), Kind::scatter, {Hints::none, 50});
  if (TUTTI_Arrival_edge(comm.get()) != MPI_ERR_COMM)
    context.fail("no error of a progress hint without init");
  if (TUTTI_Arrival_finalize(comm.get()) != MPI_ERR_COMM)
    context.fail("no error of finalize without init");
  for (const double wrong : {0.0, -1.0, 1.5}) {
    if (TUTTI_Arrival_init(comm.get(), wrong) != MPI_ERR_ARG)
      context.fail("no error of an invalid fraction");
  }
  for (int round = 0; round < 3; ++round) {
    begin_exchange(context, comm.get());
    calls_after_delays(context, comm.get(), Kind::scatter, {Hints::all, 50});
    expect(context, TUTTI_Arrival_finalize(comm.get()), "TUTTI_Arrival_finalize");
    calls_after_delays(context, comm.get(), Kind::scatter, {Hints::none, 50});
  }
}

}  // namespace

void add_arrivals(Suite& suite) {
  for (const Kind kind : all_kinds) {
    suite.add(std::string("arrival: all names, ") + name_of(kind),
              [kind](Context& context) { all_names(context, kind); });
  }
  for (const Kind kind : all_kinds) {
    suite.add(std::string("arrival: explored, ") + name_of(kind),
              [kind](Context& context) { explored(context, kind); });
  }
  suite.add("arrival: progress hints on some ranks only",
            [](Context& context) { incomplete_hints(context, Hints::some); });
  suite.add("arrival: every second progress hint skipped",
            [](Context& context) { incomplete_hints(context, Hints::every_second); });
  suite.add("arrival: no progress hints",
            [](Context& context) { incomplete_hints(context, Hints::none); });
  suite.add("arrival: no estimates", no_arrivals_known);
  suite.add("arrival: two communicators", two_communicators);
  suite.add_tutti_only("arrival: progress hints give each call its own order", own_orders);
  suite.add("arrival: freed while the thread works", freed_while_the_thread_works);
  suite.add_tutti_only("arrival: begun and ended", begun_and_ended);
  suite.add("arrival: fork", forked_while_the_thread_works);
}

}  // namespace tutti::test
