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
  /* MPI_Finalize began before the backend received any call. */
  void (*note_end)(void);
  /* The name of a function that the loaded MPI lacks, or null if it has all. */
  const char* (*missing)(void);
};

/* Exported by each backend. */
typedef const struct tutti_backend_interface* (*tutti_backend_function)(void);

#endif
