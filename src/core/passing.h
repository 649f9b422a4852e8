/* The calls that go straight to the MPI, because earlier ones have shown that it is to run them:
 * what the preloaded library and the C API read at each call. Where ranks share cores, the caches
 * hold what other ranks used, so each further line and page costs as much as all the rest. */
#ifndef TUTTI_CORE_PASSING_H
#define TUTTI_CORE_PASSING_H

#include <stdint.h>

/* The collectives as numbers, as in the enum Collective. */
enum {
#define TUTTI_PROPERTIES(name, blocks, before, after, sizes, data, callers) tutti_number_of_##name,
#include "core/collectives.inc"
  tutti_collectives
};

/* Those of a communicator. Such a record outlives its communicator and serves another one then, so
 * that any thread may read it at any time. */
struct tutti_passing {
  uintptr_t comm; /* the communicator's handle */
  uintptr_t bits; /* those of a handle; the others of a word that holds one mean nothing */
  uint32_t left[tutti_collectives]; /* of each collective, so many of the next calls */
  void* owner;                      /* null only if there is no communicator */
} __attribute__((aligned(64)));     /* begins a cache line */
/* No MPI has such a handle. */
enum { tutti_no_comm = 1 };
#define TUTTI_NO_PASSING \
  { tutti_no_comm, 0, {0}, 0 }

/* Records of communicators of late, by their handles; one without a communicator where there is no
 * other. */
enum { tutti_recent_bits = 3, tutti_recent_records = 1 << tutti_recent_bits };
struct tutti_recent {
  struct tutti_passing* records[tutti_recent_records];
} __attribute__((aligned(64)));
/* As many of them as there are records. */
#define TUTTI_RECENT(none)                             \
  {                                                    \
    { none, none, none, none, none, none, none, none } \
  }

static inline struct tutti_passing** tutti_recent_place(struct tutti_recent* recent,
                                                        uintptr_t comm) {
  const uint32_t mixed = (uint32_t)comm * 0x9e3779b1U; /* Fibonacci hashing: its first bits */
  return &recent->records[mixed >> (32 - tutti_recent_bits)];
}

/* The record of a communicator; null if it is not among these. */
static inline struct tutti_passing* tutti_recent_record(struct tutti_recent* recent,
                                                        uintptr_t comm) {
  struct tutti_passing* record =
      __atomic_load_n(tutti_recent_place(recent, comm), __ATOMIC_ACQUIRE);
  const uintptr_t own = __atomic_load_n(&record->comm, __ATOMIC_ACQUIRE);
  return own == (comm & record->bits) ? record : 0;
}

/* Begins a call that passes. False if it is to be inspected: then nothing has begun. Only one
 * thread at a time calls collectives of a communicator. */
static inline int tutti_passes(struct tutti_recent* recent, uintptr_t comm, int collective) {
  struct tutti_passing* record = tutti_recent_record(recent, comm);
  if (record == 0 || record->left[collective] == 0) return 0;
  --record->left[collective];
  return 1;
}

#endif
