/// TUTTI_Gather, TUTTI_Gatherv, TUTTI_Scatter, TUTTI_Scatterv and their large-count forms.
#include <tutti/tutti.h>

#include <climits>
#include <new>
#include <optional>
#include <vector>

#include "api/arrived_call.hpp"
#include "api/communicator.hpp"
#include "api/environment.hpp"
#include "api/hooks.hpp"
#include "api/report.hpp"
#include "api/rooted_call.hpp"
#include "run/clock.hpp"

namespace tutti {

namespace {

thread_local const void* call_site = nullptr;
/// How many collectives this thread is inside of. Inner calls, such as those of a tool behind
/// Tutti that hands on what it was given, go straight to the MPI.
thread_local int depth = 0;

class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// No exception leaves the library.
template <class Function>
int guarded(MPI_Comm comm, Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return raise(comm, MPI_ERR_NO_MEM);
  } catch (...) {
    return raise(comm, MPI_ERR_INTERN);
  }
}

/// What `decide` chose, or the MPI's own where the arguments are not valid. Whether those of one
/// rank are is that rank's affair: all take part in what the others wait for.
template <class Native>
int run_decision(RootedCall& call, Communicator& communicator, const Decision& decision,
                 const ArrivedCall& arrived, Native run_native) {
  if (!decision.specification) return run_native();
  int error = MPI_SUCCESS;
  PrivateComm* comm = communicator.private_comm(error);
  if (comm == nullptr) return raise(call.comm, error);
  comm->begin(call);
  const Specification& specification = *decision.specification;
  if (specification.runner == Runner::background && arrived.has_thread()) comm->receive_early();
  const bool valid = looks_valid(call, communicator);
  if (valid && comm->repeat(call, specification, error)) {
    return error == MPI_SUCCESS ? error : raise(call.comm, error);
  }
  std::shared_ptr<const ArrivalVersion> version;
  error = arrived.find_version(specification, communicator.rank() == call.root, version);
  if (error != MPI_SUCCESS) return raise(call.comm, error);
  const Circumstances circumstances = {communicator.machine().latency_in_bytes(),
                                       1 / communicator.machine().per_byte, communicator.arrival(),
                                       arrived.number(), order_matters_everywhere(specification)};
  const CallKnowledge knowledge = {circumstances.latency, circumstances.rate, version.get(),
                                   nullptr, &circumstances};
  if (!valid || !comm->learn_types(call)) {
    comm->attend(call, specification, knowledge);
    return run_native();
  }
  error = comm->run(call, specification, knowledge);
  return error == MPI_SUCCESS ? error : raise(call.comm, error);
}

/// Where a call came from, and when, if that had to be noted early.
struct Arrived {
  const void* site;
  std::optional<double> time;
};

template <class Native>
int run_reported(RootedCall& call, Communicator& communicator, const Arrived& noted,
                 Native run_native) {
  const Decision* decision = &communicator.decide(call.collective);
  if (const int error = learn_arrivals(communicator, *decision)) return raise(call.comm, error);
  CallRecord begun;  // before anything that may wait for other ranks
  if (communicator.is_reported()) begun.arrival = noted.time ? *noted.time : monotonic_seconds();
  ArrivedCall arrived(communicator.arrival().get(), call.collective, noted.site);
  if (const int error = arrived.weigh(call, communicator, decision)) return raise(call.comm, error);
  communicator.note_run(call.collective, *decision);
  if (!communicator.is_reported()) {
    return run_decision(call, communicator, *decision, arrived, run_native);
  }
  begun.site = noted.site;
  begun.call = communicator.next_call(call.collective);
  begun.decision = &decision->text;
  if (const auto& known = communicator.arrival()) begun.ahead = known->prediction_of_call().ahead;
  const int error = run_decision(call, communicator, *decision, arrived, run_native);
  if (error == MPI_SUCCESS) record_rooted(call, communicator, begun);
  return error;
}

template <class Native>
int rooted(RootedCall& call, Native run_native) {
  const void* site = take_call_site();
  const Inside guard;
  return guarded(call.comm, [&] {
    if (depth > 1 || !environment().on || call.comm == mpi().comm_null) return run_native();
    Arrived arrived{site, {}};
    Communicator* communicator = Communicator::known(call.comm);
    if (communicator == nullptr) {
      arrived.time = monotonic_seconds();  // what follows may wait for other ranks
      int error = MPI_SUCCESS;
      communicator = Communicator::of(call.comm, error);
      if (communicator == nullptr) return raise(call.comm, error);
    }
    if (communicator->is_inter()) return run_native();
    return run_reported(call, *communicator, arrived, run_native);
  });
}

/// The class of what is wrong with arguments that `looks_valid` refused, for an MPI that has no
/// large-count form to name it.
int fault_of(const RootedCall& call) {
  if (call.own_count < 0) return MPI_ERR_COUNT;
  if (call.own_type == mpi().type_null) return MPI_ERR_TYPE;
  return MPI_ERR_ARG;
}

NativeFunctions functions_of_mpi() {
  return {mpi().Gather, mpi().Gatherv, mpi().Scatter, mpi().Scatterv, mpi().Finalize};
}

/// What stands for the MPI in the call under way.
const NativeFunctions& native() {
  static const NativeFunctions functions = functions_of_mpi();
  return depth > 1 ? functions : next_functions();
}

}  // namespace

int run_without_large_form(RootedCall& call) {
  int error = MPI_SUCCESS;
  Communicator* communicator = Communicator::of(call.comm, error);
  if (communicator == nullptr) return raise(call.comm, error);
  if (communicator->is_inter()) return raise(call.comm, MPI_ERR_UNSUPPORTED_OPERATION);
  PrivateComm* comm = communicator->private_comm(error);
  if (comm == nullptr) return raise(call.comm, error);
  comm->begin(call);
  if (call.root < 0 || call.root >= communicator->p()) return raise(call.comm, MPI_ERR_ROOT);
  if (!looks_valid(call, *communicator)) return raise(call.comm, fault_of(call));
  if (!comm->learn_types(call)) return raise(call.comm, MPI_ERR_TYPE);
  const Specification linear = *specification(call.collective, "linear");
  error = comm->run(call, linear, {communicator->machine().latency_in_bytes()});
  return error == MPI_SUCCESS ? error : raise(call.comm, error);
}

NativeFunctions& next_functions() {
  static NativeFunctions functions = functions_of_mpi();
  return functions;
}

void set_call_site(const void* site) { call_site = site; }
const void* take_call_site() { return std::exchange(call_site, nullptr); }

}  // namespace tutti

using tutti::buffer;
using tutti::Collective;
using tutti::MpiFunctions;
using tutti::native;
using tutti::RootBlocks;
using tutti::RootedCall;

int TUTTI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  RootedCall call = tutti::call_of(Collective::gather, {buffer(sendbuf), sendcount, sendtype},
                                   {recvbuf, RootBlocks(recvcount), recvtype}, root, comm);
  return tutti::rooted(call, [&] {
    return native().gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int TUTTI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm) {
  RootedCall call = tutti::call_of(Collective::gatherv, {buffer(sendbuf), sendcount, sendtype},
                                   {recvbuf, RootBlocks(recvcounts, displs), recvtype}, root, comm);
  return tutti::rooted(call, [&] {
    return native().gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            root, comm);
  });
}

int TUTTI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  RootedCall call = tutti::call_of(Collective::scatter, {recvbuf, recvcount, recvtype},
                                   {buffer(sendbuf), RootBlocks(sendcount), sendtype}, root, comm);
  return tutti::rooted(call, [&] {
    return native().scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int TUTTI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  RootedCall call =
      tutti::call_of(Collective::scatterv, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RootBlocks(sendcounts, displs), sendtype}, root, comm);
  return tutti::rooted(call, [&] {
    return native().scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                             root, comm);
  });
}

int TUTTI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  RootedCall call = tutti::call_of(Collective::gather, {buffer(sendbuf), sendcount, sendtype},
                                   {recvbuf, RootBlocks(recvcount), recvtype}, root, comm);
  return tutti::rooted(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Gather_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, root, comm);
  });
}

int TUTTI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm) {
  RootedCall call = tutti::call_of(Collective::gatherv, {buffer(sendbuf), sendcount, sendtype},
                                   {recvbuf, RootBlocks(recvcounts, displs), recvtype}, root, comm);
  return tutti::rooted(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Gatherv_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcounts, displs, recvtype, root, comm);
  });
}

int TUTTI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  RootedCall call = tutti::call_of(Collective::scatter, {recvbuf, recvcount, recvtype},
                                   {buffer(sendbuf), RootBlocks(sendcount), sendtype}, root, comm);
  return tutti::rooted(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Scatter_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, root, comm);
  });
}

int TUTTI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm) {
  RootedCall call =
      tutti::call_of(Collective::scatterv, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RootBlocks(sendcounts, displs), sendtype}, root, comm);
  return tutti::rooted(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Scatterv_c, call, sendbuf, sendcounts, displs,
                                   sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}
