! Results that the ranks of a node share, through mpif.h (the default), the module mpi (-DMODULE) or
! mpi_f08 (-DF08); checks its own data.
#if defined(F08)
#define HANDLE(h) h%MPI_VAL
#else
#define HANDLE(h) h
#endif
program shared
  use, intrinsic :: iso_c_binding
  use tutti
#include "binding.inc"
  type(c_ptr) :: result
  integer, pointer :: found(:)
  integer, allocatable :: mine(:), counts(:)
  integer :: rank, p, ierror, wrong, total, i, r

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, p, ierror)
  wrong = 0
  mine = [rank, -rank]
  call tutti_allgather_shared(mine, 2, HANDLE(MPI_INTEGER), 2, HANDLE(MPI_INTEGER), &
                              HANDLE(MPI_COMM_WORLD), TUTTI_COPY_ON_WRITE, result, ierror)
  call c_f_pointer(result, found, [2 * p])
  do r = 0, p - 1
    if (any(found(2 * r + 1:2 * r + 2) /= [r, -r])) wrong = wrong + 1
  end do
  found(1) = rank
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (found(1) /= rank) wrong = wrong + 1
  call release()

  counts = [(r, r = 1, p)]
  mine = [(100 * rank + i, i = 1, rank + 1)]
  call tutti_allgatherv_shared(mine, rank + 1, HANDLE(MPI_INTEGER), counts, HANDLE(MPI_INTEGER), &
                               HANDLE(MPI_COMM_WORLD), TUTTI_SHARED_READ_ONLY, result, ierror)
  call c_f_pointer(result, found, [p * (p + 1) / 2])
  do r = 0, p - 1
    if (found(r * (r + 1) / 2 + 1) /= 100 * r + 1) wrong = wrong + 1
  end do
  call release()

  mine = [(rank + i, i = 1, 9)]
  call tutti_bcast_shared(mine, 9, HANDLE(MPI_INTEGER), p - 1, HANDLE(MPI_COMM_WORLD), TUTTI_SHARED_READ_ONLY, &
                          result, ierror)
  call c_f_pointer(result, found, [9])
  if (any(found /= [(p - 1 + i, i = 1, 9)])) wrong = wrong + 1
  call release()

  call tutti_allreduce_shared(mine, 9, HANDLE(MPI_INTEGER), HANDLE(MPI_SUM), &
                              HANDLE(MPI_COMM_WORLD), TUTTI_SHARED_READ_ONLY, result, ierror)
  call c_f_pointer(result, found, [9])
  if (any(found /= [(p * (p - 1) / 2 + p * i, i = 1, 9)])) wrong = wrong + 1
  call release()

#include "verdict.inc"
  call MPI_Finalize(ierror)
contains
  ! Once, and not twice.
  subroutine release()
    call tutti_shared_free(result, ierror)
    if (ierror /= MPI_SUCCESS) wrong = wrong + 1
    call tutti_shared_free(result, ierror)
    if (ierror == MPI_SUCCESS) wrong = wrong + 1
  end subroutine
end program
