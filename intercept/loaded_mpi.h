/* Finds the MPI that the process has loaded. */
#ifndef TUTTI_INTERCEPT_LOADED_MPI_H
#define TUTTI_INTERCEPT_LOADED_MPI_H

struct tutti_loaded_mpi {
  const char* path;
  const char* backend; /* the file name of the backend for it */
};

/* The MPI that the process has loaded, in any way; NULLs if Tutti has no backend for one. */
struct tutti_loaded_mpi tutti_loaded_mpi(void);

#endif
