/* SimGrid's MPI header, with what the standard has and it lacks. */
#ifndef TUTTI_SIMGRID_MPI_H
#define TUTTI_SIMGRID_MPI_H
#include_next <mpi.h>

/* Error codes are int in the standard, and an enumeration there. */
#define MPI_ERR_ACCESS ((int)(MPI_ERR_ACCESS))
#define MPI_ERR_AMODE ((int)(MPI_ERR_AMODE))
#define MPI_ERR_ARG ((int)(MPI_ERR_ARG))
#define MPI_ERR_ASSERT ((int)(MPI_ERR_ASSERT))
#define MPI_ERR_BAD_FILE ((int)(MPI_ERR_BAD_FILE))
#define MPI_ERR_BASE ((int)(MPI_ERR_BASE))
#define MPI_ERR_BUFFER ((int)(MPI_ERR_BUFFER))
#define MPI_ERR_COMM ((int)(MPI_ERR_COMM))
#define MPI_ERR_CONVERSION ((int)(MPI_ERR_CONVERSION))
#define MPI_ERR_COUNT ((int)(MPI_ERR_COUNT))
#define MPI_ERR_DIMS ((int)(MPI_ERR_DIMS))
#define MPI_ERR_DISP ((int)(MPI_ERR_DISP))
#define MPI_ERR_DUP_DATAREP ((int)(MPI_ERR_DUP_DATAREP))
#define MPI_ERR_FILE ((int)(MPI_ERR_FILE))
#define MPI_ERR_FILE_EXISTS ((int)(MPI_ERR_FILE_EXISTS))
#define MPI_ERR_FILE_IN_USE ((int)(MPI_ERR_FILE_IN_USE))
#define MPI_ERR_GROUP ((int)(MPI_ERR_GROUP))
#define MPI_ERR_INFO ((int)(MPI_ERR_INFO))
#define MPI_ERR_INFO_KEY ((int)(MPI_ERR_INFO_KEY))
#define MPI_ERR_INFO_NOKEY ((int)(MPI_ERR_INFO_NOKEY))
#define MPI_ERR_INFO_VALUE ((int)(MPI_ERR_INFO_VALUE))
#define MPI_ERR_INTERN ((int)(MPI_ERR_INTERN))
#define MPI_ERR_IN_STATUS ((int)(MPI_ERR_IN_STATUS))
#define MPI_ERR_IO ((int)(MPI_ERR_IO))
#define MPI_ERR_KEYVAL ((int)(MPI_ERR_KEYVAL))
#define MPI_ERR_LOCKTYPE ((int)(MPI_ERR_LOCKTYPE))
#define MPI_ERR_NAME ((int)(MPI_ERR_NAME))
#define MPI_ERR_NOT_SAME ((int)(MPI_ERR_NOT_SAME))
#define MPI_ERR_NO_MEM ((int)(MPI_ERR_NO_MEM))
#define MPI_ERR_NO_SPACE ((int)(MPI_ERR_NO_SPACE))
#define MPI_ERR_NO_SUCH_FILE ((int)(MPI_ERR_NO_SUCH_FILE))
#define MPI_ERR_OP ((int)(MPI_ERR_OP))
#define MPI_ERR_OTHER ((int)(MPI_ERR_OTHER))
#define MPI_ERR_PENDING ((int)(MPI_ERR_PENDING))
#define MPI_ERR_PORT ((int)(MPI_ERR_PORT))
#define MPI_ERR_QUOTA ((int)(MPI_ERR_QUOTA))
#define MPI_ERR_RANK ((int)(MPI_ERR_RANK))
#define MPI_ERR_READ_ONLY ((int)(MPI_ERR_READ_ONLY))
#define MPI_ERR_REQUEST ((int)(MPI_ERR_REQUEST))
#define MPI_ERR_RMA_ATTACH ((int)(MPI_ERR_RMA_ATTACH))
#define MPI_ERR_RMA_CONFLICT ((int)(MPI_ERR_RMA_CONFLICT))
#define MPI_ERR_RMA_FLAVOR ((int)(MPI_ERR_RMA_FLAVOR))
#define MPI_ERR_RMA_RANGE ((int)(MPI_ERR_RMA_RANGE))
#define MPI_ERR_RMA_SHARED ((int)(MPI_ERR_RMA_SHARED))
#define MPI_ERR_RMA_SYNC ((int)(MPI_ERR_RMA_SYNC))
#define MPI_ERR_ROOT ((int)(MPI_ERR_ROOT))
#define MPI_ERR_SERVICE ((int)(MPI_ERR_SERVICE))
#define MPI_ERR_SIZE ((int)(MPI_ERR_SIZE))
#define MPI_ERR_SPAWN ((int)(MPI_ERR_SPAWN))
#define MPI_ERR_TAG ((int)(MPI_ERR_TAG))
#define MPI_ERR_TOPOLOGY ((int)(MPI_ERR_TOPOLOGY))
#define MPI_ERR_TRUNCATE ((int)(MPI_ERR_TRUNCATE))
#define MPI_ERR_TYPE ((int)(MPI_ERR_TYPE))
#define MPI_ERR_UNKNOWN ((int)(MPI_ERR_UNKNOWN))
#define MPI_ERR_UNSUPPORTED_DATAREP ((int)(MPI_ERR_UNSUPPORTED_DATAREP))
#define MPI_ERR_UNSUPPORTED_OPERATION ((int)(MPI_ERR_UNSUPPORTED_OPERATION))
#define MPI_ERR_WIN ((int)(MPI_ERR_WIN))
#define MPI_SUCCESS ((int)(MPI_SUCCESS))

/* Declarations that lack const. */
#ifdef __cplusplus
extern "C" {
#endif
int tutti_smpi_add_error_string(int code, const char* text);
#ifdef __cplusplus
}
#endif
#define PMPI_Add_error_string tutti_smpi_add_error_string

#endif
