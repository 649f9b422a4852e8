/// TUTTI_Gather_init, TUTTI_Gatherv_init, TUTTI_Scatter_init, TUTTI_Scatterv_init, and what is done
/// with their requests.
#include <tutti/tutti.h>

#include <functional>
#include <memory>
#include <new>

#include "api/arrived_call.hpp"
#include "api/environment.hpp"
#include "api/hooks.hpp"
#include "api/rooted_call.hpp"
#include "run/mpi_persistent.hpp"

struct TUTTI_Request_content {
  MPI_Comm comm;
  tutti::Collective collective = tutti::Collective::gather;
  std::function<int()> run_native;                ///< where the MPI's own algorithm runs
  std::unique_ptr<tutti::PersistentCall> tuttis;  ///< or ours, else null
  bool active = false;
};

namespace tutti {

namespace {

/// What runs now for such a call, or nothing where that is the MPI's own.
int open_call(RootedCall& call, Communicator& communicator, std::unique_ptr<PersistentCall>& made) {
  const Decision& decision = communicator.decide(call.collective);
  communicator.note_run(call.collective, decision);
  if (!decision.specification) return MPI_SUCCESS;
  const Specification& specification = *decision.specification;
  int error = MPI_SUCCESS;
  if (specification.needs_arrivals() || specification.runner == Runner::background) {
    error = communicator.open_arrival();
  }
  PrivateComm* shared = error == MPI_SUCCESS ? communicator.private_comm(error) : nullptr;
  if (shared == nullptr) return error;
  if (!shared->learn_types(call)) return MPI_ERR_TYPE;
  std::unique_ptr<PrivateComm> own;
  error = PrivateComm::duplicate(shared->handle(), own);
  if (error != MPI_SUCCESS) return error;
  PersistentCall::Setup setup = {call,
                                 specification,
                                 communicator.machine().latency_in_bytes(),
                                 1 / communicator.machine().per_byte,
                                 communicator.arrival(),
                                 order_matters_everywhere(specification),
                                 communicator.rank() == call.root};
  return PersistentCall::open(std::move(setup), std::move(own), made);
}

int init(RootedCall call, std::function<int()> run_native, TUTTI_Request* request) {
  if (request == nullptr) return MPI_ERR_ARG;
  *request = TUTTI_REQUEST_NULL;
  if (call.comm == mpi().comm_null) return MPI_ERR_COMM;
  try {
    auto content = std::make_unique<TUTTI_Request_content>();
    content->comm = call.comm;
    content->collective = call.collective;
    content->run_native = std::move(run_native);
    if (environment().on) {
      int error = MPI_SUCCESS;
      Communicator* communicator = Communicator::of(call.comm, error);
      if (communicator == nullptr) return raise(call.comm, error);
      // What is wrong with the arguments is named by the MPI when the call is made.
      if (!communicator->is_inter() && looks_valid(call, *communicator)) {
        error = open_call(call, *communicator, content->tuttis);
        if (error != MPI_SUCCESS) return raise(call.comm, error);
      }
    }
    *request = content.release();
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return raise(call.comm, MPI_ERR_NO_MEM);
  }
}

int run_native(const TUTTI_Request_content& request) {
  const Communicator* communicator = Communicator::known(request.comm);
  const ArrivedCall arrived(communicator == nullptr ? nullptr : communicator->arrival().get(),
                            request.collective, &request);
  return request.run_native();
}

}  // namespace

}  // namespace tutti

using tutti::buffer;
using tutti::Collective;
using tutti::MpiFunctions;
using tutti::RootBlocks;
using tutti::RootedCall;

int TUTTI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                      TUTTI_Request* request) {
  return tutti::init(
      tutti::call_of(Collective::gather, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RootBlocks(recvcount), recvtype}, root, comm),
      [=] {
        return tutti::next_functions().gather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                              recvtype, root, comm);
      },
      request);
}

int TUTTI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init(
      tutti::call_of(Collective::gatherv, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RootBlocks(recvcounts, displs), recvtype}, root, comm),
      [=] {
        return tutti::next_functions().gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                               displs, recvtype, root, comm);
      },
      request);
}

int TUTTI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       TUTTI_Request* request) {
  return tutti::init(
      tutti::call_of(Collective::scatter, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RootBlocks(sendcount), sendtype}, root, comm),
      [=] {
        return tutti::next_functions().scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                               recvtype, root, comm);
      },
      request);
}

int TUTTI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        int root, MPI_Comm comm, TUTTI_Request* request) {
  return tutti::init(
      tutti::call_of(Collective::scatterv, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RootBlocks(sendcounts, displs), sendtype}, root, comm),
      [=] {
        return tutti::next_functions().scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf,
                                                recvcount, recvtype, root, comm);
      },
      request);
}

int TUTTI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, TUTTI_Request* request) {
  RootedCall call = tutti::call_of(Collective::gather, {buffer(sendbuf), sendcount, sendtype},
                                   {recvbuf, RootBlocks(recvcount), recvtype}, root, comm);
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
  RootedCall call = tutti::call_of(Collective::gatherv, {buffer(sendbuf), sendcount, sendtype},
                                   {recvbuf, RootBlocks(recvcounts, displs), recvtype}, root, comm);
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
  RootedCall call = tutti::call_of(Collective::scatter, {recvbuf, recvcount, recvtype},
                                   {buffer(sendbuf), RootBlocks(sendcount), sendtype}, root, comm);
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
  RootedCall call =
      tutti::call_of(Collective::scatterv, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RootBlocks(sendcounts, displs), sendtype}, root, comm);
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
  TUTTI_Request_content& content = **request;
  if (std::exchange(content.active, true)) return tutti::raise(content.comm, MPI_ERR_REQUEST);
  if (content.tuttis != nullptr) content.tuttis->start();
  return MPI_SUCCESS;
}

int TUTTI_Wait(TUTTI_Request* request) {
  if (request == nullptr) return MPI_ERR_REQUEST;
  if (*request == TUTTI_REQUEST_NULL) return MPI_SUCCESS;
  TUTTI_Request_content& content = **request;
  if (!std::exchange(content.active, false)) return MPI_SUCCESS;
  try {
    if (content.tuttis == nullptr) return tutti::run_native(content);
    const int error = content.tuttis->finish();
    return error == MPI_SUCCESS ? error : tutti::raise(content.comm, error);
  } catch (const std::bad_alloc&) {
    return tutti::raise(content.comm, MPI_ERR_NO_MEM);
  }
}

int TUTTI_Request_free(TUTTI_Request* request) {
  if (request == nullptr || *request == TUTTI_REQUEST_NULL) return MPI_ERR_REQUEST;
  if ((*request)->active) return tutti::raise((*request)->comm, MPI_ERR_REQUEST);
  delete *request;
  *request = TUTTI_REQUEST_NULL;
  return MPI_SUCCESS;
}
