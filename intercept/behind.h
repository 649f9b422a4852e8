/* Finds functions in the libraries behind this one. */
#ifndef TUTTI_INTERCEPT_BEHIND_H
#define TUTTI_INTERCEPT_BEHIND_H

/* The next definition of this symbol in line, or NULL. */
void* tutti_next_in_line(const char* name);

/* The program's MPI, which is not always in line: it may have been loaded privately. NULL if none
 * is loaded. */
void* tutti_mpi_library(void);

/* The definition of `name` that is next in line, or in `mpi` (NULL: nowhere else); else that of
 * `other`; else NULL. */
void* tutti_find_behind(void* mpi, const char* name, const char* other);

/* Are both functions in one library, or is one missing? */
int tutti_are_together(void* one, void* other);

#endif
