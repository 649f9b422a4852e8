/* The C API of Tutti. Tutti speeds up MPI collectives in unmodified programs: it measures other
 * algorithms and node memory on the program's own calls, and keeps what is faster.
 *
 * Conventions
 *  1. Every function returns MPI_SUCCESS or an MPI error code, like the MPI function it is
 *     modelled on. An error goes first to the error handler of the communicator: that of the call,
 *     of the request, or of TUTTI_Rma_window_register, never to a window's; MPI_ERRORS_ARE_FATAL
 *     then ends the program. Only returned are the errors of null and unknown handles, and of
 *     TUTTI_Shared_free, TUTTI_Get_version and TUTTI_Algorithm_*. After an error, handles and
 *     shared results that a function makes are null, and all else that it sets has no meaning.
 *     Unless a function says otherwise, an invalid argument of one rank is an error there only, and
 *     other ranks may wait for it.
 *  2. TUTTI_X takes exactly the arguments of MPI_X. Their meaning, units, significance at the
 *     root, MPI_IN_PLACE, zero counts and derived types are those of the MPI standard. A rank
 *     never reads arguments that MPI calls not significant there.
 *  3. Results equal those of MPI_X, byte for byte; for reductions see TUTTI_Reduce. TUTTI_X calls
 *     PMPI_X with the same arguments unless something else was measured to be faster, is being
 *     measured or was asked for, and if arguments are invalid, so that a program sees the errors
 *     of its own MPI.
 *  4. TUTTI_X is collective and blocking wherever MPI_X is. A program may call it wherever it may
 *     call MPI_X, from as many threads as the thread level that MPI granted allows. Under
 *     MPI_THREAD_MULTIPLE the other functions are thread-safe, but a request is for one thread at a
 *     time, and no thread may call TUTTI_Algorithm_last on a communicator where another is in a
 *     collective or begins a one-sided one.
 *  5. Messages use private duplicates of communicators. The first call that needs a duplicate makes
 *     it, and freeing the communicator frees it.
 *  6. Names of collectives are "gather", "gatherv", "scatter", "scatterv", "bcast", "allgather",
 *     "allgatherv", "alltoall", "alltoallv" (also for alltoallw), "barrier", "reduce",
 *     "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan", and of one-sided
 *     ones "rma_bcast", "rma_scatter", "rma_gather", "rma_reduce", in any case. Specifications of
 *     algorithms are "auto" (Tutti selects), "native" (the MPI's own; not for one-sided ones),
 *     name[:key=value,..] or a paper's name as `tutti list` shows them, and, through node memory,
 *     hierarchical(native[,leaders=K]) or hierarchical(name[,..]). The one in force comes from
 *     TUTTI_Algorithm_set, else from the environment, else it is "auto".
 *  7. A char array with an int* length: on entry the length is the size of the array in bytes, on
 *     return that of the text in it without the final zero. A text that does not fit is cut and
 *     still ends in a zero: if the length is one less than the array's, it may be longer.
 *  8. The library has its own MPI_Finalize, MPI_Comm_free, MPI_Comm_disconnect, MPI_Win_free, and
 *     PMPI_ names of these. They end what Tutti has begun there, which may wait for other ranks,
 *     and then call those of the MPI or of the next tool. Link the library before the MPI, as the
 *     MPI's compiler wrapper does. A program on MPICH whose MPI_Finalize is the MPI's has no
 *     background thread.
 *  9. The environment of rank 0 counts for all ranks of a communicator, and that of the root for
 *     one-sided collectives. TUTTI_Algorithm_set is local to a process: all ranks that take part
 *     must set the same, between the same two calls of that collective on every communicator, while
 *     no thread is in one. For one-sided collectives the root alone decides.
 * 10. TUTTI_X_c has large counts, as MPI_X_c of MPI 4, on any MPI. On one without MPI_X_c it gives
 *     MPI_ERR_UNSUPPORTED_OPERATION between groups if a count or displacement does not fit an int,
 *     and on a communicator with processes of another MPI_COMM_WORLD for irregular calls, blocks of
 *     2 GiB and more, and reductions of 2^31 and more elements.
 * 11. The module in tutti.f90 declares the functions for Fortran, without TUTTI_X, large counts,
 *     TUTTI_Get_version and TUTTI_Algorithm_*: the same names in lower case, with an ierror at the
 *     end. Handles are integers (comm%MPI_VAL of mpi_f08), persistent requests and displacements in
 *     windows are of MPI_ADDRESS_KIND, numbers of operations of 8 bytes, fractions of double
 *     precision, and shared results of type(C_PTR), for C_F_POINTER. A blank text is NULL.
 *     Buffers, which may be MPI_IN_PLACE and MPI_BOTTOM, are contiguous, and asynchronous as in
 *     MPI's nonblocking calls if the function begins or prepares an operation. For the standard
 *     ABI, functions with handles of the MPI give MPI_ERR_UNSUPPORTED_OPERATION. */
#ifndef TUTTI_H
#define TUTTI_H

#include <mpi.h>

#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 1
#define TUTTI_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Gathers and scatters, by conventions 2 and 3. */
int TUTTI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int TUTTI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int TUTTI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm);
int TUTTI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm);
int TUTTI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int TUTTI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int TUTTI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm);
int TUTTI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm);

/* Broadcasts, and blocks to all ranks. */
int TUTTI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int TUTTI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
int TUTTI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm);
int TUTTI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm);

/* A block from each rank to each. A setting for "alltoallv" holds for TUTTI_Alltoallw too. */
int TUTTI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int TUTTI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
int TUTTI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/* Reductions. Here and in scans "auto" explores operations whose result does not depend on the
 * order of combination: minima, maxima, logical and bitwise ones, sums and products of integers.
 * Without a rule all others run the MPI's own: floating-point sums and products, and the program's
 * own operations. If a NaN or zeros of both signs take part, minima and maxima depend on the
 * algorithm. An algorithm that needs commutative operations leaves all others to the MPI's own.
 * With TUTTI_REPRODUCIBLE=on in rank 0's environment, equal contributions give equal bits, wherever
 * ranks run and whenever they arrive, unless "native" or "hierarchical(native)" is requested. */
int TUTTI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm);
int TUTTI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm);
int TUTTI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm);
int TUTTI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm);
int TUTTI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int TUTTI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int TUTTI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int TUTTI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* Scans. All algorithms combine in rank order. An exscan never changes the receive buffer of rank
 * 0. */
int TUTTI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm);
int TUTTI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm);
int TUTTI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm);
int TUTTI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm);

/* No rank leaves before all have entered. */
int TUTTI_Barrier(MPI_Comm comm);

/* Sets the version of the library that runs, which may be newer than this header's. MPI_ERR_ARG for
 * NULL. */
int TUTTI_Get_version(int* major, int* minor, int* patch);

/* Sets `name` to the index-th algorithm of a collective, from 0 on, e.g. "binomial". MPI_ERR_ARG
 * beyond the last, and, here and below, for an unknown collective, for NULL and for a length below
 * 1. */
int TUTTI_Algorithm_name(const char* collective, int index, char* name, int* length);

/* Sets the specification for a collective from now on. If it is invalid, returns MPI_ERR_ARG with a
 * text in `message` (which may be NULL) and changes nothing. */
int TUTTI_Algorithm_set(const char* collective, const char* specification, char* message,
                        int* length);

/* Sets `specification` to the one in force for a collective. Without TUTTI_Algorithm_set it is that
 * of this process's environment, which on a communicator counts only if the process is rank 0. */
int TUTTI_Algorithm_get(const char* collective, char* specification, int* length);

/* Sets `text` to what the last call of a collective on `comm` ran, and why: "ordered_tree: ...".
 * Empty before the first call. MPI_ERR_COMM on MPI_COMM_NULL. */
int TUTTI_Algorithm_last(MPI_Comm comm, const char* collective, char* text, int* length);

/* Arrivals. The ranks of a program rarely reach a collective at the same time. A program may report
 * its progress by hints; algorithms with order=arrival or order=late_leaf (in Proficz's names SLIN,
 * SLS, SBN, ..) then serve first the ranks that come first (Proficz 2020: PAT_Init, PAT_Edge,
 * PAT_Finalize). All ranks use the same arrivals for a call, and no rank waits for a late one to
 * learn them. If some ranks have not given their hint when the first rank reaches the call, their
 * delays in earlier calls stand in. Before anything is known, the order is the rotated one: root,
 * root + 1, .. modulo p. */

/* Announces that the program gives a progress hint before calls of collectives on `comm`, when
 * `fraction` (above 0, up to 1) of the work since the last one is done. Collective. If all ranks
 * must know the order (for all but the linear algorithms), it needs MPI_THREAD_MULTIPLE and starts
 * a background thread on every rank. A second call only sets the fraction. `fraction` is of this
 * rank. MPI_ERR_ARG if it is out of range, MPI_ERR_COMM on an inter-communicator, MPI_ERR_OTHER
 * during MPI_Finalize, for example from an attribute's delete function. */
int TUTTI_Arrival_init(MPI_Comm comm, double fraction);

/* A progress hint (Proficz's edge). It estimates this rank's arrival at the next call on `comm`
 * from the time since the rank left the last one, or started a persistent one if that was later. It
 * sends the estimate to rank 0 in one short message if calls use it, else at one call in eight.
 * Hints are for gathers, scatters, and other collectives whose requested specification uses
 * arrivals or the background thread. Local; waits for no rank. Any rank may omit any hint.
 * MPI_ERR_COMM if TUTTI_Arrival_init was not called, or TUTTI_Arrival_finalize was since. */
int TUTTI_Arrival_edge(MPI_Comm comm);

/* Ends what TUTTI_Arrival_init began; MPI_ERR_COMM if it was not called. Collective; MPI_Comm_free
 * and MPI_Finalize do the same. */
int TUTTI_Arrival_finalize(MPI_Comm comm);

/* Persistent forms: a program sets up a call once and makes it many times. MPI_Start hands over
 * both buffers at once; here each has its own call:
 *
 *     TUTTI_Scatter_init(.., &request);
 *     for (..) {
 *       TUTTI_Start(&request);       from here on Tutti may write the receive buffer
 *       .. compute, with a progress hint ..
 *       TUTTI_Wait(&request);        the send buffer is ready: the rank arrives
 *     }
 *     TUTTI_Request_free(&request);
 *
 * With runner=background (BSLN, BSLS, BSBN, ..) and MPI_THREAD_MULTIPLE on all ranks, the
 * background thread receives and forwards blocks between the two calls. An init is collective. It
 * fixes the specification in force for the life of the request and duplicates the communicator;
 * with "auto" and arrivals exchanged by then, each start selects, and may wait for other ranks. The
 * communicator, arrays and datatypes must live as long as the request. MPI_ERR_ARG if `request` is
 * NULL, MPI_ERR_COMM on MPI_COMM_NULL. All other invalid arguments of any rank show at TUTTI_Wait,
 * because the request then runs the MPI's own collective on all ranks. The ranks must make, start,
 * wait for and free the requests on a communicator in the same sequence, also relative to their
 * other collectives on it, because the MPI's own algorithm may run in the wait. */
typedef struct TUTTI_Request_content* TUTTI_Request;
#define TUTTI_REQUEST_NULL ((TUTTI_Request)0)

int TUTTI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                      TUTTI_Request* request);
int TUTTI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                         MPI_Datatype recvtype, int root, MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       TUTTI_Request* request);
int TUTTI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                         MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        int root, MPI_Comm comm, TUTTI_Request* request);
int TUTTI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          TUTTI_Request* request);

/* Hands the receive buffer to Tutti. Does not wait for other ranks to reach their call. If each
 * start selects anew, it may occasionally wait for an answer of rank 0's background thread.
 * MPI_ERR_REQUEST for NULL, for a null request and for an active one. */
int TUTTI_Start(TUTTI_Request* request);

/* Hands over the send buffer and completes the call. Returns at once for a null request and for one
 * that was not started. The request stays and can be started again. MPI_ERR_REQUEST for NULL, else
 * the errors of the call. */
int TUTTI_Wait(TUTTI_Request* request);

/* Frees a request and sets it to TUTTI_REQUEST_NULL. Collective. MPI_ERR_REQUEST for NULL, for a
 * null request and for an active one. */
int TUTTI_Request_free(TUTTI_Request* request);

/* Distances. The locations of ranks decide which messages cross a slow link. With measured
 * distances, order=distance puts ranks that exchange much data close to one another within a call;
 * results stay in the order of the communicator's ranks. TUTTI_DISTANCES=FILE names a file of
 * distances, written by `tutti map --mpirun` or TUTTI_Distances_measure; rank 0 of a communicator
 * reads it. Rows belong to ranks by their rank in MPI_COMM_WORLD, or by node if the file is of
 * another job. The distances known at the first use on a communicator stay in force on it. */

/* Measures the time of messages between the ranks of `comm`: between all pairs up to 64 ranks;
 * beyond that within each node, and between one rank of each node. With `nodes_per_switch` above 0,
 * which is the same on all ranks, that many consecutive nodes share a switch, and one rank of each
 * switch is enough between switches. Up to 64 ranks Tutti measures one pair at a time, p^2 / 2 in
 * all, each for about 0.7 ms within a machine and 20 ms over 1 Gbit/s. Beyond that all nodes
 * measure inside at the same time. Rank 0 writes `file`, which is significant there only; NULL
 * writes none. From then on all ranks of `comm` know these distances. Collective. MPI_ERR_FILE on
 * all ranks if the file cannot be written, MPI_ERR_ARG if `nodes_per_switch` is negative,
 * MPI_ERR_COMM on MPI_COMM_NULL, on an inter-communicator and on more than 16,384 ranks. */
int TUTTI_Distances_measure(MPI_Comm comm, const char* file, int nodes_per_switch);

/* Makes a communicator of the same ranks, numbered by distance, so that neighbours in the
 * algorithms of the MPI and of Tutti are close to one another (Bhowmik & Bodele 2019). `collective`
 * names the collective to optimize, the same on all ranks; NULL weighs several alike. Rank 0 stays
 * rank 0. Tutti rejects orders whose predicted time is higher in total, or more than 1 % higher for
 * any shape considered. Without distances, or without a gain, ranks keep their numbers. Data that a
 * program keeps by rank must follow the new numbers. Collective. Attributes of `comm` are not
 * copied. MPI_ERR_ARG if `collective` is unknown or `newcomm` is NULL, MPI_ERR_COMM on an
 * inter-communicator. */
int TUTTI_Comm_reorder(MPI_Comm comm, const char* collective, MPI_Comm* newcomm);

/* Shared results: one copy of the result for each node instead of one for each rank. `*result`
 * becomes its address, at the start of a page, with the same bytes on all ranks, until
 * TUTTI_Shared_free. Later calls do not change a result, nor does freeing its communicator.
 * Datatypes must be predefined and without gaps (else MPI_ERR_TYPE). Each rank chooses its own
 * `mode`. The memory of results comes in addition to TUTTI_NODE_MEMORY. Once all ranks of a node
 * have released results, at most TUTTI_NODE_MEMORY bytes of them stay for later ones, until the
 * communicator is freed.
 *
 * Collective, with arguments as in MPI; recvcounts are in elements of recvtype. Each rank copies
 * its contribution, and one rank of each node exchanges the nodes' parts in place (Parsons & Pai
 * 2014): O(bytes) between nodes, no copies out. Invalid arguments of one rank are an error on all
 * ranks, MPI_ERR_OTHER on the others. An error of the MPI between nodes is returned on that node's
 * ranks. The rank with invalid arguments gets MPI_ERR_ARG (`result` is NULL, unknown `mode`, no
 * recvcounts), MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_ROOT, MPI_ERR_BUFFER (NULL, memory of a GPU, or
 * MPI_IN_PLACE, because each result has its own memory) or MPI_ERR_TRUNCATE (a contribution is
 * larger or smaller than the rank's block). On all ranks: MPI_ERR_COMM on MPI_COMM_NULL and on an
 * inter-communicator, MPI_ERR_NO_MEM if a node cannot share as much memory. */
#define TUTTI_SHARED_READ_ONLY 0 /* writing to the result is a protection fault (SIGSEGV) */
#define TUTTI_COPY_ON_WRITE 1    /* writing to a page gives the rank its own copy of it */

/* MPI_Allgather into shared memory. */
int TUTTI_Allgather_shared(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, int mode, void** result);
int TUTTI_Allgather_shared_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, int mode,
                             void** result);
/* MPI_Allgatherv into shared memory; blocks follow one another in rank order. */
int TUTTI_Allgatherv_shared(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm, int mode,
                            void** result);
int TUTTI_Allgatherv_shared_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              const MPI_Count recvcounts[], MPI_Datatype recvtype, MPI_Comm comm,
                              int mode, void** result);
/* MPI_Bcast into shared memory; `buffer` is significant at the root only. */
int TUTTI_Bcast_shared(const void* buffer, int count, MPI_Datatype datatype, int root,
                       MPI_Comm comm, int mode, void** result);
int TUTTI_Bcast_shared_c(const void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                         MPI_Comm comm, int mode, void** result);
/* MPI_Allreduce into shared memory, within nodes and then between them. Rank 0 combines all vectors
 * instead, and sends the result to all nodes, with TUTTI_REPRODUCIBLE=on, with too little node
 * memory, for the program's own operations unless TUTTI_SPLIT_USER_OPS=on, and for an operation
 * that does not commute if the ranks of a node are not consecutive. MPI_ERR_OP for an operation
 * that the MPI does not define for the type. */
int TUTTI_Allreduce_shared(const void* sendbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, int mode, void** result);
int TUTTI_Allreduce_shared_c(const void* sendbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm, int mode, void** result);

/* Releases a result at this rank, where any later access is a protection fault (SIGSEGV). A second
 * release returns a dedicated error class with its own text, if the result is among the last 64
 * results and the last 16 GiB released (1/16 of `ulimit -v`, if set). Until then nothing else
 * occupies its addresses. Any other pointer returns MPI_ERR_ARG. Local. */
int TUTTI_Shared_free(void* result);

/* One-sided collectives: only the root calls them. MPI's windows let one rank write into another's
 * memory, but have no collectives. Here a broadcast into the windows of all ranks follows a tree,
 * whose inner ranks forward the data in Tutti's background thread while their programs compute
 * (Paznikov 2024):
 *
 *     TUTTI_Rma_init(comm);                                    collective
 *     TUTTI_Rma_window_register(win, comm, &window);           collective
 *     if (this rank has new data) {
 *       TUTTI_Rma_bcast(data, n, MPI_DOUBLE, displacement, window, &request);
 *       .. compute ..
 *       TUTTI_Rma_flush(&request);                             all ranks have the data
 *     }
 *     TUTTI_Rma_arrived(window, root, &number);                operations of `root` so far
 *     TUTTI_Rma_window_release(&window);                       collective, before MPI_Win_free
 *     TUTTI_Rma_finalize(comm);                                collective
 *
 * Any rank may be the root of many operations at once. Operations of one root on the same bytes
 * take effect in sequence. Those of several roots on the same bytes at once leave any mixture, as
 * MPI_Puts do. Needs MPI_THREAD_MULTIPLE. */
typedef int TUTTI_Window;
typedef int TUTTI_Rma_request;
#define TUTTI_WINDOW_NULL 0
#define TUTTI_RMA_REQUEST_NULL 0

/* Starts one-sided collectives on `comm`, which must live until they end. A second call does
 * nothing, and one TUTTI_Rma_finalize ends all. Collective. MPI_ERR_UNSUPPORTED_OPERATION on all
 * ranks if one of them cannot have a background thread, MPI_ERR_COMM on MPI_COMM_NULL and on an
 * inter-communicator. */
int TUTTI_Rma_init(MPI_Comm comm);

/* Completes all operations, releases registered windows and ends one-sided collectives on `comm`.
 * Collective; MPI_Finalize does the same. MPI_ERR_COMM if TUTTI_Rma_init was not called. */
int TUTTI_Rma_finalize(MPI_Comm comm);

/* Registers a window whose ranks are those of `comm`, and opens a passive-target epoch on it. Until
 * the release the program may use MPI_Put, MPI_Get, MPI_Accumulate, MPI_Win_flush and MPI_Win_sync
 * on it, and must open no epoch of its own. `window` is the same number on all ranks. Collective.
 * MPI_ERR_RMA_FLAVOR for dynamic windows, MPI_ERR_BUFFER for memory of GPUs, MPI_ERR_COMM if the
 * ranks differ or TUTTI_Rma_init was not called, MPI_ERR_ARG if `window` is NULL. */
int TUTTI_Rma_window_register(MPI_Win win, MPI_Comm comm, TUTTI_Window* window);

/* Completes all operations on the window, closes its epoch and sets `window` to TUTTI_WINDOW_NULL.
 * Collective. MPI_ERR_WIN if it is not registered. */
int TUTTI_Rma_window_release(TUTTI_Window* window);

/* Copies `count` elements, packed, to `displacement` (in each rank's own units) in the window of
 * every rank, this one included. Only this rank calls. The buffer must not change until the request
 * is complete. It may be the destination in this rank's own window, but must not overlap that
 * otherwise. MPI_ERR_WIN if the window is not registered, MPI_ERR_REQUEST if `request` is NULL,
 * MPI_ERR_COUNT for a negative count, or 2 GiB and more of a datatype with gaps or not predefined,
 * MPI_ERR_TYPE for an invalid datatype, MPI_ERR_BUFFER for MPI_IN_PLACE with data, and for NULL
 * with a predefined datatype (with another one it is MPI_BOTTOM), MPI_ERR_RMA_RANGE if the window
 * of some rank is too small; then nothing is written anywhere. protocol=windows that was not in
 * force at TUTTI_Rma_init, or with a listed order: MPI_ERR_UNSUPPORTED_OPERATION. */
int TUTTI_Rma_bcast(const void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                    TUTTI_Window window, TUTTI_Rma_request* request);

/* Copies a block of `count` elements to `displacement` in each window: rank r gets the r-th of p
 * consecutive blocks of the buffer. Otherwise like TUTTI_Rma_bcast. */
int TUTTI_Rma_scatter(const void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                      TUTTI_Window window, TUTTI_Rma_request* request);

/* TUTTI_Rma_gather copies the block of `count` elements at `displacement` in every rank's window,
 * this one included, to the buffer: that of rank r as the r-th of p blocks. TUTTI_Rma_reduce
 * combines all of them there by `op`, a predefined operation that commutes (MPI_MAX to MPI_BXOR),
 * for a predefined datatype. Windows keep their contents. A block is what the window holds at some
 * moment between the call and the request's completion, as with MPI_Get; it includes earlier
 * operations of this rank on the same bytes. Only this rank calls. The buffer must not be in the
 * window. Buffer and datatype are in use until the request is complete. Data travel in messages
 * along a tree, once for each of its levels. Errors as above; of reductions MPI_ERR_OP, or
 * MPI_ERR_TYPE if the MPI has no such reduction or data have gaps. */
int TUTTI_Rma_gather(void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                     TUTTI_Window window, TUTTI_Rma_request* request);
int TUTTI_Rma_reduce(void* buffer, int count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Aint displacement, TUTTI_Window window, TUTTI_Rma_request* request);

/* At the root. TUTTI_Rma_flush waits until all ranks have the data of a request, or the root
 * theirs; TUTTI_Rma_test sets `flag` to 1 if they have, else to 0. A complete request becomes
 * TUTTI_RMA_REQUEST_NULL, for which both return at once. MPI_ERR_REQUEST for an unknown request,
 * MPI_ERR_ARG if `flag` is NULL. */
int TUTTI_Rma_flush(TUTTI_Rma_request* request);
int TUTTI_Rma_test(TUTTI_Rma_request* request, int* flag);

/* At any rank. TUTTI_Rma_arrived sets `number` to that of the last operation of `root` on the
 * window which has arrived here with all before it; numbers start at 1. TUTTI_Rma_wait waits for
 * operation `number` and all before it. MPI_ERR_WIN if the window is not registered, MPI_ERR_ROOT
 * if there is no such rank, MPI_ERR_ARG if the pointer is NULL. */
int TUTTI_Rma_arrived(TUTTI_Window window, int root, long long* number);
int TUTTI_Rma_wait(TUTTI_Window window, int root, long long number);

/* Sets `flag` to 1 if the MPI delivers puts to a rank that computes, as measured at TUTTI_Rma_init.
 * Else Tutti's thread delivers them, and `flag` is 0. MPI_ERR_COMM without TUTTI_Rma_init. */
int TUTTI_Rma_progress(MPI_Comm comm, int* flag);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
