/// Bad arguments: the MPI's own error class, its handler called once, and no rank left waiting.
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

/// Arguments that are good until something is spoilt.
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

/// MPI_Type_free sets the handle to null, which is what the call gets. A copy of the handle from
/// before is no test: both MPIs read freed memory then, and may crash on their own.
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
  // Open MPI does not look at it when it scatters.
  if (is_gather(kind)) {
    all.push_back({"uncommitted type", [kind](const Calls& calls, MPI_Comm comm) {
                     return with_uncommitted_type(kind, calls, comm);
                   }});
  }
  return all;
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  return error_class;
}

/// Errors without a valid communicator go to that of the program.
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
  for (const BadCall& bad : bad_calls(kind)) {
    int expected = MPI_SUCCESS;
    {
      const OwnComm comm;
      context.step(std::string("native, ") + bad.name);
      expected = class_of(bad.call(native_calls(), comm.get()));
    }
    if (expected == MPI_SUCCESS) context.fail(std::string(bad.name) + " is no error natively");
    for (const std::string& name : specifications(kind, native)) {
      const Forced forced(kind, name, native);
      const OwnComm comm;
      context.step(name + ", " + bad.name);
      const int seen = class_of(bad.call(calls_under_test(native), comm.get()));
      if (seen != expected) {
        context.fail("class " + error_text(seen) + " where the MPI has " + error_text(expected));
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

/// The last rank sends more than the root expects: some rank says so, and none waits for ever.
/// Small blocks only: with large ones Open MPI's own gather writes behind its buffer, or hangs.
void truncation(Context& context, Kind kind) {
  const bool native = context.options().native;
  if (context.size() < 2) return;
  // MPICH sends errors of tests and waits there, whatever the communicator of the request.
  const WorldReturnsErrors returning;
  for (const std::string& name : algorithms(kind, native)) {
    const Forced forced(kind, name, native);
    const OwnComm comm;
    context.step(name);
    Spoilt arguments;
    if (comm.rank() == comm.size() - 1) arguments.count = 3;
    const int own = class_of(arguments.call(kind, calls_under_test(native), comm.get()));
    if (own != MPI_SUCCESS && own != MPI_ERR_TRUNCATE && own != MPI_ERR_OTHER) {
      context.fail("class " + error_text(own));
    }
    int told = own == MPI_SUCCESS ? 0 : 1;
    PMPI_Allreduce(MPI_IN_PLACE, &told, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    // Open MPI's own binomial gather does not tell.
    if (told == 0 && !native) context.fail("nobody noticed that a message was cut");
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
  for (const Kind kind : {Kind::gather, Kind::gatherv}) {
    suite.add(std::string("too long a block, ") + name_of(kind),
              [kind](Context& context) { truncation(context, kind); });
  }
}

}  // namespace tutti::test
