/// The C functions TUTTI_Gather_init, TUTTI_Gatherv_init, TUTTI_Scatter_init and
/// TUTTI_Scatterv_init, and those that start, complete and free their requests.
#include <tutti/tutti.h>

#include <functional>
#include <memory>
#include <new>

#include "api/call.hpp"
#include "api/hooks.hpp"
#include "api/request.hpp"

struct TUTTI_Request_content {
  std::unique_ptr<tutti::PersistentRequest> request;
};

namespace tutti {

namespace {

int open_request(const MpiCall& call, std::function<int()> run_native, TUTTI_Request* request) {
  if (request != nullptr) *request = TUTTI_REQUEST_NULL;
  if (call.comm == mpi().comm_null) return MPI_ERR_COMM;
  try {
    auto content = std::make_unique<TUTTI_Request_content>();
    const int error =
        PersistentRequest::open(call, request != nullptr, std::move(run_native), content->request);
    if (error != MPI_SUCCESS) return raise(call.comm, error);
    if (request == nullptr) return raise(call.comm, MPI_ERR_ARG);
    *request = content.release();
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return raise(call.comm, MPI_ERR_NO_MEM);
  }
}

template <class Kinds, class Function, class... Arguments>
int init(Collective collective, Function NativeFunctions::*function, TUTTI_Request* request,
         Arguments... arguments) {
  return open_request(
      call_of(collective, std::type_identity<Kinds>(), arguments...),
      [=] { return (next_functions().*function)(arguments...); }, request);
}

template <class Kinds, class Function, class... Arguments>
int init_large(Collective collective, Function large::Functions::*function, TUTTI_Request* request,
               Arguments... arguments) {
  const MpiCall call = call_of(collective, std::type_identity<Kinds>(), arguments...);
  return open_request(
      call, [=] { return run_native_large(mpi().*function, call, arguments...); }, request);
}

}  // namespace

}  // namespace tutti

int TUTTI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                      TUTTI_Request* request) {
  return tutti::init<tutti::kinds::Gather>(
      tutti::Collective::gather, &tutti::NativeFunctions::Gather, request, sendbuf, sendcount,
      sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int TUTTI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init<tutti::kinds::Gatherv>(
      tutti::Collective::gatherv, &tutti::NativeFunctions::Gatherv, request, sendbuf, sendcount,
      sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

int TUTTI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       TUTTI_Request* request) {
  return tutti::init<tutti::kinds::Scatter>(
      tutti::Collective::scatter, &tutti::NativeFunctions::Scatter, request, sendbuf, sendcount,
      sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int TUTTI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        int root, MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init<tutti::kinds::Scatterv>(
      tutti::Collective::scatterv, &tutti::NativeFunctions::Scatterv, request, sendbuf, sendcounts,
      displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int TUTTI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init_large<tutti::kinds::Gather>(
      tutti::Collective::gather, &tutti::large::Functions::Gather_c, request, sendbuf, sendcount,
      sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int TUTTI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                         MPI_Datatype recvtype, int root, MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init_large<tutti::kinds::Gatherv>(
      tutti::Collective::gatherv, &tutti::large::Functions::Gatherv_c, request, sendbuf, sendcount,
      sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

int TUTTI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                         MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init_large<tutti::kinds::Scatter>(
      tutti::Collective::scatter, &tutti::large::Functions::Scatter_c, request, sendbuf, sendcount,
      sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int TUTTI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          TUTTI_Request* request) {
  return tutti::init_large<tutti::kinds::Scatterv>(
      tutti::Collective::scatterv, &tutti::large::Functions::Scatterv_c, request, sendbuf,
      sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int TUTTI_Start(TUTTI_Request* request) {
  if (request == nullptr || *request == TUTTI_REQUEST_NULL) return MPI_ERR_REQUEST;
  tutti::PersistentRequest& content = *(*request)->request;
  if (content.is_active()) return tutti::raise(content.comm(), MPI_ERR_REQUEST);
  return tutti::guarded(content.comm(),
                        [&] { return tutti::raise_if(content.comm(), content.start()); });
}

int TUTTI_Wait(TUTTI_Request* request) {
  if (request == nullptr) return MPI_ERR_REQUEST;
  if (*request == TUTTI_REQUEST_NULL) return MPI_SUCCESS;
  tutti::PersistentRequest& content = *(*request)->request;
  if (!content.is_active()) return MPI_SUCCESS;
  const void* direct = __builtin_return_address(0);
  const void* front = tutti::take_call_site();
  const void* site = front != nullptr ? front : direct;
  return tutti::guarded(content.comm(), [&] { return content.finish(site); });
}

int TUTTI_Request_free(TUTTI_Request* request) {
  if (request == nullptr || *request == TUTTI_REQUEST_NULL) return MPI_ERR_REQUEST;
  const tutti::PersistentRequest& content = *(*request)->request;
  if (content.is_active()) return tutti::raise(content.comm(), MPI_ERR_REQUEST);
  delete *request;
  *request = TUTTI_REQUEST_NULL;
  return MPI_SUCCESS;
}
