/// TUTTI_Bcast, TUTTI_Allgather, TUTTI_Allgatherv, TUTTI_Alltoall, TUTTI_Alltoallv,
/// TUTTI_Alltoallw, TUTTI_Barrier and their large-count forms.
#include <tutti/tutti.h>

#include "api/collective_call.hpp"

using tutti::Collective;
using tutti::CollectiveCall;
using tutti::MpiFunctions;
using tutti::native;
using tutti::RankBlocks;
using tutti::side;

namespace {

/// A bcast's buffer is its receive side.
CollectiveCall bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return {Collective::bcast, root, comm, side(MPI_IN_PLACE, RankBlocks(), type),
          side(buffer, RankBlocks(count), type)};
}

CollectiveCall exchange(Collective collective, const tutti::CallSide& send,
                        const tutti::CallSide& receive, MPI_Comm comm) {
  return {collective, 0, comm, send, receive};
}

}  // namespace

int TUTTI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  CollectiveCall call = bcast(buffer, count, datatype, root, comm);
  return tutti::collective(call,
                           [&] { return native().Bcast(buffer, count, datatype, root, comm); });
}

int TUTTI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::allgather, side(sendbuf, RankBlocks(sendcount), sendtype),
               side(recvbuf, RankBlocks(recvcount), recvtype), comm);
  return tutti::collective(call, [&] {
    return native().Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int TUTTI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::allgatherv, side(sendbuf, RankBlocks(sendcount), sendtype),
               side(recvbuf, RankBlocks(recvcounts, displs), recvtype), comm);
  return tutti::collective(call, [&] {
    return native().Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                               comm);
  });
}

int TUTTI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::alltoall, side(sendbuf, RankBlocks(sendcount), sendtype),
               side(recvbuf, RankBlocks(recvcount), recvtype), comm);
  return tutti::collective(call, [&] {
    return native().Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int TUTTI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::alltoallv, side(sendbuf, RankBlocks(sendcounts, sdispls), sendtype),
               side(recvbuf, RankBlocks(recvcounts, rdispls), recvtype), comm);
  return tutti::collective(call, [&] {
    return native().Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                              recvtype, comm);
  });
}

int TUTTI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::alltoallv, side(sendbuf, RankBlocks(sendcounts, sdispls), sendtypes),
               side(recvbuf, RankBlocks(recvcounts, rdispls), recvtypes), comm);
  return tutti::collective(call, [&] {
    return native().Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                              recvtypes, comm);
  });
}

int TUTTI_Barrier(MPI_Comm comm) {
  CollectiveCall call = {Collective::barrier, 0, comm, {}, {}};
  return tutti::collective(call, [&] { return native().Barrier(comm); });
}

int TUTTI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  CollectiveCall call = bcast(buffer, count, datatype, root, comm);
  return tutti::collective(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Bcast_c, call, buffer, count, datatype, root,
                                   comm);
  });
}

int TUTTI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::allgather, side(sendbuf, RankBlocks(sendcount), sendtype),
               side(recvbuf, RankBlocks(recvcount), recvtype), comm);
  return tutti::collective(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Allgather_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, comm);
  });
}

int TUTTI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::allgatherv, side(sendbuf, RankBlocks(sendcount), sendtype),
               side(recvbuf, RankBlocks(recvcounts, displs), recvtype), comm);
  return tutti::collective(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Allgatherv_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcounts, displs, recvtype, comm);
  });
}

int TUTTI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::alltoall, side(sendbuf, RankBlocks(sendcount), sendtype),
               side(recvbuf, RankBlocks(recvcount), recvtype), comm);
  return tutti::collective(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Alltoall_c, call, sendbuf, sendcount, sendtype,
                                   recvbuf, recvcount, recvtype, comm);
  });
}

int TUTTI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::alltoallv, side(sendbuf, RankBlocks(sendcounts, sdispls), sendtype),
               side(recvbuf, RankBlocks(recvcounts, rdispls), recvtype), comm);
  return tutti::collective(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Alltoallv_c, call, sendbuf, sendcounts, sdispls,
                                   sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  });
}

int TUTTI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  CollectiveCall call =
      exchange(Collective::alltoallv, side(sendbuf, RankBlocks(sendcounts, sdispls), sendtypes),
               side(recvbuf, RankBlocks(recvcounts, rdispls), recvtypes), comm);
  return tutti::collective(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Alltoallw_c, call, sendbuf, sendcounts, sdispls,
                                   sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  });
}
