/// The C functions TUTTI_Gather_init, TUTTI_Gatherv_init, TUTTI_Scatter_init and
/// TUTTI_Scatterv_init, and those that start, complete and free their requests.
#include <tutti/tutti.h>

#include <functional>
#include <memory>
#include <new>

#include "api/entry.hpp"
#include "api/gather_scatter_call.hpp"
#include "api/hooks.hpp"
#include "api/request.hpp"

struct TUTTI_Request_content {
  std::unique_ptr<tutti::PersistentRequest> request;
};

namespace tutti {

namespace {

int init(const GatherScatterCall& call, std::function<int()> run_native, TUTTI_Request* request) {
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

}  // namespace

}  // namespace tutti

using tutti::buffer;
using tutti::Collective;
using tutti::GatherScatterCall;
using tutti::MpiFunctions;
using tutti::RankBlocks;

int TUTTI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                      TUTTI_Request* request) {
  return tutti::init(
      tutti::call_of(Collective::gather, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RankBlocks(recvcount), recvtype}, root, comm),
      [=] {
        return tutti::next_functions().Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                              recvtype, root, comm);
      },
      request);
}

int TUTTI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init(
      tutti::call_of(Collective::gatherv, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RankBlocks(recvcounts, displs), recvtype}, root, comm),
      [=] {
        return tutti::next_functions().Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                               displs, recvtype, root, comm);
      },
      request);
}

int TUTTI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       TUTTI_Request* request) {
  return tutti::init(
      tutti::call_of(Collective::scatter, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RankBlocks(sendcount), sendtype}, root, comm),
      [=] {
        return tutti::next_functions().Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                               recvtype, root, comm);
      },
      request);
}

int TUTTI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        int root, MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init(
      tutti::call_of(Collective::scatterv, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RankBlocks(sendcounts, displs), sendtype}, root, comm),
      [=] {
        return tutti::next_functions().Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf,
                                                recvcount, recvtype, root, comm);
      },
      request);
}

int TUTTI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, TUTTI_Request* request) {
  GatherScatterCall call =
      tutti::call_of(Collective::gather, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RankBlocks(recvcount), recvtype}, root, comm);
  return tutti::init(
      call,
      [=]() mutable {
        return tutti::run_native_large(&MpiFunctions::Gather_c, call, sendbuf, sendcount, sendtype,
                                       recvbuf, recvcount, recvtype, root, comm);
      },
      request);
}

int TUTTI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                         MPI_Datatype recvtype, int root, MPI_Comm comm, TUTTI_Request* request) {
  GatherScatterCall call =
      tutti::call_of(Collective::gatherv, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RankBlocks(recvcounts, displs), recvtype}, root, comm);
  return tutti::init(
      call,
      [=]() mutable {
        return tutti::run_native_large(&MpiFunctions::Gatherv_c, call, sendbuf, sendcount, sendtype,
                                       recvbuf, recvcounts, displs, recvtype, root, comm);
      },
      request);
}

int TUTTI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                         MPI_Comm comm, TUTTI_Request* request) {
  GatherScatterCall call =
      tutti::call_of(Collective::scatter, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RankBlocks(sendcount), sendtype}, root, comm);
  return tutti::init(
      call,
      [=]() mutable {
        return tutti::run_native_large(&MpiFunctions::Scatter_c, call, sendbuf, sendcount, sendtype,
                                       recvbuf, recvcount, recvtype, root, comm);
      },
      request);
}

int TUTTI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          TUTTI_Request* request) {
  GatherScatterCall call =
      tutti::call_of(Collective::scatterv, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RankBlocks(sendcounts, displs), sendtype}, root, comm);
  return tutti::init(
      call,
      [=]() mutable {
        return tutti::run_native_large(&MpiFunctions::Scatterv_c, call, sendbuf, sendcounts, displs,
                                       sendtype, recvbuf, recvcount, recvtype, root, comm);
      },
      request);
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
