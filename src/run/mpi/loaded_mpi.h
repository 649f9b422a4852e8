/* Finds the MPI that the process has loaded. */
#ifndef TUTTI_LOADED_MPI_H
#define TUTTI_LOADED_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_loaded_mpi {
  const char* path;
  const char* backend; /* the file name of the backend for it */
};

/* The MPI that the process has loaded, in any way, for which this is the backend; NULL: any. NULLs
 * if there is none. */
struct tutti_loaded_mpi tutti_find_mpi(const char* backend);

#ifdef __cplusplus
}
#endif

#endif
