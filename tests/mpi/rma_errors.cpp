/// Invalid arguments of one-sided collectives, and questions that do not wait.
#include <sched.h>

#include <limits>
#include <string>
#include <vector>

#include "rma_window.hpp"

namespace tutti::test {
namespace {

/// Buffers that are no memory, of predefined and of derived datatypes.
void no_buffer(Context& context, const Registered& window) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(2, MPI_CHAR, &pair);
  PMPI_Type_commit(&pair);
  TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
  for (const MPI_Datatype type : {MPI_CHAR, pair}) {
    expect_class(context, TUTTI_Rma_bcast(MPI_IN_PLACE, 1, type, 0, window.window(), &request),
                 MPI_ERR_BUFFER, "bcast in place");
    expect_class(context, TUTTI_Rma_gather(MPI_IN_PLACE, 1, type, 0, window.window(), &request),
                 MPI_ERR_BUFFER, "gather in place");
  }
  expect_class(context, TUTTI_Rma_bcast(nullptr, 1, MPI_CHAR, 0, window.window(), &request),
               MPI_ERR_BUFFER, "bcast of null");
  PMPI_Type_free(&pair);
}

int raised = 0;
void count_raised(MPI_Comm*, int*, ...) { ++raised; }

/// Without TUTTI_Rma_init, the communicator's error handler gets the errors.
void not_initialised(Context& context, MPI_Comm comm) {
  MPI_Comm other = MPI_COMM_NULL;
  PMPI_Comm_dup(comm, &other);
  MPI_Errhandler handler;
  PMPI_Comm_create_errhandler(count_raised, &handler);
  PMPI_Comm_set_errhandler(other, handler);
  raised = 0;
  int flag = 0;
  expect_class(context, TUTTI_Rma_progress(other, &flag), MPI_ERR_COMM, "progress");
  expect_class(context, TUTTI_Rma_finalize(other), MPI_ERR_COMM, "finalize");
  if (raised != 2) context.fail(std::to_string(raised) + " errors have reached the handler");
  PMPI_Errhandler_free(&handler);
  PMPI_Comm_free(&other);
}

void errors(Context& context) {
  if (!can_run(context)) return;
  Registered window(context, Flavour::create,
                    context.rank() == 0 && context.size() > 1 ? 4000 : 1000);
  TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
  const std::vector<char> data(1000, 'x');
  const auto bcast = [&](int count, MPI_Datatype type, MPI_Aint at, TUTTI_Window to) {
    return TUTTI_Rma_bcast(data.data(), count, type, at, to, &request);
  };
  expect_class(context, bcast(1, MPI_CHAR, 1000, window.window()), MPI_ERR_RMA_RANGE, "beyond");
  expect_class(context, bcast(1000, MPI_CHAR, 1, window.window()), MPI_ERR_RMA_RANGE, "across");
  expect_class(context, bcast(1, MPI_CHAR, -1, window.window()), MPI_ERR_RMA_RANGE, "before");
  constexpr MPI_Aint anywhere = std::numeric_limits<MPI_Aint>::max();
  expect_class(context, bcast(0, MPI_CHAR, anywhere, window.window()), MPI_SUCCESS, "nothing");
  window.flush(request);
  expect_class(context, bcast(-1, MPI_CHAR, 0, window.window()), MPI_ERR_COUNT, "count");
  expect_class(context, bcast(1, MPI_DATATYPE_NULL, 0, window.window()), MPI_ERR_TYPE, "type");
  no_buffer(context, window);
  expect_class(context, bcast(1, MPI_CHAR, 0, 987654), MPI_ERR_WIN, "no window");
  expect_class(context, TUTTI_Rma_wait(987654, 0, 1), MPI_ERR_WIN, "wait for no window");
  expect_class(context, TUTTI_Rma_wait(window.window(), -1, 1), MPI_ERR_ROOT, "no root");
  TUTTI_Rma_request unknown = 987654;
  expect_class(context, TUTTI_Rma_flush(&unknown), MPI_ERR_REQUEST, "no request");
  for (int i = 0; i < 1000; ++i) {
    if (window.base()[i] != Registered::filler) return context.fail("an error has written bytes");
  }
  MPI_Win dynamic = MPI_WIN_NULL;
  TUTTI_Window none = 77;
  expect_class(context, TUTTI_Rma_window_register(dynamic, MPI_COMM_NULL, &none), MPI_ERR_COMM,
               "register on no communicator");
  if (none != TUTTI_WINDOW_NULL) context.fail("a window after an error");
  // Open MPI 4.1 cannot make one for a single rank.
  if (PMPI_Win_create_dynamic(MPI_INFO_NULL, window.comm(), &dynamic) == MPI_SUCCESS) {
    expect_class(context, TUTTI_Rma_window_register(dynamic, window.comm(), &none),
                 MPI_ERR_RMA_FLAVOR, "dynamic");
    PMPI_Win_free(&dynamic);
  }
  not_initialised(context, window.comm());
}

/// The root asks whether all have the data, the others how many operations have arrived.
void asked_without_waiting(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t bytes = 40000;  // more than a notification carries
  Registered window(context, Flavour::allocate, bytes);
  const int root = context.size() - 1;
  long long arrived = -1;
  expect(context, TUTTI_Rma_arrived(window.window(), root, &arrived), "TUTTI_Rma_arrived");
  if (arrived != 0) context.fail("an operation has arrived before the first one");
  PMPI_Barrier(window.comm());
  for (int number = 1; number < 6; ++number) {
    const auto data = bytes_of(root, number, bytes);
    if (context.rank() == root) {
      TUTTI_Rma_request request = window.bcast(data, 0);
      int code = MPI_SUCCESS;
      int over = 0;
      while (code == MPI_SUCCESS && over == 0) {
        sched_yield();
        code = TUTTI_Rma_test(&request, &over);
      }
      expect(context, code, "TUTTI_Rma_test");
      if (request != TUTTI_RMA_REQUEST_NULL) context.fail("a complete request is not null");
      over = 0;
      expect(context, TUTTI_Rma_test(&request, &over), "TUTTI_Rma_test of none");
      if (over != 1) context.fail("no request is not complete");
    }
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && arrived < number) {
      sched_yield();
      code = TUTTI_Rma_arrived(window.window(), root, &arrived);
    }
    expect(context, code, "TUTTI_Rma_arrived");
    if (arrived != number) context.fail("arrived: " + std::to_string(arrived));
    window.compare(0, data, "other bytes have arrived");
    PMPI_Barrier(window.comm());
  }
  int flag = -1;
  expect(context, TUTTI_Rma_progress(window.comm(), &flag), "TUTTI_Rma_progress");
  if (flag != 0 && flag != 1) context.fail("the flag is " + std::to_string(flag));
  TUTTI_Rma_request unknown = 987654;
  expect_class(context, TUTTI_Rma_test(&unknown, &flag), MPI_ERR_REQUEST, "no request");
  expect_class(context, TUTTI_Rma_test(&unknown, nullptr), MPI_ERR_ARG, "no flag");
  expect_class(context, TUTTI_Rma_arrived(987654, 0, &arrived), MPI_ERR_WIN, "no window");
  expect_class(context, TUTTI_Rma_arrived(window.window(), context.size(), &arrived), MPI_ERR_ROOT,
               "no root");
  expect_class(context, TUTTI_Rma_progress(MPI_COMM_NULL, &flag), MPI_ERR_COMM, "no communicator");
}

}  // namespace

void add_rma_errors(Suite& suite) {
  suite.add_tutti_only("rma: errors", errors);
  suite.add_tutti_only("rma: asked without waiting", asked_without_waiting);
}

}  // namespace tutti::test
