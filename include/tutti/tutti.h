/* The whole C API of Tutti: collectives that fit what a program and its machine are really like.
 *
 * Conventions
 *  1. Every function returns MPI_SUCCESS or an MPI error code, like the MPI function it is
 *     modelled on. Errors of a collective go through the communicator's error handler first.
 *  2. TUTTI_X has exactly the arguments of MPI_X: meaning, units, significance at the root,
 *     MPI_IN_PLACE, zero counts and derived types are those of the MPI standard. Arguments
 *     that MPI calls not significant at a rank are never read there.
 *  3. Results are those of MPI_X, byte for byte. Where Tutti does not expect a gain it calls
 *     PMPI_X with the same arguments. Invalid arguments go to PMPI_X too, so that a program
 *     sees the errors of its own MPI.
 *  4. TUTTI_X is collective and blocking wherever MPI_X is. It may be called whenever MPI_X may,
 *     from as many threads as the thread level that MPI granted allows.
 *  5. Traffic runs on private duplicates of communicators, made at the first call on each and
 *     freed with it.
 *  6. Names of collectives are "gather", "gatherv", "scatter", "scatterv", "bcast", "allgather",
 *     "allgatherv", "alltoall", "alltoallv" (also for alltoallw), "barrier", "reduce",
 *     "allreduce", "reduce_scatter", "reduce_scatter_block", in any case.
 *     Specifications of algorithms are "auto" (Tutti chooses), "native" (the MPI's own) or
 *     name[:key=value,..] as `tutti list` shows them.
 *  7. A char array with an int* length takes and gives lengths as bytes: on entry the size of
 *     the array, on return the length of the text without its final zero. A text that does not
 *     fit is cut and still ends in a zero.
 *  8. The library has an MPI_Finalize of its own, which ends Tutti's background thread and goes on
 *     to the MPI's. Link it before the MPI, as its compiler wrapper does: where MPI_Finalize is the
 *     MPI's, there is no such thread on MPICH.
 *  9. Settings are local to a process and must be made alike on all ranks that take part.
 */
#ifndef TUTTI_H
#define TUTTI_H

#include <mpi.h>

#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 1
#define TUTTI_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* MPI_Gather with the algorithm in force: blocks of equal size to the root, in rank order. */
int TUTTI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* MPI_Gatherv with the algorithm in force: blocks of any size to the root, to recvbuf at displs
 * (in extents of recvtype). With the ordered tree: at most 3 ceil(log2 p) start-ups and linear
 * time (Traff 2017, Theorem 1). */
int TUTTI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm);

/* MPI_Scatter with the algorithm in force: blocks of equal size from the root. */
int TUTTI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* MPI_Scatterv with the algorithm in force: blocks of any size from the root's sendbuf at displs
 * (in extents of sendtype). Time as TUTTI_Gatherv. */
int TUTTI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm);

/* The same with large counts, as MPI_X_c of MPI 4, also on an MPI that has no MPI_X_c; there,
 * inter-communicators give MPI_ERR_UNSUPPORTED_OPERATION. */
int TUTTI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int TUTTI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm);
int TUTTI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int TUTTI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm);

/* MPI_Bcast with the algorithm in force. */
int TUTTI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);

/* MPI_Allgather and MPI_Allgatherv with the algorithm in force: every rank's block to all. */
int TUTTI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm);

/* MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw with the algorithm in force: a block from each rank
 * to each. What is set for "alltoallv" holds for both of the latter. */
int TUTTI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/* MPI_Reduce, MPI_Allreduce, MPI_Reduce_scatter and MPI_Reduce_scatter_block with the algorithm in
 * force, which is the MPI's own unless the program or the user asks for another one: the way in
 * which floating-point numbers are combined shows in the result. An algorithm for operations that
 * commute does not run others; the MPI's own does then. With TUTTI_REPRODUCIBLE=on in rank 0's
 * environment equal contributions give equal bits, wherever ranks sit and whenever they come. */
int TUTTI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm);
int TUTTI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm);
int TUTTI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int TUTTI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int TUTTI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm);
int TUTTI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm);
int TUTTI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int TUTTI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* MPI_Barrier with the algorithm in force: no rank leaves before all have entered. */
int TUTTI_Barrier(MPI_Comm comm);

/* The same with large counts. */
int TUTTI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
int TUTTI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/* Arrivals. Ranks never come to a collective together. A program that says how far it is lets
 * algorithms with order=arrival or order=late_leaf (SLIN, SLS, SBN, ..) serve whoever comes first
 * (Proficz 2020: PAT_Init, PAT_Edge, PAT_Finalize). What calls use is always the same on all ranks,
 * and no rank waits for a late one to learn it: where not all ranks have passed their edge when the
 * first one is at the call, the others are taken at their habits, and as long as nothing at all is
 * known the order is the rotated one. */

/* From now on the program passes an edge before a call of a collective on `comm`, when `fraction`
 * (above 0, up to 1) of the work since the last one is done. Collective. Needs
 * MPI_THREAD_MULTIPLE and a background thread on every rank, which it starts, wherever all ranks
 * must know the order (all but the linear algorithms). Called again, it only sets the fraction.
 * MPI_ERR_ARG if the fraction is out of range, MPI_ERR_COMM on an inter-communicator, MPI_ERR_OTHER
 * while MPI ends, in what other libraries do in MPI_Finalize. */
int TUTTI_Arrival_init(MPI_Comm comm, double fraction);

/* An edge: this rank's arrival at the next call on `comm` is estimated from the time since it left
 * the last one, or has started a persistent one if that was later, and sent to rank 0 in one short
 * message where calls go by it, else at one call in eight. Calls that count are gathers and
 * scatters, and those other collectives that go by arrivals or in the background as they were asked
 * to. Local; waits for nobody. Any rank may skip any edge. MPI_ERR_COMM where TUTTI_Arrival_init
 * was not called, or TUTTI_Arrival_finalize was since. */
int TUTTI_Arrival_edge(MPI_Comm comm);

/* Ends what TUTTI_Arrival_init began, else MPI_ERR_COMM. Collective; MPI_Comm_free and MPI_Finalize
 * do the same. */
int TUTTI_Arrival_finalize(MPI_Comm comm);

/* In Fortran: tutti_arrival_init(comm, fraction, ierror), tutti_arrival_edge(comm, ierror) and
 * tutti_arrival_finalize(comm, ierror), with comm an integer (comm%MPI_VAL of mpi_f08) and fraction
 * of double precision; not for the standard ABI. */

/* Persistent forms: a call that is set up once and made many times. They part what MPI_Start joins:
 *
 *     TUTTI_Scatter_init(.., &request);
 *     for (..) {
 *       TUTTI_Start(&request);       from here on Tutti may write the receive buffer
 *       .. compute, with an edge ..
 *       TUTTI_Wait(&request);        the send buffer is ready: the rank arrives
 *     }
 *     TUTTI_Request_free(&request);
 *
 * With runner=background (BSLN, BSLS, BSBN, ..) and MPI_THREAD_MULTIPLE on all ranks, blocks are
 * received and passed on between the two. An init is collective, takes the algorithm in force for
 * the life of the request, and a duplicate of the communicator; arrays and datatypes must live as
 * long as the request. MPI_ERR_ARG where `request` is NULL; all else that is wrong with the
 * arguments of any rank shows at TUTTI_Wait, as the request is then the MPI's own on all of them.
 * Where the choice is Tutti's and arrivals are exchanged by then, it is made anew at each start.
 * The ranks must make, start, wait for and free requests on a communicator in the same sequence as
 * each other and as their other collectives on it, as the MPI's own algorithm may run in the wait.
 * The communicator must live as long as the request. */
typedef struct TUTTI_Request_content* TUTTI_Request;
#define TUTTI_REQUEST_NULL ((TUTTI_Request)0)

int TUTTI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                      TUTTI_Request* request);
int TUTTI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       TUTTI_Request* request);
int TUTTI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        int root, MPI_Comm comm, TUTTI_Request* request);

/* The same with large counts. */
int TUTTI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                         MPI_Datatype recvtype, int root, MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                         MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          TUTTI_Request* request);

/* Hands the receive buffer to Tutti. Waits for no rank's program; where the choice is made anew at
 * each start it may wait for an answer of rank 0's background thread, seldom. MPI_ERR_REQUEST for
 * NULL, for a null request and for one under way. */
int TUTTI_Start(TUTTI_Request* request);

/* Hands over the send buffer and completes the call; returns at once if it was not started, or the
 * request is null. The request stays and can be started again. MPI_ERR_REQUEST for NULL, else the
 * errors of the call. */
int TUTTI_Wait(TUTTI_Request* request);

/* Frees a request and sets it to TUTTI_REQUEST_NULL. Collective. MPI_ERR_REQUEST for NULL, for a
 * null request and for one under way. */
int TUTTI_Request_free(TUTTI_Request* request);

/* In Fortran the same names in lower case with an ierror at the end: tutti_gather_init(sendbuf, ..,
 * comm, request, ierror), tutti_start(request, ierror) and so on, with request an integer of
 * MPI_ADDRESS_KIND (0 for none), handles as above, and buffers, MPI_IN_PLACE and MPI_BOTTOM among
 * them, as with MPI's nonblocking calls: asynchronous, and contiguous. */

/* Distances. Where ranks sit decides which messages cross a slow link. With the distances between
 * them, order=distance puts ranks that exchange much close to one another, inside a call: results
 * stay in the order of the communicator's ranks. TUTTI_DISTANCES=FILE names a file of them, which
 * `tutti map --mpirun` or TUTTI_Distances_measure has written; rank 0 of a communicator reads it.
 * Rows belong to ranks by their rank in MPI_COMM_WORLD, or by node where the file is of another
 * job. What is known at the first use on a communicator stays in force on it. */

/* Measures the time of messages between the ranks of `comm`, every pair up to 64 ranks, beyond that
 * within each node and between one rank of each node; where `nodes_per_switch` is above 0, so many
 * nodes in a row share a switch, and between switches one rank of each is enough. One pair at a
 * time: at p ranks about p^2 / 2 times a few milliseconds. Writes `file` at rank 0, where that
 * alone is significant; NULL writes none. From now on these distances are known to all ranks of
 * `comm`. Collective. MPI_ERR_FILE on all ranks if the file cannot be written, MPI_ERR_ARG where
 * `nodes_per_switch` is negative, MPI_ERR_COMM on MPI_COMM_NULL, an inter-communicator and more
 * than 16,384 ranks. */
int TUTTI_Distances_measure(MPI_Comm comm, const char* file, int nodes_per_switch);

/* A new communicator of the same ranks, numbered by distance, so that neighbours in the algorithms
 * of the MPI and of Tutti sit close to one another (Bhowmik & Bodele 2019): for `collective`, or
 * for several alike with NULL. Rank 0 stays rank 0. No order is taken that is modelled slower in
 * all, or by more than a hundredth for any of the shapes in question; without distances, or where
 * nothing is gained, ranks keep their numbers. Data that a program keeps by rank must follow.
 * Collective. Attributes of `comm` are not copied. MPI_ERR_ARG where `collective` is none or
 * `newcomm` is NULL, MPI_ERR_COMM on an inter-communicator. */
int TUTTI_Comm_reorder(MPI_Comm comm, const char* collective, MPI_Comm* newcomm);

/* In Fortran: tutti_distances_measure(comm, file, nodes_per_switch, ierror) and
 * tutti_comm_reorder(comm, collective, newcomm, ierror), with blank texts for NULL. */

/* Results that the ranks of a node share: one copy of the result for each node instead of one for
 * each rank. `*result` becomes its address, at the begin of a page, the same bytes on all ranks,
 * until TUTTI_Shared_free. Datatypes must be MPI's own, without gaps (else MPI_ERR_TYPE). `mode` is
 * each rank's own choice. A result stays as it is whatever is called later, also when its
 * communicator is freed. What a node's ranks hold comes on top of TUTTI_NODE_MEMORY; of what all of
 * them have released, at most as much again stays to serve later results of the communicator, until
 * that is freed.
 *
 * Collective, with arguments as in MPI; recvcounts are in elements of recvtype. Each rank copies
 * what it gives, and one rank of each node exchanges the nodes' parts in place (Parsons & Pai
 * 2014): O(bytes) between nodes, no copies out. Bad arguments of one rank are an error of all,
 * MPI_ERR_OTHER elsewhere; an error of the MPI between nodes is one of that node's ranks. Where
 * arguments are bad: MPI_ERR_ARG (`result` is NULL, no such `mode`, no recvcounts), MPI_ERR_COUNT,
 * MPI_ERR_TYPE, MPI_ERR_ROOT, MPI_ERR_BUFFER (MPI_IN_PLACE, as each result is in memory of its own,
 * NULL, or memory of a GPU), MPI_ERR_TRUNCATE (a rank gives more or less than its block has). On
 * all ranks: MPI_ERR_COMM on an inter-communicator, MPI_ERR_NO_MEM where a node cannot share as
 * much memory. */
#define TUTTI_SHARED_READ_ONLY 0 /* writing to the result is a protection fault (SIGSEGV) */
#define TUTTI_COPY_ON_WRITE 1    /* a page that is written becomes the rank's own */

/* MPI_Allgather into shared memory. */
int TUTTI_Allgather_shared(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, int mode, void** result);
/* MPI_Allgatherv into shared memory; blocks follow one another in rank order. */
int TUTTI_Allgatherv_shared(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm, int mode,
                            void** result);
/* MPI_Bcast into shared memory; `buffer` is significant at the root only. */
int TUTTI_Bcast_shared(const void* buffer, int count, MPI_Datatype datatype, int root,
                       MPI_Comm comm, int mode, void** result);
/* MPI_Allreduce into shared memory: combined within nodes, then between them. With
 * TUTTI_REPRODUCIBLE=on, and where that cannot be (an operation that does not commute and ranks of
 * a node that do not follow one another, too little node memory), at rank 0, then sent to all
 * nodes. MPI_ERR_OP for an operation that the MPI does not have for the type. */
int TUTTI_Allreduce_shared(const void* sendbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, int mode, void** result);
/* The same with large counts, on any MPI. */
int TUTTI_Allgather_shared_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, int mode,
                             void** result);
int TUTTI_Allgatherv_shared_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              const MPI_Count recvcounts[], MPI_Datatype recvtype, MPI_Comm comm,
                              int mode, void** result);
int TUTTI_Bcast_shared_c(const void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                         MPI_Comm comm, int mode, void** result);
int TUTTI_Allreduce_shared_c(const void* sendbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm, int mode, void** result);
/* Releases a result at this rank, which must not use it any more: an access is a protection fault,
 * and a second release an error of a class of its own, whose text says so, as long as the address
 * is among the last 64 released and the last 16 GiB of them (1/16 of what `ulimit -v` allows, where
 * it limits). Nothing else lies there until then. Local. MPI_ERR_ARG for all else that is no
 * result. */
int TUTTI_Shared_free(void* result);

/* In Fortran the same names in lower case with an ierror at the end, without the large counts:
 * tutti_allgather_shared(sendbuf, sendcount, sendtype, recvcount, recvtype, comm, mode, result,
 * ierror), tutti_shared_free(result, ierror) and so on, with result of type(C_PTR), for
 * C_F_POINTER; mode as the numbers above, handles as above. */

/* One-sided collectives: only the root calls them. MPI's windows let one rank write into another's
 * memory, but have no collectives; here a broadcast into the windows of all ranks goes down a tree
 * whose inner ranks pass it on in Tutti's background thread, while their programs compute (Paznikov
 * 2024):
 *
 *     TUTTI_Rma_init(comm);                                    collective
 *     TUTTI_Rma_window_register(win, comm, &window);           collective
 *     if (I have news) {
 *       TUTTI_Rma_bcast(news, n, MPI_DOUBLE, place, window, &request);
 *       .. compute ..
 *       TUTTI_Rma_flush(&request);                             all ranks have them
 *     }
 *     TUTTI_Rma_arrived(window, root, &number);                how many have come from `root`
 *     TUTTI_Rma_window_release(&window);                       collective, before MPI_Win_free
 *     TUTTI_Rma_finalize(comm);                                collective
 *
 * Any rank may be the root of many operations at once. Operations of one root on the same bytes
 * take effect one after the other; those of several roots on the same bytes at once leave any
 * mixture, as MPI_Puts do. Needs MPI_THREAD_MULTIPLE. */
typedef int TUTTI_Window;
typedef int TUTTI_Rma_request;
#define TUTTI_WINDOW_NULL 0
#define TUTTI_RMA_REQUEST_NULL 0

/* Starts one-sided collectives on `comm`, which must live until they end. Collective.
 * MPI_ERR_UNSUPPORTED_OPERATION on all ranks where one of them can have no background thread. */
int TUTTI_Rma_init(MPI_Comm comm);

/* Completes everything and ends it; registered windows are released. Collective, as MPI_Finalize,
 * which does the same. */
int TUTTI_Rma_finalize(MPI_Comm comm);

/* Takes a window whose ranks are those of `comm`, and opens an epoch of passive access on it: until
 * the release the program may use MPI_Put, MPI_Get, MPI_Accumulate, MPI_Win_flush and MPI_Win_sync
 * on it, and open no epoch of its own. `window` is the same number on all ranks. Collective.
 * MPI_ERR_RMA_FLAVOR for dynamic windows, MPI_ERR_BUFFER for memory of GPUs, MPI_ERR_COMM where the
 * ranks differ or TUTTI_Rma_init was not called. */
int TUTTI_Rma_window_register(MPI_Win win, MPI_Comm comm, TUTTI_Window* window);

/* Completes all operations on the window and gives it back. Collective. */
int TUTTI_Rma_window_release(TUTTI_Window* window);

/* Brings count elements, packed, to `displacement` (in each rank's own units) of the window of
 * every rank, this one's too. Only this rank calls. The buffer must not change until the request is
 * complete; it may be the place in the window itself, and must overlap it in no other way.
 * MPI_ERR_WIN for a number that is no window; MPI_ERR_RMA_RANGE, and nothing is written anywhere,
 * if the window of some rank is too small. */
int TUTTI_Rma_bcast(const void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                    TUTTI_Window window, TUTTI_Rma_request* request);

/* Brings a block of count elements to the same place of each window: the r-th of the p blocks that
 * follow one another in the buffer to that of rank r. Else as TUTTI_Rma_bcast. */
int TUTTI_Rma_scatter(const void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                      TUTTI_Window window, TUTTI_Rma_request* request);

/* Collects the block at `displacement` of every rank's window, this one's too, as the r-th of p
 * blocks of count elements in the buffer, or combines all of them there by `op`, one of MPI's own
 * that commute (MPI_MAX to MPI_BXOR) and for a datatype of MPI's own; the windows keep theirs. What
 * is taken is what a window holds at some moment between the call and the request's completion, as
 * with MPI_Get; operations that this rank has begun before on the same bytes are in it. Only this
 * rank calls. The buffer, which must not be in the window, and the datatype are in use until the
 * request is complete. Data travel in messages, along a tree as often as that has levels. Errors as
 * above; MPI_ERR_OP, MPI_ERR_TYPE where the MPI has no such reduction. */
int TUTTI_Rma_gather(void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                     TUTTI_Window window, TUTTI_Rma_request* request);
int TUTTI_Rma_reduce(void* buffer, int count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Aint displacement, TUTTI_Window window, TUTTI_Rma_request* request);

/* At the root: waits, or asks, whether all ranks have the data, or the root theirs. A complete
 * request becomes TUTTI_RMA_REQUEST_NULL, for which both return at once. */
int TUTTI_Rma_flush(TUTTI_Rma_request* request);
int TUTTI_Rma_test(TUTTI_Rma_request* request, int* flag);

/* At any rank: sets `number` to that of the last operation of `root` on the window which has come
 * here with all before it (they count from 1 on), or waits for that of this number. */
int TUTTI_Rma_arrived(TUTTI_Window window, int root, long long* number);
int TUTTI_Rma_wait(TUTTI_Window window, int root, long long number);

/* Does the MPI bring puts to a rank that computes, as seen at TUTTI_Rma_init? Where it does not,
 * Tutti's thread does. */
int TUTTI_Rma_progress(MPI_Comm comm, int* flag);

/* In Fortran the same names in lower case with an ierror at the end, all arguments integers but the
 * displacement (MPI_ADDRESS_KIND) and the numbers of operations (8 bytes); not for the standard
 * ABI.
 */

/* The version of the library that runs, which may be newer than this header's. */
int TUTTI_Get_version(int* major, int* minor, int* patch);

/* The index-th algorithm of a collective, e.g. "binomial"; MPI_ERR_ARG beyond the last. */
int TUTTI_Algorithm_name(const char* collective, int index, char* name, int* length);

/* Forces an algorithm for a collective from now on; MPI_ERR_ARG and a text in `message` (which
 * may be NULL with length NULL) if the specification is wrong, and nothing changes. */
int TUTTI_Algorithm_set(const char* collective, const char* specification, char* message,
                        int* length);

/* The specification in force for a collective: "auto", "native" or an algorithm's. */
int TUTTI_Algorithm_get(const char* collective, char* specification, int* length);

/* What the last call of a collective on `comm` ran, and why: "ordered_tree: ...". Empty before
 * the first. */
int TUTTI_Algorithm_last(MPI_Comm comm, const char* collective, char* text, int* length);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
