/* The interface between the front of the drop-in and its backends. It uses no MPI header, only
 * machine words: on the 64-bit calling conventions of Linux, integer and pointer arguments of all
 * MPIs travel in them alike. */
#ifndef TUTTI_INTERCEPT_BACKEND_H
#define TUTTI_INTERCEPT_BACKEND_H

#include <stdint.h>

typedef uintptr_t tutti_word;
typedef int (*tutti_call0)(void);
typedef int (*tutti_call1)(tutti_word);
typedef int (*tutti_call2)(tutti_word, tutti_word);
typedef int (*tutti_call3)(tutti_word, tutti_word, tutti_word);
typedef int (*tutti_call5)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word);
typedef int (*tutti_call6)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word);
typedef int (*tutti_call7)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word,
                           tutti_word);
typedef int (*tutti_call8)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word,
                           tutti_word, tutti_word);
typedef int (*tutti_call9)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word,
                           tutti_word, tutti_word, tutti_word);

typedef int (*tutti_call10)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word,
                            tutti_word, tutti_word, tutti_word, tutti_word);

typedef int (*tutti_call11)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word,
                            tutti_word, tutti_word, tutti_word, tutti_word, tutti_word);

/* A function with its form for large counts. */
#define TUTTI_BOTH(X, name, arguments) X(name, arguments) X(name##_c, arguments)
/* The nonblocking and the persistent form of a collective; `arguments` are the former's. */
#define TUTTI_BEGUN(X, nonblocking, name, arguments, more) \
  TUTTI_BOTH(X, nonblocking, arguments) TUTTI_BOTH(X, name##_init, more)

/* Collectives that the drop-in only counts for the report, and passes on. Persistent ones count
 * when they are created. Functions with large counts are those of MPI 4. */
#define TUTTI_COUNTED(X)                                            \
  X(Ibarrier, 2)                                                    \
  X(Barrier_init, 3)                                                \
  TUTTI_BEGUN(X, Ibcast, Bcast, 6, 7)                               \
  TUTTI_BEGUN(X, Igather, Gather, 9, 10)                            \
  TUTTI_BEGUN(X, Igatherv, Gatherv, 10, 11)                         \
  TUTTI_BEGUN(X, Iscatter, Scatter, 9, 10)                          \
  TUTTI_BEGUN(X, Iscatterv, Scatterv, 10, 11)                       \
  TUTTI_BEGUN(X, Iallgather, Allgather, 8, 9)                       \
  TUTTI_BEGUN(X, Iallgatherv, Allgatherv, 9, 10)                    \
  TUTTI_BEGUN(X, Ialltoall, Alltoall, 8, 9)                         \
  TUTTI_BEGUN(X, Ialltoallv, Alltoallv, 10, 11)                     \
  TUTTI_BEGUN(X, Ialltoallw, Alltoallw, 10, 11)                     \
  TUTTI_BEGUN(X, Ireduce, Reduce, 8, 9)                             \
  TUTTI_BEGUN(X, Iallreduce, Allreduce, 7, 8)                       \
  TUTTI_BEGUN(X, Ireduce_scatter, Reduce_scatter, 7, 8)             \
  TUTTI_BEGUN(X, Ireduce_scatter_block, Reduce_scatter_block, 7, 8) \
  TUTTI_BEGUN(X, Iscan, Scan, 7, 8)                                 \
  TUTTI_BEGUN(X, Iexscan, Exscan, 7, 8)                             \
  TUTTI_BOTH(X, Neighbor_allgather, 7)                              \
  TUTTI_BEGUN(X, Ineighbor_allgather, Neighbor_allgather, 8, 9)     \
  TUTTI_BOTH(X, Neighbor_allgatherv, 8)                             \
  TUTTI_BEGUN(X, Ineighbor_allgatherv, Neighbor_allgatherv, 9, 10)  \
  TUTTI_BOTH(X, Neighbor_alltoall, 7)                               \
  TUTTI_BEGUN(X, Ineighbor_alltoall, Neighbor_alltoall, 8, 9)       \
  TUTTI_BOTH(X, Neighbor_alltoallv, 9)                              \
  TUTTI_BEGUN(X, Ineighbor_alltoallv, Neighbor_alltoallv, 10, 11)   \
  TUTTI_BOTH(X, Neighbor_alltoallw, 9)                              \
  TUTTI_BEGUN(X, Ineighbor_alltoallw, Neighbor_alltoallw, 10, 11)

struct tutti_counter {
  const char* function;
  uint64_t calls;
};

/* Functions that free a communicator. Its attributes' delete functions may call collectives on it
 * meanwhile, which Tutti must not take for calls on a communicator that stays. */
#define TUTTI_FREES_COMM(X) \
  X(Comm_free, 1)           \
  X(Comm_disconnect, 1)

struct tutti_functions {
#define TUTTI_MEMBER(name, arguments) tutti_call##arguments name;
#define TUTTI_INTERCEPTED(name, arguments) TUTTI_MEMBER(name, arguments)
#include "collectives.inc"
  tutti_call0 Finalize;
  tutti_call1 Win_free;
  TUTTI_FREES_COMM(TUTTI_MEMBER)
#undef TUTTI_MEMBER
};

struct tutti_backend_interface {
  /* TUTTI_X for each collective, and Tutti's replacements of the other functions. */
  struct tutti_functions run;
  /* Sets the return address of the call. */
  void (*set_call_site)(const void* site);
  /* Makes the next tool's functions stand in for the MPI's own; null members change nothing. */
  void (*set_next)(const struct tutti_functions* next);
  /* Passes an address in the front, which receives the program's calls of MPI_Finalize. */
  void (*set_front)(const void* address);
  /* Passes the front's counters of the calls of TUTTI_COUNTED. */
  void (*set_counters)(const struct tutti_counter* counters, int number);
  /* MPI_Finalize began before the backend received any call. */
  void (*note_end)(void);
  /* The name of a function that the loaded MPI lacks, or null if it has all. */
  const char* (*missing)(void);
};

/* Exported by each backend. */
typedef const struct tutti_backend_interface* (*tutti_backend_function)(void);

#endif
