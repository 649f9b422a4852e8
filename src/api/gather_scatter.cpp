/// TUTTI_Gather, TUTTI_Gatherv, TUTTI_Scatter, TUTTI_Scatterv and their large-count forms.
#include <tutti/tutti.h>

#include "api/arrived_call.hpp"
#include "api/entry.hpp"
#include "api/gather_scatter_call.hpp"
#include "api/hierarchical.hpp"

namespace tutti {

namespace {

bool uses_unexpected_messages(const Decision& decision, const ArrivedCall& arrived) {
  return decision.specification && decision.specification->runner == Runner::background &&
         arrived.has_thread();
}

/// Runs a decision, or the MPI's own collective if this rank's arguments are invalid. Other ranks
/// may not know that: this rank takes part in everything they wait for.
template <class Native>
int run_decision(GatherScatterCall& call, Communicator& communicator, const Decision& decision,
                 const ArrivedCall& arrived, Native run_native) {
  if (!uses_unexpected_messages(decision, arrived)) communicator.receive_nothing_unexpected();
  if (decision.level.hierarchical) {
    std::string refused;
    bool is_native = false;
    std::shared_ptr<const ArrivalEpoch> epoch;
    int error = arrived.find_epoch_between(decision, epoch);
    if (error != MPI_SUCCESS) return raise(call.comm, error);
    error = run_hierarchical(call, communicator, decision, epoch.get(), refused, is_native);
    if (refused.empty()) return is_native ? run_native() : raise_if(call.comm, error);
    communicator.note_refusal(call.collective, decision, refused);
    if (decision.is_by_rule) return run_native();
  }
  if (!decision.specification) return run_native();
  int error = MPI_SUCCESS;
  PrivateComm* comm = communicator.private_comm(error);
  if (comm == nullptr) return raise(call.comm, error);
  comm->begin(call);
  const Specification& specification = *decision.specification;
  if (uses_unexpected_messages(decision, arrived)) comm->receive_unexpected();
  const bool valid = looks_valid(call, communicator);
  if (valid && comm->repeat(call, specification, error)) {
    return raise_if(call.comm, error);
  }
  std::shared_ptr<const ArrivalEpoch> epoch;
  error = arrived.find_epoch(specification, communicator.rank() == call.root, epoch);
  if (error != MPI_SUCCESS) return raise(call.comm, error);
  const AsyncContext async_context = {communicator.machine().half_performance_length(),
                                      1 / communicator.machine().per_byte, communicator.arrival(),
                                      arrived.number(), order_matters_everywhere(specification)};
  const RankOrders* rank_orders = communicator.rank_orders(specification, call.root, error);
  if (error != MPI_SUCCESS) return raise(call.comm, error);
  const CallContext context = {async_context.half_performance_length,
                               async_context.rate,
                               epoch.get(),
                               nullptr,
                               &async_context,
                               rank_orders};
  if (!valid || !comm->learn_types(call)) {
    comm->take_part_as_dummy(call, specification, context);
    return run_native();
  }
  error = comm->run(call, specification, context);
  return raise_if(call.comm, error);
}

template <class Native>
int run_gather_scatter(GatherScatterCall& call, Communicator& communicator, const Arrived& entered,
                       Native run_native) {
  const CallRecord begun = begin_record(communicator, entered);
  const Decision* decision = &communicator.decide(call.collective);
  if (const int error = learn_arrivals(communicator, *decision)) return raise(call.comm, error);
  ArrivedCall arrived(communicator.arrival().get(), call.collective, entered.site);
  if (const int error = arrived.weigh(call, communicator, decision)) return raise(call.comm, error);
  int failed = MPI_SUCCESS;
  // If arrivals are exchanged, they decide, and use the measured times of the MPI's own.
  const bool may_resolve =
      decision->deferred != DeferredLevel::all || communicator.arrival() == nullptr;
  if (may_resolve) decision = &resolved(*decision, call, communicator, failed);
  if (failed != MPI_SUCCESS) return raise(call.comm, failed);
  const HierarchicalRunner::Turn turn(nodes_of(*decision, communicator));
  return reported(
      call.collective, communicator, *decision, begun,
      [&] { return run_decision(call, communicator, *decision, arrived, run_native); },
      [&](CallRecord& record) { describe(call, record); });
}

template <class Native>
int gather_scatter(GatherScatterCall& call, Native run_native) {
  return enter(call.collective, call.comm, run_native,
               [&](Communicator& communicator, const Arrived& entered) {
                 return run_gather_scatter(call, communicator, entered, run_native);
               });
}

/// The error class of arguments that `looks_valid` refused. An MPI without a large-count form
/// cannot name it.
int fault_of(const GatherScatterCall& call) {
  if (call.block_count < 0) return MPI_ERR_COUNT;
  if (call.block_type == mpi().type_null) return MPI_ERR_TYPE;
  return MPI_ERR_ARG;
}

}  // namespace

int run_without_large_form(GatherScatterCall& call) {
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
  error = comm->run(call, linear, {communicator->machine().half_performance_length()});
  return raise_if(call.comm, error);
}

}  // namespace tutti

using tutti::buffer;
using tutti::Collective;
using tutti::GatherScatterCall;
using tutti::MpiFunctions;
using tutti::native;
using tutti::RankBlocks;

int TUTTI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  GatherScatterCall call =
      tutti::call_of(Collective::gather, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RankBlocks(recvcount), recvtype}, root, comm);
  return tutti::gather_scatter(call, [&] {
    return native().Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int TUTTI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm) {
  GatherScatterCall call =
      tutti::call_of(Collective::gatherv, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RankBlocks(recvcounts, displs), recvtype}, root, comm);
  return tutti::gather_scatter(call, [&] {
    return native().Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            root, comm);
  });
}

int TUTTI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  GatherScatterCall call =
      tutti::call_of(Collective::scatter, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RankBlocks(sendcount), sendtype}, root, comm);
  return tutti::gather_scatter(call, [&] {
    return native().Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int TUTTI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  GatherScatterCall call =
      tutti::call_of(Collective::scatterv, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RankBlocks(sendcounts, displs), sendtype}, root, comm);
  return tutti::gather_scatter(call, [&] {
    return native().Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                             root, comm);
  });
}

int TUTTI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  GatherScatterCall call =
      tutti::call_of(Collective::gather, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RankBlocks(recvcount), recvtype}, root, comm);
  return tutti::gather_scatter(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Gather_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, root, comm);
  });
}

int TUTTI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm) {
  GatherScatterCall call =
      tutti::call_of(Collective::gatherv, {buffer(sendbuf), sendcount, sendtype},
                     {recvbuf, RankBlocks(recvcounts, displs), recvtype}, root, comm);
  return tutti::gather_scatter(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Gatherv_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcounts, displs, recvtype, root, comm);
  });
}

int TUTTI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  GatherScatterCall call =
      tutti::call_of(Collective::scatter, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RankBlocks(sendcount), sendtype}, root, comm);
  return tutti::gather_scatter(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Scatter_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, root, comm);
  });
}

int TUTTI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm) {
  GatherScatterCall call =
      tutti::call_of(Collective::scatterv, {recvbuf, recvcount, recvtype},
                     {buffer(sendbuf), RankBlocks(sendcounts, displs), sendtype}, root, comm);
  return tutti::gather_scatter(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Scatterv_c, call, sendbuf, sendcounts, displs,
                                   sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}
