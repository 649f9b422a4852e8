/// Bad arguments return the MPI's own error class and call its handler once, and no rank hangs.
#include <array>
#include <functional>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

/// One bad call, the same at all ranks, by either library.
struct BadCall {
  const char* name;
  std::function<int(const Calls&, MPI_Comm)> call;
};

/// Valid arguments; a case makes one of them wrong.
struct Spoilt {
  std::array<int, 4> block = {1, 2, 3, 4};
  std::vector<int> all = std::vector<int>(64, 0);
  std::vector<int> counts = std::vector<int>(16, 1);
  std::vector<int> displs;
  int count = 1;
  MPI_Datatype type = MPI_INT;
  int root = 0;

  Spoilt() {
    for (int i = 0; i < 16; ++i) displs.push_back(i);
  }
  int gather(const Calls& calls, MPI_Comm comm) {
    return calls.gather(block.data(), count, type, all.data(), count, type, root, comm);
  }
  int gatherv(const Calls& calls, MPI_Comm comm) {
    return calls.gatherv(block.data(), count, type, all.data(), counts.data(), displs.data(), type,
                         root, comm);
  }
  int scatter(const Calls& calls, MPI_Comm comm) {
    return calls.scatter(all.data(), count, type, block.data(), count, type, root, comm);
  }
  int scatterv(const Calls& calls, MPI_Comm comm) {
    return calls.scatterv(all.data(), counts.data(), displs.data(), type, block.data(), count, type,
                          root, comm);
  }
  int init(Kind kind, MPI_Comm comm, TUTTI_Request* request) {
    switch (kind) {
      case Kind::gather:
        return TUTTI_Gather_init(block.data(), count, type, all.data(), count, type, root, comm,
                                 request);
      case Kind::gatherv:
        return TUTTI_Gatherv_init(block.data(), count, type, all.data(), counts.data(),
                                  displs.data(), type, root, comm, request);
      case Kind::scatter:
        return TUTTI_Scatter_init(all.data(), count, type, block.data(), count, type, root, comm,
                                  request);
      case Kind::scatterv:
        return TUTTI_Scatterv_init(all.data(), counts.data(), displs.data(), type, block.data(),
                                   count, type, root, comm, request);
    }
    return MPI_ERR_INTERN;
  }
  int call(Kind kind, const Calls& calls, MPI_Comm comm) {
    switch (kind) {
      case Kind::gather:
        return gather(calls, comm);
      case Kind::gatherv:
        return gatherv(calls, comm);
      case Kind::scatter:
        return scatter(calls, comm);
      case Kind::scatterv:
        return scatterv(calls, comm);
    }
    return MPI_ERR_INTERN;
  }
};

int with_uncommitted_type(Kind kind, const Calls& calls, MPI_Comm comm) {
  Spoilt arguments;
  PMPI_Type_contiguous(2, MPI_INT, &arguments.type);
  MPI_Datatype owned = arguments.type;
  const int code = arguments.call(kind, calls, comm);
  PMPI_Type_free(&owned);
  return code;
}

/// MPI_Type_free sets the handle to null, which the call then gets. An earlier copy of the handle
/// cannot be tested: both MPIs would read freed memory, and may crash.
int with_freed_type(Kind kind, const Calls& calls, MPI_Comm comm) {
  Spoilt arguments;
  PMPI_Type_contiguous(2, MPI_INT, &arguments.type);
  PMPI_Type_commit(&arguments.type);
  PMPI_Type_free(&arguments.type);
  return arguments.call(kind, calls, comm);
}

std::vector<BadCall> bad_calls(Kind kind) {
  const auto with = [kind](auto spoil) {
    return [kind, spoil](const Calls& calls, MPI_Comm comm) {
      Spoilt arguments;
      spoil(arguments);
      return arguments.call(kind, calls, comm);
    };
  };
  std::vector<BadCall> all = {
      {"negative count", with([](Spoilt& a) {
         a.count = -1;
         a.counts.assign(16, -1);
       })},
      {"root beyond the last rank", with([](Spoilt& a) { a.root = 1000; })},
      {"negative root", with([](Spoilt& a) { a.root = -7; })},
      {"null type", with([](Spoilt& a) { a.type = MPI_DATATYPE_NULL; })},
      {"null communicator",
       [kind](const Calls& calls, MPI_Comm) { return Spoilt().call(kind, calls, MPI_COMM_NULL); }},
      {"freed type",
       [kind](const Calls& calls, MPI_Comm comm) { return with_freed_type(kind, calls, comm); }},
  };
  // Open MPI does not check it in scatters.
  if (is_gather(kind)) {
    all.push_back({"uncommitted type", [kind](const Calls& calls, MPI_Comm comm) {
                     return with_uncommitted_type(kind, calls, comm);
                   }});
  }
  return all;
}

/// Errors without a valid communicator call the handler of MPI_COMM_WORLD.
class WorldReturnsErrors {
 public:
  WorldReturnsErrors() {
    for (std::size_t i = 0; i < 2; ++i) {
      PMPI_Comm_get_errhandler(comms_[i], &before_[i]);
      PMPI_Comm_set_errhandler(comms_[i], MPI_ERRORS_RETURN);
    }
  }
  ~WorldReturnsErrors() {
    for (std::size_t i = 0; i < 2; ++i) {
      PMPI_Comm_set_errhandler(comms_[i], before_[i]);
      PMPI_Errhandler_free(&before_[i]);
    }
  }
  WorldReturnsErrors(const WorldReturnsErrors&) = delete;
  WorldReturnsErrors& operator=(const WorldReturnsErrors&) = delete;

 private:
  std::array<MPI_Comm, 2> comms_ = {MPI_COMM_WORLD, MPI_COMM_SELF};
  std::array<MPI_Errhandler, 2> before_ = {};
};

void same_error_class(Context& context, Kind kind) {
  const bool native = context.options().native;
  const WorldReturnsErrors returning;
  const std::vector<BadCall> bad_ones = bad_calls(kind);
  std::vector<int> expected;
  for (const BadCall& bad : bad_ones) {
    const OwnComm comm;
    context.step(std::string("native, ") + bad.name);
    expected.push_back(class_of(bad.call(native_calls(), comm.get())));
    if (expected.back() == MPI_SUCCESS) {
      context.fail(std::string(bad.name) + " is no error natively");
    }
  }
  for (const std::string& name : specifications(kind, native)) {
    const Forced forced(kind, name, native);
    const OwnComm comm;
    for (std::size_t i = 0; i < bad_ones.size(); ++i) {
      context.step(name + ", " + bad_ones[i].name);
      const int seen = class_of(bad_ones[i].call(calls_under_test(native), comm.get()));
      if (seen != expected[i]) {
        context.fail("class " + error_text(seen) + " where the MPI has " + error_text(expected[i]));
      }
    }
  }
}

int handled = 0;
void handle(MPI_Comm*, int*, ...) { ++handled; }

/// The communicator's own handler is called once, and the call returns.
void handler_is_called_once(Context& context, Kind kind) {
  const bool native = context.options().native;
  MPI_Errhandler handler;
  PMPI_Comm_create_errhandler(handle, &handler);
  for (const std::string& name : specifications(kind, native)) {
    const Forced forced(kind, name, native);
    const OwnComm comm;
    PMPI_Comm_set_errhandler(comm.get(), handler);
    context.step(name);
    Spoilt arguments;
    arguments.root = 1000;
    handled = 0;
    if (arguments.call(kind, calls_under_test(native), comm.get()) == MPI_SUCCESS) {
      context.fail("a wrong root is no error");
    }
    if (handled != 1) context.fail("handler called " + std::to_string(handled) + " times");
  }
  PMPI_Errhandler_free(&handler);
}

/// The ranks whose arguments contradict those of the others.
enum class Odd : std::uint8_t { last_rank_brings_more, root_brings_more, root_counts_are_negative };

constexpr int guard = -77;

/// A call with a count mismatch at one rank, on blocks of one int each. Memory beyond the stated
/// buffer of the root, or of a rank in a scatter, must stay unchanged.
int odd_call(Kind kind, Odd odd, const Calls& calls, MPI_Comm comm, bool& overrun) {
  int rank = 0;
  int p = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &p);
  Spoilt arguments;
  arguments.all.assign(64, guard);
  arguments.block = {1, 2, 3, 4};
  const bool odd_rank = odd == Odd::last_rank_brings_more ? rank == p - 1 : rank == 0;
  if (odd == Odd::root_counts_are_negative) {
    if (rank == 0) arguments.counts.assign(16, -1);
    return arguments.call(kind, calls, comm);
  }
  int own = odd_rank ? 3 : 1;
  if (!is_gather(kind)) {  // the root sends more than one rank receives
    own = odd_rank ? 1 : 3;
    arguments.counts.assign(16, 3);
    for (int i = 0; i < 16; ++i) arguments.displs[static_cast<std::size_t>(i)] = 3 * i;
    arguments.block.fill(guard);
  }
  const int code =
      is_gather(kind)
          ? calls.gatherv(arguments.block.data(), own, MPI_INT, arguments.all.data(),
                          arguments.counts.data(), arguments.displs.data(), MPI_INT, 0, comm)
          : calls.scatterv(arguments.all.data(), arguments.counts.data(), arguments.displs.data(),
                           MPI_INT, arguments.block.data(), own, MPI_INT, 0, comm);
  overrun = is_gather(kind) ? rank == 0 && arguments.all[static_cast<std::size_t>(p)] != guard
                            : arguments.block[static_cast<std::size_t>(own)] != guard;
  return code;
}

/// A valid call of the same kind; its result must not be that of a failed one.
void expect_sound(Context& context, Kind kind, const Calls& calls, const OwnComm& comm, int salt) {
  Spoilt arguments;
  arguments.block[0] = 1000 * salt + comm.rank();
  for (int i = 0; i < 16; ++i) {
    arguments.all[static_cast<std::size_t>(i)] = is_gather(kind) ? guard : 1000 * salt + i;
  }
  if (!is_gather(kind)) arguments.block[0] = guard;
  const int code = arguments.call(kind, calls, comm.get());
  if (code != MPI_SUCCESS) context.fail("a valid call after it: " + error_text(class_of(code)));
  if (!is_gather(kind) && arguments.block[0] != 1000 * salt + comm.rank()) {
    context.fail("a valid call after it has got " + std::to_string(arguments.block[0]));
  }
  if (!is_gather(kind) || comm.rank() != 0) return;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const int seen = arguments.all[static_cast<std::size_t>(rank)];
    if (seen == 1000 * salt + rank) continue;
    context.fail("a valid call after it has got " + std::to_string(seen) + " from rank " +
                 std::to_string(rank));
  }
}

/// Count mismatches: some rank returns an error, no rank writes outside its buffers, and later
/// calls get nothing of the failed ones. Only algorithms in which no rank waits for one that has
/// returned. Small blocks only: with large ones Open MPI's own gather writes beyond its buffer, or
/// hangs.
void contradiction(Context& context, Kind kind) {
  if (context.size() < 2 || context.size() > 15) return context.skip("needs 2 to 15 ranks");
  const Calls& calls = calls_under_test(false);
  // MPICH calls this handler for errors of tests and waits, whatever the request's communicator.
  const WorldReturnsErrors returning;
  std::vector<std::string> names = {"linear"};
  if (is_gather(kind)) names.insert(names.end(), {"binomial", "knomial:k=3"});
  for (const std::string& name : names) {
    for (const Odd odd :
         {Odd::last_rank_brings_more, Odd::root_brings_more, Odd::root_counts_are_negative}) {
      // All others would wait for their blocks.
      if (odd == Odd::root_counts_are_negative && !is_gather(kind)) continue;
      const Forced forced(kind, name, false);
      const OwnComm comm;
      expect_sound(context, kind, calls, comm, 1);
      context.step(name + ", contradiction " + std::to_string(static_cast<int>(odd)));
      bool overrun = false;
      const int own = class_of(odd_call(kind, odd, calls, comm.get(), overrun));
      if (overrun) context.fail("memory behind the block was written");
      int told = own == MPI_SUCCESS ? 0 : 1;
      PMPI_Allreduce(MPI_IN_PLACE, &told, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      if (told == 0) context.fail("nobody noticed that sizes contradict");
      for (int salt = 2; salt < 12; ++salt) expect_sound(context, kind, calls, comm, salt);
    }
  }
}

/// The root leaves the only call of a communicator, which is then freed. The next one, to which the
/// MPI may give the same number, gets none of the messages that the root has not received.
void freed_after_an_error(Context& context, Kind kind) {
  if (context.size() < 2 || context.size() > 15) return context.skip("needs 2 to 15 ranks");
  const Calls& calls = calls_under_test(false);
  const WorldReturnsErrors returning;
  const Forced forced(kind, "linear", false);
  for (int salt = 1; salt < 4; ++salt) {
    {
      const OwnComm comm;
      bool overrun = false;
      odd_call(kind, Odd::root_counts_are_negative, calls, comm.get(), overrun);
      PMPI_Barrier(MPI_COMM_WORLD);
    }
    const OwnComm comm;
    expect_sound(context, kind, calls, comm, salt);
  }
}

/// A rank with invalid arguments for a persistent call does not block the others. Call numbers stay
/// in step, and the rank's error handler is called once.
void bad_request(Context& context, Kind kind) {
  if (context.size() < 2 || context.size() > 15) return context.skip("needs 2 to 15 ranks");
  const WorldReturnsErrors returning;
  for (const char* name : {"linear", "SBN", "BSBN", "ordered_tree:arrivals=on", "auto"}) {
    const Forced forced(kind, name, false);
    const OwnComm comm;
    if (TUTTI_Arrival_init(comm.get(), 0.5) != MPI_SUCCESS) context.fail("TUTTI_Arrival_init");
    for (int bad = 0; bad < comm.size(); ++bad) {
      context.step(std::string(name) + ", rank " + std::to_string(bad));
      Spoilt arguments;
      if (!is_irregular(kind)) arguments.count = 0;
      if (comm.rank() == bad) arguments.type = MPI_DATATYPE_NULL;
      TUTTI_Request request = TUTTI_REQUEST_NULL;
      int code = arguments.init(kind, comm.get(), &request);
      if (code != MPI_SUCCESS) context.fail("it could not be made: " + error_text(code));
      // With data to move the others would wait for the rank, as in the MPI's own call.
      if (!is_irregular(kind) && code == MPI_SUCCESS) {
        code = TUTTI_Start(&request);
        if (code != MPI_SUCCESS) context.fail("TUTTI_Start: " + error_text(code));
        code = TUTTI_Wait(&request);
        if ((class_of(code) == MPI_ERR_TYPE) != (comm.rank() == bad)) {
          context.fail("TUTTI_Wait returned " + error_text(code));
        }
      }
      if (TUTTI_Request_free(&request) != MPI_SUCCESS) context.fail("TUTTI_Request_free");
      for (int salt = 1; salt < 4; ++salt) {
        TUTTI_Arrival_edge(comm.get());
        const Forced sound(kind, "SBN", false);
        expect_sound(context, kind, calls_under_test(false), comm, salt);
      }
    }
  }
}

}  // namespace

void add_errors(Suite& suite) {
  for (const Kind kind : all_kinds) {
    suite.add(std::string("bad arguments, ") + name_of(kind),
              [kind](Context& context) { same_error_class(context, kind); });
    suite.add(std::string("one call of the error handler, ") + name_of(kind),
              [kind](Context& context) { handler_is_called_once(context, kind); });
  }
}

void add_truncation(Suite& suite) {
  for (const Kind kind : all_kinds) {
    suite.add_tutti_only(std::string("bad arguments of a request on one rank, ") + name_of(kind),
                         [kind](Context& context) { bad_request(context, kind); });
  }
  suite.add_tutti_only("freed after an error, gatherv",
                       [](Context& context) { freed_after_an_error(context, Kind::gatherv); });
  for (const Kind kind : {Kind::gatherv, Kind::scatterv}) {
    suite.add_tutti_only(std::string("contradicting sizes, ") + name_of(kind),
                         [kind](Context& context) { contradiction(context, kind); });
  }
}

}  // namespace tutti::test
