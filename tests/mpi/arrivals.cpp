/// Orders by arrival give right data, whatever the ranks' estimates and arrivals.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "exchange.hpp"
#include "harness.hpp"

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

/// The ranks that give a progress hint before a call.
enum class Hints { all, some, every_second, none };

struct DelayCase {
  Hints hints = Hints::all;
  unsigned max_delay = 300;  ///< microseconds
};

bool gives_hint(Hints hints, int rank, unsigned call) {
  switch (hints) {
    case Hints::all:
      return true;
    case Hints::some:
      return rank % 2 == 0;
    case Hints::every_second:
      return (call + static_cast<unsigned>(rank)) % 2 == 0;
    default:
      return false;
  }
}

void expect(Context& context, int code, const char* what) {
  if (code != MPI_SUCCESS) context.fail(std::string(what) + ": " + error_text(code));
}

/// Computes for a while, with a progress hint after 50 %.
void compute(Context& context, MPI_Comm comm, const DelayCase& delay_case, unsigned call,
             std::mt19937& random) {
  const auto delay =
      static_cast<unsigned>(delay_case.max_delay == 0 ? 0 : random() % delay_case.max_delay);
  usleep(delay / 2);
  if (gives_hint(delay_case.hints, context.rank(), call) && !context.options().native) {
    expect(context, TUTTI_Arrival_edge(comm), "TUTTI_Arrival_edge");
  }
  usleep(delay / 2);
}

std::vector<int> units_for(Kind kind, int p, unsigned call, std::mt19937& random) {
  constexpr int equal[] = {40, 0, 1, 700, 20000};
  if (!is_irregular(kind)) return std::vector<int>(static_cast<std::size_t>(p), equal[call % 5]);
  const auto& shapes = size_shapes();
  return sizes(shapes[call % shapes.size()], p, random);
}

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
    const int root = static_cast<int>(call) % p;
    check(context, draw(kind, comm, root, units_for(kind, p, call, common), common));
  }
}

void begin(Context& context, MPI_Comm comm) {
  if (context.options().native) return;
  expect(context, TUTTI_Arrival_init(comm, 0.5), "TUTTI_Arrival_init");
}

void all_names(Context& context, Kind kind) {
  const OwnComm comm;
  begin(context, comm.get());
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
  begin(context, comm.get());
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
  begin(context, one.get());
  begin(context, other.get());
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

/// The thread works while the communicator is freed; a new one may get its handle.
void freed_while_the_thread_works(Context& context) {
  for (int round = 0; round < 10 * context.options().effort; ++round) {
    const OwnComm comm;
    begin(context, comm.get());
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
void own_order_of_each_call(Context& context, int root) {
  if (context.options().native || context.size() < 3) return;
  const OwnComm comm;
  expect(context, TUTTI_Arrival_init(comm.get(), 1), "TUTTI_Arrival_init");
  const Forced forced(Kind::gather, "BSLS", false);
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

/// A child process has neither the thread nor MPI, and exits without them.
void forked_while_the_thread_works(Context& context) {
  const OwnComm comm;
  begin(context, comm.get());
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
  if (context.options().native) return;
  const OwnComm comm;
  const Forced forced(Kind::scatter, "SBN", false);
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
    begin(context, comm.get());
    calls_after_delays(context, comm.get(), Kind::scatter, {Hints::all, 50});
    expect(context, TUTTI_Arrival_finalize(comm.get()), "TUTTI_Arrival_finalize");
    calls_after_delays(context, comm.get(), Kind::scatter, {Hints::none, 50});
  }
}

/// Starts a request and waits for it, twice and sometimes after a pause.
int run_twice(TUTTI_Request* request, int error) {
  static unsigned calls = 0;
  for (int round = 0; round < 2 && error == MPI_SUCCESS; ++round) {
    error = TUTTI_Start(request);
    if (++calls % 3 == 0) usleep(calls * 37 % 300);
    if (error == MPI_SUCCESS) error = TUTTI_Wait(request);
  }
  const int freed = *request == TUTTI_REQUEST_NULL ? MPI_SUCCESS : TUTTI_Request_free(request);
  return error == MPI_SUCCESS ? freed : error;
}

int gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
           MPI_Datatype recvtype, int root, MPI_Comm comm) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = TUTTI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      root, comm, &request);
  return run_twice(&request, error);
}

int gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
            const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
            MPI_Comm comm) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = TUTTI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                       recvtype, root, comm, &request);
  return run_twice(&request, error);
}

int scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = TUTTI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                       root, comm, &request);
  return run_twice(&request, error);
}

int scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = TUTTI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                        recvtype, root, comm, &request);
  return run_twice(&request, error);
}

int gather_large(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = TUTTI_Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                        root, comm, &request);
  return run_twice(&request, error);
}

int gatherv_large(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                  int root, MPI_Comm comm) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = TUTTI_Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                         recvtype, root, comm, &request);
  return run_twice(&request, error);
}

int scatter_large(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = TUTTI_Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         root, comm, &request);
  return run_twice(&request, error);
}

int scatterv_large(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = TUTTI_Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                          recvtype, root, comm, &request);
  return run_twice(&request, error);
}

}  // namespace

const Calls& persistent_calls() {
  static const Calls calls = {gather,       gatherv,       scatter,       scatterv,
                              gather_large, gatherv_large, scatter_large, scatterv_large};
  return calls;
}

namespace {

void persistent(Context& context, Kind kind) {
  if (context.options().native) return;
  const OwnComm comm;
  const int p = comm.size();
  std::mt19937 random(11);
  for (const char* name : {"native", "BSLN", "BSLS", "BSBN", "SBN", "ordered_tree",
                           "ordered_tree:arrivals=on,runner=background",
                           "linear:order=arrival,runner=background", "LIN"}) {
    const Forced forced(kind, name, false);
    for (unsigned call = 0; call < static_cast<unsigned>(std::max(p, 5)); ++call) {
      Exchange exchange = draw(kind, comm.get(), static_cast<int>(call) % p,
                               units_for(kind, p, call, random), random);
      if (std::string(name) == "native") native_fallback(exchange);
      context.step(std::string(name) + " " + to_text(exchange));
      context.expect_empty(run(exchange, persistent_calls()));
    }
  }
}

/// Blocking calls and two requests on one communicator, each with its own call numbers.
void requests_among_calls(Context& context) {
  if (context.options().native) return;
  const OwnComm comm;
  begin(context, comm.get());
  const Forced scattered(Kind::scatter, "BSBN", false);
  const Forced gathered(Kind::gather, "BSLS", false);
  const int p = comm.size();
  const int root = p - 1;
  std::vector<int> all(static_cast<std::size_t>(p));
  std::vector<int> back(static_cast<std::size_t>(p));
  int mine = -1;
  int doubled = -1;
  TUTTI_Request in = TUTTI_REQUEST_NULL;
  TUTTI_Request out = TUTTI_REQUEST_NULL;
  expect(context,
         TUTTI_Scatter_init(all.data(), 1, MPI_INT, &mine, 1, MPI_INT, root, comm.get(), &in),
         "TUTTI_Scatter_init");
  expect(context,
         TUTTI_Gather_init(&doubled, 1, MPI_INT, back.data(), 1, MPI_INT, root, comm.get(), &out),
         "TUTTI_Gather_init");
  std::mt19937 common(5);
  std::mt19937 own(static_cast<unsigned>(context.rank()));
  for (int round = 0; round < 40 * context.options().effort; ++round) {
    context.step("round " + std::to_string(round));
    expect(context, TUTTI_Start(&in), "TUTTI_Start");
    if (TUTTI_Request_free(&in) != MPI_ERR_REQUEST)
      context.fail("no error of freeing an active request");
    expect(context, TUTTI_Start(&out), "TUTTI_Start");
    // The exchange may end and begin again while requests are active.
    if (round % 10 == 9) {
      expect(context, TUTTI_Arrival_finalize(comm.get()), "TUTTI_Arrival_finalize");
      begin(context, comm.get());
    }
    compute(context, comm.get(), {Hints::every_second, 200}, static_cast<unsigned>(round), own);
    for (int rank = 0; rank < p; ++rank) all[static_cast<std::size_t>(rank)] = round * 100 + rank;
    expect(context, TUTTI_Wait(&in), "TUTTI_Wait");
    if (mine != round * 100 + context.rank()) context.fail("scattered " + std::to_string(mine));
    check(context,
          draw(Kind::gather, comm.get(), round % p, std::vector<int>(all.size(), 3), common));
    doubled = 2 * mine;
    expect(context, TUTTI_Wait(&out), "TUTTI_Wait");
    for (int rank = 0; rank < p && context.rank() == root; ++rank) {
      const int found = back[static_cast<std::size_t>(rank)];
      if (found != 2 * (round * 100 + rank)) context.fail("gathered " + std::to_string(found));
    }
    expect(context, TUTTI_Wait(&out), "TUTTI_Wait on an inactive request");
  }
  expect(context, TUTTI_Request_free(&in), "TUTTI_Request_free");
  expect(context, TUTTI_Request_free(&out), "TUTTI_Request_free");
  if (in != TUTTI_REQUEST_NULL || TUTTI_Start(&in) != MPI_ERR_REQUEST)
    context.fail("no error of starting a null request");
}

}  // namespace

void add_arrivals(Suite& suite) {
  for (const Kind kind : all_kinds) {
    suite.add(std::string("arrival: all names, ") + name_of(kind),
              [kind](Context& context) { all_names(context, kind); });
  }
  suite.add("arrival: progress hints on some ranks only",
            [](Context& context) { incomplete_hints(context, Hints::some); });
  suite.add("arrival: every second progress hint skipped",
            [](Context& context) { incomplete_hints(context, Hints::every_second); });
  suite.add("arrival: no progress hints",
            [](Context& context) { incomplete_hints(context, Hints::none); });
  suite.add("arrival: no estimates", no_arrivals_known);
  suite.add("arrival: two communicators", two_communicators);
  suite.add("arrival: progress hints give each call its own order", [](Context& context) {
    for (const int root : {0, context.size() - 1}) own_order_of_each_call(context, root);
  });
  suite.add("arrival: freed while the thread works", freed_while_the_thread_works);
  suite.add("arrival: begun and ended", begun_and_ended);
  suite.add("arrival: fork", forked_while_the_thread_works);
  for (const Kind kind : all_kinds) {
    suite.add(std::string("persistent ") + name_of(kind),
              [kind](Context& context) { persistent(context, kind); });
  }
  suite.add("persistent: two requests among calls", requests_among_calls);
}

}  // namespace tutti::test
