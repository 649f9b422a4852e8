/// The functions that open, start, complete and free persistent requests.
#include <tutti/tutti.h>

#include <memory>

#include "api/entry.hpp"
#include "api/request.hpp"

struct TUTTI_Request_content {
  std::unique_ptr<tutti::PersistentRequest> request;
};

int tutti::open_request(const MpiCall& call, std::function<int()> run_native,
                        TUTTI_Request* request) {
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
