! Results of several types and ranks that ranks share, in one file; checks its own data. With
! -DINCOMPLETE a call lacks an argument, which the interfaces refuse.
program interfaces
  use mpi_f08
  use tutti
  use, intrinsic :: iso_c_binding
  implicit none
  real(c_double) :: table(2, 3)
  real(c_double), pointer :: tables(:, :)
  integer(c_int) :: one, rank, ierror, faults, total
  integer(c_int), pointer :: number
  type(c_ptr) :: result

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  faults = 0
  table = reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [2, 3]) + rank
  call tutti_bcast_shared(table, 6, MPI_DOUBLE_PRECISION%MPI_VAL, 1, MPI_COMM_WORLD%MPI_VAL, &
                          TUTTI_SHARED_READ_ONLY, result, ierror)
  call c_f_pointer(result, tables, [2, 3])
  if (ierror /= MPI_SUCCESS .or. any(tables /= table - rank + 1)) faults = faults + 1
  call tutti_shared_free(c_loc(tables), ierror)
  if (ierror /= MPI_SUCCESS) faults = faults + 1

  one = 10 * rank + 7
  call tutti_bcast_shared(one, 1, MPI_INTEGER%MPI_VAL, 1, MPI_COMM_WORLD%MPI_VAL, &
                          TUTTI_COPY_ON_WRITE, result, ierror)
  call c_f_pointer(result, number)
  if (ierror /= MPI_SUCCESS .or. number /= 17) faults = faults + 1
#if defined(INCOMPLETE)
  call tutti_shared_free(result)
#else
  call tutti_shared_free(result, ierror)
#endif
  if (faults /= 0) print '(a)', 'wrong'
  call MPI_Allreduce(faults, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. total == 0) print '(a)', 'correct'
  call MPI_Finalize()
end program
