! All gathers and scatters through one of MPI's Fortran bindings; checks its own data.
program gather
#include "binding.inc"
  integer :: rank, p, ierror, root, r, i, wrong, total
  integer, allocatable :: counts(:), displs(:), mine(:), all(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, p, ierror)
  allocate (counts(p), displs(p), mine(rank + 1), all(p * (p + 3)))
  call lay_out(counts, displs)
  wrong = 0
  do root = 0, p - 1
    mine = [(1000 * rank + i, i = 1, rank + 1)]
    all = -1
    call MPI_Gatherv(mine, rank + 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, root, &
                     MPI_COMM_WORLD, ierror)
    if (rank == root) then
      wrong = wrong + wrong_blocks(all, displs, 0)
      all = all + 5
    end if
    mine = 0
    call MPI_Scatterv(all, counts, displs, MPI_INTEGER, mine, rank + 1, MPI_INTEGER, root, &
                      MPI_COMM_WORLD, ierror)
    if (any(mine /= [(1000 * rank + i + 5, i = 1, rank + 1)])) wrong = wrong + 1
    if (rank == root) then
      all(rank + 1) = rank
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, root, MPI_COMM_WORLD, &
                      ierror)
      if (any(all(1:p) /= [(r, r = 0, p - 1)])) wrong = wrong + 1
      call MPI_Scatter(all, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, MPI_COMM_WORLD, &
                       ierror)
    else
      mine(1) = rank
      call MPI_Gather(mine, 1, MPI_INTEGER, all, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      mine(1) = -1
      call MPI_Scatter(all, 1, MPI_INTEGER, mine, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      if (mine(1) /= rank) wrong = wrong + 1
    end if
  end do
#include "verdict.inc"
  call MPI_Finalize(ierror)
contains
#include "blocks.inc"
end program
