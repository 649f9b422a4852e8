/* The interface between the front of the drop-in and its backends. It uses no MPI header, only
 * machine words: on the 64-bit calling conventions of Linux, integer and pointer arguments of all
 * MPIs travel in them alike. */
#ifndef TUTTI_INTERCEPT_BACKEND_H
#define TUTTI_INTERCEPT_BACKEND_H

#include <stdint.h>

typedef uintptr_t tutti_word;
typedef int (*tutti_call0)(void);
typedef int (*tutti_call1)(tutti_word);
typedef int (*tutti_call5)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word);
typedef int (*tutti_call6)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word);
typedef int (*tutti_call7)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word,
                           tutti_word);
typedef int (*tutti_call8)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word,
                           tutti_word, tutti_word);
typedef int (*tutti_call9)(tutti_word, tutti_word, tutti_word, tutti_word, tutti_word, tutti_word,
                           tutti_word, tutti_word, tutti_word);

/* The collectives that the drop-in handles: TUTTI_INTERCEPTED(name, number of arguments), first
 * those of all MPIs, then their large-count forms. */
#define TUTTI_INTERCEPTED_OLD(X) \
  X(Gather, 8)                   \
  X(Gatherv, 9)                  \
  X(Scatter, 8)                  \
  X(Scatterv, 9)                 \
  X(Bcast, 5)                    \
  X(Allgather, 7)                \
  X(Allgatherv, 8)               \
  X(Alltoall, 7)                 \
  X(Alltoallv, 9)                \
  X(Alltoallw, 9)                \
  X(Barrier, 1)                  \
  X(Reduce, 7)                   \
  X(Allreduce, 6)                \
  X(Reduce_scatter, 6)           \
  X(Reduce_scatter_block, 6)
#define TUTTI_INTERCEPTED_LARGE(X) \
  X(Gather_c, 8)                   \
  X(Gatherv_c, 9)                  \
  X(Scatter_c, 8)                  \
  X(Scatterv_c, 9)                 \
  X(Bcast_c, 5)                    \
  X(Allgather_c, 7)                \
  X(Allgatherv_c, 8)               \
  X(Alltoall_c, 7)                 \
  X(Alltoallv_c, 9)                \
  X(Alltoallw_c, 9)                \
  X(Reduce_c, 7)                   \
  X(Allreduce_c, 6)                \
  X(Reduce_scatter_c, 6)           \
  X(Reduce_scatter_block_c, 6)
#define TUTTI_INTERCEPTED_ALL(X) TUTTI_INTERCEPTED_OLD(X) TUTTI_INTERCEPTED_LARGE(X)

/* Functions that free a communicator. Its attributes' delete functions may call collectives on it
 * meanwhile, which Tutti must not take for calls on a communicator that stays. */
#define TUTTI_FREES_COMM(X) \
  X(Comm_free, 1)           \
  X(Comm_disconnect, 1)

struct tutti_functions {
#define TUTTI_MEMBER(name, arguments) tutti_call##arguments name;
  TUTTI_INTERCEPTED_ALL(TUTTI_MEMBER)
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
  /* MPI_Finalize began before the backend received any call. */
  void (*note_end)(void);
  /* The name of a function that the loaded MPI lacks, or null if it has all. */
  const char* (*missing)(void);
};

/* Exported by each backend. */
typedef const struct tutti_backend_interface* (*tutti_backend_function)(void);

#endif
