/* The interface between the front of the drop-in and its backends. It uses no MPI header, only
 * machine words: on the 64-bit calling conventions of Linux, integer and pointer arguments of all
 * MPIs travel in them alike. */
#ifndef TUTTI_INTERCEPT_BACKEND_H
#define TUTTI_INTERCEPT_BACKEND_H

#include <stdint.h>

#include "core/passing.h"

typedef uintptr_t tutti_word;

/* What functions of so many words take, and what they pass on. */
#define PARAMETERS0 void
#define PARAMETERS1 tutti_word a
#define PARAMETERS2 PARAMETERS1, tutti_word b
#define PARAMETERS3 PARAMETERS2, tutti_word c
#define PARAMETERS5 PARAMETERS3, tutti_word d, tutti_word e
#define PARAMETERS6 PARAMETERS5, tutti_word f
#define PARAMETERS7 PARAMETERS6, tutti_word g
#define PARAMETERS8 PARAMETERS7, tutti_word h
#define PARAMETERS9 PARAMETERS8, tutti_word i
#define PARAMETERS10 PARAMETERS9, tutti_word j
#define ARGUMENTS0
#define ARGUMENTS1 a
#define ARGUMENTS2 a, b
#define ARGUMENTS3 ARGUMENTS2, c
#define ARGUMENTS5 ARGUMENTS3, d, e
#define ARGUMENTS6 ARGUMENTS5, f
#define ARGUMENTS7 ARGUMENTS6, g
#define ARGUMENTS8 ARGUMENTS7, h
#define ARGUMENTS9 ARGUMENTS8, i
#define ARGUMENTS10 ARGUMENTS9, j

typedef int (*tutti_call0)(PARAMETERS0);
typedef int (*tutti_call1)(PARAMETERS1);
typedef int (*tutti_call2)(PARAMETERS2);
typedef int (*tutti_call5)(PARAMETERS5);
typedef int (*tutti_call6)(PARAMETERS6);
typedef int (*tutti_call7)(PARAMETERS7);
typedef int (*tutti_call8)(PARAMETERS8);
typedef int (*tutti_call9)(PARAMETERS9);
typedef int (*tutti_call10)(PARAMETERS10);

/* Collectives that the drop-in only counts for the report, and passes on: those of MPI 3. Bindings
 * that were built for a newer MPI call whatever they find, so the drop-in must not export functions
 * that the loaded MPI may lack and that no backend has. */
#define TUTTI_COUNTED(X)      \
  X(Ibarrier, 2)              \
  X(Ibcast, 6)                \
  X(Igather, 9)               \
  X(Igatherv, 10)             \
  X(Iscatter, 9)              \
  X(Iscatterv, 10)            \
  X(Iallgather, 8)            \
  X(Iallgatherv, 9)           \
  X(Ialltoall, 8)             \
  X(Ialltoallv, 10)           \
  X(Ialltoallw, 10)           \
  X(Ireduce, 8)               \
  X(Iallreduce, 7)            \
  X(Ireduce_scatter, 7)       \
  X(Ireduce_scatter_block, 7) \
  X(Iscan, 7)                 \
  X(Iexscan, 7)               \
  X(Neighbor_allgather, 7)    \
  X(Ineighbor_allgather, 8)   \
  X(Neighbor_allgatherv, 8)   \
  X(Ineighbor_allgatherv, 9)  \
  X(Neighbor_alltoall, 7)     \
  X(Ineighbor_alltoall, 8)    \
  X(Neighbor_alltoallv, 9)    \
  X(Ineighbor_alltoallv, 10)  \
  X(Neighbor_alltoallw, 9)    \
  X(Ineighbor_alltoallw, 10)

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
#define TUTTI_INTERCEPTED(name, arguments) tutti_call##arguments name;
#include "intercepted.inc"
};

struct tutti_backend_interface {
  /* TUTTI_X for each collective, and Tutti's replacements of the other functions. Jump there if
   * possible: the return address is the call site in reports, else the stack is searched for it. */
  struct tutti_functions run;
  /* Makes the next tool's functions stand in for the MPI's own; null members change nothing. */
  void (*set_next)(const struct tutti_functions* next);
  /* Between these two, what this thread leaves to the MPI does not go to the next tool. */
  void (*enter_profiled)(void);
  void (*leave_profiled)(void);
  /* The functions of the MPI itself; null members if it lacks them. */
  void (*get_mpi)(struct tutti_functions* functions);
  /* Has the front's table filled, which lets the front hand on calls itself. */
  void (*set_recent)(struct tutti_recent* recent);
  /* Passes an address in the front, which receives the program's calls of MPI_Finalize. */
  void (*set_front)(const void* address);
  /* Passes the front's counters of the calls of TUTTI_COUNTED. */
  void (*set_counters)(const struct tutti_counter* counters, int number);
  /* MPI_Finalize began before the backend received any call. */
  void (*note_end)(void);
  /* The name of a function that the loaded MPI lacks, or null if it has all. */
  const char* (*missing)(void);
};

/* Exported by each backend; null if `interface` is not its own TUTTI_INTERFACE. */
typedef const struct tutti_backend_interface* (*tutti_backend_function)(const char* interface);

#endif
