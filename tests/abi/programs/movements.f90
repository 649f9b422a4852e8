! Bcast, allgather(v), alltoall(v), barrier, in place where MPI knows that, through mpif.h (the
! default), the module mpi (-DMODULE) or mpi_f08 (-DF08); checks its own data.
program movements
#include "binding.inc"
  integer :: rank, p, ierror, r, i, k, wrong, total
  integer, allocatable :: counts(:), places(:), mine(:), all(:), sent(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, p, ierror)
  allocate (counts(p), places(p), mine(p + 1), all(p * (p + 3)), sent(p * 2))
  call lay_out(counts, places)
  wrong = 0
  do r = 0, p - 1
    mine = -1
    if (rank == r) mine = [(r * 100 + i, i = 1, p + 1)]
    call MPI_Bcast(mine, p + 1, MPI_INTEGER, r, MPI_COMM_WORLD, ierror)
    if (any(mine /= [(r * 100 + i, i = 1, p + 1)])) wrong = wrong + 1
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierror)

  all = -1
  mine(1:2) = [rank, -rank]
  call MPI_Allgather(mine, 2, MPI_INTEGER, all, 2, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  do r = 0, p - 1
    if (any(all(2 * r + 1:2 * r + 2) /= [r, -r])) wrong = wrong + 1
  end do
  all = -1
  all(rank + 1) = rank * 3
  call MPI_Allgather(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  if (any(all(1:p) /= [(3 * r, r = 0, p - 1)])) wrong = wrong + 1

  do k = 0, 1
    all = -1
    mine(1:rank + 1) = [(1000 * rank + i, i = 1, rank + 1)]
    if (k == 0) then
      call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, all, counts, places, MPI_INTEGER, &
                          MPI_COMM_WORLD, ierror)
    else
      all(places(rank + 1) + 1:places(rank + 1) + rank + 1) = mine(1:rank + 1)
      call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, all, counts, places, MPI_INTEGER, &
                          MPI_COMM_WORLD, ierror)
    end if
    wrong = wrong + wrong_blocks(all, places, 0)
  end do

  sent = [(100 * rank + i, i = 1, 2 * p)]
  all = -1
  call MPI_Alltoall(sent, 2, MPI_INTEGER, all, 2, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  do r = 0, p - 1
    if (any(all(2 * r + 1:2 * r + 2) /= [(100 * r + 2 * rank + i, i = 1, 2)])) wrong = wrong + 1
  end do
  all(1:p) = [(100 * rank + i, i = 1, p)]
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  if (any(all(1:p) /= [(100 * r + rank + 1, r = 0, p - 1)])) wrong = wrong + 1

  counts = 1
  places = [(2 * i, i = 0, p - 1)]
  all = -1
  call MPI_Alltoallv(sent, counts, places, MPI_INTEGER, all, counts, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierror)
  do r = 0, p - 1
    if (any(all(2 * r + 1:2 * r + 2) /= [100 * r + 2 * rank + 1, -1])) wrong = wrong + 1
  end do

#include "verdict.inc"
  call MPI_Finalize(ierror)
contains
#include "blocks.inc"
end program
