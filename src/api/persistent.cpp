/// TUTTI_Gather_init and all other forms of persistent.inc, and the functions that
/// start, complete and free their requests.
#include <tutti/tutti.h>

#include <functional>
#include <memory>

#include "api/call.hpp"
#include "api/hooks.hpp"
#include "api/parameters.hpp"
#include "api/plain_counts.hpp"
#include "api/request.hpp"

struct TUTTI_Request_content {
  std::unique_ptr<tutti::PersistentRequest> request;
};

namespace tutti {

namespace {

int open_request(const MpiCall& call, std::function<int()> run_native, TUTTI_Request* request) {
  if (request != nullptr) *request = TUTTI_REQUEST_NULL;
  return on_comm(call.comm, [&]() -> int {
    auto content = std::make_unique<TUTTI_Request_content>();
    const int error =
        PersistentRequest::open(call, request != nullptr, std::move(run_native), content->request);
    if (error != MPI_SUCCESS) return error;
    if (request == nullptr) return MPI_ERR_ARG;
    *request = content.release();
    return MPI_SUCCESS;
  });
}

}  // namespace

#pragma GCC visibility push(default)

namespace small {
#define TUTTI_PERSISTENT_FUNCTION(name, function, number, parameters)                              \
  extern "C" int TUTTI_##function##_init(TUTTI_PARAMETERS##number parameters,                      \
                                         TUTTI_Request* request) {                                 \
    return open_request(                                                                           \
        call_of(Collective::name, std::type_identity<kinds::function>(), TUTTI_ARGUMENTS##number), \
        [=] {                                                                                      \
          const auto next = next_functions().function;                                             \
          const Outside outside(next == mpi().function);                                           \
          return next(TUTTI_ARGUMENTS##number);                                                    \
        },                                                                                         \
        request);                                                                                  \
  }
#include "api/persistent.inc"
}  // namespace small

namespace large {
#define TUTTI_PERSISTENT_FUNCTION(name, function, number, parameters)                              \
  extern "C" int TUTTI_##function##_init_c(TUTTI_PARAMETERS##number parameters,                    \
                                           TUTTI_Request* request) {                               \
    const MpiCall call =                                                                           \
        call_of(Collective::name, std::type_identity<kinds::function>(), TUTTI_ARGUMENTS##number); \
    const auto run_native = [=] {                                                                  \
      const MpiFunctions& next = next_functions();                                                 \
      const Outside outside(next.function##_c != nullptr ? next.function##_c == mpi().function##_c \
                                                         : next.function == mpi().function);       \
      return run_native_large(next.function##_c, next.function,                                    \
                              std::type_identity<kinds::function>(), call,                         \
                              TUTTI_ARGUMENTS##number);                                            \
    };                                                                                             \
    return open_request(call, run_native, request);                                                \
  }
#include "api/persistent.inc"
}  // namespace large

#pragma GCC visibility pop

}  // namespace tutti

int TUTTI_Start(TUTTI_Request* request) {
  if (request == nullptr || *request == TUTTI_REQUEST_NULL) return MPI_ERR_REQUEST;
  tutti::PersistentRequest& content = *(*request)->request;
  if (content.is_active()) return tutti::raise(content.comm(), MPI_ERR_REQUEST);
  return tutti::on_comm(content.comm(), [&] { return content.start(); });
}

int TUTTI_Wait(TUTTI_Request* request) {
  if (request == nullptr) return MPI_ERR_REQUEST;
  if (*request == TUTTI_REQUEST_NULL) return MPI_SUCCESS;
  tutti::PersistentRequest& content = *(*request)->request;
  if (!content.is_active()) return MPI_SUCCESS;
  return content.finish(__builtin_return_address(0));
}

int TUTTI_Request_free(TUTTI_Request* request) {
  if (request == nullptr || *request == TUTTI_REQUEST_NULL) return MPI_ERR_REQUEST;
  const tutti::PersistentRequest& content = *(*request)->request;
  if (content.is_active()) return tutti::raise(content.comm(), MPI_ERR_REQUEST);
  delete *request;
  *request = TUTTI_REQUEST_NULL;
  return MPI_SUCCESS;
}
